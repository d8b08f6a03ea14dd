package plan

import (
	"slices"
	"strings"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// columns are the widths of the table of targets; owner is 0 where no target has one.
type columns struct{ name, owner, lost int }

// layOut shares w cells among the columns: names up to two fifths, then owners, which shrink only for the losses.
func layOut(ts []actions.Target, w int) columns {
	c := columns{name: len("TARGET"), lost: len(lostTitle)}
	for i := range ts {
		x := &ts[i]
		c.name, c.owner = max(c.name, kit.Width(x.Label.String())), max(c.owner, kit.Width(x.Owner.String()))
		c.lost = max(c.lost, kit.Width(losses(x)))
	}
	c.name = min(c.name, max(w*2/5, 12))
	if c.owner > 0 {
		c.owner = min(max(c.owner, len("OWNER")), max(w-c.name-4-min(c.lost, w/3), w/4, 8))
	}
	return c
}

// natural is the width of the whole table.
func (c columns) natural() int { return c.lossColumn() + c.lost }

// lossColumn is where the last column begins.
func (c columns) lossColumn() int {
	if c.owner == 0 {
		return c.name + 2
	}
	return c.name + 2 + c.owner + 2
}

const lostTitle = "WHAT IS LOST"

// targets is a table: the target, its owner, the losses. Losses that do not fit beside it follow on their own lines.
func (d *Dialog) targets(w int, t *theme.Theme) []string {
	ts := d.Plan.Targets
	c := layOut(ts, w)
	head := kit.NewLine(t, w).Cell(theme.Dim, "TARGET", c.name, false)
	if c.owner > 0 {
		head.Gap(2).Cell(theme.Dim, "OWNER", c.owner, false)
	}
	out := []string{head.Gap(2).Put(theme.Dim, lostTitle).String()}
	for i := range ts {
		out = append(out, d.target(&ts[i], c, w, t)...)
	}
	return out
}

func (d *Dialog) target(x *actions.Target, c columns, w int, t *theme.Theme) []string {
	var out []string
	label := x.Label.String()
	if kit.Width(label) > c.name { // a name is never cut off: two may differ only at their ends
		for _, part := range kit.Wrap(label, w) {
			out = append(out, kit.NewLine(t, w).Put(theme.Strong, part).String())
		}
		label = ""
	}
	var owner []string
	if c.owner > 0 {
		owner = kit.Wrap(x.Owner.String(), c.owner)
	}
	lost := kit.Wrap(losses(x), max(w-c.lossColumn(), 10))
	for i := range max(len(owner), len(lost)) {
		l := kit.NewLine(t, w)
		if i == 0 {
			l.Put(theme.Strong, label)
		}
		if i < len(owner) {
			l.PadTo(c.name+2).Put(theme.Normal, owner[i])
		}
		if i < len(lost) {
			l.PadTo(c.lossColumn()).Put(toneOf(x), lost[i])
		}
		out = append(out, l.String())
	}
	for _, n := range x.Notes {
		for _, part := range kit.Wrap(d.pasted(n), max(w-4, 10)) {
			out = append(out, kit.NewLine(t, w).Gap(4).Put(theme.Dim, part).String())
		}
	}
	return out
}

func losses(x *actions.Target) string {
	var parts []string
	for _, l := range x.Loses {
		parts = append(parts, l.String())
	}
	if n, ok := x.Bytes.Get(); ok && !slices.ContainsFunc(parts, func(s string) bool { return strings.Contains(s, backend.Bytes(n)) }) {
		parts = append(parts, backend.Bytes(n))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

func toneOf(x *actions.Target) theme.Tone {
	if len(x.Loses) == 0 {
		return theme.Dim
	}
	return theme.Normal
}
