package config

import (
	"fmt"
	"slices"
	"strings"
)

// suggest ends an error about a word that is not among the known ones: with the nearest, or else with all of them.
func suggest(word string, known []string) string {
	known = slices.Compact(slices.Sorted(slices.Values(known)))
	best, bestAt := "", 1+(len(word)+1)/2
	for _, k := range known {
		d := distance(strings.ToLower(word), k)
		if strings.HasPrefix(k, strings.ToLower(word)) && len(word) >= 3 {
			d = min(d, 1)
		}
		if d < bestAt {
			best, bestAt = k, d
		}
	}
	switch {
	case best != "":
		return fmt.Sprintf("; did you mean %q?", best)
	case len(known) == 0:
		return "; there are none"
	}
	return "; known: " + strings.Join(known, ", ")
}

// distance counts the insertions, removals, replacements and swaps of neighbours that turn a into b.
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 1 << 20 // nobody mistypes a name of that length, and the table would grow
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
