package ui

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"sandglass/backend"
	"sandglass/backend/logstream"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/logview"
	"sandglass/views/subjects"
)

// Logs is how a viewer reads logs. Without Of it cannot.
type Logs struct {
	// Of names what there is to read about a subject. It returns at once.
	Of func(backend.Key) backend.LogSet
	// Has reports whether there may be any, without making their names; nil: wherever Of is.
	Has func(backend.Key) bool
	// Follow reads logs into a sink until ctx ends, on goroutines of its own.
	Follow func(ctx context.Context, logs []backend.Log, to logstream.Sink)
	// Cleaner masks what is secret.
	Cleaner *backend.Cleaner
	// Save writes a new file that only its owner can read, and returns its path; nil: there is no place for it.
	Save func(name string, write func(io.Writer) error) (path string, err error)
	// Pager is the command that shows a file on the viewer's terminal, and is ended with ctx; nil: this viewer has none.
	Pager func(ctx context.Context, path string) *exec.Cmd
	// Remove removes a file that Save wrote for the pager.
	Remove func(path string)
}

// logPage shows the logs of one thing. It ends its reading when it is closed.
type logPage struct {
	leaving context.Context // ends when the console is to end
	key     backend.Key
	name    string
	logs    *Logs
	store   *logview.Store
	view    *logview.View
	ctx     context.Context
	cancel  context.CancelFunc
}

// logPause is how long a log view waits after a frame until it draws the lines that came since.
const logPause = 50 * time.Millisecond

// openLogs follows the logs of what is here.
func (x *scope) openLogs() reply {
	key, logs := x.here(), &x.viewer.Logs
	switch {
	case key == (backend.Key{}):
		return reply{Say: noRow}
	case logs.Of == nil:
		return reply{Say: "this console reads no logs"}
	}
	key, filter := logsOf(key, x.frame)
	set := logs.Of(key)
	name := subjects.NameOf(key, x.frame.Snapshot).String()
	if a := views.FindAlert(x.frame.Board, key); a != nil { // its id says nothing to anybody
		name = a.Rule
	}
	p := &logPage{key: key, name: x.frame.Shown(name), logs: logs, leaving: x.viewer.leaving}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.store = logview.NewStore(logview.DefaultLimit, len(set.Logs), logs.Cleaner)
	p.view = logview.NewView(p.store, "logs of "+p.name, set)
	p.view.Local(x.frame.Now.Location())
	if x.frame.Hidden != nil {
		p.store.Showing(x.frame.Hidden.Text)
	}
	_ = p.view.SetFilter(filter) // words are no mistake
	if len(set.Logs) > 0 {
		logs.Follow(p.ctx, set.Logs, p.store)
	}
	return reply{Push: p, Cmd: p.wait(0)}
}

// logsOf is the subject whose logs are those of a row, and the filter that they begin with.
func logsOf(key backend.Key, f *views.Frame) (of backend.Key, filter string) {
	if e := f.Event(key); e != nil && e.Subject != (backend.Key{}) { // a line of the timeline stands for what it is about
		key = e.Subject
	}
	if key.Kind == views.KindEviction { // no line names its row: its source tells
		return backend.Key{Kind: backend.KindSource, Source: key.Source, ID: backend.MustID(key.Source)}, ""
	}
	if r, is := views.FindRejection(f.State, key); is {
		return rejectedLines(&r)
	}
	return key, ""
}

// worthOffering reports whether a row may have a log.
func (l *Logs) worthOffering(key backend.Key, f *views.Frame) bool {
	if l.Of == nil || key == (backend.Key{}) {
		return false
	}
	of, _ := logsOf(key, f)
	return l.Has == nil || l.Has(of)
}

// rejectedLines are the logs that hold the lines of rejected commands, and the words that those lines hold: of the session or its
// workspace where the lines name one, else of the log.
func rejectedLines(r *views.Rejection) (of backend.Key, filter string) {
	if strings.Contains(r.First.String(), "rejected") || r.First.IsEmpty() {
		filter = "rejected"
	}
	if word := r.Word.String(); word != "" && !strings.ContainsAny(word[:1], "!~") && !strings.ContainsAny(word, `"\`) { // as JSON has them, too
		filter = strings.TrimSpace(filter + " " + word)
	}
	switch {
	case r.Session.IsZero():
		return backend.Key{Kind: backend.KindSource, Source: r.Key.Source, ID: backend.MustID(r.Key.Source)}, filter
	case r.Workspace.IsZero():
		return backend.Key{Kind: backend.KindSession, Source: r.Key.Source, ID: r.Session}, filter
	}
	return backend.Key{Kind: backend.KindWorkspace, Source: r.Key.Source, Parent: r.Session, ID: r.Workspace}, filter
}

func (*logPage) fillsBody() {}

func (*logPage) Keys() keys.Context { return keys.LogLines }

func (p *logPage) subject() backend.Key { return p.key }

// gone ends the reading.
func (p *logPage) gone() { p.cancel() }

// logMsg says that lines came.
type logMsg struct{ page *logPage }

func (m logMsg) to() overlay { return m.page }

func (logMsg) missed() reply { return reply{} }

// wait returns a command that searches what came and says so, not sooner than after a pause: lines may come fast, frames are few.
func (p *logPage) wait(after time.Duration) tea.Cmd {
	return func() tea.Msg {
		if after > 0 {
			t := time.NewTimer(after)
			defer t.Stop()
			select {
			case <-t.C:
			case <-p.ctx.Done():
				return nil
			}
		}
		select {
		case <-p.store.Changed():
		case <-p.ctx.Done():
			return nil
		}
		for range logSteps {
			if p.store.Step() || p.ctx.Err() != nil {
				break
			}
		}
		return logMsg{p}
	}
}

// logSteps is how many blocks are searched between two frames.
const logSteps = 64

func (p *logPage) Update(msg tea.Msg, f *views.Frame) (reply, bool) {
	switch msg := msg.(type) {
	case logMsg:
		p.view.Came(f.Acting.At)
		return reply{Cmd: p.wait(logPause)}, true
	case pagedMsg:
		return reply{Say: msg.say}, true
	case keys.Intent:
		return p.act(msg, f)
	}
	return reply{}, false
}

func (p *logPage) act(in keys.Intent, f *views.Frame) (reply, bool) {
	switch in.Action {
	case keys.Back:
		if p.view.Filter() != "" {
			_ = p.view.SetFilter("") // no filter is no mistake
			return reply{}, true
		}
		return reply{Close: true}, true
	case keys.Filter:
		return openLogFilter(p), true
	case keys.Copy:
		l, ok := p.view.Line()
		if !ok {
			return reply{Say: "there is no line yet"}, true
		}
		text := p.view.Text(&l)
		if len(text) > mostCopied {
			return reply{Say: "nothing copied: the line has " + kit.Number(len(text)) + " bytes, and terminals take at most " + kit.Number(mostCopied)}, true
		}
		return reply{Copy: text, Say: "line sent to the clipboard"}, true
	case keys.SaveLog:
		return p.save(), true
	case keys.PageLog:
		return p.page(), true
	}
	say, handled := p.view.Update(in)
	return reply{Say: say}, handled
}

func (p *logPage) Render(w, h int, f *views.Frame) (kit.Block, *tea.Cursor) {
	return p.view.Render(w, h, f), nil
}

func (p *logPage) offers(a keys.Action, _ *views.Frame) bool {
	switch a {
	case keys.SaveLog:
		return p.logs.Save != nil
	case keys.PageLog:
		return p.logs.Pager != nil
	}
	return true
}

// write puts the lines that are shown into a file, with the time that their log tells.
func (p *logPage) write(to io.Writer) error {
	out := bufio.NewWriter(to)
	p.view.Shown(func(l logview.Line) bool {
		if !l.At.IsZero() {
			_, _ = out.WriteString(l.At.UTC().Format("2006-01-02T15:04:05.000Z "))
		}
		_, _ = out.WriteString(p.view.Text(&l))
		return out.WriteByte('\n') == nil
	})
	return out.Flush()
}

// save writes the lines into a file beside the console's own.
func (p *logPage) save() reply {
	if p.logs.Save == nil {
		return reply{Say: "not saved: this console writes nothing, or has no state directory: --state-dir names one"}
	}
	return reply{Say: "saving the lines…", Cmd: func() tea.Msg {
		path, err := p.logs.Save(p.name, p.write)
		if err != nil {
			return pagedMsg{p, "not saved: " + backend.Clean(err.Error(), 200).String()}
		}
		return pagedMsg{p, "saved to " + backend.Clean(path, 200).String() + "; only you can read it"}
	}}
}

// pagedMsg says how saving or paging ended.
type pagedMsg struct {
	page *logPage
	say  string
}

func (m pagedMsg) to() overlay { return m.page }

func (m pagedMsg) missed() reply { return reply{Say: m.say} }

// page shows the lines in the viewer's pager, from a file that is removed after it.
func (p *logPage) page() reply {
	switch {
	case p.logs.Pager == nil:
		return reply{Say: "no pager here: it needs a local terminal; s saves the lines"}
	case p.logs.Save == nil:
		return reply{Say: "no pager: there is no place for its file: --state-dir names one"}
	}
	return reply{Cmd: func() tea.Msg {
		path, err := p.logs.Save("pager-"+p.name, p.write)
		if err != nil {
			return pagedMsg{p, "no pager: " + backend.Clean(err.Error(), 200).String()}
		}
		return pagerMsg{p, path}
	}}
}

// pagerMsg says that the file for the pager is there.
type pagerMsg struct {
	page *logPage
	path string
}

func (m pagerMsg) to() overlay { return nil }

// missed opens the pager whether or not the page is still there; else its file would stay.
func (m pagerMsg) missed() reply {
	p := m.page
	return reply{Cmd: tea.ExecProcess(p.logs.Pager(p.leaving, m.path), func(err error) tea.Msg {
		p.logs.Remove(m.path)
		if err != nil {
			return pagedMsg{p, "the pager failed: " + backend.Clean(err.Error(), 200).String() + "; PAGER names another"}
		}
		return pagedMsg{page: p}
	})}
}
