package browse

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// What rows are grouped by, besides a column: the compose project, or a label.
const (
	byCompose = "compose"
	byLabel   = "label:"
	noGroups  = "off"
)

// groups are what rows are grouped by, and how many each group has.
type groups struct {
	by     string // compose, label:NAME or a column; empty: nothing
	number uint64 // of the State that was counted
	filter string
	rows   int
	board  *alerts.Board
	of     map[string]groupCount
	order  map[string]groupCount // by which they are ordered
	until  time.Time             // they keep their order, so that nothing jumps under the cursor
}

// groupCount counts the rows of a group, and those that an alert names; worst is the severity of the worst alert, 0: none.
type groupCount struct{ rows, alerting, worst int }

// worstOf is the worst that an alert can be.
const worstOf = 3

// add counts a row: an alert, or what one may name.
func (n *groupCount) add(row any, key backend.Key, c *views.Snapshot) {
	n.rows++
	a, is := row.(*alerts.Alert)
	if !is {
		if a = c.Alert(key); a == nil {
			return
		}
		n.alerting++
	}
	if a.State != alerts.StateEnded && a.State != alerts.StateResolved {
		n.worst = max(n.worst, 1+a.Severity.Rank())
	}
}

// hold keeps their order for a while from now on. It is called where every list is, so that its code is there once.
//
//go:noinline
func (g *groups) hold(now time.Time) { g.until = now.Add(steadyFor) }

// moved reports whether groups are to be ordered again: one has become better or worse, and no key was pressed a short time ago.
func (g *groups) moved(counted map[string]groupCount, now time.Time) bool {
	for name, n := range counted {
		if n.worst != g.order[name].worst && !now.Before(g.until) {
			return true
		}
	}
	return false
}

// groupOf is the group of a row; empty: none.
func (l *List[R]) groupOf(row R) string {
	l.cur.Row = row
	c := l.cur.Snapshot()
	name, labelled := strings.CutPrefix(l.groups.by, byLabel)
	switch {
	case l.groups.by == byCompose:
		for _, p := range subjects.Projects {
			if v := labelOf(l.cfg.Set.Labels(row, c), p); v != "" {
				return c.Shown(v)
			}
		}
		return ""
	case labelled:
		return c.Shown(labelOf(l.cfg.Set.Labels(row, c), name))
	}
	if text, _ := l.cur.Field(l.groups.by); text != subjects.Nothing {
		return text
	}
	return ""
}

func labelOf(labels []backend.Field, name string) string {
	for _, f := range labels {
		if f.Name.String() == name {
			return f.Value.String()
		}
	}
	return ""
}

// ungrouped is the head of the rows that have no group.
func (g *groups) ungrouped() string {
	if name, labelled := strings.CutPrefix(g.by, byLabel); labelled {
		return "no label " + name
	}
	if g.by == byCompose {
		return "no compose project"
	}
	return "no " + g.by
}

// groupBy groups the rows as a command says: compose, label NAME, a column, or off.
func (l *List[R]) groupBy(text string) views.Outcome {
	by := strings.TrimSpace(text)
	if word, name, _ := strings.Cut(by, " "); word == "label" && !slices.Contains(l.fields(), by) {
		by = byLabel + strings.TrimSpace(name)
	}
	switch {
	case by == "" && l.groups.by == "":
		return views.Outcome{Say: "write what to group by after it: " + groupings(l.cfg.Set.Labels != nil)}
	case by == "" || by == noGroups:
		if l.groups.by == "" {
			return views.Outcome{Say: "the rows are not grouped"}
		}
		l.setGroups("")
		return views.Outcome{Say: "not grouped any more"}
	}
	if why := l.notAGroup(by); why != "" {
		return views.Outcome{Say: why}
	}
	if why := l.lacksLabel(by); why != "" {
		return views.Outcome{Say: why}
	}
	l.setGroups(by)
	return views.Outcome{Say: "grouped by " + strings.Replace(by, byLabel, "label ", 1) + "; :group off ends it"}
}

func (l *List[R]) setGroups(by string) {
	l.groups = groups{by: by}
	l.sortRows()
}

// groupings says what the rows of this screen can be grouped by.
func groupings(labels bool) string {
	if !labels {
		return "a column, or off"
	}
	return "compose, label NAME, a column, or off"
}

func (l *List[R]) notAGroup(by string) string {
	return notAGroup(by, l.cfg.Name, l.cfg.Set.Labels != nil, l.fields())
}

// notAGroup says why rows cannot be grouped so; empty: they can.
func notAGroup(by, screen string, labels bool, fields []string) string {
	name, labelled := strings.CutPrefix(by, byLabel)
	switch {
	case (by == byCompose || labelled) && !labels:
		return screen + " have no labels: group by a column"
	case labelled && strings.TrimSpace(name) == "":
		return "write the label's name: label NAME"
	case by == byCompose || labelled || slices.Contains(fields, by):
		return ""
	}
	return fmt.Sprintf("%q is nothing to group by: %s", backend.Clean(by, 30).String(), groupings(labels))
}

// mostNamed is how many labels a message names.
const mostNamed = 6

// lacksLabel says that no row has what the rows are to be grouped by, and which labels there are; empty: some row has it, or none
// is listed.
func (l *List[R]) lacksLabel(by string) string {
	wanted := subjects.Projects
	if name, labelled := strings.CutPrefix(by, byLabel); labelled {
		wanted = []string{name}
	} else if by != byCompose {
		return ""
	}
	c, has, names := l.cur.Snapshot(), l.table.Len() == 0, []string(nil)
	l.table.Each(func(row R) {
		for _, f := range l.cfg.Set.Labels(row, c) {
			name := f.Name.String()
			if has = has || slices.Contains(wanted, name); !slices.Contains(names, name) && len(names) <= mostNamed {
				names = append(names, name)
			}
		}
	})
	if has {
		return ""
	}
	return lackingLabel(by, "the label "+c.Shown(wanted[0]), names)
}

// lackingLabel is said where no row has a label, and names is what there is.
func lackingLabel(by, what string, names []string) string {
	if by == byCompose {
		what = "a compose project"
	}
	switch {
	case len(names) == 0:
		return "no row has " + what + ", nor any other label"
	case len(names) > mostNamed:
		names[mostNamed] = "…"
	}
	slices.Sort(names[:min(len(names), mostNamed)])
	return "no row has " + what + ": there is " + strings.Join(names, ", ")
}

// sortRows puts the order into force. In groups, rows keep it inside their group: the groups with the worst alerts
// first, then by name; those without a group come last.
func (l *List[R]) sortRows() {
	inner := l.order()
	if l.groups.by == "" {
		if l.pins() {
			inner = l.onTop(inner, l.reverse)
		}
		l.table.SetOrder(inner, l.reverse, l.turned())
		return
	}
	order := l.counted()
	l.groups.order = order
	l.table.SetOrder(func(row R) kit.Order {
		var o kit.Order
		if inner != nil {
			o = inner(row)
		}
		if at := l.pinned.pins.Place(l.cfg.Set.Key(row)); at >= 0 {
			return kit.Order{Num: float64(at - views.MostPins)}
		}
		group := l.groupOf(row)
		num := worstOf - order[group].worst
		if group == "" {
			num = worstOf + 1
		}
		return o.Within(float64(num), group, l.reverse)
	}, false, l.turned())
}

// counted counts the groups of the rows that match.
func (l *List[R]) counted() map[string]groupCount {
	g := &l.groups
	if g.of != nil && g.number == l.number && g.board == l.board && g.filter == l.filterIn && g.rows == l.table.Len() {
		return g.of
	}
	g.of, g.number, g.board, g.filter, g.rows = map[string]groupCount{}, l.number, l.board, l.filterIn, l.table.Len()
	l.table.Each(func(row R) {
		name := l.groupOf(row)
		n := g.of[name]
		n.add(row, l.cfg.Set.Key(row), l.cur.Snapshot())
		g.of[name] = n
	})
	return g.of
}

// heads is how many lines the heads of all groups take, or the lines above rows.
func (l *List[R]) heads() (n int) {
	if l.groups.by != "" {
		return len(l.counted())
	}
	if l.cfg.Above != nil && l.natural() {
		l.table.Each(func(row R) { n += len(l.above(row)) })
	}
	return n
}

// natural reports whether rows are in their own order.
func (l *List[R]) natural() bool { return l.groups.by == "" && l.sort < 0 && !l.reverse }

// above are the lines above a row.
func (l *List[R]) above(row R) [][]kit.Span {
	if l.cfg.Above == nil || !l.natural() {
		return nil
	}
	return l.cfg.Above(l.cur.Snapshot(), row)
}

// window are the rows that are drawn in h lines together with the heads of their groups, below the pinned rows, which take a number
// of lines each.
func (l *List[R]) window(h int) (top []kit.Row[R], each int, rows []kit.Row[R], above int) {
	if top, each = l.topRows(h), 1; 2*len(top) <= h/2 {
		each = 2
	}
	for n := h; ; {
		rows, above, _ = l.table.Window(n)
		shown := rows[min(len(rows), max(0, len(top)-above)):]
		lines := each*len(top) + len(shown) + l.headsOf(shown)
		if lines <= h || n <= 1 {
			return top, each, shown, above
		}
		n = max(1, n-(lines-h))
	}
}

// headsOf is how many heads and other lines stand above and between rows.
func (l *List[R]) headsOf(rows []kit.Row[R]) (n int) {
	if l.groups.by == "" {
		for _, r := range rows {
			n += len(l.above(r.Row))
		}
		return n
	}
	last := ""
	for i, r := range rows {
		if group := l.groupOf(r.Row); i == 0 || group != last {
			n, last = n+1, group
		}
	}
	return n
}

// groupHead draws a group's name, how many rows it has, and how many of them an alert names.
func (l *List[R]) groupHead(t *theme.Theme, w int, group string) string {
	return l.groups.head(t, w, group, l.counted()[group])
}

func (g *groups) head(t *theme.Theme, w int, group string, n groupCount) string {
	line := kit.NewLine(t, w).Gap(1)
	if group == "" {
		line.Put(theme.Dim, g.ungrouped())
	} else {
		line.Put(theme.Strong, kit.CutMiddle(group, max(w-30, 10)))
	}
	line.Put(theme.Dim, "  "+kit.Count(n.rows, "row", "rows"))
	if n.alerting > 0 {
		line.Put(theme.Warn, ", "+kit.Number(n.alerting)+" with an alert")
	}
	return line.String()
}
