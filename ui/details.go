package ui

import (
	"slices"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/markdown"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// detailView shows everything about one thing, or the runbook's page about it, and leads on to the things it is joined
// to.
type detailView struct {
	stack []place // what was opened from what; the last is shown
}

// place is one thing that was opened, and where the reader is in it.
type place struct {
	key   backend.Key
	page  *subjects.Page // the runbook's page about it; nil: its details
	text  rendered       // of the page
	pager kit.Pager
	on    backend.Key // the link under the cursor; zero: none
	links []backend.Key
	reach bool // bring the link into sight
}

// rendered is a page's text as it was last laid out: parsing it for every frame would be felt.
type rendered struct {
	page  subjects.Page
	theme *theme.Theme
	width int
	lines []string
}

// maxDepth bounds how far details lead on before the first ones are forgotten.
const maxDepth = 50

func (d *detailView) open(p place) {
	if len(d.stack) >= maxDepth {
		d.stack = d.stack[1:]
	}
	d.stack = append(d.stack, p)
}

func (d *detailView) here() *place { return &d.stack[len(d.stack)-1] }

func (d *detailView) update(in keys.Intent, f *views.Frame, o *overlay) views.Outcome {
	p := d.here()
	switch in.Action {
	case keys.Back:
		if d.stack = d.stack[:len(d.stack)-1]; len(d.stack) == 0 {
			*o = noOverlay
		}
	case keys.NextLink:
		p.move(1)
	case keys.PrevLink:
		p.move(-1)
	case keys.Enter:
		if p.on == (backend.Key{}) {
			return views.Outcome{Say: "tab goes to what can be opened from here"}
		}
		d.open(place{key: p.on})
	case keys.Runbook:
		return d.runbook(p.key, f)
	case keys.NextPage:
		return p.turn(1)
	case keys.PrevPage:
		return p.turn(-1)
	case keys.Copy:
		return views.Outcome{Copy: p.key.Path().Raw(), Say: "id sent to the clipboard"}
	default:
		scroll(&p.pager, in)
	}
	return views.Outcome{}
}

// runbook opens the page about a thing.
func (d *detailView) runbook(key backend.Key, f *views.Frame) views.Outcome {
	if n := len(d.stack); n > 0 && d.stack[n-1].page != nil {
		return views.Outcome{Say: "this is the runbook: [ and ] turn its pages"}
	}
	page, ok := subjects.PageOf(key, f)
	if !ok {
		return views.Outcome{Say: "the runbook has no page about this"}
	}
	d.open(place{key: key, page: &page})
	return views.Outcome{}
}

// turn goes to another page of the runbook.
func (p *place) turn(by int) views.Outcome {
	if p.page == nil {
		return views.Outcome{Say: "R opens the runbook"}
	}
	next := p.page.Turn(by)
	p.page, p.on, p.pager = &next, backend.Key{}, kit.Pager{}
	return views.Outcome{}
}

// move goes to another link. Links are kept by what they lead to, since the document changes under the reader.
func (p *place) move(n int) {
	if len(p.links) == 0 {
		return
	}
	i := slices.Index(p.links, p.on)
	switch {
	case i < 0 && n < 0:
		i = len(p.links) - 1
	case i < 0:
		i = 0
	default:
		i = (i + n + len(p.links)) % len(p.links)
	}
	p.on, p.reach = p.links[i], true
}

func (d *detailView) draw(w, h int, f *views.Frame) kit.Block {
	p := d.here()
	doc, links, title := p.doc(f)
	p.links = links
	head := kit.NewLine(f.Theme, w).Put(theme.Accent, " "+title).String()
	lines, at := doc.LayoutOn(f.Theme, w, slices.Index(links, p.on)+1)
	if p.page != nil {
		lines = append(append(lines, kit.NewLine(f.Theme, w).String(), kit.Rule(f.Theme, w)), p.prose(w, f)...)
	}
	if p.reach {
		p.pager.Window(lines, max(h-2, 0))
		p.pager.Show(at)
		p.reach = false
	}
	return paged(&p.pager, w, h, f.Theme, head, lines)
}

func (p *place) doc(f *views.Frame) (doc *kit.Doc, links []backend.Key, title string) {
	if p.page != nil {
		doc, links = p.page.Doc(f)
		return doc, links, p.page.Title(f)
	}
	doc, links = subjects.Doc(p.key, f)
	return doc, links, subjects.Title(p.key, f)
}

// prose is the page's text.
func (p *place) prose(w int, f *views.Frame) []string {
	if r := &p.text; r.page != *p.page || r.theme != f.Theme || r.width != w {
		*r = rendered{*p.page, f.Theme, w, markdown.Render(f.Theme, p.page.Markdown(f), w)}
	}
	return p.text.lines
}

// asks is the question that what is shown wants answered; false when it wants none.
func (d *detailView) asks(f *views.Frame) (views.Question, bool) {
	p := d.here()
	if p.page != nil {
		return p.page.Question, p.page.Incident != ""
	}
	return subjects.AskedBy(p.key, f)
}
