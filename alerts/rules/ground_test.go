package rules

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// beginHost begins a story with a scratch-directory source that sees one host with one healthy root.
func beginHost(t testing.TB, names ...string) *story {
	t.Helper()
	s := begin(t, names...)
	s.source("scratch", backend.InputTmpdirs, backend.InputHost)
	s.host(nil)
	return s
}

func hostKey() backend.Key {
	return backend.Key{Kind: backend.KindHost, Source: "scratch", ID: backend.MustID("box-1")}
}

// host gives the host a new reading: what it was, edited.
func (s *story) host(edit func(*backend.Host)) {
	k := hostKey()
	h := &backend.Host{
		Meta: backend.Meta{Key: k, FirstSeen: s.wall}, Name: backend.Text("box-1"), BootedAt: backend.Known(noon.Add(-72 * time.Hour)),
		MemTotal: backend.Known[int64](16e9), MemAvailable: backend.Known[int64](8e9), MemPressure: backend.Known(0.0), OOMKills: backend.Known[int64](4),
		LimitKills: backend.Known[int64](0), Roots: []backend.Root{{
			Path: backend.Text("/tmp"), Exists: backend.Known(true), Writable: backend.Known(true), ReadOnly: backend.Known(false), FSType: backend.Text("ext4"),
			Bytes: backend.Known[int64](100e9), BytesFree: backend.Known[int64](60e9), Inodes: backend.Known[int64](1e6), InodesFree: backend.Known[int64](9e5),
		}},
	}
	if old := s.hosts[k]; old != nil {
		c := *old
		c.Roots = append([]backend.Root(nil), old.Roots...)
		h = &c
	}
	h.ReadAt = s.wall
	if edit != nil {
		edit(h)
	}
	s.hosts[k] = h
	s.delta.Changed = append(s.delta.Changed, k)
}

func (s *story) root(edit func(*backend.Root)) {
	s.host(func(h *backend.Host) { edit(&h.Roots[0]) })
}

// dir gives a scratch directory a reading; nothing in it changed for the given time.
func (s *story) dir(name string, idle time.Duration, edit func(*backend.Tmpdir)) {
	path := "/tmp/helix-ws-" + name
	k := backend.Key{Kind: backend.KindTmpdir, Source: "scratch", Parent: hostKey().ID, ID: backend.MustID("8:1:" + path)}
	d := &backend.Tmpdir{
		Meta: backend.Meta{Key: k, ReadAt: s.wall, FirstSeen: s.wall}, Path: backend.Clean(path, 200), RawPath: backend.MustID(path), Root: backend.Text("/tmp"),
		Newest: backend.Known(s.wall.Add(-idle)), Bytes: backend.Known[int64](1e6), Entries: backend.Known[int64](10), Holders: backend.Known([]backend.Holder{}),
	}
	if edit != nil {
		edit(d)
	}
	s.tmpdirs[k] = d
	s.delta.Changed = append(s.delta.Changed, k)
}

func (s *story) dirs(from, to int) {
	for i := from; i < to; i++ {
		s.dir(fmt.Sprint("d", i), time.Minute, nil)
	}
}

func (s *story) dirGone(name string) {
	k := backend.Key{Kind: backend.KindTmpdir, Source: "scratch", Parent: hostKey().ID, ID: backend.MustID("8:1:/tmp/helix-ws-" + name)}
	s.delta.Gone = append(s.delta.Gone, fleet.Departure{Key: k, Last: s.tmpdirs[k], Why: backend.Text("absent from two complete lists"), At: s.wall})
	delete(s.tmpdirs, k)
}

// box gives a container of the engine "docker" a reading.
func (s *story) box(id, session string, edit func(*backend.Sandbox)) {
	k := boxKey(id)
	b := &backend.Sandbox{
		Meta: backend.Meta{Key: k, FirstSeen: s.wall}, Name: backend.Clean("helix-"+id, 60), Provider: backend.Text("docker"), IsSandbox: true,
		Class: backend.SandboxRunning, Reported: backend.Text("running"), StartedAt: backend.Known(noon.Add(-3 * time.Hour)),
		OOMKilled: backend.Known(false), ExitCode: backend.NotApplicable[int](), FinishedAt: backend.NotApplicable[time.Time](),
	}
	if session != "" {
		b.Session = backend.MustID(session)
	}
	if old := s.sandboxes[k]; old != nil {
		c := *old
		b = &c
	}
	b.ReadAt = s.wall
	if edit != nil {
		edit(b)
	}
	s.sandboxes[k] = b
	s.delta.Changed = append(s.delta.Changed, k)
}

func boxKey(id string) backend.Key {
	return backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID(id)}
}

func (s *story) boxGone(id string) {
	k := boxKey(id)
	s.delta.Gone = append(s.delta.Gone, fleet.Departure{Key: k, Last: s.sandboxes[k], Why: backend.Text("the engine destroyed it"), At: s.wall})
	delete(s.sandboxes, k)
}

// lines counts log lines of one class; an empty session names none.
func (s *story) lines(m backend.Metric, session string, n float64, sample string) {
	s.counted("app", m, n, func(c *backend.Count) {
		if session != "" {
			c.Series.Session = backend.MustID(session)
		}
		if n > 0 {
			c.Sample = backend.Clean(sample, 300)
		}
	})
}

func (s *story) wantHeldThenBack(rule, source string, refresh func()) {
	s.t.Helper()
	s.down(source, "connection refused")
	if a := s.after(5*time.Second).want(rule, alerts.StateHeld); a.Why.IsEmpty() {
		s.t.Errorf("%s is held without a reason", rule)
	}
	s.up(source)
	s.pass(5 * time.Second)
	refresh()
	s.look().want(rule, alerts.StateFiring)
}

// wantSameAfterRestart restarts before the source is read again, and then reads it.
func (s *story) wantSameAfterRestart(rule, source string, refresh func()) {
	s.t.Helper()
	was := s.want(rule, alerts.StateFiring)
	n := len(s.events)
	s.restart()
	s.health(source, func(h *fleet.SourceHealth) { h.Status = fleet.StatusStarting })
	s.after(time.Second).want(rule, alerts.StateFiring)
	s.up(source)
	s.pass(time.Second)
	refresh()
	if a := s.look().want(rule, alerts.StateFiring); a.ID != was.ID || len(s.events) != n {
		s.t.Errorf("the restart made %s of %s, events %v", a.ID, was.ID, s.events[n:])
	}
}

func (s *story) blindWhy(rule, source string) string {
	for _, b := range s.board.Blind {
		if b.Rule == rule && b.Source == source {
			return b.Why.String()
		}
	}
	return ""
}

func TestWrongOptionsOfGroundRulesNameTheirKey(t *testing.T) {
	for _, c := range []struct {
		key string
		o   Options
	}{
		{"recent", func() Options { o := sandboxOOMDefaults(); o.Recent = 0; return o }()},
		{"near", func() Options { o := sandboxOOMDefaults(); o.Near = 95; return o }()},
		{"restarts", func() Options { o := agentOOMDefaults(); o.Restarts = 1; return o }()},
		{"opens", func() Options { o := agentOOMDefaults(); o.Opens = 0; return o }()},
		{"file", func() Options { o := agentOOMDefaults(); o.File = 0; return o }()},
		{"over", func() Options { o := agentOOMDefaults(); o.Over = backend.Duration(3 * time.Hour); return o }()},
		{"gone", func() Options { o := terminateDefaults(); o.Gone = 0; return o }()},
		{"cost_per_hour", func() Options { o := terminateDefaults(); o.CostPerHour = -1; return o }()},
		{"count", func() Options { o := pileupDefaults(); o.Count = 0; return o }()},
		{"growth", func() Options { o := pileupDefaults(); o.Growth = 0; return o }()},
		{"free", func() Options { o := pileupDefaults(); o.Free = 3; return o }()},
		{"full_within", func() Options { o := pileupDefaults(); o.FullWithin = 0; return o }()},
		{"after", func() Options { o := orphanDefaults(); o.After = 0; return o }()},
		{"lines", lineOptions("tmpdir-close-failed", func(o *LineOptions) { o.Lines = 0 })},
		{"over", lineOptions("persist-failed", func(o *LineOptions) { o.Over = 0 })},
		{"over", lineOptions("hydrate-failed", func(o *LineOptions) { o.Over = backend.Duration(2 * time.Hour) })},
		{"inodes", func() Options { o := rootDefaults(); o.Inodes = -1; return o }()},
		{"available", func() Options { o := hostOOMDefaults(); o.Available = 0; return o }()},
		{"pressure", func() Options { o := hostOOMDefaults(); o.Pressure = 0; return o }()},
		{"recent", func() Options { o := hostRestartedDefaults(); o.Recent = 0; return o }()},
		{"after", func() Options { o := staleDefaults(); o.After = backend.Duration(time.Minute); return o }()},
		{"active", func() Options { o := staleDefaults(); o.Active = 0; return o }()},
		{"beyond", func() Options { o := skewDefaults(); o.Beyond = 0; return o }()},
		{"probing", func() Options { o := auditDefaults(); o.Probing = 1; return o }()},
	} {
		_, err := c.o.build()
		var key *KeyError
		if !errors.As(err, &key) || key.Key != c.key {
			t.Errorf("want an error about %s, have %v", c.key, err)
		}
	}
}

// lineOptions are the changed options of a rule that counts lines.
func lineOptions(name string, change func(*LineOptions)) Options {
	for _, k := range Kinds() {
		if o, ok := k.Defaults().(*LineOptions); ok && k.Name == name {
			change(o)
			return o
		}
	}
	panic("no rule about lines is named " + name)
}
