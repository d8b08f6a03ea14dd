// Package find is the search behind "go to": which of very many names a few typed characters mean.
package find

import (
	"cmp"
	"strings"

	"sandglass/internal/stable"
	"sandglass/views/kit"
)

// Index holds names to search. It is built once, when the search begins, so that nothing moves while somebody types.
type Index struct{ entries []entry }

type entry struct {
	text string // lower case: the names, the shown one first, each behind a separator
	name int    // bytes of the shown name
}

// separator stands before each name; it is in none.
const separator = "\x00"

// Add puts an entry with its names at the end, the shown name first.
func (x *Index) Add(names ...string) {
	var b strings.Builder
	for _, n := range names {
		if n != "" || b.Len() == 0 {
			b.WriteString(separator)
			b.WriteString(strings.ReplaceAll(n, separator, " "))
		}
	}
	e := entry{text: strings.ToLower(b.String())}
	e.name = len(e.text)
	if end := strings.Index(e.text[1:], separator); end >= 0 {
		e.name = end + 1
	}
	x.entries = append(x.entries, e)
}

// Len is the number of entries.
func (x *Index) Len() int { return len(x.entries) }

// How well an entry matches, the best first.
const (
	exact       = iota // a whole name
	beginning          // a name begins with it
	wordStart          // a word in a name begins with it
	inside             // a name holds it
	scattered          // the shown name holds its characters in this order
	matchKinds         // how many there are
	noMatch     = -1
	mostOfAKind = 1000 // more of one kind are counted, and not ordered
)

// Search returns the places of the best entries for what was typed, at most `most`, and how many match. All words must match.
// Entries that match alike are ordered by the length of their shown name, then by that name. Nothing typed matches all.
func (x *Index) Search(typed string, most int) (best []int, total int) {
	words := strings.Fields(strings.ToLower(strings.ReplaceAll(typed, separator, " ")))
	var of [matchKinds][]int
	for i := range x.entries {
		worst := exact
		for _, w := range words {
			m := x.entries[i].match(w)
			if m == noMatch {
				worst = noMatch
				break
			}
			worst = max(worst, m)
		}
		if worst == noMatch {
			continue
		}
		total++
		if len(of[worst]) < mostOfAKind {
			of[worst] = append(of[worst], i)
		}
	}
	for _, list := range of {
		if len(words) > 0 {
			stable.Sort(list, func(a, b int) int {
				m, n := &x.entries[a], &x.entries[b]
				if c := cmp.Compare(m.name, n.name); c != 0 {
					return c
				}
				return kit.CompareNames(m.text[:m.name], n.text[:n.name])
			})
		}
		best = append(best, list[:min(len(list), most-len(best))]...)
	}
	return best, total
}

func (e *entry) match(word string) int {
	found := noMatch
	for from := 0; ; {
		i := strings.Index(e.text[from:], word)
		if i < 0 {
			break
		}
		at := from + i
		end := at + len(word)
		m := inside
		switch before := e.text[at-1]; {
		case before == separator[0] && (end == len(e.text) || e.text[end] == separator[0]):
			return exact
		case before == separator[0]:
			m = beginning
		case !isWord(before):
			m = wordStart
		}
		if found == noMatch || m < found {
			found = m
		}
		from = at + 1
	}
	if found == noMatch && inOrder(e.text[:e.name], word) {
		return scattered
	}
	return found
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c >= 0x80
}

// inOrder reports whether a text holds the bytes of a word in their order.
func inOrder(text, word string) bool {
	for i := 0; i < len(word); i++ {
		at := strings.IndexByte(text, word[i])
		if at < 0 {
			return false
		}
		text = text[at+1:]
	}
	return true
}
