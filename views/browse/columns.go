package browse

import (
	"cmp"
	"slices"

	"sandglass/backend"
	"sandglass/views/kit"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// column is a column of a table as far as its rows do not matter.
type column struct {
	kit.Column
	follows bool // its values come some time after their rows
}

// slot is its place.
type slot struct {
	kit.Slot
	of *column
}

// slots gives columns their places for the cells in sight.
func slots(cols []column, of [][]cell, sort, w int, local bool) []slot {
	need, same, nothing := needs(cols, of, sort)
	out := make([]kit.Column, len(cols))
	offered := 0
	for i := range cols {
		c := &cols[i]
		if c.follows && !nothing[i] { // its first value moves no other column
			need[i] = max(need[i], c.Min)
		}
		c.Min = min(c.Min, need[i])
		c.Ideal = max(c.Min, min(c.Ideal, need[i]))
		if out[i] = c.Column; !c.Hidden {
			offered++
		}
	}
	places := kit.LayOut(out, gutter, w-gutter-1)
	lacks := local && len(places) < offered || slices.ContainsFunc(places, func(s kit.Slot) bool { return cols[s.Column].Flex > 0 && s.Width < need[s.Column] })
	if lacks {
		for i := range out {
			out[i].Hidden = out[i].Hidden || same[i] && out[i].Priority > 1 && i != sort
		}
		places = kit.LayOut(out, gutter, w-gutter-1)
	}
	all := make([]slot, len(places))
	for i, p := range places {
		all[i] = slot{p, &cols[p.Column]}
	}
	return all
}

// needs is how wide the columns are for these rows, and in which of them all rows say the same, or nothing.
func needs(cols []column, of [][]cell, sort int) (need []int, same, nothing []bool) {
	const some = 3 // fewer rows often agree by chance, but not in having nothing
	need, same, nothing = make([]int, len(cols)), make([]bool, len(cols)), make([]bool, len(cols))
	for i := range cols {
		c := &cols[i]
		need[i], same[i] = kit.Width(cmp.Or(c.Brief, c.Title)), len(of) > 0
		if i == sort {
			need[i]++
		}
		first := ""
		for n, cells := range of {
			if c.Hidden {
				break
			}
			cell := &cells[i]
			text := cell.Text.String()
			if n == 0 {
				first = text
			}
			same[i] = same[i] && text == first
			c.Whole = c.Whole || c.Flex == 0 && !cell.Short.IsEmpty()
			width := min(cell.width, max(cell.least, c.Ideal))
			if cell.Mark != theme.MarkNone {
				width += 2
			}
			need[i] = max(need[i], width)
		}
		nothing[i] = same[i] && (first == subjects.Nothing || first == "")
		same[i] = same[i] && (len(of) >= some || first == subjects.Nothing)
	}
	return need, same, nothing
}

func head(t *theme.Theme, w int, slots []slot, sort int, reverse bool) string {
	line := kit.NewLine(t, w)
	for _, s := range slots {
		title := s.of.Title
		arrow := ""
		if s.Column == sort {
			arrow = "↑"
			if reverse {
				arrow = "↓"
			}
		}
		if s.of.Brief != "" && kit.Width(title+arrow) > s.Width {
			title = s.of.Brief
		}
		line.PadTo(s.X)
		tone := theme.Dim
		if arrow != "" {
			tone = theme.Accent
		}
		line.Cell(tone, kit.Cut(title, s.Width-kit.Width(arrow))+arrow, s.Width, s.of.Right)
	}
	return line.String()
}

// shortened cuts the middle out of a text that is too long for a flexible column: these show foreign text.
func shortened(c subjects.Cell, w int) subjects.Cell {
	if c.Mark != theme.MarkNone {
		return c
	}
	return subjects.Cell{Text: backend.Clean(kit.CutMiddle(c.Fitting(w), w), backend.MaxTextRunes), Tone: c.Tone}
}

func drawCell(line *kit.Line, t *theme.Theme, of *cell, s slot, muted bool) {
	c := &of.Cell
	if s.of.Flex > 0 && of.width > s.Width {
		short := shortened(*c, s.Width)
		c = &short
	}
	tone := c.Tone
	if muted {
		tone = theme.Dim
	}
	room := s.Width
	if c.Mark != theme.MarkNone {
		room -= 2
	}
	text := c.Fitting(room)
	if c.Mark != theme.MarkNone {
		line.Put(tone, t.Mark(c.Mark)+" ")
	}
	if tone == theme.Good {
		tone = theme.Normal // the sign is enough: what works must not shout
	}
	line.Cell(tone, text, room, s.of.Right)
}
