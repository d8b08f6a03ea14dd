package ui

import (
	"context"
	"path"
	"slices"

	tea "charm.land/bubbletea/v2"

	"sandglass/actions"
	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/keys"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// scope is what a command may look at.
type scope struct {
	viewer *Viewer
	feed   Feed
	frame  *views.Frame
	screen views.Screen
	keymap *keys.Map
	from   keys.Context // where the key was pressed
	key    backend.Key  // that the top overlay shows; zero: the screen has the keys
	acting *acting
	past   *pastFilters
	kept   *Kept
	// colours are what the terminal has, whatever the theme uses of them.
	colours  theme.Colours
	pointing *pointing
}

// place says where a command works.
type place uint8

const (
	anywhere  place = iota
	onSubject       // in a table, and in an overlay that shows one thing
	inTable
)

// placeOf says where a command works, an intent that is neither an overlay's nor a screen's; false: it is none.
func placeOf(a keys.Action) (place, bool) {
	switch a {
	case keys.Quit, keys.Suspend, keys.Redraw, keys.Help, keys.Palette, keys.Jump, keys.SaveView, keys.OpenView,
		keys.ForgetView, keys.Time, keys.Reload, keys.Mouse, keys.Theme, keys.Arm, keys.Disarm, keys.ShowRun, keys.Requests:
		return anywhere, true
	case keys.Logs, keys.CopyOf, keys.Pin, keys.Act, keys.Doctor, keys.Verbs, keys.Bundle, keys.Acknowledge,
		keys.Unacknowledge, keys.Silence, keys.SilenceList, keys.Differs:
		return onSubject, true
	case keys.Filter, keys.Runbook:
		return inTable, true
	}
	return 0, false
}

// command does what an intent of the program asks for.
func (x *scope) command(in keys.Intent) reply {
	switch in.Action {
	case keys.Quit:
		return x.acting.quit()
	case keys.Suspend:
		return x.suspend()
	case keys.Redraw:
		return reply{Cmd: tea.ClearScreen}
	case keys.Help:
		return reply{Push: &helpPage{keymap: x.keymap, from: x.from}}
	case keys.Palette:
		return openPalette(x)
	case keys.Logs:
		return x.openLogs()
	case keys.Jump:
		return openJump(x)
	case keys.CopyOf:
		return x.copyOf(in.Text)
	case keys.SaveView:
		return x.saveView(in.Text)
	case keys.OpenView:
		return x.openView(in.Text)
	case keys.ForgetView:
		return x.forgetView(in.Text)
	case keys.Time:
		return x.setTime(in.Text)
	case keys.Reload:
		return x.reload()
	case keys.Pin:
		return x.pin(in.Text)
	case keys.Mouse:
		return x.toggleMouse()
	case keys.Theme:
		return x.chooseTheme(in.Text)
	case keys.Arm:
		return x.acting.openArming(in.Text, nil)
	case keys.Disarm:
		return x.acting.disarm()
	case keys.ShowRun:
		return x.acting.show()
	case keys.Requests:
		return openRequests(x, in.Text)
	case keys.Act:
		return x.plan(actions.Verb(in.Text))
	case keys.Doctor:
		return x.acting.doctor(x.chosen())
	case keys.Verbs:
		return x.acting.list(x.chosen(), "")
	case keys.Bundle:
		return x.bundle()
	case keys.Acknowledge, keys.Unacknowledge, keys.Silence:
		return x.order(in)
	case keys.SilenceList:
		return openSilences(x)
	case keys.Differs:
		return openDiffers(x.key)
	case keys.Filter:
		return openFilter(x.screen, x.past)
	case keys.Runbook:
		return x.runbook()
	}
	return reply{}
}

// here is what an intent is about: what the overlay shows, else the row under the cursor; zero: nothing.
func (x *scope) here() backend.Key {
	if x.key != (backend.Key{}) {
		return x.key
	}
	return x.screen.Cursor(x.frame)
}

// noRow is said when the cursor is on nothing.
const noRow = "the cursor is on no row: move it first"

func (x *scope) runbook() reply {
	key := x.here()
	if key == (backend.Key{}) {
		return reply{Say: noRow}
	}
	return openRunbook(key, x.frame)
}

func (x *scope) suspend() reply {
	if x.viewer.CanSuspend {
		return reply{Cmd: tea.Suspend}
	}
	return reply{Say: "there is no shell to go back to: q quits"}
}

// alert is the alert here; about another thing, the worst alert that names it; nil when there is none.
func (x *scope) alert() *alerts.Alert {
	key := x.here()
	for _, a := range x.frame.Board.Alerts {
		if views.AlertKey(a) == key {
			return a
		}
	}
	if key.Kind != "" {
		return x.frame.Alert(key)
	}
	return nil
}

// selection is what an action is about.
type selection struct {
	keys, hidden []backend.Key // hidden: marked, and hidden by the filter
	label        backend.Safe
	asked        views.Question     // the question whose answer says what is unsafe now
	diagnosis    *runbook.Diagnosis // that answer; nil: not known yet
	seen         *views.Snapshot    // what it was made from
	from         keys.Context       // where
}

// chosen are the marked rows, else the thing here. An alert stands for its subjects.
func (x *scope) chosen() selection {
	s := selection{seen: x.frame.Snapshot, from: x.from}
	shown := []backend.Key{x.key}
	if x.key == (backend.Key{}) {
		if shown, s.hidden = x.screen.Marked(); len(shown)+len(s.hidden) == 0 {
			shown = []backend.Key{x.screen.Cursor(x.frame)}
		}
	}
	for _, k := range shown {
		if e := x.frame.Event(k); e != nil { // a line of the timeline stands for what it is about
			k = e.Subject
		}
		if k.Kind != views.KindAlert {
			s.keys = append(s.keys, k)
			continue
		}
		for _, a := range x.frame.Board.Alerts {
			if views.AlertKey(a) != k {
				continue
			}
			for _, subject := range a.Subjects {
				s.keys = append(s.keys, subject.Key)
			}
			s.label = backend.Clean(a.Rule, 60)
			s.asked, _ = subjects.Asked(a)
		}
	}
	s.keys = slices.DeleteFunc(s.keys, func(k backend.Key) bool { return k == (backend.Key{}) })
	switch n := len(s.keys); {
	case n == 1:
		s.label = subjects.NameOf(s.keys[0], x.frame.Snapshot)
	case n > 1 && s.label.IsEmpty():
		s.label = backend.Textf("%d marked rows", n)
	case n > 1:
		s.label = backend.Textf("%s: %s", s.label, backend.Clean(subjects.Counted(s.keys), 60))
	}
	if len(s.keys) == 1 && s.asked == (views.Question{}) {
		if page, ok := subjects.PageOf(s.keys[0], x.frame); ok {
			s.asked = page.Question
		}
	}
	s.diagnosis = x.frame.Diagnoses[s.asked]
	return s
}

// plan begins a verb on what is chosen.
func (x *scope) plan(verb actions.Verb) reply {
	return x.acting.intend(verb, x.keymap.OfVerb(x.from, string(verb)), x.chosen(), x.acting.now())
}

// bundle writes the evidence about one thing into a file.
func (x *scope) bundle() reply {
	write, key := x.viewer.Bundle, x.here()
	switch why := x.viewer.denied(actions.Acknowledge); {
	case why != "":
		return reply{Say: why}
	case write == nil:
		return reply{Say: "there is no state directory to write evidence to: name one with --state-dir"}
	case key == (backend.Key{}):
		return reply{Say: noRow}
	}
	return reply{Say: "collecting the evidence…", Cmd: func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), planWithin)
		defer cancel()
		file, err := write(ctx, key)
		dir, name := path.Split(file) // the name first: it is whole on a narrow screen too
		return orderedMsg{say: "evidence written: " + backend.Clean(name, 200).String() + " in " + backend.Clean(dir, 200).String(), err: err}
	}}
}
