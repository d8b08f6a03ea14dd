package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/markdown"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// details shows everything about one thing, or the runbook's page about it. What it leads to opens over it.
type details struct {
	key   backend.Key
	page  *subjects.Page // the runbook's page about it; nil: its details
	text  rendered       // of the page
	pager pager
	on    backend.Key // the link under the cursor; zero: none
	links []backend.Key
	reach bool // bring the link into sight
	// differs: what differs from half an hour before, instead of everything about it.
	differs bool
}

// rendered is a page's text as it was last laid out. Parsing it for every frame takes too long.
type rendered struct {
	page  subjects.Page
	at    string // platform
	theme *theme.Theme
	width int
	lines []string
}

func (*details) fillsBody() {}

func (*details) Keys() keys.Context { return keys.Details }

func (d *details) subject() backend.Key { return d.key }

func (d *details) Update(msg tea.Msg, f *views.Frame) (reply, bool) {
	in, ok := msg.(keys.Intent)
	if !ok {
		return reply{}, false
	}
	switch in.Action {
	case keys.NextLink:
		d.move(1)
	case keys.PrevLink:
		d.move(-1)
	case keys.Enter:
		if d.on == (backend.Key{}) {
			return reply{Say: "tab goes to what can be opened from here"}, true
		}
		return reply{Push: &details{key: d.on}}, true
	case keys.Runbook:
		if d.page != nil {
			return reply{Say: "this is the runbook: [ and ] turn its pages"}, true
		}
		return openRunbook(d.key, f), true
	case keys.NextPage:
		return d.turn(1), true
	case keys.PrevPage:
		return d.turn(-1), true
	case keys.Copy:
		return reply{Copy: d.key.Path().Raw(), Say: "id sent to the clipboard"}, true
	default:
		return d.pager.read(in)
	}
	return reply{}, true
}

// openRunbook opens the runbook's page about a thing.
func openRunbook(key backend.Key, f *views.Frame) reply {
	page, ok := subjects.PageOf(key, f)
	if !ok {
		return reply{Say: "the runbook has no page about this"}
	}
	return reply{Push: &details{key: key, page: &page}}
}

// turn goes to another page of the runbook.
func (d *details) turn(by int) reply {
	if d.page == nil {
		return reply{Say: "R opens the runbook"}
	}
	next := d.page.Turn(by)
	d.page, d.on, d.pager = &next, backend.Key{}, pager{}
	return reply{}
}

// move goes to another link. Links are kept by what they lead to, since the document changes under the reader.
func (d *details) move(n int) {
	if len(d.links) == 0 {
		return
	}
	i := slices.Index(d.links, d.on)
	switch {
	case i < 0 && n < 0:
		i = len(d.links) - 1
	case i < 0:
		i = 0
	default:
		i = (i + n + len(d.links)) % len(d.links)
	}
	d.on, d.reach = d.links[i], true
}

func (d *details) Render(w, h int, f *views.Frame) (kit.Block, *tea.Cursor) {
	doc, links, title := d.doc(f)
	d.links = links
	head := kit.NewLine(f.Theme, w).Put(theme.Accent, " "+title).String()
	lines, at := doc.LayoutOn(f.Theme, w, slices.Index(links, d.on)+1)
	if d.page != nil {
		lines = append(append(lines, kit.NewLine(f.Theme, w).String(), kit.Rule(f.Theme, w)), d.prose(w, f)...)
	}
	if d.reach {
		d.pager.Window(lines, max(h-2, 0))
		d.pager.Show(at)
		d.reach = false
	}
	return paged(&d.pager, w, h, f.Theme, head, lines), nil
}

func (d *details) doc(f *views.Frame) (doc *kit.Doc, links []backend.Key, title string) {
	if d.page != nil {
		doc, links = d.page.Doc(f)
		return doc, links, d.page.Title(f)
	}
	if d.differs {
		if title = subjects.DiffersTitle; d.key != (backend.Key{}) {
			title = subjects.Title(d.key, f) + ": " + title
		}
		doc, links = subjects.Differs(d.key, f)
		return doc, links, title
	}
	doc, links = subjects.Doc(d.key, f)
	return doc, links, subjects.Title(d.key, f)
}

// prose is the page's text.
func (d *details) prose(w int, f *views.Frame) []string {
	if r, at := &d.text, d.page.Platform(f); r.page != *d.page || r.at != at || r.theme != f.Theme || r.width != w {
		*r = rendered{*d.page, at, f.Theme, w, markdown.Render(f.Theme, f.Shown(d.page.Markdown(f)), w)}
	}
	return d.text.lines
}

// asks is the question that the shown text wants answered; false when it wants none.
func (d *details) asks(f *views.Frame) (views.Question, bool) {
	if d.page != nil {
		return d.page.Question, d.page.Incident != ""
	}
	if d.differs {
		return views.Question{}, false
	}
	return subjects.AskedBy(d.key, f)
}

func (d *details) offers(a keys.Action, f *views.Frame) bool {
	switch a {
	case keys.Verbs:
		return actable(d.key, a, f)
	case keys.Acknowledge, keys.Silence:
		return d.key.Kind == views.KindAlert
	case keys.NextLink, keys.Enter:
		return len(d.links) > 0
	case keys.Runbook:
		return d.page == nil
	case keys.NextPage:
		return d.page != nil
	}
	return true
}
