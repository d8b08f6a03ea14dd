package kit

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// joint stands for a space at which a line is not broken as long as what it joins fits on one.
const joint = "\u00a0"

// Joined makes the words of a text one for Wrap and Doc: a command that is copied from one line is whole.
func Joined(s string) string { return strings.ReplaceAll(s, " ", joint) }

// wrapSpans breaks spans into lines of at most w cells, at spaces where it can, keeping tones.
func wrapSpans(spans []Span, w int) [][]Span {
	plain := func(s Span) bool { return !strings.ContainsAny(s.Text, "\n"+joint) }
	if w < 2 || spansWidth(spans) <= w && !slices.ContainsFunc(spans, func(s Span) bool { return !plain(s) }) {
		return [][]Span{spans}
	}
	f := lineWrapper{width: w}
	for _, word := range splitWords(spans) {
		f.add(word)
		if word.ends {
			f.next()
		}
	}
	if len(f.line) > 0 {
		f.lines = append(f.lines, f.line)
	}
	return f.lines
}

// word is what must not be torn apart, with the spaces before it. Its pieces can have several tones.
type word struct {
	gap    int
	pieces []Span
	ends   bool // the line ends behind it
}

func splitWords(spans []Span) []word {
	var words []word
	var cur word
	for _, s := range spans {
		for rest := s.Text; rest != ""; {
			n := len(rest) - len(strings.TrimLeft(rest, " "))
			if n > 0 {
				if len(cur.pieces) > 0 {
					words, cur = append(words, cur), word{}
				}
				cur.gap += n
				rest = rest[n:]
				continue
			}
			if rest[0] == '\n' {
				cur.ends, rest = true, rest[1:]
				words, cur = append(words, cur), word{}
				continue
			}
			end := strings.IndexAny(rest, " \n")
			if end < 0 {
				end = len(rest)
			}
			cur.pieces = append(cur.pieces, Span{Tone: s.Tone, Text: rest[:end], Link: s.Link})
			rest = rest[end:]
		}
	}
	if len(cur.pieces) > 0 {
		words = append(words, cur)
	}
	return words
}

type lineWrapper struct {
	width, used int
	line        []Span
	lines       [][]Span
}

func (f *lineWrapper) add(w word) {
	n := spansWidth(w.pieces)
	if n > f.width && len(w.pieces) == 1 && strings.Contains(w.pieces[0].Text, joint) { // no line has room for it: it has lines of its own
		if f.used > 0 {
			f.next()
		}
		for _, part := range strings.Split(w.pieces[0].Text, joint) {
			f.add(word{gap: w.gap, pieces: []Span{{Tone: w.pieces[0].Tone, Text: part, Link: w.pieces[0].Link}}})
			w.gap = 1
		}
		return
	}
	if len(f.lines) > 0 && f.used == 0 {
		w.gap = 0 // no indent on lines that continue
	}
	if f.used > 0 && f.used+w.gap+n > f.width {
		f.next()
		w.gap = 0
	}
	if gap := min(w.gap, f.width-f.used); gap > 0 {
		f.put(Span{Text: strings.Repeat(" ", gap)})
	}
	for _, p := range w.pieces {
		for p.Text != "" {
			head := ansi.Truncate(p.Text, f.width-f.used, "")
			switch {
			case head == "" && f.used == 0:
				head = p.Text // wider than a line: the line cuts it
			case head == "":
				f.next()
				continue
			case len(head) < len(p.Text): // it has to be broken: rather behind a hyphen or a slash than anywhere
				if at := strings.LastIndexAny(head, "-/_,:") + 1; at > len(head)/2 {
					head = head[:at]
				}
			}
			f.put(Span{Tone: p.Tone, Text: head, Link: p.Link})
			if p.Text = p.Text[len(head):]; p.Text != "" {
				f.next()
			}
		}
	}
}

func (f *lineWrapper) put(s Span) {
	s.Text = strings.ReplaceAll(s.Text, joint, " ")
	f.line = append(f.line, s)
	f.used += Width(s.Text)
}

func (f *lineWrapper) next() { f.lines, f.line, f.used = append(f.lines, f.line), nil, 0 }
