package logview

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/logstream"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

const (
	timeWidth = 13  // 15:04:05.000 and a space
	mostNotes = 4   // lines about logs that are not read
	nameWidth = 14  // of a log, before its lines where there are several
	namedFrom = 101 // cells: in a narrower view a letter stands for each log
	keyWidth  = 2   // such a letter and a space
)

// Render draws exactly w×h cells.
func (v *View) Render(w, h int, f *views.Frame) kit.Block {
	c := v.store.Counts()
	head := v.head(w, h, f.Theme, &c)
	v.height = max(h-len(head), 0)
	return kit.NewBlock(w, h, append(head, v.lines(w, v.height, f.Theme, &c)...))
}

// head is the title, what is wrong with the logs, and the rule with the numbers.
func (v *View) head(w, h int, t *theme.Theme, c *Counts) []string {
	names := make([]string, len(v.names))
	for i, n := range v.names {
		names[i] = n.String()
	}
	var key []string
	if v.keyed(w) {
		key, names = v.key(w, h, t), nil
	}
	mode := "following"
	if !v.follow {
		mode = "stopped: G follows"
	}
	if v.zone != nil && v.times {
		mode = "times " + v.inZone(c.Newest).Format("MST") + "  " + mode
	}
	l := kit.NewLine(t, w).Put(theme.Accent, " "+v.title).Gap(3)
	l.Put(theme.Dim, kit.Cut(strings.Join(names, ", "), max(l.Left()-kit.Width(mode)-3, 0)))
	out := append([]string{l.End(theme.Strong, mode+" ").String()}, key...)
	var notes []string
	for i, s := range c.Logs {
		if note := noteOf(s); note != "" {
			notes = append(notes, v.names[i].String()+": "+note)
		}
	}
	for _, s := range v.lacks {
		notes = append(notes, s.String())
	}
	if more := len(notes) - mostNotes; more > 0 {
		notes = append(notes[:mostNotes-1], fmt.Sprintf("%d more logs are not read", more+1))
	}
	for _, n := range notes {
		for _, part := range kit.Wrap(n, w-2) {
			out = append(out, kit.NewLine(t, w).Gap(1).Put(theme.Warn, part).String())
		}
	}
	return append(out, kit.RuleWith(t, w, theme.Strong, v.numbers(w, c)))
}

// noteOf says why a log is not read now, and what comes next; empty: it is.
func noteOf(s logstream.State) string {
	next := "; it is not opened again: esc and l try it"
	if s.Again > 0 {
		next = "; it is opened again in " + s.Again.Round(time.Second).String()
	}
	switch {
	case s.Err != nil:
		return backend.Clean(s.Err.Error(), 300).String() + next
	case s.Ended && s.Again > 0:
		return "it ended, so what wrote it has stopped" + next
	}
	return ""
}

// numbers are those of the rule, the most telling first where it is narrow.
func (v *View) numbers(w int, c *Counts) string {
	var parts []string
	if v.filter != nil {
		parts = append(parts, fmt.Sprintf("/%s %s of %s", kit.Cut(v.filter.Text, 24), kit.Number(c.Matched), kit.Count(c.Kept(), "line", "lines")))
		if v.all {
			parts[0] += " (all shown)"
		}
	} else {
		parts = append(parts, kit.Count(c.Kept(), "line", "lines"))
	}
	if c.Dropped > 0 {
		parts = append(parts, kit.Number(int64(c.Dropped))+" older dropped")
	}
	if v.lag >= showLag {
		parts = append(parts, v.lag.Round(time.Second).String()+" behind")
	}
	if c.Errors > 0 {
		parts = append(parts, kit.Count(c.Errors, "error", "errors"))
	}
	if c.Unread > 0 {
		parts = append(parts, kit.Number(int64(c.Unread))+" not searched yet")
	}
	parts = append(parts, backend.Bytes(int64(c.Bytes))+" read")
	for len(parts) > 1 && kit.Width(strings.Join(parts, "  "))+6 > w {
		parts = parts[:len(parts)-1]
	}
	return strings.Join(parts, "  ")
}

// showLag is from when on it is said how far the lines are behind.
const showLag = 2 * time.Second

// lines draws those in sight.
func (v *View) lines(w, h int, t *theme.Theme, c *Counts) []string {
	if h <= 0 {
		return nil
	}
	if c.Matched == 0 && v.kind() == Matching || c.Kept() == 0 {
		return []string{kit.NewLine(t, w).Gap(1).Put(theme.Dim, v.empty(c)).String()}
	}
	cursor, _ := v.Line()
	var out []string
	if !v.follow {
		v.top = min(v.top, cursor.N)
		var reached bool
		if out, reached = v.down(v.top, cursor.N, w, h, t); reached {
			return out
		}
	}
	out, v.top = v.upFrom(cursor, w, h, t)
	if !v.follow && len(out) < h { // the beginning is in sight
		out, _ = v.down(v.top, cursor.N, w, h, t)
	}
	return out
}

// empty says why there is no line.
func (v *View) empty(c *Counts) string {
	live := slices.ContainsFunc(c.Logs, func(s logstream.State) bool { return s.Live })
	switch {
	case c.Kept() > 0 && c.Unread > 0:
		return "searching…"
	case c.Kept() > 0:
		return "no line that was read matches the filter: / changes it, h shows all lines"
	case len(v.names) == 0:
		return "there is no log to read"
	case live && v.named:
		return "no line that was read names it"
	case live:
		return "nothing was written yet"
	}
	return "reading…"
}

// down draws lines from one on; whole says that the line with the cursor is among them, with all its rows.
func (v *View) down(from, cursor uint64, w, h int, t *theme.Theme) (out []string, whole bool) {
	for n := from; len(out) < h; {
		l, ok := v.store.Seek(n, false, v.kind())
		if !ok {
			break
		}
		drawn := v.draw(&l, cursor, w, h, t)
		if out = append(out, drawn...); l.N == cursor {
			whole = len(out) <= h
		}
		n = l.N + 1
	}
	return out[:min(len(out), h)], whole
}

// upFrom draws the lines that end with one, and returns the first that is whole.
func (v *View) upFrom(last Line, w, h int, t *theme.Theme) (out []string, top uint64) {
	for l, ok := last, true; ok && len(out) < h; l, ok = v.store.Seek(l.N-1, true, v.kind()) {
		drawn := v.draw(&l, last.N, w, h, t)
		if over := len(drawn) + len(out) - h; over > 0 {
			drawn = drawn[over:]
			if top == 0 {
				top = l.N
			}
		} else {
			top = l.N
		}
		out = append(drawn, out...)
	}
	return out, top
}

// draw is one line as rows of w cells, at most h.
func (v *View) draw(l *Line, cursor uint64, w, h int, t *theme.Theme) []string {
	prefix := 2
	if v.times {
		prefix += timeWidth
	}
	named := len(v.names) > 1 && !v.keyed(w)
	switch {
	case named:
		prefix += nameWidth + 1
	case v.keyed(w):
		prefix += keyWidth
	}
	on := l.N == cursor && !v.follow
	var out []string
	for i, row := range v.body(l, max(w-prefix, 1), h) {
		line := kit.NewLine(t, w)
		if on && i == 0 {
			line.OnCursor()
		}
		switch {
		case i > 0:
			line.Gap(prefix)
		default:
			v.prefix(line, l, on, named, t)
			if v.keyed(w) {
				line.Put(theme.Dim, letterOf(l.Log)+" ")
			}
		}
		for _, p := range row {
			line.Put(p.tone, p.text)
		}
		out = append(out, line.String())
	}
	return out
}

func (v *View) prefix(line *kit.Line, l *Line, on, named bool, t *theme.Theme) {
	mark := " "
	if l.Error {
		mark = t.Mark(theme.MarkBad)
	}
	if on {
		line.Put(theme.Accent, "›")
	} else {
		line.Gap(1)
	}
	line.Put(theme.Bad, mark)
	if v.times {
		at := ""
		if !l.At.IsZero() {
			at = v.inZone(l.At).Format("15:04:05.000")
		}
		line.Cell(theme.Dim, at, timeWidth, false)
	}
	if named {
		line.Cell(theme.Dim, shortName(v.names[min(l.Log, len(v.names)-1)]), nameWidth, false).Gap(1)
	}
}

func (v *View) inZone(t time.Time) time.Time {
	if v.zone == nil {
		return t.UTC()
	}
	return t.In(v.zone)
}

// shortName is a log's name without the word before it and the folders of its path.
func shortName(name backend.Safe) string {
	s := strings.TrimPrefix(name.String(), "container ")
	return s[strings.LastIndexByte(s, '/')+1:]
}
