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

// runView shows a plan that some viewer carries out, or the last one. One that is over stays when another plan begins.
type runView struct {
	acting *acting
	run    *actions.Progress
	pager  kit.Pager
}

func (*runView) Keys() keys.Context { return keys.RunProgress }

func (v *runView) Update(msg tea.Msg, _ *views.Frame) (reply, bool) {
	a, p := v.acting, v.run
	if _, changed := msg.(runMsg); changed {
		ended := a.moved()
		if v.run.Plan.Digest == a.run.Plan.Digest {
			if said, back := a.gaveBack(); back {
				return reply{Close: true, Say: said, Cmd: a.follow()}, true
			}
			ended = "" // it is in sight
		}
		return reply{Say: ended, Cmd: a.follow()}, true
	}
	in, _ := msg.(keys.Intent)
	switch in.Action {
	case keys.Cancel:
		if p.Over() || !p.Own {
			return reply{Close: true}, true
		}
		return a.stopRun(p.Plan.Digest), true
	case keys.ShowRun:
		return reply{Close: true}, true
	case keys.NextWave:
		return said(a.control.Continue(p.Plan.Digest)), true
	}
	return reply{}, scroll(&v.pager, in)
}

func (v *runView) offers(a keys.Action, _ *views.Frame) bool {
	switch a {
	case keys.NextWave:
		return v.run.CanContinue
	case keys.Cancel:
		return v.run.Own && !v.run.Over()
	}
	return true
}

func (v *runView) Render(w, h int, f *views.Frame) (kit.Block, *tea.Cursor) {
	p := plan.Progress{Progress: *v.run, Suspect: suspect(v.run.Plan, f), Now: f.Acting.At, Pager: &v.pager, Note: f.Say, Reach: f.State.Reach}
	return p.Draw(w-2, h-2, f.Theme), nil
}

// show opens the run that goes on, or the last one.
func (a *acting) show() reply {
	if a.run == nil {
		return reply{Say: "no plan was carried out yet"}
	}
	a.view = &runView{acting: a, run: a.run}
	return reply{Push: a.view}
}

// began takes the run that this viewer began.
func (a *acting) began() {
	a.moved()
	a.view, a.quitting = &runView{acting: a, run: a.run}, false
}

// stopRun stops the viewer's own run before its next target.
func (a *acting) stopRun(digest string) reply {
	return said(a.control.Stop(digest, backend.Text("stopped by the operator")))
}

// said is the reply to what may have failed.
func said(err error) reply {
	if err == nil {
		return reply{}
	}
	return reply{Say: backend.Clean(err.Error(), 300).String()}
}

// moved takes the newest progress. It returns a remark when a run has ended since.
func (a *acting) moved() (ended string) {
	p, ok := a.control.Progress()
	if !ok {
		return ""
	}
	was := a.run
	a.run = &p
	if a.view != nil && a.view.run.Plan.Digest == p.Plan.Digest {
		a.view.run = a.run
	}
	if !p.Over() || was != nil && was.Over() && was.Plan.Digest == p.Plan.Digest {
		return ""
	}
	by := ""
	if !p.Own {
		by = " by " + p.Plan.Who.Name().String()
	}
	if said, back := a.gaveBack(); back && p.Own {
		return said
	}
	return string(p.Plan.Verb) + by + ": " + p.Summary().String() + "; v shows it"
}

// gaveBack says how a plan ended that had the terminal; false: it had not, it goes on, or there is more to read about it.
func (a *acting) gaveBack() (said string, back bool) {
	p := a.run
	if !p.Over() || p.Count(actions.ResultVerified) != len(p.Lines) || len(p.Lines) != 1 || !p.Problem.IsEmpty() || !a.control.TakesTerminal(p.Plan) {
		return "", false
	}
	l := &p.Lines[0]
	said = l.Target.Label.String() + ": " + l.Text.String()
	for _, note := range l.Done.Notes {
		said += "; " + note.String()
	}
	return said, true
}

// runMsg says that a run began or moved on.
type runMsg struct{ acting *acting }

func (msg runMsg) to() overlay {
	if v := msg.acting.view; v != nil {
		return v
	}
	return nil
}

// missed is for a run that is not in sight: its end is a remark.
func (msg runMsg) missed() reply {
	return reply{Say: msg.acting.moved(), Cmd: msg.acting.follow()}
}

// follow waits until a plan begins or moves on, whoever carries it out.
func (a *acting) follow() tea.Cmd {
	if a.changed == nil {
		return nil
	}
	changed, done, msg := a.changed, a.done, runMsg{a}
	return func() tea.Msg {
		select {
		case <-changed:
			return msg
		case <-done:
			return nil
		}
	}
}

// suspect is the sandbox that a plan of prove compares the platform with; nil: none, or it is gone.
func suspect(p *actions.Plan, f *views.Frame) *backend.Sandbox {
	id, err := backend.NewID(p.Params.Beside)
	if err != nil {
		return nil
	}
	return f.State.Sandbox(backend.Key{Kind: backend.KindSandbox, Source: p.Source, ID: id})
}
