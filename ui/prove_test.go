package ui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/examine"
)

// proved are the steps of prove up to a failed one.
func proved(failed string) []actions.Step {
	var out []actions.Step
	result := actions.StepOK
	for i, name := range []string{"create", "start", "write", "exec", "list", "read", "pause", "resume", "exec after resume", "list after resume", "read after resume", "destroy"} {
		s := actions.Step{Name: backend.Clean(name, 40), Result: result, Took: time.Duration(i+1) * 7 * time.Millisecond,
			Plane: map[string]backend.Plane{"start": backend.PlaneControl, "exec": backend.PlaneExec, "list": backend.PlaneList, "read": backend.PlaneRead}[name]}
		switch {
		case name == "destroy":
			s.Result = actions.StepOK
		case name == failed:
			s.Result, s.Said, result = actions.StepFailed, backend.Text("the engine refuses: cgroup: freezer is not here"), actions.StepNotTried
		case result == actions.StepNotTried:
			s.Took = 0
		}
		out = append(out, s)
	}
	return out
}

// proves is a console on which prove and doctor can be tried.
func proves(t *testing.T, steps []actions.Step) func(h *hands) *actions.Operator {
	return func(h *hands) *actions.Operator {
		h.proves, h.steps = true, steps
		h.examine = func(_ context.Context, source string) (*examine.Report, string, error) {
			if source != "docker-local" {
				return nil, "", errors.New("the source \x1b[2J has no route")
			}
			time.Sleep(3 * time.Second)
			return &examine.Report{Source: backend.Clean(source, 40), Kind: backend.Text("docker"), Tries: 3,
				Routes: []examine.Route{{Method: backend.Text("GET"), Target: backend.Text("unix:///var/run/docker.sock/containers/{id}/json"), Asked: 21, May: examine.MayRead,
					Answers: map[int]int{200: 20, 404: 1}, Latency: &examine.Latency{Min: 0.0004, Median: 0.001, Max: 0.048}, Unknown: []backend.Safe{backend.Text("Zorp")}},
					{Method: backend.Text("GET"), Target: backend.Text("unix:///var/run/docker.sock/volumes"), May: examine.MayUnknown}},
				States: []examine.State{{Of: backend.KindSandbox, Reported: backend.Text("running"), Count: 4, Known: true}}}, "/var/lib/sandglass/prod-eu/samples/docker-local-1.json (redacted; only you can read it)", nil
		}
		c := h.control(t, false)
		h.arm(t, c)
		return c
	}
}

// shows checks that the screen has all of the texts.
func (s *screen) shows(all ...string) {
	s.t.Helper()
	got := strings.Join(strings.Fields(strings.NewReplacer("│", " ", "─", " ").Replace(s.text())), " ")
	for _, want := range all {
		if !strings.Contains(got, want) {
			s.t.Errorf("%q is not on the screen:\n%s", want, s.text())
		}
	}
}

// Prove is reached from a sandbox, by the palette and from its source; the result stands beside the suspect's planes.
func TestProveOnTheScreen(t *testing.T) {
	fromList := func(s *screen) {
		s.press("3", "/", "eval-12", keyEnter, "x")
		s.shows("p probe", "prove makes a container of its own", "doctor tries every read route")
		for !strings.Contains(s.text(), "› prove") && !strings.Contains(s.text(), "›     prove") {
			s.press(keyDown)
		}
		s.press(keyEnter)
	}
	for name, c := range map[string]struct {
		failed, ends string
		open         func(s *screen)
		beside       bool
	}{
		"sandbox":  {"", "the platform works: it is this sandbox, web-eval-12", fromList, true},
		"details":  {"", "the platform works: it is this sandbox, web-eval-12", func(s *screen) { s.press("3", "/", "eval-12", keyEnter, keyEnter, "x", "j", "j", "j", keyEnter) }, true},
		"pause":    {"pause", "the platform itself fails: it is not only web-eval-12", fromList, true},
		"palette":  {"", "the platform works: it is this sandbox, web-eval-12", func(s *screen) { s.press("3", "/", "eval-12", keyEnter, ":"); s.typed("prove"); s.press(keyEnter) }, true},
		"source":   {"", "the platform works: look for the cause in the sandbox that fails", func(s *screen) { s.press("9", "/", "docker", keyEnter, "x", keyEnter) }, false},
		"by-alert": {"", "the platform works: look for the cause in the sandbox that fails", func(s *screen) { s.press("9", "/", "docker", keyEnter, ":"); s.typed("prove"); s.press(keyEnter) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			for _, size := range []Size{{80, 24}, {120, 40}} {
				fmt.Fprintf(&got, "=== %dx%d\n", size.Width, size.Height)
				acts(t, size, proves(t, proved(c.failed)), func(s *screen, h *hands, _ *actions.Operator) {
					if c.failed != "" {
						h.fail = errors.New("the platform fails at pause: the engine refuses: cgroup: freezer is not here")
					}
					c.open(s)
					s.ready()
					s.shows("prove docker-local", "press p ")
					s.press("p")
					s.ready() // a key that repeats confirms nothing
					s.press("p")
					time.Sleep(5 * time.Second)
					s.settle()
					s.shows(c.ends, "read after resume")
					if c.beside {
						s.shows("WEB-EVAL-12", "failed, working directory missing", "not tried")
					}
					got.Write(s.golden(s.body()))
				})
			}
			if name == "sandbox" || name == "pause" {
				golden.RequireEqual(t, got.Bytes())
			}
		})
	}
}

// Several sandboxes cannot be compared at once, and a workspace has none of the verbs.
func TestProveNeedsOneSandbox(t *testing.T) {
	acts(t, Size{120, 40}, proves(t, proved("")), func(s *screen, _ *hands, _ *actions.Operator) {
		s.press("3", " ", "j", " ", ":")
		s.typed("prove")
		s.press(keyEnter)
		s.shows("prove compares with one sandbox: mark one")
		s.press("x")
		s.shows("prove not now: it compares with one sandbox: choose one")
		s.press("x", "2", ":")
		s.typed("prove")
		s.press(keyEnter)
		s.shows("prove does nothing to this workspace")
		s.press("5", ":")
		s.typed("prove")
		s.press(keyEnter)
		s.shows("prove does nothing to this eviction")
	})
}

// Doctor shows its report, and where its sample is.
func TestDoctorOnTheScreen(t *testing.T) {
	var got bytes.Buffer
	for _, size := range []Size{{80, 24}, {120, 40}} {
		fmt.Fprintf(&got, "=== %dx%d\n", size.Width, size.Height)
		acts(t, size, proves(t, nil), func(s *screen, _ *hands, _ *actions.Operator) {
			s.press("9", "/", "docker", keyEnter, ":")
			s.typed("doctor")
			s.press(keyEnter)
			s.shows("trying every read route")
			time.Sleep(4 * time.Second)
			s.settle()
			s.shows("OK: everything that was asked is read", "/var/lib/sandglass/prod-eu/samples/docker-local-1.json", "unknown: Zorp", "20× 200, 1× 404")
			got.Write(s.golden(s.body()))
			s.press("\x1b[D", "/", "\x15", "helix-us", keyEnter, "x")
			s.shows("doctor")
			s.press("G", "j", "j", keyEnter)
			time.Sleep(time.Second)
			s.settle()
			s.shows("The routes were not tried: the source")
			s.press("\x1b[D")
		})
	}
	golden.RequireEqual(t, got.Bytes())
}

// A console that only looks can try read routes too.
func TestDoctorNeedsNoPermission(t *testing.T) {
	acts(t, Size{80, 24}, func(h *hands) *actions.Operator {
		proves(t, nil)(h)
		return h.control(t, false, actions.Prove, actions.Probe, actions.Destroy, actions.Pause, actions.Reset)
	}, func(s *screen, _ *hands, _ *actions.Operator) {
		s.press("9", "/", "docker", keyEnter, "x")
		s.shows("doctor tries every read route", "prove not now")
		s.press(keyEnter)
		time.Sleep(4 * time.Second)
		s.settle()
		s.shows("doctor docker-local", "OK: everything")
	})
}

// A probe shows its cost before, and each plane after.
func TestProbeOnTheScreen(t *testing.T) {
	var got bytes.Buffer
	for _, size := range []Size{{80, 24}, {120, 40}} {
		fmt.Fprintf(&got, "=== %dx%d\n", size.Width, size.Height)
		acts(t, size, func(h *hands) *actions.Operator {
			h.observed = []backend.Verdict{
				{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, What: backend.Text("commands do not run: the working directory /workspace is missing"), Took: 41 * time.Millisecond, At: time.Now()},
				{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, What: backend.Text("the engine calls it running"), Took: 2 * time.Millisecond, At: time.Now(), Passive: true},
				{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, What: backend.Text("/workspace is missing"), Took: time.Millisecond, At: time.Now(), Passive: true},
			}
			return allowed(t)(h)
		}, func(s *screen, h *hands, _ *actions.Operator) {
			s.press("3", "p")
			s.ready()
			s.shows("cost: starts 1 short command", "press p ")
			if len(h.acted()) > 0 {
				t.Error("it ran before it was confirmed")
			}
			s.press("p")
			time.Sleep(2 * time.Second)
			s.settle()
			s.shows("exec 41ms failed, working directory missing", "control 2ms the engine calls it running", "filesystem list 1ms failed, working directory missing: /workspace is missing", "not tried filesystem read")
			got.Write(s.golden(s.body()))
		})
	}
	golden.RequireEqual(t, got.Bytes())
}
