package runbook

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/rules"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

var now = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func before(d time.Duration) time.Time { return now.Add(-d) }

func at(d time.Duration) backend.Value[time.Time] { return backend.Known(before(d)) }

// world is a small fleet: helix-eu with the given entities, containers of docker, scratch directories of host-a and
// logs of app-log.
type world struct {
	sessions   []*backend.Session
	workspaces []*backend.Workspace
	sandboxes  []*backend.Sandbox
	tmpdirs    []*backend.Tmpdir
	hosts      []*backend.Host
	counts     []backend.Count
	memory     []backend.Memory
	events     []backend.Event
	refs       []Ref
	saved      []*backend.Ref // read by a source
	site       []backend.Fact
	board      *alerts.Board // its alerts and blindness stand in for those that the rules conclude
	rules      []alerts.Rule // those with their defaults where it is nil
	without    []string      // sources that are not configured
	down       []string
	reports    []backend.Report // of lines of app-log
	pools      []backend.Pool   // of a source "cf" that counts applications
	refuses    backend.Literal  // why the source of the sandboxes takes no orders
}

func (w world) state() *fleet.State {
	st := &fleet.State{Number: 1, Wall: now, LongestOperation: 5 * time.Minute,
		Sessions: fleet.NewTable(w.sessions...), Workspaces: fleet.NewTable(w.workspaces...), Sandboxes: fleet.NewTable(w.sandboxes...),
		Events:  slices.Clone(w.events),
		Tmpdirs: fleet.NewTable(w.tmpdirs...), Hosts: fleet.NewTable(w.hosts...), Refs: fleet.NewTable(w.saved...), Windows: fleet.NewWindows(w.counts...), MemoryHistory: fleet.NewMemoryHistory(w.memory...)}
	for _, s := range []struct {
		id     string
		inputs []backend.Input
	}{
		{"helix-eu", []backend.Input{backend.InputRegistry, backend.InputSessions}},
		{"docker", []backend.Input{backend.InputContainers}},
		{"host-a", []backend.Input{backend.InputTmpdirs, backend.InputHost}},
		{"app-log", []backend.Input{backend.InputEvictionLogs, backend.InputRejections}},
		{"prom", []backend.Input{backend.InputEvictions}},
	} {
		if has(w.without, s.id) {
			continue
		}
		h := &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: s.id, ID: backend.MustID(s.id)}, Status: fleet.StatusOK,
			LastOK: before(time.Second), FirstTry: before(time.Hour), Interval: 5 * time.Second, Deadline: 5 * time.Second, Inputs: s.inputs}
		if s.id == "docker" {
			h.Refuses = backend.Text(w.refuses)
		}
		if s.id == "app-log" {
			h.Reports = w.reports
		}
		if has(w.down, s.id) {
			h.Status, h.Error = fleet.StatusDown, backend.Text("connection refused")
		}
		st.Sources = append(st.Sources, h)
	}
	if len(w.pools) > 0 {
		st.Sources = append(st.Sources, &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: "cf", ID: backend.MustID("cf")}, Status: fleet.StatusOK,
			LastOK: before(time.Second), FirstTry: before(time.Hour), Interval: 5 * time.Second, Deadline: 5 * time.Second, Pools: w.pools,
			Inputs: []backend.Input{backend.InputContainers, backend.InputCapacity}})
	}
	if len(w.site) > 0 {
		h := &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: "site", ID: backend.MustID("site")}, Status: fleet.StatusOK,
			LastOK: before(time.Second), FirstTry: before(time.Hour), Interval: 5 * time.Second, Deadline: 5 * time.Second, Facts: w.site}
		if has(w.down, "site") {
			h.Status = fleet.StatusDown
		}
		if has(w.without, "its own subject") {
			h.About = []string{"helix-us"}
		}
		st.Sources = append(st.Sources, h)
	}
	return st
}

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func (w world) diagnose(incident string, subject backend.Key) Diagnosis {
	return w.about(subject).Diagnose(incident)
}

func (w world) about(subject backend.Key) Case {
	st := w.state()
	return Case{State: st, Board: w.conclude(st), Subject: subject, Events: w.events, Refs: w.refs}
}

// conclude is what the real rules say of a State.
func (w world) conclude(st *fleet.State) *alerts.Board {
	if w.rules == nil {
		w.rules = rules.Defaults()
	}
	b, _ := alerts.NewEngine(w.rules, "test").Next(nil, st)
	if w.board == nil {
		return b
	}
	fixed := *b
	fixed.Alerts, fixed.Blind = w.board.Alerts, w.board.Blind
	return &fixed
}

func meta(k backend.Key) backend.Meta { return backend.Meta{Key: k, ReadAt: before(time.Second)} }

func sessionKey(id string) backend.Key {
	return backend.Key{Kind: backend.KindSession, Source: "helix-eu", ID: backend.MustID(id)}
}

func wsKey(session, name string) backend.Key {
	return backend.Key{Kind: backend.KindWorkspace, Source: "helix-eu", Parent: backend.MustID(session), ID: backend.MustID(name)}
}

func sbKey(id string) backend.Key {
	return backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID(id)}
}

func session(id string, running bool, edit ...func(*backend.Session)) *backend.Session {
	s := &backend.Session{Meta: meta(sessionKey(id)), Running: backend.Known(running)}
	for _, e := range edit {
		e(s)
	}
	return s
}

// healthy is a workspace that worked a minute ago.
func healthy(session, name string, edit ...func(*backend.Workspace)) *backend.Workspace {
	w := &backend.Workspace{Meta: meta(wsKey(session, name)), Named: true, Reported: backend.Text("open"), Class: backend.ClassUnknown,
		LastAttemptAt: at(time.Minute), LastSuccessAt: at(time.Minute)}
	for _, e := range edit {
		e(w)
	}
	return w
}

// broken is a workspace in a class, with an error, that last worked an hour ago and was tried ten seconds ago.
func broken(session, name string, class backend.StateClass, lastError string, edit ...func(*backend.Workspace)) *backend.Workspace {
	return healthy(session, name, append([]func(*backend.Workspace){func(w *backend.Workspace) {
		w.Class, w.Reported, w.LastError = class, backend.Clean(string(class), 20), backend.Clean(lastError, 500)
		w.LastAttemptAt, w.LastSuccessAt = at(10*time.Second), at(time.Hour)
	}}, edit...)...)
}

func failed(session, name, lastError string) *backend.Workspace {
	return broken(session, name, backend.ClassFailed, lastError)
}

func provider(p backend.Literal) func(*backend.Workspace) {
	return func(w *backend.Workspace) { w.Provider = backend.Text(p) }
}

func box(id, session string, edit ...func(*backend.Sandbox)) *backend.Sandbox {
	s := &backend.Sandbox{Meta: meta(sbKey(id)), Name: backend.Clean(id, 50), IsSandbox: true, Reported: backend.Text("running"), Class: backend.SandboxRunning,
		CreatedAt: at(3 * time.Hour), StartedAt: at(3 * time.Hour), OOMKilled: backend.Known(false), RestartCount: backend.Known(0)}
	if session != "" {
		s.Session = backend.MustID(session)
	}
	for _, e := range edit {
		e(s)
	}
	return s
}

func hostKey() backend.Key {
	return backend.Key{Kind: backend.KindHost, Source: "host-a", ID: backend.MustID("build-3")}
}

func host(edit ...func(*backend.Host)) *backend.Host {
	h := &backend.Host{Meta: meta(hostKey()), Name: backend.Text("build-3"), BootedAt: at(100 * time.Hour),
		MemTotal: backend.Known[int64](64e9), MemAvailable: backend.Known[int64](32e9), OOMKills: backend.Known[int64](0),
		Roots: []backend.Root{{Path: backend.Text("/tmp"), Exists: backend.Known(true), Writable: backend.Known(true), ReadOnly: backend.Known(false),
			FSType: backend.Text("ext4"), Bytes: backend.Known[int64](100e9), BytesFree: backend.Known[int64](60e9)}}}
	for _, e := range edit {
		e(h)
	}
	return h
}

func dir(path string, age time.Duration, holders []backend.Holder) *backend.Tmpdir {
	k := backend.Key{Kind: backend.KindTmpdir, Source: "host-a", Parent: backend.MustID("build-3"), ID: backend.MustID("8:1:" + path)}
	t := &backend.Tmpdir{Meta: meta(k), Path: backend.Clean(path, 100), RawPath: backend.MustID(path), Newest: at(age), Bytes: backend.Known[int64](1e6)}
	if holders != nil {
		t.Holders = backend.Known(holders)
	}
	return t
}

// lines counts n matched lines of a session, evenly over the last minute.
func lines(source string, m backend.Metric, session string, n float64) []backend.Count {
	x := backend.Series{Source: source, Name: m}
	if session != "" {
		x.Session = backend.MustID(session)
	}
	var out []backend.Count
	step := 10
	switch m {
	case backend.MetricEvictions, backend.MetricEvictionRetries, backend.MetricEvictionExhausted:
		step = 16 // a storm has to last a minute
	}
	for i := range 6 {
		out = append(out, backend.Count{Series: x, At: before(time.Duration(step*(5-i)) * time.Second), N: n / 6, Sample: backend.Text("sample line")})
	}
	return out
}

func event(kind backend.EventKind, name string, subject backend.Key, ago time.Duration, text backend.Literal) backend.Event {
	return backend.Event{Kind: kind, At: before(ago), Source: subject.Source, Subject: subject, Name: name, Text: backend.Text(text)}
}

// want compares the marks of named checks.
func want(t *testing.T, d Diagnosis, marks map[string]Mark) {
	t.Helper()
	seen := map[string]bool{}
	for _, c := range d.Checks {
		if seen[c.Name] {
			t.Errorf("two checks are named %s", c.Name)
		}
		seen[c.Name] = true
		if m, ok := marks[c.Name]; ok && c.Mark != m {
			t.Errorf("%s: %s (%s), want %s", c.Name, c.Mark, c.Fact, m)
		}
	}
	for name := range marks {
		if !seen[name] {
			t.Errorf("there is no check %s", name)
		}
	}
}

// TestStormOfASourceThatOnlyCounts: an alert about a log or metrics source is about the workspaces it speaks about.
func TestStormOfASourceThatOnlyCounts(t *testing.T) {
	us := healthy("s9", "box")
	us.Key.Source = "helix-us"
	w := world{workspaces: append(evicted("max_instances reached"), us), without: []string{"prom"}, counts: lines("app-log", backend.MetricEvictionExhausted, "", 6)}
	total := len(w.workspaces)
	for _, c := range []struct {
		about     []string
		workspace int
	}{{nil, total}, {[]string{"helix-eu", "helix-us"}, total}, {[]string{"helix-eu"}, total - 1}, {[]string{"helix-us"}, 1}} {
		st := w.state()
		us := *st.Source("helix-eu")
		us.Key.Source, us.Key.ID = "helix-us", backend.MustID("helix-us")
		st.Sources = append(st.Sources, &us)
		log := st.Source("app-log")
		log.About = c.about
		board := &alerts.Board{Alerts: []*alerts.Alert{
			{Rule: "eviction-storm", Source: "helix-us", State: alerts.StateFiring, Confirmed: now},
			{Rule: "eviction-storm", Source: "app-log", State: alerts.StateFiring, Confirmed: now},
		}}
		d := Case{State: st, Board: world{board: board}.conclude(st), Subject: log.Key}.Diagnose("7")
		hurt := total - 1
		if len(c.about) == 1 && c.about[0] == "helix-us" {
			hurt = 0
		}
		says := backend.Textf("%d of %s evicted now; exhausted retries in 5m: 6", hurt, plural(c.workspace, "workspace")).String()
		if i := slices.IndexFunc(d.Checks, func(x Check) bool { return x.Name == "storm" }); !strings.Contains(d.Checks[i].Fact.String(), says) || d.Checks[i].Source != "app-log" {
			t.Errorf("about %v: %q of %s, want %q", c.about, d.Checks[i].Fact, d.Checks[i].Source, says)
		}
		want(t, d, map[string]Mark{"storm": Confirmed})
		if hurt > 0 {
			want(t, d, map[string]Mark{"quota": Confirmed})
		}
	}
}

func TestOnlyLogsAndMetricsAreWithoutAHomeOfTheirOwn(t *testing.T) {
	st := world{}.state()
	for id, want := range map[string]bool{"helix-eu": false, "docker": false, "host-a": false, "app-log": true, "prom": true} {
		if got := onlyCounts(st.Source(id)); got != want {
			t.Errorf("%s: %v", id, got)
		}
	}
}
