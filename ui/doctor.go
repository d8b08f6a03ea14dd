package ui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/examine"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/text"
	"sandglass/views/theme"
)

// Examine tries the read routes of a source and writes a redacted sample. sample says where that is, or why there is none.
type Examine func(ctx context.Context, source string) (r *examine.Report, sample string, err error)

// examineWithin bounds how long the routes of a source are tried.
const examineWithin = 2 * time.Minute

// examination is the line of doctor in the list of what can be done. It needs no plan.
func examination() actions.Ability {
	return actions.Ability{Spec: actions.Spec{Verb: "doctor", Of: backend.KindSource,
		Effect: "tries every read route of the source up to three times, and writes a redacted sample; it changes nothing"}}
}

// examinable reports whether doctor is listed for a thing.
func examinable(k backend.Key) bool {
	return k.Kind == backend.KindSource || k.Kind == backend.KindSandbox
}

func sourcesOf(all []backend.Key) (out []string) {
	for _, k := range all {
		if k.Source != "" && !slices.Contains(out, k.Source) {
			out = append(out, k.Source)
		}
	}
	return out
}

// doctor examines the source of what is chosen.
func (a *acting) doctor(s selection) reply {
	sources := sourcesOf(s.keys)
	switch {
	case a.examine == nil:
		return reply{Say: "this console cannot try read routes: run sandglass doctor SOURCE"}
	case len(sources) == 0:
		return reply{Say: noRow}
	case len(sources) > 1:
		return reply{Say: "these belong to several sources, and doctor tries one: choose one on 9 Sources"}
	}
	p := &doctorPage{source: sources[0]}
	read := a.examine
	return reply{Push: p, Cmd: func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), examineWithin)
		defer cancel()
		r, sample, err := read(ctx, p.source)
		return examinedMsg{p, r, sample, err}
	}}
}

// examinedMsg brings a report.
type examinedMsg struct {
	page   *doctorPage
	report *examine.Report
	sample string
	err    error
}

func (msg examinedMsg) to() overlay { return msg.page }

func (msg examinedMsg) missed() reply {
	if msg.err != nil || msg.report == nil {
		return reply{Say: "doctor: " + msg.page.source + " was not examined"}
	}
	return reply{Say: "doctor: " + msg.page.source + " was examined; sample: " + msg.sample}
}

// doctorPage shows the report about a source.
type doctorPage struct {
	source string
	said   examinedMsg
	done   bool
	pager  pager
}

func (*doctorPage) fillsBody() {}

func (*doctorPage) Keys() keys.Context { return keys.Details }

func (p *doctorPage) waits() bool { return !p.done }

func (p *doctorPage) Update(msg tea.Msg, _ *views.Frame) (reply, bool) {
	if said, is := msg.(examinedMsg); is {
		p.said, p.done = said, true
		return reply{}, true
	}
	in, _ := msg.(keys.Intent)
	switch in.Action {
	case keys.Verbs, keys.Act, keys.Runbook, keys.Bundle, keys.Acknowledge, keys.Unacknowledge, keys.Silence, keys.Copy:
		return reply{Say: "this is a report: esc goes back"}, true
	}
	return p.pager.read(in)
}

func (*doctorPage) offers(a keys.Action, _ *views.Frame) bool {
	return a == keys.Back || a == keys.Palette || a == keys.Quit || a == keys.Filter
}

func (p *doctorPage) Render(w, h int, f *views.Frame) (kit.Block, *tea.Cursor) {
	head := kit.NewLine(f.Theme, w).Put(theme.Accent, " doctor "+p.source).String()
	return paged(&p.pager, w, h, f.Theme, head, p.doc(f).Layout(f.Theme, w)), nil
}

func (p *doctorPage) doc(f *views.Frame) *kit.Doc {
	d := &kit.Doc{}
	switch {
	case !p.done:
		d.Line(kit.Span{Text: f.Spin + " trying every read route, up to three times; esc leaves"})
	case p.said.report == nil:
		d.Line(kit.Span{Tone: theme.Warn, Text: "The routes were not tried: " + backend.Clean(p.said.err.Error(), 300).String()})
	default:
		d = text.DoctorDoc(p.said.report, p.said.sample)
	}
	return d
}
