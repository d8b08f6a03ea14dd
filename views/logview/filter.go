package logview

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"sandglass/backend"
)

// Filter chooses lines by the words of its text: all must be in a line, those after a ! must not. After a ~ comes a regular expression,
// with its spaces, up to the next word that begins with ~ or !. A text without capitals matches both cases.
type Filter struct {
	Text  string
	parts []part
}

// part is a word of a filter, or an expression.
type part struct {
	term
	not      bool
	match    *regexp.Regexp // nil: a word
	literals []literal      // of match
	fields   bool           // it may be in what is drawn from the fields of a line
	names    []term         // what such a line holds then
}

// term is one word.
type term struct {
	word []byte
	fold bool // the word is in lower case and matches both
}

// nextPart is the word or the expression that a text begins with.
var nextPart = regexp.MustCompile(`^(!?~\S*(\s+[^\s!~]\S*)*|\S+)`)

// NewFilter reads a filter; nil without one. An error says where an expression begins that is none, and why.
func NewFilter(text string) (*Filter, error) {
	f := &Filter{Text: strings.TrimSpace(text)}
	fold := !strings.ContainsFunc(f.Text, unicode.IsUpper)
	for rest := f.Text; rest != ""; rest = strings.TrimSpace(rest) {
		word := nextPart.FindString(rest)
		column := utf8.RuneCountInString(f.Text) - utf8.RuneCountInString(rest) + 1
		rest = rest[len(word):]
		p := part{not: word[0] == '!'}
		if p.not {
			word = word[1:]
		}
		word, expr := strings.CutPrefix(word, "~")
		if word = strings.TrimSpace(word); word == "" {
			continue // it is being typed
		}
		p.term = term{[]byte(word), fold}
		if p.fieldsIn(word, expr); expr {
			if fold {
				word = "(?i)" + word
			}
			var err error
			if p.match, err = regexp.Compile(word); err != nil {
				return nil, fmt.Errorf("column %d: no regular expression: %s", column, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
			}
			p.literals = literalsOf(word)
		}
		f.parts = append(f.parts, p)
	}
	if f.parts == nil {
		return nil, nil
	}
	return f, nil
}

// fieldsIn notes whether a word or expression may be in what is drawn from fields, though it is not in their line: name=value, or a
// part of a.b.
func (p *part) fieldsIn(word string, expr bool) {
	name, value, is := strings.Cut(word, "=")
	if p.fields = is; expr {
		return
	}
	all := strings.Split(name, ".")
	if p.fields = is || len(all) > 1; !is {
		all = all[:len(all)-1]
	}
	for i := range all {
		all[i] += `"`
	}
	if value = strings.Trim(value, `"'`); value != "" {
		all = append(all, value)
	}
	for _, held := range all {
		p.names = append(p.names, term{[]byte(held), p.fold})
	}
}

// in reports whether a text holds it.
func (p *part) in(text []byte) bool {
	if p.match == nil {
		return p.holds(text)
	}
	if known, matches := judgeLiterals(p.literals, text); known {
		return matches
	}
	return p.match.Match(text)
}

// inFields reports whether what is drawn of a line holds it: drawn is empty, or was made before.
func (p *part) inFields(text []byte, drawn *[]byte) bool {
	if !p.fields || bytes.IndexByte(text, '{') < 0 {
		return false
	}
	if bytes.IndexByte(text, '\\') < 0 { // what is escaped reads otherwise
		for i := range p.names {
			if !p.names[i].holds(text) {
				return false
			}
		}
	}
	if *drawn == nil {
		*drawn = []byte(backend.Clean(string(text), backend.MaxTextRunes).LogLine(backend.MaxTextRunes).String())
	}
	return p.in(*drawn)
}

// Matches reports whether a line is chosen, by its text or by what is drawn from its fields.
func (f *Filter) Matches(text []byte) bool {
	var drawn []byte
	for i := range f.parts {
		p := &f.parts[i]
		if (p.in(text) || p.inFields(text, &drawn)) == p.not {
			return false
		}
	}
	return true
}

// Spans are the parts of a text that a filter found, as pairs of offsets, in order and apart.
func (f *Filter) Spans(text string) (out [][2]int) {
	if f == nil {
		return nil
	}
	found := make([]bool, len(text))
	mark := func(from, to int) {
		for ; from < to; from++ {
			found[from] = true
		}
	}
	for i := range f.parts {
		switch p, from := &f.parts[i], 0; {
		case p.not:
		case p.match != nil:
			for _, at := range p.match.FindAllStringIndex(text, maxSpans) {
				mark(at[0], at[1])
			}
		default:
			for at := p.find([]byte(text)); at >= 0; at = p.find([]byte(text[from:])) {
				mark(from+at, from+at+len(p.word))
				from += at + len(p.word)
			}
		}
	}
	for i, is := range found {
		if last := len(out) - 1; is && last >= 0 && out[last][1] == i {
			out[last][1]++
		} else if is {
			out = append(out, [2]int{i, i + 1})
		}
	}
	return out
}

// maxSpans is how many places of one expression are marked in a line.
const maxSpans = 200

// holds reports whether a text holds a word.
func (t *term) holds(text []byte) bool { return t.find(text) >= 0 }

// find is where a word is, -1: nowhere.
func (t *term) find(text []byte) int {
	if t.fold && ascii(t.word) {
		return indexFold(text, t.word)
	}
	if t.fold {
		text = bytes.Map(lower, text)
	}
	return bytes.Index(text, t.word)
}

// lower is a letter in lower case where that is as long, so that places in a text stay what they are.
func lower(r rune) rune {
	if l := unicode.ToLower(r); utf8.RuneLen(l) == utf8.RuneLen(r) {
		return l
	}
	return r
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
