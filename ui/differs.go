package ui

import (
	tea "charm.land/bubbletea/v2"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
)

// differs shows what differs from half an hour before, of everything. It is about no subject, so that no action can begin on it.
type differs struct{ page details }

// openDiffers shows what differs: of one subject where one is shown, of everything over a table.
func openDiffers(key backend.Key) reply {
	if key != (backend.Key{}) {
		return reply{Push: &details{key: key, differs: true}}
	}
	return reply{Push: &differs{page: details{differs: true}}}
}

func (*differs) fillsBody() {}

func (*differs) Keys() keys.Context { return keys.Details }

func (d *differs) Update(msg tea.Msg, f *views.Frame) (reply, bool) {
	switch in, _ := msg.(keys.Intent); in.Action {
	case keys.Runbook, keys.Copy, keys.Differs, keys.NextPage, keys.PrevPage:
		return reply{Say: "this page is about everything: tab goes to a subject, enter opens it"}, true
	}
	return d.page.Update(msg, f)
}

func (d *differs) Render(w, h int, f *views.Frame) (kit.Block, *tea.Cursor) {
	return d.page.Render(w, h, f)
}

func (d *differs) offers(a keys.Action, _ *views.Frame) bool {
	switch a {
	case keys.NextLink, keys.PrevLink, keys.Enter:
		return len(d.page.links) > 0
	case keys.Back, keys.Filter, keys.Help, keys.Palette, keys.Quit:
		return true
	}
	return false
}
