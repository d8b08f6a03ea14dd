package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

const (
	vanishedRule = "files-vanished"
	leakRule     = "possible-leak"
)

// reopenedAt gives a workspace the reading of a fresh registry whose success at that time was forgotten.
func reopenedAt(s *story, path, provider string, success time.Time) {
	s.reads(path, reading{state: "open", attempt: time.Second, provider: provider, edit: func(w *backend.Workspace) { w.LostSuccess = success }})
}

func TestVanishedFires(t *testing.T) {
	s := begin(t, vanishedRule)
	lost := noon.Add(-20 * time.Minute)
	reopenedAt(s, "a/box", "in-memory", lost)
	a := s.look().want(vanishedRule, alerts.StateFiring)
	if a.Runbook != "2" || a.Severity != alerts.SeverityInfo || !a.Bounds.Earliest.Equal(lost) || !a.Bounds.Latest.Equal(noon) {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "a/box had succeeded at 11:40:00Z; its registry does not know that any more")
	s.after(59*time.Minute).want(vanishedRule, alerts.StateFiring)
	s.after(time.Minute).quiet(vanishedRule)
	s.pass(time.Minute)
	reopenedAt(s, "a/box", "in-memory", lost)
	s.look().quiet(vanishedRule) // the same loss is not told twice
	s.pass(time.Minute)
	reopenedAt(s, "a/box", "in-memory", s.wall.Add(-time.Second))
	s.look().want(vanishedRule, alerts.StateFiring) // another one is
}

func TestVanishedWeighsTheProvider(t *testing.T) {
	restarted := func(branch bool) func(*backend.Session) {
		return func(x *backend.Session) {
			x.StartedAt = backend.Known(noon.Add(-time.Minute))
			if branch {
				x.BranchedFrom = backend.MustID("parent")
			}
		}
	}
	for name, c := range map[string]struct {
		provider string
		destroys bool
		session  func(*backend.Session)
		state    alerts.AlertState
		severity alerts.Severity
		says     string
	}{
		"in-memory in a new run":  {provider: "in-memory", session: restarted(false), state: alerts.StateFiring, severity: alerts.SeverityInfo, says: "by a new start of its session"},
		"in-memory in a branch":   {provider: "in-memory", session: restarted(true), state: alerts.StateFiring, severity: alerts.SeverityInfo, says: "in a branch"},
		"in-memory":               {provider: "in-memory", state: alerts.StateFiring, severity: alerts.SeverityInfo, says: "its files are gone"}, // nothing says when its session began
		"local-bash in a new run": {provider: "local-bash", session: restarted(false), state: alerts.StateFiring, severity: alerts.SeverityInfo, says: "closing removes its files"},
		"local-bash":              {provider: "local-bash", state: alerts.StatePending, severity: alerts.SeverityWarning, says: "a restart of the process keeps them"},
		"cloudflare-sandbox":      {provider: "cloudflare-sandbox", state: alerts.StatePending, severity: alerts.SeverityWarning, says: "may be lost: sources disagree"},
		"destroyOnClose":          {provider: "cloudflare-sandbox", destroys: true, state: alerts.StateFiring, severity: alerts.SeverityWarning, says: "the sandbox ended with its files"},
		"cloudflare-filestore":    {provider: "cloudflare-filestore"},
		"nobody names it":         {state: alerts.StatePending, severity: alerts.SeverityWarning, says: "its name is not known"},
		"one of one's own":        {provider: "e2b", state: alerts.StatePending, severity: alerts.SeverityWarning, says: "what provider e2b keeps is not documented"},
	} {
		s := begin(t, vanishedRule)
		if c.session != nil {
			s.session("a", c.session)
		}
		reopenedAt(s, "a/box", c.provider, noon.Add(-20*time.Minute))
		s.edit("a/box", func(w *backend.Workspace) {
			if c.destroys {
				w.DestroyOnClose = backend.Known(true)
			}
		})
		s.look()
		as := s.alerts(vanishedRule)
		switch {
		case c.state == "" && len(as) == 0:
		case len(as) != 1 || as[0].State != c.state || as[0].Severity != c.severity || !strings.Contains(as[0].Cause.String()+as[0].Why.String(), c.says):
			t.Errorf("%s: %s\n%v", name, summary(s.board), as)
		}
	}
}

// TestVanishedByTheDirectoryItself: an error that misses the directory itself needs no list; one below it proves nothing.
func TestVanishedByTheDirectoryItself(t *testing.T) {
	for text, want := range map[string]bool{
		"ENOENT: no such file or directory, chdir '/tmp/helix-ws-a1b2c3'":                 true,
		"spawn bash ENOENT: no such file or directory, stat '/tmp/helix-ws-a1b2c3/'":      true,
		"ENOENT: no such file or directory, open '/tmp/helix-ws-a1b2c3/config.json'":      false,
		"ENOENT: no such file or directory, stat '/tmp/helix-ws-a1b2c3/node_modules/pad'": false,
	} {
		s := begin(t, vanishedRule)
		s.reads("a/box", reading{state: "failed", err: text, attempt: time.Minute, success: time.Hour, provider: "local-bash"})
		s.look()
		if got := len(s.alerts(vanishedRule)) > 0; got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestVanishedSeesACleaner(t *testing.T) {
	missing := "ENOENT: no such file or directory, open '/tmp/helix-ws-a1b2c3/notes.txt'"
	s := begin(t, vanishedRule)
	s.source("scratch", backend.InputTmpdirs)
	s.reads("a/box", reading{state: "failed", err: missing, attempt: time.Minute, success: time.Hour, provider: "local-bash"})
	s.look().quiet(vanishedRule) // an agent may miss a file: whether the directory is there only a whole list tells
	s.listed[backend.KindTmpdir] = "scratch"
	s.reads("a/box", reading{state: "failed", err: missing, attempt: time.Minute, success: time.Hour, provider: "local-bash"})
	s.reads("b/box", reading{state: "failed", err: "ENOENT: no such file or directory, mkdtemp '/srv/helix-ws-XXXXXX'", attempt: time.Minute, success: time.Hour})
	s.reads("c/box", reading{state: "failed", err: "ENOENT: no such file or directory, open '/home/x/notes.txt'", attempt: time.Minute, success: time.Hour})
	a := s.after(time.Second).want(vanishedRule, alerts.StateFiring)
	if a.SubjectCount != 1 || !strings.Contains(a.Cause.String(), "a cleaner of the host") {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "scratch lists no such scratch directory")
	survives(s, vanishedRule, nil)
	k := backend.Key{Kind: backend.KindTmpdir, Source: "scratch", Parent: backend.MustID("box-1"), ID: backend.MustID("1:2:/tmp/helix-ws-a1b2c3")}
	s.tmpdirs[k] = &backend.Tmpdir{Meta: backend.Meta{Key: k, ReadAt: s.wall}, RawPath: backend.MustID("/tmp/helix-ws-a1b2c3")}
	s.pass(time.Second)
	s.reads("a/box", reading{state: "failed", err: missing, attempt: time.Minute, success: time.Hour, provider: "local-bash"})
	s.look().quiet(vanishedRule) // the directory is there: a file in it is missing, as files may be
}

// TestVanishedNamesOurOwnCleanUp: what Sandglass took is not blamed on the host, also when nothing shows it any more.
func TestVanishedNamesOurOwnCleanUp(t *testing.T) {
	s := beginHost(t, vanishedRule)
	s.host(func(h *backend.Host) {
		h.Roots[0].Waiting = []backend.Waiting{{Key: backend.Key{Kind: backend.KindTmpdir, Source: "scratch", Parent: h.Key.ID, ID: backend.MustID("1:2:/tmp/helix-ws-a1b2c3")},
			Path: backend.Text("/tmp/helix-ws-a1b2c3"), Moved: s.wall.Add(-5 * time.Minute), Due: s.wall.Add(10 * time.Minute)}}
	})
	fails := func(dir string) {
		s.reads("a/box", reading{state: "failed", err: "ENOENT: no such file or directory, open '" + dir + "/notes.txt'", attempt: time.Minute, success: time.Hour, provider: "local-bash"})
	}
	fails("/tmp/helix-ws-a1b2c3")
	a := s.look().want(vanishedRule, alerts.StateFiring)
	if !strings.HasPrefix(a.Cause.String(), "Sandglass set the scratch directory") {
		t.Errorf("cause %s", a.Cause)
	}
	wantEvidence(t, a, "/tmp/helix-ws-a1b2c3 was quarantined at 11:55:00Z; undo puts it back until 12:10:00Z")
	s.host(func(h *backend.Host) { h.Roots[0].Waiting = nil })
	s.listed[backend.KindTmpdir] = "scratch"
	fails("/tmp/helix-ws-a1b2c3")
	if a := s.after(15*time.Minute).want(vanishedRule, alerts.StateFiring); !strings.HasPrefix(a.Cause.String(), "Sandglass set") {
		t.Errorf("afterwards the cause is %s", a.Cause)
	}
	other := beginHost(t, vanishedRule)
	s = other
	s.listed[backend.KindTmpdir] = "scratch"
	fails("/tmp/helix-ws-a1b2c3-not")
	if a := s.look().want(vanishedRule, alerts.StateFiring); strings.HasPrefix(a.Cause.String(), "Sandglass") {
		t.Errorf("another directory: %s", a.Cause)
	}
}

func TestVanishedDoesNotFire(t *testing.T) {
	s := begin(t, vanishedRule)
	s.reads("a/box", reading{state: "open", attempt: time.Second, success: time.Second, provider: "in-memory"})
	s.look()
	s.ends("a/box", "its session is idle")
	s.after(time.Minute)
	s.reads("a/box", reading{state: "open", attempt: time.Second, provider: "in-memory"}) // closed between two runs: by design
	s.after(time.Minute).quiet(vanishedRule)
}

func TestVanishedColdStartGapRestart(t *testing.T) {
	cold := begin(t, vanishedRule)
	cold.reads("a/box", reading{state: "open", attempt: time.Second, provider: "in-memory"})
	cold.look().quiet(vanishedRule) // what it had before nobody knows
	s := begin(t, vanishedRule)
	reopenedAt(s, "a/box", "in-memory", noon.Add(-time.Minute))
	s.look()
	survives(s, vanishedRule, nil)
	s.pass(time.Second)
	s.edit("a/box", func(w *backend.Workspace) { w.LostSuccess = time.Time{} }) // a new process of the console forgets it
	s.look().want(vanishedRule, alerts.StateFiring)
}

// uses gives a workspace of a tenant's session a sandbox id.
func uses(s *story, path, tenant, id string, edit func(*backend.Workspace)) {
	session, _, _ := strings.Cut(path, "/")
	s.session(session, func(x *backend.Session) {
		x.Tenant, x.StartedAt = backend.Clean(tenant, 60), backend.Known(noon.Add(-time.Hour+time.Duration(session[0])*time.Second))
	})
	s.reads(path, reading{state: "open", attempt: time.Minute, success: time.Minute, provider: "cloudflare-sandbox", edit: func(w *backend.Workspace) {
		w.ProviderID = backend.MustID(id)
		if edit != nil {
			edit(w)
		}
	}})
}

func shares(w *backend.Workspace) { w.ShareAcrossSessions = backend.Known(true) }

func TestLeakAcrossTenantsIsCritical(t *testing.T) {
	s := begin(t, leakRule)
	uses(s, "a/box", "acme", "team-cache", shares)
	uses(s, "b/box", "umbrella", "team-cache", shares) // declared, and still not wanted across tenants
	uses(s, "c/box", "acme", "own", nil)
	a := s.look().want(leakRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityCritical || a.Sessions != 2 || a.Tenants != 2 || a.Runbook != "8" {
		t.Errorf("alert %+v", a)
	}
	if want := noon.Add(-time.Hour + 'b'*time.Second); !a.Bounds.Earliest.Equal(want) {
		t.Errorf("the overlap begins %v, want %v", a.Bounds.Earliest, want)
	}
	wantEvidence(t, a, "sandbox team-cache is used by 2 sessions", "acme, umbrella", "given explicitly", "the sessions run side by side since", "shareAcrossSessions is declared")
	s.sessionEnds("b")
	s.after(time.Second).quiet(leakRule)
}

func TestLeakCountsReadsAndWritesOfTheOverlap(t *testing.T) {
	s := begin(t, leakRule)
	s.source("app", backend.InputEvictionLogs)
	uses(s, "a/box", "acme", "team-cache", nil)
	uses(s, "b/box", "umbrella", "team-cache", nil)
	line := func(m backend.Metric, session, workspace string, n float64, path string) {
		s.counted("app", m, n, func(c *backend.Count) {
			c.Series.Session, c.Series.Workspace, c.Sample = backend.MustID(session), backend.MustID(workspace), backend.Clean(path, 100)
		})
	}
	s.session("c", nil)
	line(backend.MetricWrites, "a", "box", 3, "/workspace/customers.csv")
	line(backend.MetricReads, "b", "box", 2, "/workspace/customers.csv")
	line(backend.MetricReads, "b", "other", 9, "/workspace/else") // another workspace of it
	line(backend.MetricReads, "c", "box", 9, "/workspace/else")   // a session that does not share the place
	for _, sandbox := range []string{"team-cache", "elsewhere"} { // a line may name the sandbox, and that alone decides
		s.counted("app", backend.MetricReads, 5, func(c *backend.Count) {
			c.Series.Sandbox, c.Sample = backend.MustID(sandbox), backend.Clean("/in/"+sandbox, 100)
		})
	}
	s.counted("app", backend.MetricWrites, 7, func(c *backend.Count) {
		c.Series.Session, c.Series.Sandbox, c.Sample = backend.MustID("a"), backend.MustID("sbx-of-a"), backend.Text("/else")
	})
	a := s.look().want(leakRule, alerts.StateFiring)
	wantEvidence(t, a, "session a: 3 writes in the last", "session b: 2 reads in the last", "the newest: /workspace/customers.csv",
		"a session that the lines do not name: 5 reads in the last")
	for _, e := range a.Evidence {
		if strings.Contains(e.Text.String(), "else") || strings.Contains(e.Text.String(), "7 writes") {
			t.Errorf("not of this place: %s", e.Text)
		}
	}
}

// TestEveryLeakAcrossTenantsIsAnIncidentOfItsOwn: two of them are two lines with their own tenants; several places within
// one tenant are one line that names them all.
func TestEveryLeakAcrossTenantsIsAnIncidentOfItsOwn(t *testing.T) {
	s := begin(t, leakRule)
	for path, x := range map[string][2]string{"a/box": {"acme", "cache"}, "b/box": {"umbrella", "cache"}, "c/box": {"acme", "tools"}, "d/box": {"globex", "tools"},
		"e/box": {"acme", "one"}, "f/box": {"acme", "one"}, "g/box": {"acme", "two"}, "h/box": {"acme", "two"}} {
		uses(s, path, x[0], x[1], nil)
	}
	s.look()
	seen := map[string]alerts.Severity{}
	for _, a := range s.alerts(leakRule) {
		seen[a.Cause.String()] = a.Severity
		switch {
		case strings.Contains(a.Cause.String(), "cache"):
			wantEvidence(t, a, "their tenants: acme, umbrella")
		case strings.Contains(a.Cause.String(), "tools"):
			wantEvidence(t, a, "their tenants: acme, globex")
		default:
			wantEvidence(t, a, "2 such places in all: sandbox one: e and f; sandbox two: g and h")
		}
	}
	if len(seen) != 3 || seen["sandbox cache is behind sessions of different tenants"] != alerts.SeverityCritical {
		t.Errorf("%v", seen)
	}
}

func TestLeakWithinOneTenantWarnsUnlessDeclared(t *testing.T) {
	s := begin(t, leakRule)
	uses(s, "a/box", "acme", "sbx-a", nil)
	uses(s, "b/box", "acme", "sbx-a", nil)
	if a := s.look().want(leakRule, alerts.StateFiring); a.Severity != alerts.SeverityWarning {
		t.Errorf("severity %s", a.Severity)
	}
	for _, declare := range []func(*backend.Workspace){shares, func(w *backend.Workspace) { w.InheritWorkspaces = backend.Known(true) }} {
		uses(s, "a/box", "acme", "sbx-a", declare)
		uses(s, "b/box", "acme", "sbx-a", declare)
		s.after(time.Second).quiet(leakRule)
	}
	uses(s, "a/box", "", "sbx-a", nil)
	uses(s, "b/box", "", "sbx-a", nil)
	if a := s.after(time.Second).want(leakRule, alerts.StateFiring); !strings.Contains(a.Cause.String(), "whose tenants they are is not named") {
		t.Errorf("cause %s", a.Cause)
	}
}

func TestLeakByNamespaceReferenceAndMount(t *testing.T) {
	s := begin(t, leakRule)
	s.source("refs", backend.InputRefs)
	s.source("docker", backend.InputContainers)
	s.source("scratch", backend.InputTmpdirs)
	for _, id := range []string{"a", "b"} {
		s.reads(id+"/store", reading{state: "open", attempt: time.Minute, success: time.Minute, edit: func(w *backend.Workspace) { w.Namespace = backend.MustID("notes-of-a") }})
		s.ref(id+"/box", func(x *backend.Ref) { x.Sandbox = backend.MustID("sbx-1") })
		s.sandbox("container-"+id, id, backend.SandboxRunning)
	}
	k := backend.Key{Kind: backend.KindTmpdir, Source: "scratch", Parent: backend.MustID("box-1"), ID: backend.MustID("1:2:/tmp/helix-ws-a")}
	s.tmpdirs[k] = &backend.Tmpdir{Meta: backend.Meta{Key: k, ReadAt: s.wall}, RawPath: backend.MustID("/tmp/helix-ws-a")}
	for _, b := range s.sandboxes {
		b.Mounts = []backend.Mount{{RawSource: backend.MustID("/tmp/helix-ws-a")}, {RawSource: backend.MustID("/var/run/docker.sock")}}
	}
	s.look()
	var causes []string
	for _, a := range s.alerts(leakRule) {
		causes = append(causes, a.Cause.String())
	}
	for _, what := range []string{"one namespace", "one sandbox", "one scratch directory"} {
		if !strings.Contains(strings.Join(causes, "\n"), what) {
			t.Errorf("%s is not told: %v", what, causes)
		}
	}
	if len(causes) != 3 {
		t.Errorf("causes %v", causes)
	}
}

func TestLeakDoesNotFire(t *testing.T) {
	s := begin(t, leakRule)
	s.source("helix-us", backend.InputRegistry)
	uses(s, "a/box", "acme", "sbx-a", nil)
	uses(s, "a/web", "acme", "sbx-a", nil) // one session
	uses(s, "b/box", "umbrella", "sbx-b", nil)
	uses(s, "c/box", "umbrella", "sbx-c", nil)
	s.every(10*time.Second, time.Minute, nil).quiet(leakRule)
}

func TestLeakIsRuledOutByTheNameCollisionWarning(t *testing.T) {
	s := begin(t, leakRule)
	s.source("app", backend.InputEvictionLogs)
	uses(s, "a/box", "acme", "sbx-a", nil)
	uses(s, "b/box", "umbrella", "sbx-a", nil)
	s.look().want(leakRule, alerts.StateFiring)
	s.pass(time.Second)
	s.counted("app", backend.MetricNameCollision, 1, func(c *backend.Count) { c.Series.Session = backend.MustID("b") })
	s.look().quiet(leakRule)
	s.every(30*time.Minute, 3*time.Hour, nil).quiet(leakRule) // the line has left the windows and is remembered
	s.restart()
	s.after(time.Second).quiet(leakRule)
}

func TestLeakColdStartGapRestart(t *testing.T) {
	s := begin(t, leakRule)
	uses(s, "a/box", "acme", "sbx-a", nil)
	uses(s, "b/box", "umbrella", "sbx-a", nil)
	s.look()
	survives(s, leakRule, nil)
}

func TestLeakIsBlindWhereNothingNamesIds(t *testing.T) {
	s := begin(t, leakRule)
	s.reads("a/box", reading{state: "open", attempt: time.Minute, success: time.Minute})
	if s.look(); len(s.board.BlindOn("helix")) != 1 || !strings.Contains(s.board.Blind[0].Why.String(), "reports no sandbox id") {
		t.Errorf("blind %v", s.board.Blind)
	}
	uses(s, "b/box", "acme", "sbx-b", nil)
	if s.after(time.Second); len(s.board.Blind) != 0 {
		t.Errorf("blind %v", s.board.Blind)
	}
	s.health("helix", func(h *fleet.SourceHealth) { h.Status = fleet.StatusStarting })
	if s.after(time.Second); len(s.board.Blind) != 0 {
		t.Errorf("before anything was read nobody knows: %v", s.board.Blind)
	}
}

// TestVanishedDoesNotTrustAStaleList: an entry that was read before its source went out does not show that the directory is there.
func TestVanishedDoesNotTrustAStaleList(t *testing.T) {
	missing := "ENOENT: no such file or directory, chdir '/tmp/helix-ws-a1b2c3'"
	for name, old := range map[string]func(*story, *backend.Tmpdir){
		"the source is out":     func(s *story, _ *backend.Tmpdir) { s.down("scratch", "timeout") },
		"the entry is stale":    func(_ *story, d *backend.Tmpdir) { d.Stale = true },
		"the directory is read": nil,
	} {
		s := begin(t, vanishedRule)
		s.source("scratch", backend.InputTmpdirs)
		k := backend.Key{Kind: backend.KindTmpdir, Source: "scratch", Parent: backend.MustID("box-1"), ID: backend.MustID("1:2:/tmp/helix-ws-a1b2c3")}
		d := &backend.Tmpdir{Meta: backend.Meta{Key: k, ReadAt: s.wall}, RawPath: backend.MustID("/tmp/helix-ws-a1b2c3")}
		s.tmpdirs[k] = d
		s.reads("a/box", reading{state: "open", attempt: time.Second, success: time.Second, provider: "local-bash"})
		s.look()
		s.pass(time.Minute)
		if old != nil {
			c := *d
			old(s, &c)
			s.tmpdirs[k] = &c
			s.delta.Changed = append(s.delta.Changed, k)
		}
		s.reads("a/box", reading{state: "failed", err: missing, attempt: time.Second, success: time.Minute, provider: "local-bash"})
		s.look()
		if fires := len(s.alerts(vanishedRule)) == 1; fires != (old != nil) {
			t.Errorf("%s: %s", name, summary(s.board))
		}
	}
}
