package text

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/filter"
	"sandglass/views/kit"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// TableOptions say how a table is drawn.
type TableOptions struct {
	Wide   bool // every column
	Width  int  // cells of the terminal; 0: not a terminal, nothing is cut or left out for room
	Colour bool // without it no escape sequence at all is printed
	Theme  *theme.Theme

	Only     func(backend.Key) bool // nil: every row
	Headless bool                   // without the header, and without a word where there is no row
}

// maxColumn bounds the width of a column where there is no terminal: longer cells stand out of it, and none is cut.
const maxColumn = 200

// gap is the number of blanks between columns.
const gap = 2

// Matching calls yield with every row that the filter lets through.
func Matching(l subjects.Listing, ctx *views.Snapshot, f filter.Filter, yield func(subjects.Record) error) error {
	for r := range l.Each(ctx) {
		if f.Match(r) {
			if err := yield(r); err != nil {
				return err
			}
		}
	}
	return nil
}

type tableColumn struct {
	subjects.Head
	index, width int
}

// WriteTable prints the rows that the filter lets through as a table.
func WriteTable(w io.Writer, l subjects.Listing, ctx *views.Snapshot, f filter.Filter, o TableOptions) error {
	var cols []tableColumn
	for i, h := range l.Heads {
		if o.Width > 0 && !o.Wide && h.Needed != nil && !h.Needed(ctx) {
			continue
		}
		if h.Where == subjects.Everywhere || h.Where == subjects.WideOnly || h.Where == subjects.Reports || o.Wide && h.Where == subjects.Extra {
			cols = append(cols, tableColumn{Head: h, index: i, width: kit.Width(h.Title)})
		}
	}
	var rows [][]subjects.Cell
	var muted []bool
	err := Matching(l, ctx, f, func(r subjects.Record) error {
		cells := make([]subjects.Cell, len(cols))
		if o.Only != nil && !o.Only(r.Key()) {
			return nil
		}
		for i := range cols {
			cells[i] = r.Cell(cols[i].index)
			cols[i].width = max(cols[i].width, min(kit.Width(cells[i].Text.String()), maxColumn))
		}
		rows, muted = append(rows, cells), append(muted, r.Muted())
		return nil
	})
	if err != nil {
		return err
	}
	if len(rows) == 0 && o.Headless {
		return nil
	}
	if len(rows) == 0 {
		what := "none"
		if !f.IsZero() {
			what = "none matches the filter"
		} else if h := ctx.State.Unread(l.Of); h != nil {
			what = fmt.Sprintf("unknown, source %s is %s", backend.Clean(h.Key.Source, 80), h.Status)
		}
		_, err := io.WriteString(w, l.Kind+": "+what+"\n")
		return err
	}
	for i := range cols {
		if o.Width > 0 && cols[i].IDs && cols[i].Flex > 0 {
			cols[i].Min = distinctFrom(rows, i, cols[i].Min, cols[i].width)
		}
	}
	shown := fit(cols, o.Width)
	var b strings.Builder
	if !o.Headless {
		line(&b, shown, o, func(i int) (string, theme.Tone) { return shown[i].Title, theme.Dim })
	}
	for n, cells := range rows {
		line(&b, shown, o, func(i int) (string, theme.Tone) {
			c := cells[slices.IndexFunc(cols, func(x tableColumn) bool { return x.index == shown[i].index })]
			s, tone := c.Text.String(), c.Tone
			if o.Width > 0 && kit.Width(s) > shown[i].width && !c.Short.IsEmpty() {
				s = c.Short.String()
			}
			if o.Width > 0 && shown[i].IDs {
				s = kit.CutMiddle(s, shown[i].width)
			}
			if muted[n] {
				tone = theme.Dim
			}
			return s, tone
		})
		if b.Len() > 1<<16 {
			if _, err := io.WriteString(w, b.String()); err != nil {
				return err
			}
			b.Reset()
		}
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// distinctFrom is the least width from which on the values of a column, cut in their middle, are told apart as well as whole
// ones are.
func distinctFrom(rows [][]subjects.Cell, column, least, most int) int {
	whole := map[string]bool{}
	for _, cells := range rows {
		whole[cells[column].Text.String()] = true
	}
	for ; least < most; least++ {
		short := map[string]bool{}
		for s := range whole {
			short[kit.CutMiddle(s, least)] = true
		}
		if len(short) == len(whole) {
			break
		}
	}
	return least
}

// fit narrows and drops columns until they fit the width: first what can be cut is cut, then the least important
// column goes.
func fit(cols []tableColumn, width int) []tableColumn {
	cols = slices.Clone(cols)
	for width > 0 {
		over := -gap - width
		for _, c := range cols {
			over += c.width + gap
		}
		for i := range cols {
			if over > 0 && cols[i].Flex > 0 {
				cut := min(over, max(0, cols[i].width-max(cols[i].Min, kit.Width(cols[i].Title))))
				cols[i].width -= cut
				over -= cut
			}
		}
		if over <= 0 {
			return cols
		}
		last := 0
		for i := range cols {
			if cols[i].Priority >= cols[last].Priority {
				last = i
			}
		}
		if len(cols) == 1 || cols[last].Priority == 0 {
			cols[len(cols)-1].width = max(1, cols[len(cols)-1].width-over)
			return cols
		}
		cols = slices.Delete(cols, last, last+1)
	}
	return cols
}

func line(b *strings.Builder, cols []tableColumn, o TableOptions, cell func(int) (string, theme.Tone)) {
	pending := 0
	for i, c := range cols {
		s, tone := cell(i)
		if o.Width > 0 {
			s = kit.Cut(s, c.width)
		}
		fill := max(c.width-kit.Width(s), 0)
		if c.Align == subjects.Right {
			pending += fill
			fill = 0
		}
		if s != "" {
			b.WriteString(strings.Repeat(" ", pending))
			pending = 0
			if open := o.open(tone); open != "" {
				b.WriteString(open + s + theme.Reset)
			} else {
				b.WriteString(s)
			}
		}
		pending += fill + gap
	}
	b.WriteByte('\n')
}

func (o TableOptions) open(tone theme.Tone) string {
	if !o.Colour || o.Theme == nil {
		return ""
	}
	return o.Theme.Open(tone, false)
}

// WriteCSV prints the rows that the filter lets through as csv, every column, with the columns' names as the header.
func WriteCSV(w io.Writer, l subjects.Listing, ctx *views.Snapshot, f filter.Filter) error {
	out := csv.NewWriter(w)
	var index []int
	var names []string
	for i, h := range l.Heads {
		if h.Where.Reported() {
			index, names = append(index, i), append(names, h.Name)
		}
	}
	if err := out.Write(names); err != nil {
		return err
	}
	cells := make([]string, len(index))
	err := Matching(l, ctx, f, func(r subjects.Record) error {
		for i, at := range index {
			cells[i] = inert(r.Cell(at).Text.String())
		}
		return out.Write(cells)
	})
	if err != nil {
		return err
	}
	out.Flush()
	return out.Error()
}

// inert keeps a spreadsheet from running a cell as a formula.
func inert(s string) string {
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}
