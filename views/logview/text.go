package logview

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"sandglass/backend"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// colourCode is how programs colour their lines (ECMA-48 SGR and erase in line), which says nothing here.
var colourCode = regexp.MustCompile("\x1b\\[[0-9;:]*[mK]")

// Text is a line as it is drawn, copied and saved.
func (s *Store) Text(l *Line, limit int) backend.Safe {
	text := Text(s.cleaner, l.Raw, l.Cut, limit)
	if s.drawnAs != nil {
		text = backend.Clean(s.drawnAs(text.String()), limit)
	}
	return text
}

// Text is a line of a log for people: masked, harmless, at most limit characters. cut is how many bytes of it were not kept.
func Text(cleaner *backend.Cleaner, raw string, cut, limit int) backend.Safe {
	if strings.IndexByte(raw, 0x1b) >= 0 {
		raw = colourCode.ReplaceAllString(raw, "")
	}
	raw = strings.ReplaceAll(raw, "\t", "    ")
	text := cleaner.Clean(raw, limit)
	if cut > 0 {
		return backend.Textf("%s … %s more were not kept", text, backend.Bytes(int64(cut)))
	}
	return text
}

// piece is a part of a row in one tone.
type piece struct {
	tone theme.Tone
	text string
}

// marked cuts a text into what the filter found and the rest.
func marked(text string, tone theme.Tone, f *Filter) []piece {
	var out []piece
	at := 0
	for _, s := range f.Spans(text) {
		if s[0] > at {
			out = append(out, piece{tone, text[at:s[0]]})
		}
		out = append(out, piece{theme.Accent, text[s[0]:s[1]]})
		at = s[1]
	}
	if at < len(text) {
		out = append(out, piece{tone, text[at:]})
	}
	return out
}

// rows breaks pieces into rows of w cells, at most most of them. The last one holds all the rest, which its line cuts.
func rows(all []piece, w, most int) (out [][]piece) {
	var row []piece
	used := 0
	for _, p := range all {
		for p.text != "" {
			head := p.text
			if len(out)+1 < most {
				if head = ansi.Truncate(p.text, w-used, ""); head == "" && used == 0 {
					head = p.text // a character wider than the row
				}
			}
			if head != "" {
				row = append(row, piece{p.tone, head})
				used += kit.Width(head)
				p.text = p.text[len(head):]
			}
			if p.text != "" {
				out, row, used = append(out, row), nil, 0
			}
		}
	}
	return append(out, row)
}

// body is the text of a line as rows of w cells.
func (v *View) body(l *Line, w, most int) [][]piece {
	tone := theme.Normal
	if l.Error {
		tone = theme.Bad
	}
	text := v.store.Text(l, backend.MaxTextRunes)
	if v.open[l.N] {
		if before, fields := text.LogFields(); len(fields) > 0 {
			return unfolded(before, fields, tone, v.filter, w, most)
		}
		return rows(marked(text.String(), tone, v.filter), w, most)
	}
	if !v.raw {
		text = text.LogLine(backend.MaxTextRunes)
		if v.times {
			text = timeOnce(text, l.At, v.local)
		}
	}
	if !v.wrap {
		most = 1
	}
	return rows(marked(text.String(), tone, v.filter), w, most)
}

// timeOnce is a text without the time that it begins with, where that is the one which is shown before it: within a second, because
// an engine notes later than its program. Without a zone it is UTC's or the viewer's.
func timeOnce(text backend.Safe, shown time.Time, local *time.Location) backend.Safe {
	for _, zone := range [...]*time.Location{time.UTC, local} {
		if zone == nil {
			break
		}
		if at, rest, ok := text.LeadingTime(zone); ok && shown.Sub(at).Abs() < time.Second {
			return rest
		}
	}
	return text
}

// unfolded has a row for each field, names in one column.
func unfolded(before backend.Safe, fields []backend.Field, tone theme.Tone, f *Filter, w, most int) (out [][]piece) {
	if !before.IsEmpty() {
		out = append(out, rows(marked(before.String(), tone, f), w, most)...)
	}
	wide := 0
	for _, x := range fields {
		wide = max(wide, min(kit.Width(x.Name.String()), w/3))
	}
	for _, x := range fields {
		name := kit.Cut(x.Name.String(), wide)
		head := piece{theme.Dim, name + strings.Repeat(" ", wide-kit.Width(name)+1)}
		for i, row := range rows(marked(x.Value.String(), tone, f), max(w-wide-1, 1), most) {
			if i > 0 {
				head.text = strings.Repeat(" ", wide+1)
			}
			out = append(out, append([]piece{head}, row...))
		}
	}
	return limited(out, most)
}

// limited is the rows that fit, and how many do not.
func limited(all [][]piece, most int) [][]piece {
	if len(all) <= most || most < 2 {
		return all[:min(len(all), max(most, 1))]
	}
	return append(all[:most-1], []piece{{theme.Dim, fmt.Sprintf("… %s more: y copies the line", kit.Count(len(all)-most+1, "row", "rows"))}})
}
