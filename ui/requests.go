package ui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/text"
	"sandglass/views/theme"
)

// openRequests shows what this process sent last; filter keeps the lines that hold every word of it.
func openRequests(x *scope, filter string) reply {
	switch {
	case x.viewer.Sent == nil:
		return reply{Say: "what is sent is not kept here"}
	case len(x.viewer.HideNames) > 0:
		return reply{Say: "requests name subjects, and names are hidden here"}
	}
	p := &requestsPage{read: x.viewer.Sent, filter: strings.TrimSpace(filter)}
	p.refresh()
	return reply{Push: p}
}

// requestsPage is the log of the requests and commands that were sent, the newest first.
type requestsPage struct {
	read   func() []backend.Sent
	filter string
	found  []backend.Sent
	all    int
	pager  pager
}

func (*requestsPage) fillsBody() {}

func (*requestsPage) Keys() keys.Context { return keys.Details }

// refresh reads the log again. While older lines are in sight they stay where they are.
func (p *requestsPage) refresh() {
	all := p.read()
	p.found, p.all = p.found[:0], len(all)
	words := strings.Fields(strings.ToLower(p.filter))
	for i := range all {
		if holdsAll(strings.ToLower(requestText(&all[i])), words) {
			p.found = append(p.found, all[i])
		}
	}
}

// requestText is what a filter looks at.
func requestText(s *backend.Sent) string {
	line := text.SentLine(s, time.UTC)
	if s.Acts {
		line += " action"
	}
	if text.SentFailed(s) {
		line += " failed"
	}
	return line
}

func holdsAll(line string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(line, w) {
			return false
		}
	}
	return true
}

func (p *requestsPage) Update(msg tea.Msg, _ *views.Frame) (reply, bool) {
	if _, is := msg.(changedMsg); is {
		if p.pager.AtTop() {
			p.refresh()
		}
		return reply{}, true
	}
	in, _ := msg.(keys.Intent)
	switch in.Action {
	case keys.Back, keys.Requests:
		return reply{Close: true}, true
	case keys.Filter:
		return openPageLine(p.filter, func(text string) {
			p.filter, p.pager = text, pager{}
			p.refresh()
		}), true
	case keys.Verbs, keys.Act, keys.Runbook, keys.Bundle, keys.Acknowledge, keys.Unacknowledge, keys.Silence, keys.Copy:
		return reply{Say: "this is a log: esc goes back"}, true
	}
	return reply{}, scroll(&p.pager.Pager, in)
}

func (*requestsPage) offers(a keys.Action, _ *views.Frame) bool {
	return a == keys.Back || a == keys.Palette || a == keys.Quit || a == keys.Filter
}

func (p *requestsPage) Render(w, h int, f *views.Frame) (kit.Block, *tea.Cursor) {
	head := kit.NewLine(f.Theme, w).Put(theme.Accent, " requests and commands").Put(theme.Normal, fmt.Sprintf("  %d", len(p.found)))
	if p.filter != "" {
		head.Put(theme.Dim, fmt.Sprintf(" of %d  /%s", p.all, backend.Clean(p.filter, maxEntry)))
	}
	d := &kit.Doc{}
	if len(p.found) == 0 {
		why := "nothing was sent yet"
		if p.filter != "" {
			why = "none of them holds these words"
		}
		d.Line(kit.Span{Tone: theme.Dim, Text: why})
	}
	source, result := 0, 0
	for i := range p.found {
		source, result = max(source, kit.Width(p.found[i].Source)), max(result, kit.Width(text.SentResult(&p.found[i])))
	}
	for i := range p.found {
		d.Line(requestSpans(&p.found[i], min(source, widestSource), min(result, widestResult))...)
	}
	return paged(&p.pager, w, h, f.Theme, head.End(theme.Dim, "UTC, newest first; failed, action and any word filter ").String(), d.Layout(f.Theme, w)), nil
}

// These bound the columns of sources and of results, in cells.
const (
	widestSource = 24
	widestResult = 10
)

// requestSpans are one line: the result is a word and a tone. source and result are the widths of their columns.
func requestSpans(s *backend.Sent, source, result int) []kit.Span {
	tone := theme.Normal
	if text.SentFailed(s) {
		tone = theme.Bad
	}
	method := theme.Normal
	if s.Acts {
		method = theme.Strong
	}
	name := kit.Cut(backend.Clean(s.Source, 60).String(), source)
	out := []kit.Span{{Tone: theme.Dim, Text: s.At.UTC().Format("15:04:05.000") + " "}, {Tone: tone, Text: fmt.Sprintf("%-*s ", result, text.SentResult(s))},
		{Tone: theme.Dim, Text: fmt.Sprintf("%5s %6s  ", kit.Latency(s.Took), backend.Bytes(s.Bytes))},
		{Tone: theme.Dim, Text: name + strings.Repeat(" ", max(source-kit.Width(name), 0)+2)}, {Tone: method, Text: s.Method + " " + shortIDs(s.What.String())}}
	if !s.Cause.IsEmpty() {
		out = append(out, kit.Span{Tone: theme.Bad, Text: "  " + s.Cause.String()})
	}
	return out
}

// Ids of containers and of what runs in them have 64 digits: the first shortID tell them apart, and what was asked stays in sight.
const (
	longID  = 40
	shortID = 12
)

// shortIDs is an address or command with only the beginnings of such ids; the filter looks at the whole.
func shortIDs(what string) string {
	var b strings.Builder
	for what != "" {
		n := len(what) - len(strings.TrimLeft(what, "0123456789abcdef"))
		switch {
		case n >= longID:
			b.WriteString(what[:shortID] + "…")
		default:
			n = max(n, 1)
			b.WriteString(what[:n])
		}
		what = what[n:]
	}
	return b.String()
}
