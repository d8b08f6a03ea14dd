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

// silences lists the silences in force.
type silences struct {
	feed   Feed
	viewer *Viewer
	list   []alerts.Silencing
	on     string // id of the one under the cursor
	sure   string // id of the one that the next x ends
	pager  pager
}

func openSilences(x *scope) reply {
	v := &silences{feed: x.feed, viewer: x.viewer}
	v.read()
	return reply{Push: v}
}

func (*silences) fillsBody() {}

func (*silences) Keys() keys.Context { return keys.SilenceTable }

// endsSoon is when a silence's end is pointed out.
const endsSoon = 10 * time.Minute

// read takes the list as it is now; the cursor stays on its silence, or on nothing when that is over.
func (v *silences) read() {
	v.list = nil
	if s, ok := v.feed.(Silences); ok {
		v.list = s.Silences()
	}
	if v.on == "" && len(v.list) > 0 {
		v.on = v.list[0].ID.String()
	}
}

func (v *silences) index() int {
	return slices.IndexFunc(v.list, func(s alerts.Silencing) bool { return s.ID.String() == v.on })
}

func (v *silences) move(n int) {
	if len(v.list) > 0 {
		v.on, v.sure = v.list[max(0, min(v.index()+n, len(v.list)-1))].ID.String(), ""
	}
}

func (v *silences) Update(msg tea.Msg, _ *views.Frame) (reply, bool) {
	if _, changed := msg.(changedMsg); changed {
		v.read()
		return reply{}, true
	}
	in, _ := msg.(keys.Intent)
	switch in.Action {
	case keys.Back, keys.Cancel:
		return reply{Close: true}, true
	case keys.Up, keys.PrevLink:
		v.move(-1)
	case keys.Down, keys.NextLink:
		v.move(1)
	case keys.Top:
		v.move(-len(v.list))
	case keys.Bottom:
		v.move(len(v.list))
	case keys.Expire:
		return v.expire(), true
	default:
		return reply{}, false
	}
	return reply{}, true
}

// expire ends the silence under the cursor when it is asked for twice.
func (v *silences) expire() reply {
	i := v.index()
	if i < 0 {
		return reply{Say: "there is no silence under the cursor"}
	}
	orders, err := v.viewer.orders(v.feed)
	if err != nil {
		return reply{Say: err.Error()}
	}
	if v.sure != v.on {
		v.sure = v.on
		return reply{Say: "x once more ends the silence of " + v.list[i].Owner.String()}
	}
	id, owner := v.on, v.viewer.owner()
	v.sure = ""
	return reply{Cmd: func() tea.Msg {
		_, err := orders.Expire(id, owner)
		return orderedMsg{say: "the silence is over", err: err}
	}}
}

func (v *silences) offers(a keys.Action, _ *views.Frame) bool {
	return a != keys.Down && a != keys.Expire || len(v.list) > 0
}

func (v *silences) Render(w, h int, f *views.Frame) (kit.Block, *tea.Cursor) {
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
		matches := kit.Span{Text: "covers " + alertsCount(s.Matches)}
		if s.Matches == 0 {
			matches = kit.Span{Tone: theme.Warn, Text: "matches nothing now"}
			if s.Matchers.Outdated() {
				matches.Text = "matches nothing: it names a cause as a former version did; silence again"
			}
		}
		if i > 0 {
			doc.Blank()
		}
		doc.Link(i + 1)
		doc.Field(backend.Age(left)+" left", kit.Span{Tone: theme.Strong, Text: backend.Clean(s.Matchers.String(), 2000).String()})
		doc.Field("", matches, kit.Span{Tone: tone, Text: "  until " + views.Minutes(s.Until, f.Now)},
			kit.Span{Text: "  " + s.Owner.String() + ": " + s.Reason.String()})
	}
	title := kit.NewLine(f.Theme, w).Put(theme.Accent, " Silences").Put(theme.Dim, "  known on this host only").String()
	lines, at := doc.LayoutOn(f.Theme, w, v.index()+1)
	v.pager.Window(lines, max(h-2, 0))
	if at >= 0 {
		v.pager.Show(min(at+1, len(lines)-1))
		v.pager.Show(at)
	}
	return paged(&v.pager, w, h, f.Theme, title, lines), nil
}
