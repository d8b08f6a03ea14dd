package backend

import (
	"slices"
	"strings"
)

// Nearest is the known word that is probably meant by word; empty if none is similar.
func Nearest(word string, known []string) string {
	word = strings.ToLower(word)
	best, bestAt := "", 1+(len(word)+1)/2
	for _, k := range known {
		d := distance(word, k)
		if strings.HasPrefix(k, word) && len(word) >= 3 {
			d = min(d, 1)
		}
		if d < bestAt {
			best, bestAt = k, d
		}
	}
	return best
}

// NearestOf are at most n known words that are probably meant by word, the nearest first.
func NearestOf(word string, known []string, n int) []string {
	known = slices.Clone(known)
	var near []string
	for len(near) < n {
		best := Nearest(word, known)
		if best == "" {
			return near
		}
		near = append(near, best)
		known = slices.DeleteFunc(known, func(k string) bool { return k == best })
	}
	return near
}

// distance counts the insertions, removals, replacements and swaps of neighbours that turn a into b.
func distance(a, b string) int {
	if len(b) > 2*len(a)+2 {
		return 1 << 20
	}
	for a != "" && b != "" && a[0] == b[0] { // long ids differ in few places
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) > 64 || len(b) > 64 {
		return 1 << 20 // a name of that length is not a typing error, and the table would be large
	}
	var two, one, row [65]int
	for j := range len(b) {
		one[j+1] = j + 1
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(one[j+1]+1, row[j]+1, one[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], two[j-1]+1)
			}
		}
		two, one = one, row
	}
	return one[len(b)]
}
