package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/runbook/runbooktest"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// A story is a sequence of States made by editing a small fleet, evaluated one by one. Every State is evaluated twice,
// from the delta and from scratch with the same memory, and both must find the same.
type story struct {
	t      testing.TB
	engine *alerts.Engine
	board  *alerts.Board
	events []backend.Event

	number     uint64
	wall       time.Time
	jumped     time.Duration // of wall, between runs
	asleep     time.Duration // how long the console is off in a restart
	mono       time.Duration
	lag        time.Duration // how long before each State its sources answered
	sources    map[string]*fleet.SourceHealth
	order      []string
	workspaces map[backend.Key]*backend.Workspace
	sessions   map[backend.Key]*backend.Session
	sandboxes  map[backend.Key]*backend.Sandbox
	tmpdirs    map[backend.Key]*backend.Tmpdir
	hosts      map[backend.Key]*backend.Host
	refs       []*backend.Ref
	executions map[backend.Key]*backend.Execution
	jobs       map[backend.Key]*backend.Job
	happened   []backend.Event         // platform events and change markers of the next State
	listed     map[backend.Kind]string // kinds of which a source lists everything
	counts     []backend.Count
	memory     []backend.Memory
	delta      fleet.Delta
	last       *fleet.State
	seen       map[string]int // how many States each alert was compared in
	plainly    bool           // without the double evaluation, for benchmarks and long runs
}

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func rulesNamed(t testing.TB, names ...string) []alerts.Rule {
	t.Helper()
	var out []alerts.Rule
	for _, k := range Kinds() {
		if len(names) > 0 && !slices.Contains(names, k.Name) {
			continue
		}
		r, err := k.New(k.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		if r != nil {
			out = append(out, r)
		}
	}
	if len(names) > 0 && len(out) != len(names) {
		t.Fatalf("not all of %v exist", names)
	}
	return out
}

func begin(t testing.TB, names ...string) *story {
	t.Helper()
	return beginWith(t, rulesNamed(t, names...)...)
}

func beginWith(t testing.TB, rules ...alerts.Rule) *story {
	t.Helper()
	s := &story{
		t: t, engine: alerts.NewEngine(rules, "test"), wall: noon, sources: map[string]*fleet.SourceHealth{},
		workspaces: map[backend.Key]*backend.Workspace{}, sessions: map[backend.Key]*backend.Session{}, sandboxes: map[backend.Key]*backend.Sandbox{},
		tmpdirs: map[backend.Key]*backend.Tmpdir{}, hosts: map[backend.Key]*backend.Host{}, listed: map[backend.Kind]string{}, seen: map[string]int{},
	}
	s.source("helix", backend.InputRegistry)
	return s
}

func (s *story) source(id string, inputs ...backend.Input) *fleet.SourceHealth {
	h := &fleet.SourceHealth{
		Key:  backend.Key{Kind: backend.KindSource, Source: id, ID: backend.MustID(id)},
		Kind: "test", Status: fleet.StatusOK, Interval: 5 * time.Second, Deadline: 5 * time.Second, Inputs: inputs, FirstTry: s.wall, LastTry: s.wall, LastOK: s.wall,
	}
	s.sources[id] = h
	s.order = append(s.order, id)
	return h
}

// health edits a source; States made before keep what they had.
func (s *story) health(id string, edit func(*fleet.SourceHealth)) {
	h := *s.sources[id]
	edit(&h)
	s.sources[id] = &h
}

func (s *story) down(id, why string) {
	s.health(id, func(h *fleet.SourceHealth) {
		if h.Failures++; h.Failures == 1 {
			h.DownFrom = s.wall
		}
		h.Status, h.Error, h.ErrorKind, h.LastTry = fleet.StatusDown, backend.Clean(why, 100), backend.ErrUnreachable, s.wall
	})
}

func (s *story) up(id string) {
	s.health(id, func(h *fleet.SourceHealth) {
		h.Status, h.Error, h.ErrorKind, h.Failures, h.DownFrom = fleet.StatusOK, backend.Safe{}, "", 0, time.Time{}
	})
}

func wsKey(path string) backend.Key {
	session, name, ok := strings.Cut(path, "/")
	if !ok {
		name = "workspace"
	}
	return backend.Key{Kind: backend.KindWorkspace, Source: "helix", Parent: backend.MustID(session), ID: backend.MustID(name)}
}

func sessionKey(id string) backend.Key {
	return backend.Key{Kind: backend.KindSession, Source: "helix", ID: backend.MustID(id)}
}

// reading is what the registry says of one workspace; ages count back from now, 0 is never.
type reading struct {
	state, err       string
	attempt, success time.Duration
	provider         string
	edit             func(*backend.Workspace)
}

func ago(now time.Time, d time.Duration) backend.Value[time.Time] {
	if d == 0 {
		return backend.NotApplicable[time.Time]()
	}
	return backend.Known(now.Add(-d))
}

func classOf(state string) backend.StateClass {
	switch state {
	case "failed":
		return backend.ClassFailed
	case "evicted":
		return backend.ClassEvicted
	}
	return backend.ClassUnknown
}

// reads gives a workspace a new reading.
func (s *story) reads(path string, r reading) {
	k := wsKey(path)
	w := &backend.Workspace{
		Meta: backend.Meta{Key: k, ReadAt: s.wall, FirstSeen: s.wall, Rev: s.number + 1}, Named: true, Reported: backend.Clean(r.state, 60), Class: classOf(r.state),
		LastError: backend.Clean(r.err, 4000), LastAttemptAt: ago(s.wall, r.attempt), LastSuccessAt: ago(s.wall, r.success),
		LastOpAt: backend.NotApplicable[time.Time](),
	}
	w.Provider = backend.Clean(r.provider, 60)
	if old := s.workspaces[k]; old != nil {
		w.FirstSeen = old.FirstSeen
	}
	if r.edit != nil {
		r.edit(w)
	}
	if old := s.workspaces[k]; old != nil && w.LostSuccess.IsZero() {
		w.LostSuccess = w.SuccessLost(old)
	}
	s.workspaces[k] = w
	s.delta.Changed = append(s.delta.Changed, k)
}

// edit changes a workspace without touching the rest of its reading.
func (s *story) edit(path string, f func(*backend.Workspace)) {
	k := wsKey(path)
	w := *s.workspaces[k]
	w.ReadAt = s.wall
	f(&w)
	s.workspaces[k] = &w
	s.delta.Changed = append(s.delta.Changed, k)
}

func (s *story) session(id string, f func(*backend.Session)) {
	k := sessionKey(id)
	x := &backend.Session{Meta: backend.Meta{Key: k, ReadAt: s.wall, FirstSeen: s.wall}}
	if f != nil {
		f(x)
	}
	s.sessions[k] = x
	s.delta.Changed = append(s.delta.Changed, k)
}

func (s *story) sandbox(id, session string, class backend.SandboxClass) {
	k := backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID(id)}
	s.sandboxes[k] = &backend.Sandbox{Meta: backend.Meta{Key: k, ReadAt: s.wall}, IsSandbox: true, Class: class, Session: backend.MustID(session)}
	s.delta.Changed = append(s.delta.Changed, k)
}

func (s *story) ends(path, why string) {
	k := wsKey(path)
	s.delta.Gone = append(s.delta.Gone, fleet.Departure{Key: k, Last: s.workspaces[k], Why: backend.Clean(why, 100), At: s.wall})
	delete(s.workspaces, k)
}

func (s *story) sessionEnds(id string) {
	k := sessionKey(id)
	s.delta.Gone = append(s.delta.Gone, fleet.Departure{Key: k, Last: s.sessions[k], Why: backend.Text("its owner says that it ended"), At: s.wall})
	delete(s.sessions, k)
	for _, w := range s.workspaces {
		if w.Key.Parent == k.ID {
			s.ends(w.Key.Path().Raw(), "its session ended")
		}
	}
}

// counted adds what a source counted at the present moment.
func (s *story) counted(source string, m backend.Metric, n float64, f func(*backend.Count)) {
	c := backend.Count{Series: backend.Series{Source: source, Name: m}, At: s.wall, N: n}
	if f != nil {
		f(&c)
	}
	s.counts = append(s.counts, c)
	s.delta.Series = append(s.delta.Series, c.Series)
}

func (s *story) state() *fleet.State {
	s.number++
	st := &fleet.State{Number: s.number, Wall: s.wall, Mono: s.mono, LongestOperation: 300 * time.Second, Delta: s.delta, Windows: fleet.NewWindows(s.counts...), MemoryHistory: fleet.NewMemoryHistory(s.memory...)}
	s.delta = fleet.Delta{}
	for _, id := range s.order {
		if h := s.sources[id]; h.Status == fleet.StatusOK || h.Status == fleet.StatusDegraded {
			c := *h
			c.LastOK, c.LastTry = s.wall.Add(-s.lag), s.wall.Add(-s.lag)
			s.sources[id] = &c
		}
		st.Sources = append(st.Sources, s.sources[id])
	}
	var ws []*backend.Workspace
	for _, w := range s.workspaces {
		ws = append(ws, w)
	}
	var ss []*backend.Session
	for _, x := range s.sessions {
		ss = append(ss, x)
	}
	var bs []*backend.Sandbox
	for _, x := range s.sandboxes {
		bs = append(bs, x)
	}
	st.Workspaces, st.Sessions = fleet.NewTable(ws...), fleet.NewTable(ss...)
	st = st.WithSandboxes(fleet.NewTable(bs...))
	st.Tmpdirs, st.Hosts = fleet.NewTable(slices.Collect(maps.Values(s.tmpdirs))...), fleet.NewTable(slices.Collect(maps.Values(s.hosts))...)
	st.Refs = fleet.NewTable(s.refs...)
	st.Executions, st.Jobs = fleet.NewTable(slices.Collect(maps.Values(s.executions))...), fleet.NewTable(slices.Collect(maps.Values(s.jobs))...)
	st.Events, s.happened = s.happened, nil
	for kind, source := range s.listed {
		st = st.WithListed(source, kind, s.wall)
	}
	return st
}

// look builds the next State now and evaluates it.
func (s *story) look() *story {
	s.t.Helper()
	st := s.state()
	s.last = st
	board, events := s.engine.Next(s.board, st)
	if !s.plainly {
		s.compare(st, board, events)
	}
	s.board = board
	s.events = append(s.events, events...)
	if !s.plainly {
		s.agrees()
	}
	return s
}

// agrees compares the page of each alert with it: as it is, and where less is read.
func (s *story) agrees() {
	s.t.Helper()
	for _, a := range s.board.Alerts {
		entered := a.ID + string(a.State)
		if s.seen[entered]++; s.last.Workspaces.Len() > 2000 || s.seen[entered]&(s.seen[entered]-1) != 0 {
			continue // 1st, 2nd, 4th, 8th, … State of each alert
		}
		differ := runbooktest.Differences(s.last, s.board, a)
		if s.last.Workspaces.Len() < 100 {
			differ = append(differ, runbooktest.Less(s.last, s.board, a)...)
		}
		for _, what := range differ {
			s.t.Errorf("at %s: %s", s.wall.Format("15:04:05"), what)
		}
	}
}

// compare evaluates the same State again, once more from the delta and once from scratch.
func (s *story) compare(st *fleet.State, board *alerts.Board, events []backend.Event) {
	s.t.Helper()
	again, sameEvents := s.engine.Next(s.board, st)
	if summary(again) != summary(board) || len(events) != len(sameEvents) {
		s.t.Fatalf("evaluating twice differs:\n%s\n%s", summary(board), summary(again))
	}
	if s.board == nil {
		return
	}
	far := *st
	far.Number += 5000 // further on than any delta reaches
	if scratch, _ := s.engine.Next(s.board, &far); summary(scratch) != summary(board) {
		s.t.Fatalf("at %s: incremental and from scratch differ:\n%s\nfrom scratch:\n%s", s.wall.Format("15:04:05"), summary(board), summary(scratch))
	}
}

func (s *story) lastState() *fleet.State { return s.last }

func summary(b *alerts.Board) string {
	var out []string
	for _, a := range b.Alerts {
		line := fmt.Sprintf("%s %s %s %s n=%d folded=%s since=%s", a.ID, a.Rule, a.Source, a.State, a.SubjectCount, a.FoldedUnder, a.Since.Format("15:04:05.000"))
		for _, x := range a.Subjects {
			line += fmt.Sprintf(" [%s %s]", x.Label, x.State)
		}
		out = append(out, line)
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func (s *story) pass(d time.Duration) {
	s.wall = s.wall.Add(d)
	s.mono += d
}

// after lets time pass and evaluates.
func (s *story) after(d time.Duration) *story {
	s.t.Helper()
	s.pass(d)
	return s.look()
}

// every evaluates in steps over a span, doing something before each.
func (s *story) every(step, span time.Duration, f func()) *story {
	s.t.Helper()
	for d := time.Duration(0); d < span; d += step {
		s.pass(step)
		if f != nil {
			f()
		}
		s.look()
	}
	return s
}

func (s *story) moment() alerts.ClockReading {
	return alerts.ClockReading{Wall: s.wall, Boot: "boot", SinceBoot: s.wall.Sub(noon) - s.jumped + 1000*time.Hour}
}

// restart saves and loads the state as a new process would. Its monotonic clock and State numbers begin anew.
func (s *story) restart() *story {
	s.t.Helper()
	return s.restartAcross(0)
}

// off is a restart after which the console is off for a while.
func (s *story) off(d time.Duration) *story {
	s.t.Helper()
	s.asleep = d
	defer func() { s.asleep = 0 }()
	return s.restart()
}

// restartAcross is a restart during which the wall clock is set.
func (s *story) restartAcross(jump time.Duration) *story {
	s.t.Helper()
	dir := s.t.TempDir()
	v, err := alerts.OpenStateStore(dir, s.engine)
	if err != nil {
		s.t.Fatal(err)
	}
	defer v.Close()
	if saved, err := v.Save(s.board, s.moment()); err != nil || !saved {
		s.t.Fatalf("saved %v: %v", saved, err)
	}
	s.wall, s.jumped = s.wall.Add(jump), s.jumped+jump
	s.pass(s.asleep)
	l, err := v.Load(s.moment())
	if err != nil || l.Board == nil {
		s.t.Fatalf("loaded %v: %v", l.Board, err)
	}
	if a, b := summary(s.board), summary(l.Board); a != b {
		s.t.Fatalf("the file gives other alerts:\n%s\nwant\n%s", b, a)
	}
	s.board = l.Board
	s.number, s.mono = 0, 0
	return s
}

func (s *story) alerts(rule string) []*alerts.Alert {
	var out []*alerts.Alert
	for _, a := range s.board.Alerts {
		if a.Rule == rule {
			out = append(out, a)
		}
	}
	return out
}

// want asserts that the rule has exactly one alert, in that state, and returns it.
func (s *story) want(rule string, state alerts.AlertState) *alerts.Alert {
	s.t.Helper()
	as := s.alerts(rule)
	if len(as) != 1 || as[0].State != state {
		s.t.Fatalf("at %s: want one %s alert of %s, have:\n%s", s.wall.Format("15:04:05"), state, rule, summary(s.board))
	}
	return as[0]
}

// quiet asserts that the rule has no alert.
func (s *story) quiet(rule string) *story {
	s.t.Helper()
	if as := s.alerts(rule); len(as) != 0 {
		s.t.Fatalf("at %s: want no alert of %s, have:\n%s", s.wall.Format("15:04:05"), rule, summary(s.board))
	}
	return s
}

// transitions lists the names of the events so far.
func (s *story) transitions() string {
	var out []string
	for _, e := range s.events {
		out = append(out, e.Name)
	}
	return strings.Join(out, " ")
}

func (s *story) wantTransitions(want string) {
	s.t.Helper()
	if got := s.transitions(); got != want {
		s.t.Errorf("transitions %q, want %q", got, want)
	}
}

func evidence(a *alerts.Alert) string {
	var out []string
	for _, e := range a.Evidence {
		out = append(out, e.Text.String())
	}
	return strings.Join(out, "\n")
}

func wantEvidence(t testing.TB, a *alerts.Alert, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(evidence(a), p) {
			t.Errorf("evidence lacks %q:\n%s", p, evidence(a))
		}
	}
	for _, e := range a.Evidence {
		if e.Source == "" || e.At.IsZero() {
			t.Errorf("evidence %q does not say where it comes from or when", e.Text)
		}
	}
}
