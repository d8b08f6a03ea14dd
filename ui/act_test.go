package ui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"sandglass/actions"
	"sandglass/actions/audit"
	"sandglass/backend"
)

// hands are fake effects on the incident's fleet.
type hands struct {
	feed     *fixedFeed
	concerns []actions.Concern
	fail     error
	shared   bool              // several people use the account
	broken   []backend.Safe    // plans of a former run
	examine  Examine           // of doctor
	proves   bool              // prove is a verb of the sandboxes' source
	steps    []actions.Step    // of an effect
	observed []backend.Verdict // by an effect
	pending  bool              // an effect is accepted, and nothing proves it
	label    string            // of every target; empty: their own
	choices  []actions.Choice  // processes of every sandbox, of which kill-process ends one
	looking  func()            // runs while targets are read
	writing  func(audit.Entry) // runs while a record is written

	common *actions.Control

	mu   sync.Mutex
	did  []string
	slow time.Duration
}

func (h *hands) Snapshot() actions.Snapshot {
	s, _ := h.feed.Latest()
	return actions.Snapshot{State: s, Concerns: h.concerns}
}
func (h *hands) Subscribe() (<-chan struct{}, func()) { return h.feed.Subscribe() }
func (h *hands) Wake(string)                          {}
func (h *hands) Reread(backend.Key)                   {}
func (h *hands) Attend([]backend.Key)                 {}

func (h *hands) Append(_ context.Context, e audit.Entry, _ audit.Durability) (audit.Receipt, error) {
	if h.writing != nil {
		h.writing(e)
	}
	return audit.Receipt{}, nil
}

func (h *hands) AppendPaced(ctx context.Context, e audit.Entry, d audit.Durability, _ audit.Pace) (audit.Receipt, error) {
	return h.Append(ctx, e, d)
}

func (h *hands) Look(_ context.Context, q actions.Question) []actions.Candidate {
	if h.looking != nil {
		h.looking()
	}
	var out []actions.Candidate
	for _, k := range q.Keys {
		c := actions.Candidate{Key: k, Label: k.Safe()}
		switch e := q.State.Entity(k).(type) {
		case *backend.Workspace:
			c.Identity = []actions.Fact{{Name: "state", Value: e.Reported.String()}}
			c.Owner, c.Useless = k.Parent.Safe(), true
			if e.Class != backend.ClassFailed {
				c.Why = backend.Textf("it is %s, and reset is for failed ones", e.Reported)
			}
		case *backend.Sandbox:
			c.Label, c.Name, c.Useless = e.Name, e.Name.String(), true
			c.Loses = []backend.Safe{backend.Text("2 volumes"), backend.Text("118 MB written since the start"), backend.Text("17h of uptime")}
			c.Owner = backend.Text("c4f1 (ended)")
			c.Notes = []backend.Safe{backend.Text("the directories /srv/data and /srv/models of the host stay")}
			if len(h.choices) > 0 && q.Params.Process == "" {
				c.Why, c.Choices = backend.Text("several processes ran in it"), h.choices
			} else if len(h.choices) > 0 {
				c.Loses = []backend.Safe{backend.Clean("process "+q.Params.Process+" with its group", 200)}
			}
		default:
			c.Why = backend.Text("it was not found")
			if k.Kind == backend.KindSource {
				c.Why, c.Useless = backend.Safe{}, true
			}
		}
		if h.label != "" {
			c.Label, c.Name = backend.Clean(h.label, 300), h.label
		}
		out = append(out, c)
	}
	return out
}

func (h *hands) Do(_ context.Context, t actions.Target, p actions.Params) (actions.Done, error) {
	time.Sleep(h.slow)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.did = append(h.did, strings.TrimSpace(t.Label.String()+" "+p.Process))
	done := actions.Done{Text: backend.Text("204 No Content"), Proved: !h.pending, Steps: h.steps, Observed: h.observed}
	if len(h.observed) > 0 {
		done.Text = h.observed[0].What
	}
	return done, h.fail
}

func (h *hands) Close() error { return nil }

func (h *hands) acted() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string{}, h.did...)
}

// control makes the Control of the hands, and its first viewer; the verbs named are denied.
func (h *hands) control(t *testing.T, production bool, denied ...actions.Verb) *actions.Operator {
	o := actions.Options{Environment: "prod-eu", Production: production, StateDir: t.TempDir(), Feed: h, Journal: h, Now: time.Now, NewID: func() string { return "0123456789abcdef" },
		Spawn: backend.NewSpawner(nil)}
	add := func(source, kind string, s actions.Spec) {
		a := actions.Ability{Source: source, SourceKind: kind, Spec: s, Part: actions.Part{Targets: h, ReadsItself: true,
			Open: func(context.Context) (actions.Effect, error) { return h, nil }}}
		for _, v := range denied {
			if v == s.Verb {
				a.Denied = backend.Textf("the configuration does not allow it: add %q to actions of the source %s", string(v), source)
			}
		}
		o.Abilities = append(o.Abilities, a)
	}
	for _, src := range []string{"helix-eu", "helix-us"} {
		add(src, "helix", actions.Spec{Verb: actions.Reset, Of: backend.KindWorkspace, Title: "reset", Gesture: actions.GestureYes, Cap: actions.CapAbsolute,
			Effect: "the registry forgets the failure and opens the workspace anew at its next use"})
	}
	for _, s := range []actions.Spec{
		{Verb: actions.Destroy, Title: "destroy", Gesture: actions.GestureName, Effect: "kills what runs in the container and removes it"},
		{Verb: actions.Pause, Title: "pause", Gesture: actions.GestureTwice, Undo: "resume", Effect: "freezes every process in the container"},
		{Verb: actions.Probe, Title: "probe", Gesture: actions.GestureTwice, Undo: "nothing has to be", Effect: "runs true in the working directory", Cost: "starts 1 short command in the container; it wakes and bills nothing"},
	} {
		s.Of = backend.KindSandbox
		add("docker-local", "docker", s)
	}
	if h.proves {
		add("docker-local", "docker", actions.Spec{Verb: actions.Prove, Of: backend.KindSource, Title: "prove", Gesture: actions.GestureTwice, Makes: true,
			Undo: "there is nothing to take back", Effect: "makes a container of its own, tries it, and removes it"})
	}
	if len(h.choices) > 0 {
		add("docker-local", "docker", actions.Spec{Verb: actions.KillProcess, Of: backend.KindSandbox, Title: "kill-process", Gesture: actions.GestureYes, Effect: "ends one process"})
	}
	h.common = actions.NewControl(o)
	return h.common.As(actions.Person{Who: audit.Who{User: backend.Text("mara"), Host: backend.Text("bastion-2")}, Shared: h.shared}, actions.Everything())
}

func newHands() *hands { return &hands{feed: newFeed(incident(time.Now()))} }

func (h *hands) arm(t *testing.T, c *actions.Operator) {
	t.Helper()
	if _, err := c.Arm(t.Context(), time.Hour, backend.Safe{}, backend.Text("quota raised, INC-4711")); err != nil {
		t.Fatal(err)
	}
}

// acting runs a console with hands.
func acts(t *testing.T, size Size, setup func(h *hands) *actions.Operator, f func(s *screen, h *hands, c *actions.Operator)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(14*time.Hour + 3*time.Minute)
		h := newHands()
		c := setup(h)
		s := open(t, h.feed, look{w: size.Width, h: size.Height, control: c, broken: h.broken, examine: h.examine})
		f(s, h, c)
		s.close()
		if r := h.common.Current(); r != nil {
			r.Stop(backend.Text("the test is over"))
			<-r.Done()
		}
	})
}

func (s *screen) ready() { time.Sleep(400 * time.Millisecond); s.settle() }

// typed sends a text key by key, as a person does.
func (s *screen) typed(text string) {
	for _, r := range text {
		s.press(string(r))
	}
}

// Every dialog at both sizes.
func TestActScreens(t *testing.T) {
	for name, c := range map[string]struct {
		production bool
		denied     []actions.Verb
		unarmed    bool
		concerns   []actions.Concern
		fail       error
		shared     bool
		broken     []string
		hands      func(h *hands)
		press      func(s *screen)
	}{
		"reset":      {press: func(s *screen) { s.press("2", "/", "state:failed", keyEnter, "r"); s.ready(); s.typed("ye") }},
		"many":       {press: func(s *screen) { s.press("2", " ", "j", " ", "j", " ", "j", " ", "r"); s.ready() }},
		"production": {production: true, press: func(s *screen) { s.press("3", "D"); s.ready() }},
		"destroy":    {press: func(s *screen) { s.press("3", "D"); s.ready(); s.typed("web") }},
		"light":      {press: func(s *screen) { s.press("3", "p"); s.ready() }},
		"wrong":      {press: func(s *screen) { s.press("3", "D"); s.ready(); s.typed("web"); s.press(keyEnter) }},
		"expired":    {press: func(s *screen) { s.press("3", "D"); time.Sleep(70 * time.Second); s.settle() }},
		"refused": {concerns: []actions.Concern{{ID: "x", Rule: "eviction-storm", Source: "helix-eu", Firing: true, Cause: backend.Text("cloudflare-sandbox: max_instances reached")}},
			press: func(s *screen) { s.press("2", "/", "state:failed", keyEnter, "r"); s.ready(); s.typed("adds") }},
		"set-aside": {concerns: []actions.Concern{{ID: "x", Rule: "eviction-storm", Source: "helix-eu", Firing: true, Cause: backend.Text("cloudflare-sandbox: max_instances reached")}},
			press: func(s *screen) {
				s.press("2", "/", "state:failed", keyEnter, "r")
				s.ready()
				s.typed("adds opens")
				s.press(keyEnter)
				s.ready()
			}},
		"nothing": {press: func(s *screen) { s.press("2", "/", "state:evicted", keyEnter, "j", "r"); s.ready() }},
		"verbs":   {denied: []actions.Verb{actions.Pause}, press: func(s *screen) { s.press("3", "x") }},
		"denied":  {denied: []actions.Verb{actions.Destroy}, press: func(s *screen) { s.press("3", "D") }},
		"arm":     {unarmed: true, press: func(s *screen) { s.press("3", "p") }},
		"running": {press: func(s *screen) {
			s.press("3", "p")
			s.ready()
			s.press("p")
			time.Sleep(1200 * time.Millisecond)
			s.settle()
		}},
		"waiting": {hands: func(h *hands) { h.pending, h.slow = true, 0 }, press: func(s *screen) { manyResets(s, 40*time.Second) }},
		"scrolled": {hands: func(h *hands) { h.slow = 0 }, press: func(s *screen) {
			allBoxes(s)
			s.press("p")
			s.ready()
			s.press("\x1b[6~", "\x1b[6~")
		}},
		"stopped": {fail: errors.New("409 Conflict: container 3f2a is restarting, wait until it is running"), press: func(s *screen) { manyResets(s, 20*time.Second) }},
		"hidden": {press: func(s *screen) {
			s.press("2", "/", "state:failed", keyEnter, " ", "j", " ", "/", " 77c1", keyEnter, "r")
			s.ready()
		}},
		"hidden-light": {press: func(s *screen) {
			s.press("3", " ", "j", " ", "/", "eval-12", keyEnter, "p")
			s.ready()
			s.typed("with ")
		}},
		"arm-who": {unarmed: true, shared: true, press: func(s *screen) { s.press(":"); s.typed("arm"); s.press(keyEnter) }},
		"broken-off": {broken: []string{"destroy: 7 of 40 done; the result of web-1 is unknown (plan 3f2a9c1d, begun 11-20 14:03Z by mara)",
			"clean: 12 of 312 done; it was broken off (plan 77aa0012, begun 11-19 23:51Z by jo)"}, press: func(*screen) {}},
		"hostile": {hands: func(h *hands) { h.label = "web\x1b[2J\u202e" + strings.Repeat("-very-long", 20) }, press: func(s *screen) { s.press("3", "D"); s.ready() }},
		"done":    {press: func(s *screen) { s.press("3", "p"); s.ready(); s.press("p"); time.Sleep(10 * time.Second); s.settle() }},
		"failed":  {fail: errors.New("409 Conflict: container 3f2a is restarting, wait until it is running"), press: func(s *screen) { s.press("3", "p"); s.ready(); s.press("p"); time.Sleep(10 * time.Second); s.settle() }},
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			for _, size := range []Size{{80, 24}, {120, 40}} {
				fmt.Fprintf(&got, "=== %dx%d\n", size.Width, size.Height)
				acts(t, size, func(h *hands) *actions.Operator {
					h.slow, h.concerns, h.fail, h.shared = 3*time.Second, c.concerns, c.fail, c.shared
					for _, s := range c.broken {
						h.broken = append(h.broken, backend.Clean(s, 200))
					}
					if c.hands != nil {
						c.hands(h)
					}
					control := h.control(t, c.production, c.denied...)
					if !c.unarmed {
						h.arm(t, control)
					}
					return control
				}, func(s *screen, _ *hands, _ *actions.Operator) {
					c.press(s)
					got.Write(s.golden(s.body()))
				})
			}
			golden.RequireEqual(t, got.Bytes())
		})
	}
}

// manyResets resets the failed ones and waits.
func manyResets(s *screen, wait time.Duration) {
	s.press("2", "/", "state:failed", keyEnter, " ", "j", " ", "j", " ", "r")
	s.ready()
	s.typed(s.dialog().view.Plan.Wants())
	s.press(keyEnter)
	time.Sleep(wait)
	s.settle()
}

// allBoxes marks every sandbox.
func allBoxes(s *screen) {
	s.press("3")
	for range 30 {
		s.press(" ", "j")
	}
}

func allowed(t *testing.T) func(h *hands) *actions.Operator {
	return func(h *hands) *actions.Operator {
		c := h.control(t, false)
		h.arm(t, c)
		return c
	}
}

func TestOneResetFromKeyToEffect(t *testing.T) {
	acts(t, Size{120, 40}, allowed(t), func(s *screen, h *hands, _ *actions.Operator) {
		s.press("2", "/", "state:failed", keyEnter, "r")
		s.ready()
		s.press(keyEnter) // alone it confirms nothing
		s.ready()
		if got := h.acted(); len(got) != 0 {
			t.Fatalf("enter alone acted on %v", got)
		}
		s.typed("yes")
		s.press(keyEnter)
		time.Sleep(time.Second)
		s.settle()
		if got := h.acted(); len(got) != 1 {
			t.Fatalf("acted on %v:\n%s", got, s.text())
		}
		if !strings.Contains(s.text(), "1 of 1 done: 1 verified") {
			t.Error(s.text())
		}
	})
}

func TestArmingComesFirst(t *testing.T) {
	acts(t, Size{120, 40}, func(h *hands) *actions.Operator { return h.control(t, false) }, func(s *screen, h *hands, c *actions.Operator) {
		if !strings.Contains(s.lines()[0], "actions disabled") {
			t.Error(s.lines()[0])
		}
		s.press("3", "p")
		s.typed("look at it")
		s.press(keyEnter, keyEnter)
		s.ready()
		if !strings.Contains(s.lines()[0], "actions enabled 14m") || !strings.Contains(s.text(), "press p twice") {
			t.Fatal(s.text())
		}
		s.press(keyEsc)
		s.ready()
		s.press(":")
		s.typed("disarm")
		s.press(keyEnter)
		if _, armed := c.Armed(); armed {
			t.Error("still armed")
		}
		s.press(":")
		s.typed("arm 20m quota raised")
		s.press(keyEnter)
		if a, armed := c.Armed(); !armed || a.Reason.String() != "quota raised" || a.Until.Sub(a.At) != 20*time.Minute {
			t.Errorf("armed %t: %+v", armed, a)
		}
		if len(h.acted()) != 0 {
			t.Error("something was done")
		}
	})
}

// What a terminal sends by itself never confirms, in any dialog, wherever it is cut.

func TestPasteNeverConfirms(t *testing.T) {
	acts(t, Size{120, 40}, allowed(t), func(s *screen, h *hands, _ *actions.Operator) {
		s.press("2", "/", "state:failed", keyEnter, "r")
		s.ready()
		s.press("\x1b[200~yes\x1b[201~", keyEnter)
		s.ready()
		if len(h.acted()) != 0 || !strings.Contains(s.text(), "type  yes") {
			t.Errorf("acted on %v:\n%s", h.acted(), s.text())
		}
		s.typed("yes")
		s.press("\x1b[200~x\x1b[201~", keyEnter) // what was typed before it counts no more
		if len(h.acted()) != 0 {
			t.Errorf("acted on %v:\n%s", h.acted(), s.text())
		}
	})
}

func TestEscStopsAndQuittingAsks(t *testing.T) {
	acts(t, Size{120, 40}, func(h *hands) *actions.Operator {
		h.slow = 5 * time.Second
		c := h.control(t, false)
		h.arm(t, c)
		return c
	}, func(s *screen, h *hands, c *actions.Operator) {
		s.press("2", "/", "state:failed", keyEnter, " ", "j", " ", "r")
		s.ready()
		s.typed(s.dialog().view.Plan.Wants())
		s.press(keyEnter)
		s.press("v")
		if !strings.Contains(s.lines()[0], "reset 1/2") {
			t.Errorf("the header does not say what goes on: %s", s.lines()[0])
		}
		s.press("q")
		if !strings.Contains(s.text(), "again stops it") {
			t.Fatal(s.text())
		}
		s.press("v", keyEsc)
		time.Sleep(10 * time.Second)
		s.settle()
		if p := h.common.Current().Progress(); p.Phase != actions.PhaseStopped || len(h.acted()) != 1 {
			t.Errorf("%s after %v", p.Phase, h.acted())
		}
		s.press(keyEsc)
		s.ready()
		if len(s.model.stack) != 0 {
			t.Error("esc did not leave what is over")
		}
	})
}

// A plan that is being made must not open over something else that was opened meanwhile, and a console without hands
// says so.
func TestNothingTakesTheFocus(t *testing.T) {
	acts(t, Size{120, 40}, allowed(t), func(s *screen, _ *hands, _ *actions.Operator) {
		s.press("?")
		s.model.Update(plannedMsg{acting: &s.model.acting, plan: &actions.Plan{}})
		if _, helps := over[*helpPage](s.model); !helps {
			t.Error("a plan opened over the help")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := open(t, newFeed(incident(time.Now())), look{w: 120, h: 40})
		s.press("3", "D")
		if !strings.Contains(s.text(), "only looks") {
			t.Error(s.text())
		}
		s.close()
	})
}

func TestComingBackDisarms(t *testing.T) {
	acts(t, Size{80, 24}, allowed(t), func(s *screen, _ *hands, c *actions.Operator) {
		s.prog.Send(tea.ResumeMsg{})
		s.ready()
		if _, armed := c.Armed(); armed || !strings.Contains(s.text(), "actions disabled") {
			t.Errorf("armed %t:\n%s", armed, s.text())
		}
	})
}

// The letter of a line in the list of verbs plans that line, as enter on it would; it confirms nothing.
func TestALetterInTheListPlansItsLine(t *testing.T) {
	acts(t, Size{120, 40}, allowed(t), func(s *screen, h *hands, _ *actions.Operator) {
		s.press("3", "x")
		if s.dialog() != nil {
			t.Fatal(s.text())
		}
		s.press("D")
		s.ready()
		if d := s.dialog(); d == nil || d.view.Plan.Verb != actions.Destroy {
			t.Fatalf("no plan to destroy:\n%s", s.text())
		}
		if got := h.acted(); len(got) != 0 {
			t.Fatalf("acted on %v", got)
		}
	})
}
