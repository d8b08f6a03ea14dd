package runbook

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestTroubleOfALocalEngineNamesNoDurableObject: neither in the text of a page, nor in its checks and advice.
func TestTroubleOfALocalEngineNamesNoDurableObject(t *testing.T) {
	said := func(d Diagnosis, page *Page) string {
		all := []string{page.Fitting(&d).Advice(Local{}), d.Conclusion.String()}
		for _, c := range d.Checks {
			all = append(all, c.Question.String(), c.Fact.String(), c.WouldTell.String())
		}
		for _, l := range append(d.Do, d.Dont...) {
			all = append(all, l.String())
		}
		return strings.Join(strings.Fields(strings.Join(all, " ")), " ")
	}
	local := func(p backend.Literal) world {
		return world{sessions: []*backend.Session{session("s1", true, func(s *backend.Session) { s.Runtime = backend.Text("js") })},
			workspaces: []*backend.Workspace{broken("s1", "box", backend.ClassFailed, "boom", provider(p))},
			sandboxes:  []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) { b.Provider = backend.Text("docker") })}}
	}
	for _, number := range []string{"1", "2", "3"} {
		page, _ := Incident(number)
		for _, p := range []backend.Literal{"docker", "local-bash", ""} {
			if text := said(local(p).diagnose(number, wsKey("s1", "box")), page); strings.Contains(text, "Durable") {
				i := strings.Index(text, "Durable")
				t.Errorf("page %s, provider %q: …%s", number, p, text[max(0, i-80):i+40])
			}
		}
		cloud := world{workspaces: []*backend.Workspace{broken("s1", "box", backend.ClassFailed, "boom", provider("cloudflare-filestore"))}}
		if text := said(cloud.diagnose(number, wsKey("s1", "box")), page); !strings.Contains(text, "Durable Object") {
			t.Errorf("page %s of a cloud platform does not name them", number)
		}
	}
}

// TestAPageFitsItsPlatform: a page of local containers asks nothing about a cloud's storage, and the other way round. Where the
// platform is not known all is asked.
func TestAPageFitsItsPlatform(t *testing.T) {
	clouds := []string{"R2", "D1", "Durable", "max_instances", "backupR2Binding", "sleepAfter", "new_sqlite_classes"}
	hosts := []string{"POSIX", "tmpfs", "systemd-tmpfiles", "kernel"}
	for _, number := range []string{"1", "2", "3", "4", "7", "8"} {
		page, _ := Incident(number)
		for _, c := range []struct {
			provider backend.Literal
			never    []string
			lost     platform
		}{{"docker", clouds, cloudflare}, {"local-bash", clouds, cloudflare}, {"cloudflare-sandbox", hosts, ownHosts}, {"", nil, anywhere}, {"acme", nil, anywhere}} {
			w := world{workspaces: []*backend.Workspace{broken("s1", "box", backend.ClassEvicted, "boom", provider(c.provider))}, without: []string{"docker"}}
			for _, k := range []backend.Key{wsKey("s1", "box"), sourceKeyOf("helix-eu")} {
				d := w.diagnose(number, k)
				fitting := page.Fitting(&d)
				text := fitting.Section(SectionCheck) + fitting.Section(SectionDo) + fitting.Section(SectionKnobs)
				for _, x := range d.Checks {
					if only := onlyOn()[x.Name]; c.lost != anywhere && only == c.lost {
						t.Errorf("page %s asks %s about %q", number, x.Name, c.provider)
					}
				}
				for _, word := range c.never {
					if i := strings.Index(text, word); i >= 0 {
						t.Errorf("page %s about %q: …%s", number, c.provider, text[max(0, i-60):min(len(text), i+40)])
					}
				}
				for _, v := range d.Knobs {
					if !strings.Contains(text, v.Knob.Name.String()) {
						t.Errorf("page %s about %q has a card of %s", number, c.provider, v.Knob.Name)
					}
				}
				if full := page.Markdown(Local{}); c.lost == anywhere && fitting.Markdown(Local{}) != full || strings.Contains(full, "<!--") {
					t.Errorf("page %s about %q: %s", number, c.provider, full)
				}
			}
		}
	}
	mixed := world{workspaces: []*backend.Workspace{failed("s1", "box", "boom"), failed("s2", "box", "boom")}}
	mixed.workspaces[0].Provider, mixed.workspaces[1].Provider = backend.Text("docker"), backend.Text("cloudflare-sandbox")
	d := mixed.diagnose("7", sourceKeyOf("helix-eu"))
	want(t, d, map[string]Mark{"storage": CannotTell, "quota": CannotTell})
	found := failed("s1", "box", "D1_ERROR: Network connection lost")
	found.Provider = backend.Text("docker")
	want(t, world{workspaces: []*backend.Workspace{found}}.diagnose("1", wsKey("s1", "box")), map[string]Mark{"database": Confirmed})
}

// TestARegionIsOneDiagnosis: the page of the incident, of one of its sandboxes and of a session say the same and begin with the same
// step, which saves the evidence.
func TestARegionIsOneDiagnosis(t *testing.T) {
	w := world{}
	for i := range 4 {
		w.sessions = append(w.sessions, session(fmt.Sprint("s", i), true))
		w.sandboxes = append(w.sandboxes, box(fmt.Sprint("c", i), fmt.Sprint("s", i), func(b *backend.Sandbox) {
			b.Provider, b.Region, b.Reported = backend.Text("agentuity"), backend.Text("usc"), backend.Text("idle")
			*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneQueue, Outcome: backend.OutcomeFailed, Kind: backend.FailExecStuckQueued, At: before(time.Second), Passive: true}})
		}))
	}
	st := w.state()
	board := w.conclude(st)
	i := slices.IndexFunc(board.Alerts, func(a *alerts.Alert) bool { return a.SubjectCount == 4 && a.Rule == "contradiction" })
	if i < 0 {
		t.Fatal("no incident of the region")
	}
	of := w.page(board.Alerts[i])
	if !strings.Contains(of.Conclusion.String(), "One cause outside them is likely") || of.NoBulk.IsEmpty() || !strings.Contains(of.Do[0].String(), "sandglass bundle "+board.Alerts[i].ID) {
		t.Errorf("%s: %v", of.Conclusion, of.Do)
	}
	for _, k := range []backend.Key{sbKey("c0"), sbKey("c3"), sessionKey("s0")} {
		if d := w.diagnose("contradiction", k); d.Conclusion != of.Conclusion || !slices.Equal(d.Do, of.Do) || !slices.Equal(d.Dont, of.Dont) {
			t.Errorf("%s: %s: %v", k.Safe(), d.Conclusion, d.Do)
		}
	}
}

// TestAResumeThatWasRefusedForNowProvesNoLoss: the page of one that was refused long after its suspend says what was answered, and
// not that the checkpoint is gone.
func TestAResumeThatWasRefusedForNowProvesNoLoss(t *testing.T) {
	w := world{sandboxes: []*backend.Sandbox{box("b", "", func(b *backend.Sandbox) {
		b.Provider, b.Region, b.Reported, b.Class = backend.Text("agentuity"), backend.Text("usc"), backend.Text("suspended"), backend.SandboxAsleep
		b.StartedAt, b.LifecycleAt = backend.NotApplicable[time.Time](), now
		b.Lifecycle = []backend.LifecycleEvent{{Kind: backend.LifecycleSuspended, At: before(time.Hour)}}
		*b = *b.WithObserved([]backend.Verdict{{Plane: backend.PlaneExec, Outcome: backend.OutcomeUnknown, Kind: backend.FailResumeRefused, At: before(time.Second),
			What: backend.Text("its resume was refused: answered 409 Conflict")}})
	})}}
	d := w.diagnose("contradiction", sbKey("b"))
	want(t, d, map[string]Mark{"no-checkpoint": CannotTell})
	if text := d.Conclusion.String(); !strings.Contains(text, "no-checkpoint is pending") || !strings.Contains(text, "refused long after its suspend") || strings.Contains(text, "cannot succeed") {
		t.Error(text)
	}
}

// TestNoProbeIsAdvisedInABrokenSandbox: where the mount is gone, the alert fires or it sleeps, no check asks for a command in it.
func TestNoProbeIsAdvisedInABrokenSandbox(t *testing.T) {
	of := func(v backend.Verdict, class backend.SandboxClass) Diagnosis {
		v.At = before(time.Second)
		w := world{sessions: []*backend.Session{session("s1", true)}, sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) {
			b.Provider, b.Region, b.Reported, b.Class = backend.Text("agentuity"), backend.Text("usc"), backend.Text("idle"), class
			*b = *b.WithObserved([]backend.Verdict{v})
		})}}
		return w.diagnose("contradiction", sbKey("b"))
	}
	advised := func(d Diagnosis) bool {
		return slices.ContainsFunc(d.Checks, func(c Check) bool { return strings.Contains(c.WouldTell.String(), "a probe") })
	}
	gone := backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, Kind: backend.FailMountGone}
	for name, d := range map[string]Diagnosis{"mount gone": of(gone, backend.SandboxRunning), "asleep": of(backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK}, backend.SandboxAsleep)} {
		if want(t, d, map[string]Mark{"commands": CannotTell}); advised(d) {
			t.Errorf("%s: %+v", name, d.Checks)
		}
	}
	if d := of(backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK}, backend.SandboxRunning); !advised(d) {
		t.Errorf("nothing speaks against a probe: %+v", d.Checks)
	}
}

// TestADriverAloneIsNoStuckQueue: where only the driver is gone, the page does not say that work does not begin, and names the restart
// of its job.
func TestADriverAloneIsNoStuckQueue(t *testing.T) {
	of := func(planes ...backend.Plane) Diagnosis {
		var all []backend.Verdict
		for _, p := range planes {
			all = append(all, backend.Verdict{Plane: p, Outcome: backend.OutcomeFailed, Kind: backend.FailExecStuckQueued, At: before(time.Second), Passive: true})
		}
		w := world{sessions: []*backend.Session{session("s1", true)}, sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) {
			b.Provider, b.Region, b.Reported = backend.Text("agentuity"), backend.Text("usc"), backend.Text("idle")
			*b = *b.WithObserved(all)
		})}}
		return w.diagnose("contradiction", sbKey("b"))
	}
	if d := of(backend.PlaneDriver); !strings.Contains(d.Conclusion.String(), "No driver leads its session") || !slices.ContainsFunc(d.Do, func(s backend.Safe) bool { return strings.Contains(s.String(), "restart its driver job") }) {
		t.Errorf("%s: %v", d.Conclusion, d.Do)
	}
	if d := of(backend.PlaneDriver, backend.PlaneQueue); !strings.Contains(d.Conclusion.String(), "Work does not begin in it") {
		t.Errorf("with its queue: %s", d.Conclusion)
	}
}

func TestTextOfAPlatform(t *testing.T) {
	text := "## A\n\n- one\n  more <!-- cloudflare -->\n- two\n\nlines\nof it <!-- host -->\n\n### `k` <!-- cloudflare -->\n- Where: x\n\n### `l`\n- Where: y\n"
	for at, want := range map[platform]string{
		anywhere:   "## A\n\n- one\n  more\n- two\n\nlines\nof it\n\n### `k`\n- Where: x\n\n### `l`\n- Where: y\n",
		ownHosts:   "## A\n\n- two\n\nlines\nof it\n\n### `l`\n- Where: y\n",
		cloudflare: "## A\n\n- one\n  more\n- two\n\n\n### `k`\n- Where: x\n\n### `l`\n- Where: y\n",
	} {
		if got := textOn(text, at); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", at, got, want)
		}
	}
}
