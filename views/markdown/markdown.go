// Package markdown lays out Markdown as lines for a screen: the runbook's pages, and what operators add to them. Text
// is cleaned wherever it comes from; nothing of a document is hidden, raw HTML is drawn as it is written.
package markdown

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"

	"sandglass/views/kit"
	"sandglass/views/theme"
)

const (
	// maxSource bounds a document in bytes; more is cut, and said. Parsing takes quadratic time when nesting is the
	// only content: this much takes a third of a second at worst.
	maxSource = 32 << 10
	// maxDepth bounds nesting: beyond it lists and quotes are drawn without further indent.
	maxDepth = 8
	// minWidth is the least width that text gets, whatever stands left of it.
	minWidth = 12
)

// Render returns the document's lines, each exactly w cells wide with a margin of one.
func Render(t *theme.Theme, source string, w int) []string {
	lines := layout(source, w-2, false)
	out := make([]string, 0, len(lines))
	for _, l := range lines {
		out = append(out, kit.NewLine(t, w).Gap(1).PutSpans(l...).String())
	}
	return out
}

// Plain returns the document as text without any control sequence, in lines of at most w cells that end in a line
// feed. What tones say on a screen is said by marks: backquotes around code, asterisks around what is emphasised.
func Plain(source string, w int) string {
	var b strings.Builder
	for _, l := range layout(source, w, true) {
		line := ""
		for _, s := range l {
			line += s.Text
		}
		b.WriteString(strings.TrimRight(line, " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// writer collects lines.
type writer struct {
	src   []byte
	marks bool // write marks instead of relying on tones
	lines [][]kit.Span
}

// inset is what stands left of a block: first before its first line, rest before the others.
type inset struct {
	first, rest []kit.Span
	width       int // of what is left for text
	depth       int
}

func layout(source string, w int, marks bool) [][]kit.Span {
	cut := false
	if len(source) > maxSource {
		source, cut = strings.ToValidUTF8(source[:maxSource], ""), true
	}
	r := &writer{src: []byte(source), marks: marks}
	doc := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader(r.src))
	r.document(doc, max(w, minWidth))
	if cut {
		r.blank()
		r.flow(&inset{width: max(w, minWidth)}, []kit.Span{{Tone: theme.Warn, Text: "cut here: the text is longer than 32 KiB"}})
	}
	return r.lines
}

// document draws headings of the first two levels at the margin and everything else two cells in, so that sections can
// be told without colours.
func (r *writer) document(doc ast.Node, w int) {
	margin := &inset{width: w}
	pad := []kit.Span{{Tone: theme.Normal, Text: "  "}}
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level <= 2 {
			r.heading(h, margin)
			continue
		}
		r.gap(n)
		r.block(n, &inset{first: pad, rest: pad, width: max(w-2, minWidth)})
	}
}

// gap puts an empty line before a block, unless there is nothing above it, its heading, or a list that belongs to the
// paragraph above.
func (r *writer) gap(n ast.Node) {
	prev := n.PreviousSibling()
	if h, ok := prev.(*ast.Heading); ok && h.Level >= 2 || prev == nil {
		return
	}
	r.blank()
}

func (r *writer) blank() {
	if len(r.lines) > 0 && len(r.lines[len(r.lines)-1]) > 0 {
		r.lines = append(r.lines, nil)
	}
}

// take returns the prefix for the next line.
func (in *inset) take() []kit.Span {
	p := in.first
	in.first = in.rest
	return p
}

// deeper makes room for a prefix inside.
func (in *inset) deeper(first, rest kit.Span) *inset {
	d := &inset{width: in.width, depth: in.depth + 1}
	if w := kit.Width(first.Text); d.depth <= maxDepth && in.width-w >= minWidth {
		d.width -= w
		d.first = append(append(d.first, in.take()...), first)
		d.rest = append(append(d.rest, in.rest...), rest)
		return d
	}
	d.first, d.rest = in.take(), in.rest
	return d
}

func (r *writer) put(in *inset, spans ...kit.Span) {
	line := append([]kit.Span{}, in.take()...)
	r.lines = append(r.lines, append(line, spans...))
}

func (r *writer) blocks(parent ast.Node, in *inset, tight bool) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if n.PreviousSibling() != nil && !tight {
			r.spacer(in)
		}
		r.block(n, in)
	}
}

// spacer is an empty line inside a block; a quote's bar goes on.
func (r *writer) spacer(in *inset) {
	for _, s := range in.rest {
		if strings.TrimSpace(s.Text) != "" {
			r.put(&inset{first: in.rest})
			return
		}
	}
	r.blank()
}

func (r *writer) block(n ast.Node, in *inset) {
	switch n := n.(type) {
	case *ast.Heading:
		r.heading(n, in)
	case *ast.List:
		r.list(n, in)
	case *ast.Blockquote:
		bar := kit.Span{Tone: theme.Dim, Text: "│ "}
		r.blocks(n, in.deeper(bar, bar), false)
	case *ast.ThematicBreak:
		r.put(in, kit.Span{Tone: theme.Dim, Text: strings.Repeat("─", in.width)})
	case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.HTMLBlock:
		r.verbatim(n, in)
	default:
		if n.Kind() == extast.KindTable {
			r.table(n, in)
			return
		}
		r.flow(in, r.inline(n, theme.Normal))
	}
}

// heading draws a title with a rule below it, a section's name, or a smaller one.
func (r *writer) heading(n *ast.Heading, in *inset) {
	lines := wrap(r.inline(n, theme.Strong), in.width)
	if len(lines) == 0 {
		return
	}
	r.blank()
	widest := 0
	for _, l := range lines {
		w := 0
		for _, s := range l {
			w += kit.Width(s.Text)
		}
		widest = max(widest, w)
		r.put(in, l...)
	}
	if n.Level == 1 {
		r.put(in, kit.Span{Tone: theme.Dim, Text: strings.Repeat("─", min(widest, in.width))})
		r.blank()
	}
}

func (r *writer) list(n *ast.List, in *inset) {
	number := n.Start
	for item := n.FirstChild(); item != nil; item = item.NextSibling() {
		if item.PreviousSibling() != nil && !n.IsTight {
			r.spacer(in)
		}
		mark := "- "
		if n.IsOrdered() {
			mark = strconv.Itoa(number) + ". "
			number++
		}
		inner := in.deeper(kit.Span{Tone: theme.Dim, Text: mark}, kit.Span{Tone: theme.Normal, Text: strings.Repeat(" ", len(mark))})
		if item.FirstChild() == nil {
			r.put(inner)
		}
		r.blocks(item, inner, n.IsTight)
	}
}

// verbatim draws code and raw HTML line by line; long lines are broken where the width ends.
func (r *writer) verbatim(n ast.Node, in *inset) {
	bar := kit.Span{Tone: theme.Dim, Text: "│ "}
	in = in.deeper(bar, bar)
	segments := n.Lines()
	for i := range segments.Len() {
		s := segments.At(i)
		line := strings.TrimRight(strings.ReplaceAll(string(s.Value(r.src)), "\t", "    "), "\r\n")
		r.verbatimLine(in, line)
	}
	if h, ok := n.(*ast.HTMLBlock); ok && h.HasClosure() {
		r.verbatimLine(in, strings.TrimRight(string(h.ClosureLine.Value(r.src)), "\r\n"))
	}
	if segments.Len() == 0 {
		r.put(in)
	}
}

func (r *writer) verbatimLine(in *inset, line string) {
	for _, part := range split(clean(line), in.width) {
		r.put(in, kit.Span{Tone: theme.Normal, Text: part})
	}
}
