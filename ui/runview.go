package ui

import (
	tea "charm.land/bubbletea/v2"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/kit"
	"sandglass/views/plan"
)

// runView shows a plan that is being carried out, or the last one. There is one for each run.
type runView struct {
	acting *acting
	run    *actions.Run
	pager  kit.Pager
}

func (*runView) Keys() keys.Context { return keys.Running }

func (v *runView) Update(msg tea.Msg, _ *views.Frame) (reply, bool) {
	if _, changed := msg.(runMsg); changed {
		return reply{Cmd: v.follow()}, true
	}
	in, _ := msg.(keys.Intent)
	p := v.run.Snapshot()
	switch in.Action {
	case keys.Cancel:
		if p.Over() {
			return reply{Close: true}, true
		}
		v.run.Stop(backend.Text("stopped by the operator"))
	case keys.ShowRun:
		return reply{Close: true}, true
	case keys.NextWave:
		if p.CanContinue {
			v.run.Continue()
		}
	default:
		return reply{}, scroll(&v.pager, in)
	}
	return reply{}, true
}

func (v *runView) offers(a keys.Action, f *views.Frame) bool {
	switch a {
	case keys.NextWave:
		return f.Acting.Run.CanContinue
	case keys.Cancel:
		return !f.Acting.Run.Over()
	}
	return true
}

func (v *runView) Render(w, h int, f *views.Frame) (kit.Block, *tea.Cursor) {
	p := plan.Progress{Progress: *f.Acting.Run, Now: f.Acting.At, Pager: &v.pager, Note: f.Say}
	return p.Draw(w-2, h-2, f.Theme), nil
}

// show opens the run that goes on, or the last one.
func (a *acting) show() reply {
	if a.view == nil && a.control != nil {
		if r := a.control.Current(); r != nil {
			a.view = &runView{acting: a, run: r}
		}
	}
	if a.view == nil {
		return reply{Say: "no plan was carried out yet"}
	}
	a.view.pager = kit.Pager{}
	return reply{Push: a.view}
}

// runMsg says that a run changed.
type runMsg struct{ view *runView }

func (msg runMsg) to() overlay { return msg.view }

// missed is for a run that is hidden: its end is a remark.
func (msg runMsg) missed() reply {
	if !msg.view.run.Over() {
		return reply{Cmd: msg.view.follow()}
	}
	p := msg.view.run.Snapshot()
	return reply{Say: string(p.Plan.Verb) + ": " + p.Summary().String() + "; v shows it"}
}

// follow waits for the next change; nil when there will be none.
func (v *runView) follow() tea.Cmd {
	if v.run.Over() {
		return nil
	}
	changed, stop := v.run.Subscribe()
	done := v.acting.done
	return func() tea.Msg {
		defer stop()
		select {
		case <-changed:
		case <-v.run.Done():
		case <-done:
			return nil
		}
		return runMsg{v}
	}
}
