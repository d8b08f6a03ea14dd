package markdown

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"sandglass/views/kit"
)

// word is what must not be broken: spans without a space in them.
type word struct {
	spans []kit.Span
	width int
	space bool // a space stands before it
	glue  kit.Span
	brk   bool // a line ends before it
}

// words splits spans at spaces; a word may have several tones.
func words(spans []kit.Span) []word {
	var out []word
	cur := word{}
	push := func() {
		if len(cur.spans) > 0 {
			out = append(out, cur)
		}
		cur = word{}
	}
	for _, s := range spans {
		if s.Text == lineBreak {
			push()
			cur.brk = true
			continue
		}
		for i, part := range strings.Split(s.Text, " ") {
			if i > 0 {
				brk := cur.brk && len(cur.spans) == 0
				push()
				cur.space, cur.brk, cur.glue = true, brk, kit.Span{Tone: s.Tone, Text: " "}
			}
			if part != "" {
				cur.spans = append(cur.spans, kit.Span{Tone: s.Tone, Text: part, Link: s.Link})
				cur.width += kit.Width(part)
			}
		}
	}
	push()
	return out
}

// wrap fills lines of at most w cells; a word that is longer is broken where the line ends.
func wrap(spans []kit.Span, w int) [][]kit.Span {
	var lines [][]kit.Span
	var line []kit.Span
	used := 0
	flush := func() {
		lines = append(lines, line)
		line, used = nil, 0
	}
	for _, x := range words(spans) {
		gap := 0
		if x.space && used > 0 {
			gap = 1
		}
		if x.brk || used > 0 && used+gap+x.width > w && (gap > 0 || x.width <= w) {
			if used > 0 || x.brk {
				flush()
			}
			gap = 0
		}
		if gap > 0 {
			line, used = append(line, x.glue), used+1
		}
		for _, s := range x.spans {
			rest := s.Text
			for kit.Width(rest) > w-used {
				head := ansi.Truncate(rest, w-used, "")
				if head == "" && used == 0 {
					head = rest // a character wider than the line: the caller's line cuts it
				}
				if head != "" {
					line = append(line, kit.Span{Tone: s.Tone, Text: head, Link: s.Link})
				}
				flush()
				rest = rest[len(head):]
			}
			if rest != "" {
				line, used = append(line, kit.Span{Tone: s.Tone, Text: rest, Link: s.Link}), used+kit.Width(rest)
			}
		}
	}
	if len(line) > 0 {
		flush()
	}
	return lines
}

// split breaks a text into pieces of at most w cells, wherever that is; an empty text is one empty piece.
func split(s string, w int) []string {
	var out []string
	for kit.Width(s) > w {
		head := ansi.Truncate(s, w, "")
		if head == "" {
			break // a character wider than the line: the caller's line cuts it
		}
		out = append(out, head)
		s = s[len(head):]
	}
	return append(out, s)
}

// flow puts wrapped text.
func (r *writer) flow(in *inset, spans []kit.Span) {
	for _, l := range wrap(spans, in.width) {
		r.put(in, l...)
	}
}
