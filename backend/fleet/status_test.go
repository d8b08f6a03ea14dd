package fleet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// machines folds readings of containers, one State each.
type machines struct {
	f  *Folder
	at time.Time
}

func newMachines() *machines {
	m := &machines{NewFolder(time.Minute), time.Unix(1_770_000_000, 0).UTC()}
	m.f.Fold([]backend.Answer{{Source: "d", Config: &backend.SourceConfig{Kind: "docker", Interval: time.Second}}}, backend.Instant{Wall: m.at})
	return m
}

func (m *machines) read(events []backend.Event, boxes ...*backend.Sandbox) *State {
	m.at = m.at.Add(time.Second)
	r := &backend.Reading{Source: "d", Kind: "docker", At: m.at, Scopes: []backend.Scope{{Kind: backend.KindSandbox, Complete: true}}, Sandboxes: boxes, Events: events}
	return m.f.Fold([]backend.Answer{{Source: "d", Reading: r}}, backend.Instant{Wall: m.at})
}

func (m *machines) proves(id string, kept bool, vs ...backend.Verdict) *State {
	m.at = m.at.Add(time.Second)
	for i := range vs {
		vs[i].At = m.at
	}
	return m.f.Fold([]backend.Answer{{Source: "d", Proved: &backend.Proof{Sandbox: boxKey(id), Verdicts: vs, Kept: kept}}}, backend.Instant{Wall: m.at})
}

func boxKey(id string) backend.Key {
	return backend.Key{Kind: backend.KindSandbox, Source: "d", ID: backend.MustID(id)}
}

func listed(id, status string, change ...func(*backend.Sandbox)) *backend.Sandbox {
	b := &backend.Sandbox{Meta: backend.Meta{Key: boxKey(id)}, Name: backend.Clean("box-"+id, 20), IsSandbox: true, Reported: backend.Clean(status, 20), Class: backend.SandboxClass(status)}
	for _, f := range change {
		f(b)
	}
	return b
}

func texts(st *State) string {
	var out []string
	for _, e := range st.Events {
		out = append(out, e.Name+": "+e.Text.String())
	}
	return strings.Join(out, "\n")
}

// Every change of a reported status is an event, unless its source told of it; of many at once, one says how many.
func TestAChangeOfAStatusIsAnEvent(t *testing.T) {
	m := newMachines()
	if got := texts(m.read(nil, listed("a", "running"), listed("b", "running"))); got != "" {
		t.Errorf("at the start: %s", got)
	}
	if got := texts(m.read(nil, listed("a", "paused"), listed("b", "running"))); got != "status: sandbox box-a: paused, before running" {
		t.Errorf("%s", got)
	}
	works := func(b *backend.Sandbox) { b.Class = backend.SandboxRunning }
	if got := texts(m.read(nil, listed("a", "paused"), listed("b", "idle", works))); got != "" {
		t.Errorf("an execution that begins or ends: %s", got)
	}
	m.read(nil, listed("a", "paused"), listed("b", "running"))
	die := backend.Event{Kind: backend.EventPlatform, Source: "d", Subject: boxKey("b"), Name: "die", Text: backend.Text("b died"), Leaves: backend.SandboxExited}
	if got := texts(m.read([]backend.Event{die}, listed("a", "running"), listed("b", "exited"))); got != "die: b died\nstatus: sandbox box-a: running, before paused" {
		t.Errorf("%s", got)
	}
	var up, down []*backend.Sandbox
	for i := range 300 {
		up, down = append(up, listed(fmt.Sprint(i), "running")), append(down, listed(fmt.Sprint(i), "exited"))
	}
	m = newMachines()
	m.read(nil, up...)
	st := m.read(nil, down...)
	if got := texts(st); got != "status: 300 sandboxes: exited, before running" || len(st.Events[0].About) != 100 {
		t.Errorf("%s", got)
	}
}

// A status change is dropped only for an event that says the same: of several, the newest that says how the sandbox is.
func TestOnlyTheSameWordsReplaceAStatus(t *testing.T) {
	at := time.Unix(1_770_000_000, 0).UTC()
	event := func(name string, after time.Duration, leaves backend.SandboxClass) backend.Event {
		return backend.Event{Kind: backend.EventPlatform, Source: "d", Subject: boxKey("a"), Name: name, At: at, SourceAt: at.Add(after), Text: backend.Text("x"), Leaves: leaves}
	}
	const woke = "status: sandbox box-a: running, before asleep"
	other := event("resumed", 0, backend.SandboxRunning)
	other.Subject = boxKey("b")
	for name, c := range map[string]struct {
		events []backend.Event
		told   bool
	}{
		"none":                           {nil, true},
		"it says nothing of a state":     {[]backend.Event{event("checkpointed", 0, "")}, true},
		"it says another state":          {[]backend.Event{event("suspended", 0, backend.SandboxAsleep)}, true},
		"an older one said the same":     {[]backend.Event{event("suspended", time.Minute, backend.SandboxAsleep), event("resumed", 0, backend.SandboxRunning)}, true},
		"another sandbox":                {[]backend.Event{other}, true},
		"it says the same":               {[]backend.Event{event("resumed", 0, backend.SandboxRunning)}, false},
		"the newest of several says so":  {[]backend.Event{event("suspended", 0, backend.SandboxAsleep), event("resumed", time.Minute, backend.SandboxRunning)}, false},
		"one that says nothing comes on": {[]backend.Event{event("resumed", 0, backend.SandboxRunning), event("checkpointed", time.Minute, "")}, false},
	} {
		m := newMachines()
		m.read(nil, listed("a", "asleep"))
		if got := texts(m.read(c.events, listed("a", "running"))); strings.Contains(got, woke) != c.told {
			t.Errorf("%s: %q", name, got)
		}
	}
	for status, want := range map[string]bool{"exited": false, "dead": false, "restarting": false, "paused": true} {
		m := newMachines()
		m.read(nil, listed("a", "running"))
		if got := texts(m.read([]backend.Event{event("die", 0, backend.SandboxExited)}, listed("a", status))); strings.Contains(got, "before running") != want {
			t.Errorf("ended, and %s: %q", status, got)
		}
	}
}

// A verdict that changes is an event: a first failure, another kind, a success after a failure. What a former process knew is none.
func TestAVerdictThatChangesIsAnEvent(t *testing.T) {
	v := func(p backend.Plane, o backend.Outcome, k backend.FailureKind) backend.Verdict {
		return backend.Verdict{Plane: p, Outcome: o, Kind: k}
	}
	m := newMachines()
	m.read(nil, listed("a", "running"))
	for _, c := range []struct {
		v    backend.Verdict
		kept bool
		want string
	}{
		{v("exec", "ok", ""), false, ""},
		{v("exec", "failed", "working-directory-missing"), false, "verdict: box-a, exec: failed, working directory missing"},
		{v("exec", "failed", "working-directory-missing"), false, ""},
		{v("exec", "unknown", "asleep"), false, ""},
		{v("exec", "failed", "mount-unlinked"), false, "verdict: box-a, exec: failed, mount unlinked"},
		{v("fs-list", "ok", ""), false, ""},
		{v("exec", "ok", ""), false, "verdict: box-a, exec: ok"},
		{v("fs-list", "failed", "gone"), true, ""},
		{v("fs-list", "ok", ""), false, "verdict: box-a, filesystem list: ok"},
		{v("fs-read", "failed", ""), false, "verdict: box-a, filesystem read: failed"},
	} {
		if got := texts(m.proves("a", c.kept, c.v)); got != c.want {
			t.Errorf("%v: %q, want %q", c.v, got, c.want)
		}
	}
	o, _ := m.f.Fold(nil, backend.Instant{Wall: m.at}).Sandbox(boxKey("a")).Observed.Get()
	if len(o.Verdicts) != 3 || o.Outcome() != backend.OutcomeFailed {
		t.Errorf("%+v", o)
	}
}

// A check without side effects replaces the verdict of its own plane only; each verdict is of a former life by its own age.
func TestVerdictsOfReadingsAndActionsMeetPlaneByPlane(t *testing.T) {
	m := newMachines()
	looked := func(o backend.Outcome) func(*backend.Sandbox) {
		at := m.at.Add(time.Second)
		return func(b *backend.Sandbox) {
			b.Observed = backend.Known(backend.Observation{Verdicts: []backend.Verdict{{Plane: backend.PlaneList, Outcome: o, At: at, Passive: true}}})
		}
	}
	m.read(nil, listed("a", "running", looked(backend.OutcomeOK)))
	m.proves("a", false, backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailExecTimeout})
	shown := func(st *State) string {
		o, _ := st.Sandbox(boxKey("a")).Observed.Get()
		var out []string
		for _, v := range o.Verdicts {
			past := ""
			if v.Past {
				past = " past"
			}
			out = append(out, string(v.Plane)+" "+string(v.Outcome)+past)
		}
		return strings.Join(out, ", ")
	}
	if got := shown(m.read(nil, listed("a", "running", looked(backend.OutcomeOK)))); got != "exec failed, fs-list ok" {
		t.Error(got)
	}
	if got := shown(m.read(nil, listed("a", "running"))); got != "exec failed, fs-list ok" {
		t.Errorf("a reading that looked at nothing: %s", got)
	}
	started := func(b *backend.Sandbox) { b.StartedAt = backend.Known(m.at) }
	m.at = m.at.Add(time.Second)
	st := m.read(nil, listed("a", "running", started, looked(backend.OutcomeOK)))
	if o, _ := st.Sandbox(boxKey("a")).Proved(); shown(st) != "exec failed past, fs-list ok" || o.Works() || len(o.Verdicts) != 1 {
		t.Errorf("%s, %+v", shown(st), o)
	}
	if !st.Observes() || newMachines().read(nil, listed("b", "running")).Observes() {
		t.Error("whether anything was observed")
	}
}
