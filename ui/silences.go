package ui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// silenceView lists the silences in force.
type silenceView struct {
	list  []alerts.Silencing
	on    string // id of the one under the cursor
	sure  string // id of the one that the next x ends
	pager kit.Pager
}

// endsSoon is when a silence's end is pointed out.
const endsSoon = 10 * time.Minute

// read takes the list as it is now; the cursor stays on its silence, or on nothing when that is over.
func (v *silenceView) read(f Feed) {
	v.list = nil
	if s, ok := f.(Silences); ok {
		v.list = s.Silences()
	}
	if v.on == "" && len(v.list) > 0 {
		v.on = v.list[0].ID.String()
	}
}

func (v *silenceView) index() int {
	return slices.IndexFunc(v.list, func(s alerts.Silencing) bool { return s.ID.String() == v.on })
}

func (v *silenceView) move(n int) {
	if len(v.list) > 0 {
		v.on, v.sure = v.list[max(0, min(v.index()+n, len(v.list)-1))].ID.String(), ""
	}
}

func (m *Model) openSilences() {
	m.silences, m.overlay = silenceView{}, overSilences
	m.silences.read(m.feed)
}

// inSilences handles a key in the list.
func (m *Model) inSilences(in keys.Intent) tea.Cmd {
	v := &m.silences
	switch in.Action {
	case keys.Back, keys.Cancel:
		m.overlay = noOverlay
	case keys.Up, keys.PrevLink:
		v.move(-1)
	case keys.Down, keys.NextLink:
		v.move(1)
	case keys.Top:
		v.move(-len(v.list))
	case keys.Bottom:
		v.move(len(v.list))
	case keys.Expire:
		return m.expire()
	}
	return nil
}

// expire ends the silence under the cursor when it is asked for twice.
func (m *Model) expire() tea.Cmd {
	v := &m.silences
	i := v.index()
	if i < 0 {
		m.remark("there is no silence under the cursor")
		return nil
	}
	orders, ok := m.ordersOr("end a silence")
	if !ok {
		return nil
	}
	if v.sure != v.on {
		v.sure = v.on
		m.remark("x once more ends the silence of " + v.list[i].Owner.String())
		return nil
	}
	id, owner := v.on, m.owner()
	v.sure = ""
	return func() tea.Msg {
		_, err := orders.Expire(id, owner)
		return orderedMsg{"the silence is over", err}
	}
}

func (v *silenceView) draw(w, h int, f *views.Frame) kit.Block {
	doc := &kit.Doc{}
	if len(v.list) == 0 {
		doc.Blank()
		doc.Line(kit.Span{Tone: theme.Strong, Text: "Nothing is silenced"})
		doc.Field("", kit.Span{Tone: theme.Dim, Text: "m on an alert silences it, and what is like it"})
	}
	for i := range v.list {
		s := &v.list[i]
		left := s.Until.Sub(f.Now)
		tone := theme.Normal
		if left < endsSoon {
			tone = theme.Warn
		}
		matches := kit.Span{Text: "mutes " + alertsCount(s.Matches)}
		if s.Matches == 0 {
			matches = kit.Span{Tone: theme.Warn, Text: "matches nothing now"}
		}
		if i > 0 {
			doc.Blank()
		}
		doc.Link(i + 1)
		doc.Field(backend.Age(left)+" left", kit.Span{Tone: theme.Strong, Text: backend.Clean(s.Matchers.String(), 2000).String()})
		doc.Field("", matches, kit.Span{Tone: tone, Text: "  until " + s.Until.UTC().Format("15:04Z")},
			kit.Span{Text: "  " + s.Owner.String() + ": " + s.Reason.String()})
	}
	title := kit.NewLine(f.Theme, w).Put(theme.Accent, " Silences").Put(theme.Dim, "  known on this host only").String()
	lines, at := doc.LayoutOn(f.Theme, w, v.index()+1)
	v.pager.Window(lines, max(h-2, 0))
	if at >= 0 {
		v.pager.Show(min(at+1, len(lines)-1))
		v.pager.Show(at)
	}
	return paged(&v.pager, w, h, f.Theme, title, lines)
}
