package logview

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"sandglass/backend"
)

// Filter chooses lines. The words of its text must all be in a line, those after a ! must not; after a ~ the rest is one regular
// expression. A text without capitals matches both cases.
type Filter struct {
	Text  string
	with  []term
	out   []term
	match *regexp.Regexp
	parts []literal // of match
}

// term is one word.
type term struct {
	word []byte
	fold bool // the word is in lower case and matches both
}

// NewFilter reads a filter; nil without one. An error says what is wrong with the expression.
func NewFilter(text string) (*Filter, error) {
	f := &Filter{Text: strings.TrimSpace(text)}
	if f.Text == "" || f.Text == "!" || f.Text == "~" {
		return nil, nil
	}
	fold := !strings.ContainsFunc(f.Text, unicode.IsUpper)
	if expr, ok := strings.CutPrefix(f.Text, "~"); ok {
		if fold {
			expr = "(?i)" + expr
		}
		var err error
		if f.match, err = regexp.Compile(expr); err != nil {
			return nil, fmt.Errorf("no regular expression: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		f.parts = literalsOf(expr)
		return f, nil
	}
	for _, w := range strings.Fields(f.Text) {
		if word, not := strings.CutPrefix(w, "!"); not && word != "" {
			f.out = append(f.out, term{[]byte(word), fold})
		} else {
			f.with = append(f.with, term{[]byte(w), fold})
		}
	}
	return f, nil
}

// Matches reports whether a line is chosen.
func (f *Filter) Matches(text []byte) bool {
	if f.match != nil {
		if known, matches := judgeLiterals(f.parts, text); known {
			return matches
		}
		return f.match.Match(text)
	}
	for _, t := range f.with {
		if at, _ := t.find(text); at < 0 {
			return false
		}
	}
	for _, t := range f.out {
		if at, _ := t.find(text); at >= 0 {
			return false
		}
	}
	return true
}

// Spans are the parts of a text that a filter found, as pairs of offsets, in order and apart.
func (f *Filter) Spans(text string) [][2]int {
	if f == nil {
		return nil
	}
	if f.match != nil {
		var out [][2]int
		for _, at := range f.match.FindAllStringIndex(text, maxSpans) {
			if at[1] > at[0] {
				out = append(out, [2]int{at[0], at[1]})
			}
		}
		return out
	}
	b := []byte(text)
	var out [][2]int
	for from := 0; len(out) < maxSpans; {
		best, end := -1, 0
		for _, t := range f.with {
			if at, n := t.find(b[from:]); at >= 0 && (best < 0 || at < best || at == best && at+n > end) {
				best, end = at, at+n
			}
		}
		if best < 0 {
			break
		}
		out = append(out, [2]int{from + best, from + end})
		from += end
	}
	return out
}

// maxSpans is how many parts of one line are marked.
const maxSpans = 200

// find is where a word is, -1: nowhere, and how long it is there.
func (t term) find(text []byte) (at, n int) {
	if !t.fold {
		return bytes.Index(text, t.word), len(t.word)
	}
	if !ascii(t.word) {
		i := bytes.Index(bytes.ToLower(text), t.word)
		return min(i, len(text)-1), len(t.word)
	}
	return indexFold(text, t.word), len(t.word)
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// indexFold is bytes.Index for a word in lower case that matches both cases, of ASCII.
func indexFold(text, word []byte) int {
	lower := word[0]
	upper := lower
	if lower >= 'a' && lower <= 'z' {
		upper = lower - 0x20
	}
	last := len(text) - len(word)
	nextLower, nextUpper := -1, -1
	for i := 0; i <= last; i++ {
		if nextLower < i {
			nextLower = next(text, lower, i)
		}
		if nextUpper < i {
			nextUpper = next(text, upper, i)
		}
		if i = min(nextLower, nextUpper); i > last {
			return -1
		}
		if foldEqual(text[i:i+len(word)], word) {
			return i
		}
	}
	return -1
}

// next is the first place of c from i on; the end where there is none.
func next(text []byte, c byte, i int) int {
	if at := bytes.IndexByte(text[i:], c); at >= 0 {
		return i + at
	}
	return len(text)
}

func foldEqual(b, word []byte) bool {
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			c += 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

// SetFilter chooses other lines; nil: all. Lines are searched anew by Step.
func (s *Store) SetFilter(f *Filter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.filter, s.read = f, s.first()
	s.tell()
}

// Step searches some lines that were not searched yet, and reports whether all are. It holds the store while it searches at most
// one block.
func (s *Store) Step() (done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read = max(s.read, s.first())
	b, i := s.find(s.read)
	if b == nil {
		return true
	}
	if i == 0 {
		b.matched, b.errors = 0, 0
	}
	for ; i < len(b.lines); i++ {
		x := &b.lines[i]
		x.flags &= isStderr
		text := b.text[x.from : x.from+x.n]
		if backend.LogError(text) {
			x.flags |= isError
			b.errors++
		}
		if s.filter != nil && s.matches(text) {
			x.flags |= isMatch
			b.matched++
		}
	}
	s.read = b.first + uint64(i)
	return s.read >= s.next
}

// matches reports whether the filter chooses a line: where names are hidden, by what stands for them.
func (s *Store) matches(text []byte) bool {
	if s.drawnAs != nil {
		return s.filter.Matches([]byte(s.drawnAs(s.cleaner.Mask(string(text)))))
	}
	return s.filter.Matches(text) && s.shown(text)
}

// shown reports whether a line matches also as it is drawn: what is masked is not found.
func (s *Store) shown(text []byte) bool {
	raw := string(text)
	if drawn := s.cleaner.Mask(raw); drawn != raw {
		return s.filter.Matches([]byte(drawn))
	}
	return true
}
