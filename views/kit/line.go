// Package kit holds widgets: lines and blocks of an exact size, a windowed table, text layout, dialogs. Widgets know
// themes and nothing of what they show.
package kit

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"sandglass/views/theme"
)

// Width is the number of cells a text takes.
func Width(s string) int {
	n := 0
	for _, r := range s {
		if narrow := r >= ' ' && r <= '~' || r >= '‐' && r <= '‧' || r >= '─' && r <= '╿'; !narrow {
			return ansi.StringWidth(s)
		}
		n++
	}
	return n
}

// Cut shortens a text to w cells; an ellipsis marks the cut. A word is left out rather than torn apart, unless that would
// leave much of the room unused.
func Cut(s string, w int) string {
	switch {
	case w <= 0:
		return ""
	case Width(s) <= w:
		return s
	}
	torn := strings.TrimSuffix(ansi.Truncate(s, w, "…"), "…")
	if len(torn) < len(s) && s[len(torn)] == ' ' {
		return torn + "…" // the next word would have begun here
	}
	if at := strings.LastIndexByte(torn, ' '); at > 0 && Width(torn[at:]) <= w/5 {
		return strings.TrimRight(torn[:at], " ,;:") + " …"
	}
	return torn + "…"
}

// CutMiddle shortens a foreign text to w cells in its middle, at words where it can: what tells it apart is at its beginning and
// its end. A bracket that the cut opens or closes gets its other half.
func CutMiddle(s string, w int) string {
	n := Width(s)
	if n <= w || w < 8 {
		return Cut(s, w)
	}
	if at := strings.LastIndex(s, " ("); at >= w/2 && strings.HasSuffix(s, ")") { // mostly ids of one request
		return CutMiddle(s[:at], w)
	}
	const brackets = 1 // kept free for one
	head := ansi.Truncate(s, (w-1)*3/5, "")
	if at := strings.LastIndexByte(head, ' ') + 1; at > len(head)/2 && strings.Contains(head[at:], "/") { // of a path the end tells more
		head = head[:at]
	}
	tail := ansi.TruncateLeft(s, n-(w-Width(head)-1-brackets), "")
	if at := strings.IndexAny(tail, " /"); at >= 0 && at < len(tail)/2 {
		tail = strings.TrimLeft(tail[at:], " ")
	}
	open := func(s string) int { return strings.Count(s, "(") - strings.Count(s, ")") }
	switch {
	case open(head) > 0 && open(tail) >= 0:
		return head + "…)" + tail
	case open(tail) < 0 && open(head) <= 0:
		return head + "(…" + tail
	}
	return head + "…" + tail
}

// CutLeft shortens a text to w cells from its beginning, which an ellipsis marks.
func CutLeft(s string, w int) string {
	n := Width(s)
	switch {
	case w <= 0:
		return ""
	case n <= w:
		return s
	}
	return ansi.TruncateLeft(s, n-w+1, "…")
}

// Line draws one line of exactly width cells. It cuts text that does not fit. String fills the rest with spaces.
type Line struct {
	theme    *theme.Theme
	width    int
	used     int
	onCursor bool
	open     string // rendition in force
	b        strings.Builder
}

// NewLine begins a line.
func NewLine(t *theme.Theme, width int) *Line {
	l := &Line{theme: t, width: max(width, 0)}
	l.b.Grow(width + 64)
	return l
}

// OnCursor makes the line the one under the cursor; call it first.
func (l *Line) OnCursor() *Line { l.onCursor = true; return l }

// Left is the number of cells that are still free.
func (l *Line) Left() int { return l.width - l.used }

// Put appends text.
func (l *Line) Put(tone theme.Tone, s string) *Line { return l.Typed(tone, l.theme.Shown(s)) }

// Typed appends text as it is, also where the theme shows names otherwise: what the viewer types.
func (l *Line) Typed(tone theme.Tone, s string) *Line {
	if s == "" || l.used >= l.width {
		return l
	}
	w := Width(s)
	if w > l.width-l.used {
		s = Cut(s, l.width-l.used)
		w = Width(s)
	}
	l.rendition(tone)
	l.b.WriteString(l.theme.Fit(s))
	l.used += w
	return l
}

// Gap appends spaces.
func (l *Line) Gap(n int) *Line {
	n = min(n, l.width-l.used)
	if n <= 0 {
		return l
	}
	l.rendition(theme.Normal)
	for range n {
		l.b.WriteByte(' ')
	}
	l.used += n
	return l
}

// PadTo fills up to column x.
func (l *Line) PadTo(x int) *Line { return l.Gap(x - l.used) }

// Cell appends text in a field of w cells.
func (l *Line) Cell(tone theme.Tone, s string, w int, right bool) *Line {
	s = Cut(l.theme.Shown(s), w)
	pad := w - Width(s)
	if right {
		l.Gap(pad)
	}
	l.Put(tone, s)
	if !right {
		l.Gap(pad)
	}
	return l
}

// End puts text at the right end, if it fits there with one cell before it.
func (l *Line) End(tone theme.Tone, s string) *Line {
	s = l.theme.Shown(s)
	if w := Width(s); w <= l.Left()-1 {
		l.PadTo(l.width - w)
		l.Put(tone, s)
	}
	return l
}

// Styled appends text of w cells that brings its own styles, when it fits.
func (l *Line) Styled(s string, w int) *Line {
	if w <= l.Left() {
		l.rendition(theme.Normal)
		l.b.WriteString(s)
		l.used += w
	}
	return l
}

func (l *Line) rendition(tone theme.Tone) {
	open := l.theme.Open(tone, l.onCursor)
	if open == l.open {
		return
	}
	if l.open != "" {
		l.b.WriteString(theme.Reset)
	}
	l.b.WriteString(open)
	l.open = open
}

// String fills the line up and returns it.
func (l *Line) String() string {
	l.Gap(l.Left())
	if l.open != "" {
		l.b.WriteString(theme.Reset)
		l.open = ""
	}
	return l.b.String()
}

// Span is a piece of text in one tone.
type Span struct {
	Tone theme.Tone
	Text string
	// Link is the address that opens with the text; empty: none. See Address.
	Link string
}

// Address is a text as the target of a link: empty where it is no https address.
func Address(s string) string {
	host, https := strings.CutPrefix(s, "https://")
	host, _, _ = strings.Cut(host, "/")
	if !https || host == "" || strings.ContainsRune(host, '@') || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return s
}

// PutSpans appends spans.
func (l *Line) PutSpans(spans ...Span) *Line {
	for _, s := range spans {
		if s.Link == "" || !l.theme.Links() || l.used >= l.width {
			l.Put(s.Tone, s.Text)
			continue
		}
		l.rendition(s.Tone)
		l.b.WriteString(ansi.SetHyperlink(s.Link))
		l.Put(s.Tone, s.Text)
		l.b.WriteString(ansi.ResetHyperlink())
	}
	return l
}
