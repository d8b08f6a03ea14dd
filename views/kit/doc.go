package kit

import (
	"strings"

	"sandglass/views/theme"
)

// Wrap breaks a text into lines of at most w cells, at spaces where it can: never inside an id that fits on a line.
func Wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	var lines []string
	for _, part := range strings.Split(s, "\n") {
		for _, spans := range wrapSpans([]Span{{Text: part}}, w) {
			var b strings.Builder
			for _, span := range spans {
				b.WriteString(span.Text)
			}
			lines = append(lines, strings.TrimRight(b.String(), " "))
		}
	}
	return lines
}

// Doc is a text that is laid out when its width is known: headings, labelled values, paragraphs.
type Doc struct {
	parts []part
	whole bool // lines may be wider than the document
	label int  // widest label of the document
	firm  int  // parts of this rank and above are completed before those below it are begun
	link  int  // of the part that is added next
}

type part struct {
	kind  partKind
	label string
	spans []Span
	link  int // what it leads to, as the writer counts; 0: nothing
	keep  int // rank where the document has to be cut, 0: the first to go
	cut   cutting
	chart *Chart
	plot  func(w int) *Plot
	high  int // lines of the plot
}

type partKind uint8

const (
	partField partKind = iota
	partHead
	partBlank
	partRaw
	partLine
	partChart
	partPlot
)

// MaxLabel is the widest column of labels, in cells: longer ones are cut.
const MaxLabel = 16

// Link says that the next field or line leads somewhere; n is the writer's own number for that, from 1.
func (d *Doc) Link(n int) { d.link = n }

func (d *Doc) add(p part) {
	if p.kind == partField || p.kind == partLine || p.kind == partChart {
		p.link, d.link = d.link, 0
	}
	d.parts = append(d.parts, p)
}

// Keep gives the part added last a rank above 0: where the document has to be cut, parts of a higher rank are drawn
// before those of a lower one.
func (d *Doc) Keep(rank int) {
	if n := len(d.parts); n > 0 {
		d.parts[n-1].keep = rank
	}
}

// Firm completes parts of a rank and above before parts below it are begun, where the document has to be cut.
func (d *Doc) Firm(rank int) { d.firm = rank }

// cutting is how a part may become shorter where the document has to be cut.
type cutting struct {
	sentences bool // sentences at its end go, the first one stays
	middle    int  // foreign text: its middle goes, so that it fits in this many lines
}

// KeepSentences is Keep for our own text: where the document has to be cut, sentences at its end go first.
func (d *Doc) KeepSentences(rank int) {
	d.Keep(rank)
	if n := len(d.parts); n > 0 {
		d.parts[n-1].cut.sentences = true
	}
}

// KeepMiddleCut is Keep for foreign text: where the document has to be cut, this many lines are enough, and what goes is
// the middle of the text.
func (d *Doc) KeepMiddleCut(rank, lines int) {
	d.Keep(rank)
	if n := len(d.parts); n > 0 {
		d.parts[n-1].cut.middle = lines
	}
}

// forms are the ways to draw a part, the shortest first, the whole part last.
func (d *Doc) forms(t *theme.Theme, w int, p *part) [][]string {
	full := d.drawPart(t, w, p, false)
	var out [][]string
	last := len(p.spans) - 1
	shorter := func(text string) {
		q := *p
		q.spans = append(p.spans[:last:last], Span{Tone: p.spans[last].Tone, Text: text, Link: p.spans[last].Link})
		lines := d.drawPart(t, w, &q, false)
		switch n := len(out); {
		case len(lines) >= len(full):
		case n > 0 && len(lines) == len(out[n-1]): // one more sentence in the same room
			out[n-1] = lines
		default:
			out = append(out, lines)
		}
	}
	switch {
	case last < 0:
	case p.cut.sentences:
		for text, rest := "", p.spans[last].Text; rest != ""; {
			var head string
			head, rest = firstSentence(rest)
			text += head
			shorter(strings.TrimRight(text, " \n"))
		}
	case p.cut.middle > 0 && len(full) > p.cut.middle:
		room := p.cut.middle*(w-d.indent(w)-1) - spansWidth(p.spans[:last])
		for ; room > 0 && len(out) == 0; room -= 4 { // words that do not fit a line leave it early
			q := *p
			q.spans = append(p.spans[:last:last], Span{Tone: p.spans[last].Tone, Text: CutMiddle(p.spans[last].Text, room), Link: p.spans[last].Link})
			if lines := d.drawPart(t, w, &q, false); len(lines) <= p.cut.middle {
				out = append(out, lines)
			}
		}
	}
	return append(out, full)
}

// firstSentence divides a text behind its first sentence, or behind its first line.
func firstSentence(s string) (first, rest string) {
	for at := 0; ; {
		i := strings.Index(s[at:], ". ")
		if end := strings.IndexByte(s[at:], '\n'); end >= 0 && (i < 0 || end < i) {
			return s[:at+end+1], s[at+end+1:]
		}
		if i < 0 {
			return s, ""
		}
		if at += i + 2; at < len(s) && (s[at] < 'a' || s[at] > 'z') { // what goes on in lower case was an abbreviation
			return s[:at], s[at:]
		}
	}
}

// Fit is Layout in at most h lines. Where that is too few, parts of the lowest rank go first and among equals the later
// ones; the order of what stays does not change. A part stays whole, or in a shorter form, or goes. more is how many lines
// were left out.
func (d *Doc) Fit(t *theme.Theme, w, h int) (lines []string, more int) {
	d = d.shown(t)
	forms, give := make([][][]string, len(d.parts)), make([]int, len(d.parts))
	total, top, left := 0, 0, max(h, 0)
	for i := range d.parts {
		forms[i], give[i] = d.forms(t, w, &d.parts[i]), -1
		total, top = total+len(forms[i][len(forms[i])-1]), max(top, d.parts[i].keep)
	}
	if total <= left {
		for _, f := range forms {
			lines = append(lines, f[len(f)-1]...)
		}
		return lines, 0
	}
	complete := func(least int) { // what is left completes what was shortened
		for rank := top; rank >= least; rank-- {
			for i := range d.parts {
				for give[i] >= 0 && d.parts[i].keep == rank && give[i]+1 < len(forms[i]) && len(forms[i][give[i]+1])-len(forms[i][give[i]]) <= left {
					left -= len(forms[i][give[i]+1]) - len(forms[i][give[i]])
					give[i]++
				}
			}
		}
	}
	for rank := top; rank >= 0; rank-- {
		for i := range d.parts {
			if d.parts[i].keep != rank {
				continue
			}
			if len(forms[i][0]) > left {
				break // a later step without the one before it misleads
			}
			give[i] = 0
			left -= len(forms[i][0])
		}
		if rank == d.firm && rank > 0 {
			complete(rank)
		}
	}
	complete(0)
	for i := range d.parts {
		if give[i] >= 0 {
			lines = append(lines, forms[i][give[i]]...)
		}
	}
	return lines, total - len(lines)
}

// Head begins a section.
func (d *Doc) Head(title string) {
	if len(d.parts) > 0 {
		d.parts = append(d.parts, part{kind: partBlank})
	}
	d.parts = append(d.parts, part{kind: partHead, spans: []Span{{Tone: theme.Strong, Text: title}}})
}

// Under writes a heading and what comes under it; neither where that is nothing.
func (d *Doc) Under(title string, write func()) {
	before := len(d.parts)
	d.Head(title)
	begun := len(d.parts)
	if write(); len(d.parts) == begun {
		d.parts = d.parts[:before]
	}
}

// Blank adds an empty line.
func (d *Doc) Blank() { d.parts = append(d.parts, part{kind: partBlank}) }

// Field adds a labelled value; an empty label continues the field above in a line of its own. A value may have line ends, and
// words that Joined keeps together.
func (d *Doc) Field(label string, spans ...Span) {
	d.label = max(d.label, min(Width(label), MaxLabel))
	d.add(part{kind: partField, label: label, spans: spans})
}

// Line adds a line that is cut, not wrapped.
func (d *Doc) Line(spans ...Span) { d.add(part{kind: partLine, spans: spans}) }

// Raw adds text as a backend gave it, behind a bar; line ends in it (drawn as ␊) break the line.
func (d *Doc) Raw(text string) {
	for _, l := range strings.Split(text, "␊") {
		d.parts = append(d.parts, part{kind: partRaw, spans: []Span{{Tone: theme.Normal, Text: l}}})
	}
}

// Plot adds a chart of h lines; of makes it for as many cells as there are.
func (d *Doc) Plot(h int, of func(w int) *Plot) {
	d.parts = append(d.parts, part{kind: partPlot, plot: of, high: h})
}

// Len is the number of parts.
func (d *Doc) Len() int { return len(d.parts) }

// Layout returns the document's lines, each exactly w cells wide.
func (d *Doc) Layout(t *theme.Theme, w int) []string {
	lines, _ := d.LayoutOn(t, w, 0)
	return lines
}

// Print is Layout for a command's output: nothing is cut, so that a line of Line may be wider than w.
func (d *Doc) Print(t *theme.Theme, w int) []string {
	whole := *d
	whole.whole = true
	return whole.Layout(t, w)
}

// LayoutOn is Layout with the part that has the link n under the cursor; at is the line where that begins, -1 when no
// part has that link.
func (d *Doc) LayoutOn(t *theme.Theme, w, n int) (lines []string, at int) {
	d = d.shown(t)
	at = -1
	for i := range d.parts {
		p := &d.parts[i]
		on := n > 0 && p.link == n
		if on {
			at = len(lines)
		}
		lines = append(lines, d.drawPart(t, w, p, on)...)
	}
	return lines, at
}

// indent is the column where the values of fields begin.
func (d *Doc) indent(w int) int {
	if d.label == 0 || w < 3*d.label {
		return 1
	}
	return 1 + d.label + 2
}

// drawPart draws one part.
func (d *Doc) drawPart(t *theme.Theme, w int, p *part, onCursor bool) (lines []string) {
	indent := d.indent(w)
	begin := func(spans []Span) *Line {
		n := w
		if d.whole {
			n = max(w, indent+spansWidth(spans)+1)
		}
		l := NewLine(t, n)
		if onCursor {
			return l.OnCursor().Put(theme.Accent, "›")
		}
		return l.Gap(1)
	}
	if p.kind == partChart {
		drawn := *p
		drawn.kind, drawn.spans = partField, p.chart.spans(t, w-indent-1)
		p = &drawn
	}
	switch p.kind {
	case partPlot:
		lines = append(lines, p.plot(w).Lines(t, w, p.high)...)
	case partBlank:
		lines = append(lines, NewLine(t, w).String())
	case partHead, partLine:
		lines = append(lines, begin(p.spans).PutSpans(p.spans...).String())
	case partRaw:
		for _, l := range Wrap(p.spans[0].Text, w-4) {
			lines = append(lines, NewLine(t, w).Gap(1).Put(theme.Dim, "│ ").Put(theme.Normal, l).String())
		}
	case partField:
		for i, spans := range wrapSpans(p.spans, w-indent-1) {
			l := begin(spans)
			if i == 0 && indent > 1 {
				l.Put(theme.Dim, Cut(p.label, MaxLabel))
			} else if i == 0 && p.label != "" {
				l.Put(theme.Dim, p.label+" ")
			}
			lines = append(lines, l.PadTo(indent).PutSpans(spans...).String())
		}
	}
	return lines
}

func spansWidth(spans []Span) int {
	n := 0
	for _, s := range spans {
		n += Width(s.Text)
	}
	return n
}

// Append adds another document's parts.
func (d *Doc) Append(o *Doc) {
	d.label = max(d.label, o.label)
	d.parts = append(d.parts, o.parts...)
}
