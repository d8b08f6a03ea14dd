package markdown

import (
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"

	"sandglass/backend"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// lineBreak is a span that ends a line.
const lineBreak = "\n"

// inline flattens what stands inside a block into spans.
func (r *writer) inline(parent ast.Node, tone theme.Tone) []kit.Span {
	var out []kit.Span
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		out = append(out, r.piece(n, tone)...)
	}
	return out
}

func (r *writer) piece(n ast.Node, tone theme.Tone) []kit.Span {
	switch n := n.(type) {
	case *ast.Text:
		out := []kit.Span{{Tone: tone, Text: clean(literal(string(n.Segment.Value(r.src))))}}
		switch {
		case n.HardLineBreak():
			out = append(out, kit.Span{Text: lineBreak})
		case n.SoftLineBreak():
			out = append(out, kit.Span{Tone: tone, Text: " "})
		}
		return out
	case *ast.String:
		return []kit.Span{{Tone: tone, Text: clean(string(n.Value))}}
	case *ast.CodeSpan:
		return r.marked("`", []kit.Span{{Tone: theme.Strong, Text: r.code(n)}})
	case *ast.Emphasis:
		return r.marked(strings.Repeat("*", n.Level), r.inline(n, theme.Strong))
	case *ast.Link:
		return r.link(r.inline(n, tone), string(n.Destination))
	case *ast.Image:
		return r.link(r.inline(n, tone), string(n.Destination))
	case *ast.AutoLink:
		url := clean(string(n.URL(r.src)))
		return []kit.Span{{Tone: theme.Dim, Text: url, Link: kit.Address(url)}}
	case *ast.RawHTML:
		var b strings.Builder
		for i := range n.Segments.Len() {
			s := n.Segments.At(i)
			b.Write(s.Value(r.src))
		}
		return []kit.Span{{Tone: tone, Text: clean(strings.Join(strings.Fields(b.String()), " "))}}
	}
	return r.inline(n, tone)
}

// marked puts a mark around spans where tones cannot be seen.
func (r *writer) marked(mark string, spans []kit.Span) []kit.Span {
	if !r.marks {
		return spans
	}
	return append(append([]kit.Span{{Text: mark}}, spans...), kit.Span{Text: mark})
}

// code is the text of a code span, in which nothing is an escape; a line end counts as a space.
func (r *writer) code(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(r.src))
		}
	}
	return clean(strings.NewReplacer("\r", "", "\n", " ", "\t", " ").Replace(b.String()))
}

// link is the text and where it leads: a terminal cannot be relied on to show the second.
func (r *writer) link(label []kit.Span, destination string) []kit.Span {
	url := clean(literal(destination))
	text := ""
	for _, s := range label {
		text += s.Text
	}
	switch {
	case strings.TrimSpace(text) == "":
		return []kit.Span{{Tone: theme.Dim, Text: url, Link: kit.Address(url)}}
	case text == url || url == "":
		for i := range label {
			label[i].Link = kit.Address(url)
		}
		return label
	}
	return append(label, kit.Span{Text: " "}, kit.Span{Tone: theme.Dim, Text: "("}, kit.Span{Tone: theme.Dim, Text: url, Link: kit.Address(url)}, kit.Span{Tone: theme.Dim, Text: ")"})
}

// literal resolves what a Markdown text may write in other ways: escaped punctuation and character references.
func literal(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && punctuation(s[i+1]):
			i++
			b.WriteByte(s[i])
		case c == '&':
			end := strings.IndexByte(s[i:], ';')
			if end < 0 || end > 32 {
				b.WriteByte(c)
				continue
			}
			b.WriteString(html.UnescapeString(s[i : i+end+1]))
			i += end
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func punctuation(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

func clean(s string) string { return backend.Clean(s, backend.MaxTextRunes).String() }
