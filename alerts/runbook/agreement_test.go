package runbook

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestOneErrorTextHasOneVerdict: what an error says does not depend on the provider or on the neighbours.
func TestOneErrorTextHasOneVerdict(t *testing.T) {
	for _, c := range []struct {
		text  string
		marks map[string]Mark
	}{
		{"WorkspaceFailedError: tmpdirRoot /srv/agents/tmp does not exist", map[string]Mark{"root": Confirmed, "module": RuledOut}},
		{"WorkspaceFailedError: capability snapshot is declared but backupR2Binding is not bound", map[string]Mark{"snapshot": Confirmed, "binding": Confirmed, "module": RuledOut}},
		{"capability snapshot is declared but the provider lacks it", map[string]Mark{"module": Confirmed, "binding": RuledOut}},
		{"sandbox id given: requires shareAcrossSessions: true", map[string]Mark{"sharing": Confirmed, "binding": RuledOut}},
		{"local-bash: posix host needed, found win32", map[string]Mark{"posix": Confirmed}},
		{"ctx.storage.sql is undefined", map[string]Mark{"sqlite": Confirmed}},
		{"write /tmp/x: ENOSPC: no space left on device", map[string]Mark{"full": Confirmed}},
	} {
		for _, p := range []backend.Literal{"", "local-bash", "cloudflare-filestore", "cloudflare-sandbox", "docker"} {
			w := world{workspaces: []*backend.Workspace{broken("s1", "box", backend.ClassFailed, c.text, provider(p))}, hosts: []*backend.Host{host()}}
			d := w.diagnose("1", wsKey("s1", "box"))
			want(t, d, c.marks)
			if strings.Contains(d.Conclusion.String(), "matches no known cause") {
				t.Errorf("%s with provider %q: %s", c.text, p, d.Conclusion)
			}
		}
	}
}

// TestCredentialsRatesAndMemoryAreKnownCauses on page 1.
func TestCredentialsRatesAndMemoryAreKnownCauses(t *testing.T) {
	for text, says := range map[string]string{
		"WorkspaceFailedError: request failed with status code 403": "refuses the credentials", "HTTP 401 Unauthorized": "refuses the credentials", "HTTP 429 Too Many Requests": "limits the rate of requests",
		"Worker exceeded memory limit.": "lack of memory", "Durable Object exceeded its memory limit and was reset": "lack of memory", "MemoryError: Unable to allocate 4 GiB": "lack of memory",
	} {
		w := world{workspaces: []*backend.Workspace{broken("s1", "box", backend.ClassFailed, text)}}
		if d := w.diagnose("1", wsKey("s1", "box")); !strings.Contains(d.Conclusion.String(), says) || d.NoReset.IsEmpty() {
			t.Errorf("%s: %s; %s", text, d.Conclusion, d.NoReset)
		}
	}
}

// TestOtherQuotasLeaveAllOpen: a quota of something else, or of nothing named, proves and disproves no reason.
func TestOtherQuotasLeaveAllOpen(t *testing.T) {
	for _, text := range []string{"quota exceeded for namespace acme", "LLM token quota exceeded for tenant acme", "quota exceeded for GitHub API"} {
		w := world{workspaces: []*backend.Workspace{broken("s1", "box", backend.ClassFailed, text)}}
		d := w.diagnose("1", wsKey("s1", "box"))
		want(t, d, map[string]Mark{"quota": CannotTell, "image": CannotTell, "engine": CannotTell, "sqlite": CannotTell, "posix": CannotTell, "memory": CannotTell, "database": CannotTell, "network": CannotTell})
		if !strings.Contains(d.Conclusion.String(), "matches no known cause") {
			t.Errorf("%s: %s", text, d.Conclusion)
		}
	}
}

// TestDontResetMeansNoReset: what a page warns of is not offered beside the warning without its reason.
func TestDontResetMeansNoReset(t *testing.T) {
	for _, e := range (&subjectView{}).workspaceFailedEndings() {
		if strings.HasPrefix(string(e.dont), "Don't reset") && e.noReset == "" {
			t.Errorf("%q is said, and a reset is offered", e.dont)
		}
	}
}

// TestAKillIsExplainedByItsSandbox: exit code 137 beside an alert about the same sandbox has a known cause.
func TestAKillIsExplainedByItsSandbox(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{broken("s1", "box", backend.ClassEvicted, "WorkspaceEvictedError: container 9570fccacd90 exited with code 137", provider("docker"))}}
	d := w.diagnose("1", wsKey("s1", "box"))
	want(t, d, map[string]Mark{"memory": CannotTell, "sandbox": CannotTell})
	w.sandboxes = []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) {
		b.Class, b.Reported = backend.SandboxExited, backend.Text("exited")
	})}
	firing := func(rule string, cause backend.Literal) *alerts.Board {
		return &alerts.Board{Alerts: []*alerts.Alert{{Rule: rule, Source: "docker", Runbook: "container", State: alerts.StateFiring, Confirmed: now, Cause: backend.Text(cause),
			Subjects: []alerts.Subject{{Key: sbKey("b"), State: alerts.StateFiring}}, SubjectCount: 1}}}
	}
	w.board = firing("sandbox-oom", "killed at its memory limit")
	d = w.diagnose("1", wsKey("s1", "box"))
	want(t, d, map[string]Mark{"memory": Confirmed})
	if !strings.Contains(d.Conclusion.String(), "killed at its memory limit") || d.NoReset.IsEmpty() {
		t.Errorf("%s; %s", d.Conclusion, d.NoReset)
	}
	w.board = firing("sandbox-crash-loop", "restarts over and over")
	d = w.diagnose("1", wsKey("s1", "box"))
	want(t, d, map[string]Mark{"sandbox": Confirmed})
	if !strings.Contains(d.Conclusion.String(), "restarts over and over") {
		t.Error(d.Conclusion)
	}
}

// TestARemedyIsNotRefusedByItsOwnAlert: another page's advice is, with the reason why it is unsafe.
func TestARemedyIsNotRefusedByItsOwnAlert(t *testing.T) {
	emptied := func(b *backend.Sandbox) {
		b.Health = backend.Known(backend.Text("unhealthy"))
	}
	w := world{sandboxes: []*backend.Sandbox{box("b", "s1", emptied)}, board: &alerts.Board{Alerts: []*alerts.Alert{{Rule: "files-vanished", Source: "docker", Runbook: "2", State: alerts.StateFiring,
		Confirmed: now, Cause: backend.Text("the working directory is gone"), Subjects: []alerts.Subject{{Key: sbKey("b"), State: alerts.StateFiring}}, SubjectCount: 1}}}}
	d := w.diagnose("2", sbKey("b"))
	if anyHas(d.Do, "Not yet") {
		t.Errorf("its own remedy is refused: %v", d.Do)
	}
	if !strings.Contains(d.NoDestroy.String(), "deletes the files that are left") {
		t.Errorf("a destroy is offered: %q", d.NoDestroy)
	}
	if other := w.diagnose("4", sbKey("b")); anyHas(other.Do, "Destroy") && !anyHas(other.Do, "Not yet: files-vanished fires, and this deletes") {
		t.Errorf("page 4 says to destroy without the reason against it: %v", other.Do)
	}
}

// TestAnotherProvidersShortageRefusesNothing: a workspace on the host needs no instance of a cloud's platform.
func TestAnotherProvidersShortageRefusesNothing(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{
		broken("s1", "box", backend.ClassFailed, "boom", provider("local-bash")), broken("s2", "box", backend.ClassEvicted, "max_instances reached", provider("cloudflare-sandbox")),
	}, board: &alerts.Board{Alerts: []*alerts.Alert{{Rule: "capacity", Source: "helix-eu", Runbook: "7", State: alerts.StateFiring, Confirmed: now,
		Subjects: []alerts.Subject{{Key: wsKey("s2", "box"), State: alerts.StateFiring}}, SubjectCount: 1}}}}
	if d := w.diagnose("1", wsKey("s1", "box")); !d.NoReset.IsEmpty() {
		t.Error(d.NoReset)
	}
	if d := w.diagnose("1", wsKey("s2", "box")); d.NoReset.IsEmpty() {
		t.Error("a reset asks for one more instance, and is offered")
	}
}

// TestOnlyAnAlertAboutTheSubjectIsUsed: an alert about other workspaces of the source gives no line on a page, also while
// their providers are not known yet.
func TestOnlyAnAlertAboutTheSubjectIsUsed(t *testing.T) {
	about := func(rule, page, session string) *alerts.Alert {
		return &alerts.Alert{Rule: rule, Source: "helix-eu", Runbook: page, State: alerts.StateFiring, Confirmed: now, Cause: backend.Textf("cause of %s", backend.Clean(rule, 40)),
			Subjects: []alerts.Subject{{Key: wsKey(session, "box"), State: alerts.StateFiring}}, SubjectCount: 1}
	}
	w := world{workspaces: []*backend.Workspace{
		broken("s1", "box", backend.ClassFailed, "WorkspaceFailedError: tmpdirRoot /srv/agents/tmp does not exist"),
		broken("s2", "box", backend.ClassEvicted, "max_instances reached"),
		broken("s3", "box", backend.ClassEvicted, "WorkspaceEvictedError: gone"),
	}}
	others := []*alerts.Alert{about("capacity", "7", "s2"), about("eviction-storm", "7", "s2"), about("possible-leak", "8", "s2"), about("ref-mismatch", "6", "s2"), about("agent-oom", "3", "s2")}
	asked := append([]*alerts.Alert{about("failed-too-long", "1", "s1")}, others...)
	for _, page := range []string{"1", "2", "3", "6", "9"} {
		for _, k := range []backend.Key{wsKey("s1", "box"), wsKey("s3", "box")} {
			w.board = &alerts.Board{Alerts: asked[:1]}
			alone := w.diagnose(page, k)
			w.board = &alerts.Board{Alerts: asked}
			if beside := w.diagnose(page, k); !reflect.DeepEqual(alone, beside) {
				t.Errorf("page %s about %s differs beside alerts about another workspace:\n%+v\n%+v", page, k.Safe(), alone, beside)
			}
		}
	}
	// A page that is asked about the source starts from its own alerts: those of others refuse nothing on it.
	w.board = &alerts.Board{Alerts: append([]*alerts.Alert{about("ref-mismatch", "6", "s1")}, others[:2]...)}
	if d := w.diagnose("6", sourceKeyOf("helix-eu")); anyHas(d.Do, "capacity fires") || anyHas(d.Dont, "capacity fires") || anyHas(d.Dont, "eviction-storm fires") {
		t.Errorf("page 6: %v %v", d.Do, d.Dont)
	}
}

// TestAContainerOfAnotherSessionExplainsNoStorm: neither its restarts, nor its kill, nor its start.
func TestAContainerOfAnotherSessionExplainsNoStorm(t *testing.T) {
	w := world{board: &alerts.Board{Alerts: []*alerts.Alert{{Rule: "eviction-storm", Source: "helix-eu", Runbook: "7", State: alerts.StateFiring, Confirmed: now}}}}
	storm := w.board.Alerts[0]
	for _, id := range []string{"s1", "s2", "s3"} {
		w.workspaces = append(w.workspaces, broken(id, "box", backend.ClassEvicted, "WorkspaceEvictedError: sandbox instance is gone", provider("cloudflare-sandbox")))
		storm.Subjects = append(storm.Subjects, alerts.Subject{Key: wsKey(id, "box"), State: alerts.StateFiring})
	}
	storm.SubjectCount = len(storm.Subjects)
	trouble := func(b *backend.Sandbox) {
		b.Provider, b.RestartCount, b.StartedAt = backend.Text("docker"), backend.Known(13), at(time.Minute)
		b.OOMKilled, b.Class = backend.Known(true), backend.SandboxRestarting
	}
	for _, c := range []struct {
		session string
		mark    Mark
	}{{"other", CannotTell}, {"s1", Confirmed}, {"", CannotTell}} {
		w.sandboxes = []*backend.Sandbox{box("a", c.session, trouble), box("b", c.session, trouble)}
		w.events = []backend.Event{event(backend.EventChange, "process-restarted", sbKey("a"), time.Minute, "a restarted"), event(backend.EventChange, "process-restarted", sbKey("a"), time.Minute, "a restarted"), event(backend.EventChange, "process-restarted", sbKey("a"), time.Minute, "a restarted")}
		for _, k := range []backend.Key{sourceKeyOf("helix-eu"), wsKey("s1", "box"), {}} {
			d := w.diagnose("7", k)
			want(t, d, map[string]Mark{"parent-restarts": c.mark, "sandbox-oom": c.mark})
			if c.mark == CannotTell && (d.is("rollout") || strings.Contains(d.Conclusion.String(), "restarts")) {
				t.Errorf("a container of session %q: %s", c.session, d.Conclusion)
			}
		}
	}
}

// TestAPageGoesByTheErrorsOfItsAlert: others of the source fail for something else.
func TestAPageGoesByTheErrorsOfItsAlert(t *testing.T) {
	w := world{board: &alerts.Board{Alerts: []*alerts.Alert{{Rule: "capacity", Source: "helix-eu", Runbook: "7", State: alerts.StateFiring, Confirmed: now, Cause: backend.Text("cloudflare-sandbox has no instance left")}}}}
	for i, id := range strings.Fields("a b c d e f g h") {
		if i < 2 {
			w.workspaces = append(w.workspaces, broken(id, "box", backend.ClassFailed, "max_instances reached (60/60 in use)", provider("cloudflare-sandbox")))
			a := w.board.Alerts[0]
			a.Subjects = append(a.Subjects, alerts.Subject{Key: wsKey(id, "box"), State: alerts.StateFiring})
			a.SubjectCount++
		} else {
			w.workspaces = append(w.workspaces, broken(id, "box", backend.ClassFailed, "ENOSPC: no space left on device, mkdtemp", provider("local-bash")))
		}
	}
	for _, k := range []backend.Key{sourceKeyOf("helix-eu"), wsKey("a", "box")} {
		d := w.diagnose("7", k)
		if !strings.Contains(d.Conclusion.String(), "limit refuses new containers") || strings.Contains(d.Conclusion.String(), "ENOSPC") || !strings.Contains(factOf(t, d, "quota"), "2 of 2 errors name it") {
			t.Errorf("about %s: %s; %s", k.Safe(), d.Conclusion, factOf(t, d, "quota"))
		}
	}
}

// TestAHeldAlertIsNotDenied: its source is down, so nothing is read that could deny it.
func TestAHeldAlertIsNotDenied(t *testing.T) {
	w := world{down: []string{"helix-eu"}, board: &alerts.Board{Alerts: []*alerts.Alert{{Rule: "failed-too-long", Source: "helix-eu", Runbook: "1", State: alerts.StateHeld, Cause: backend.Text("boom"),
		Why: backend.Text("the source does not answer"), Subjects: []alerts.Subject{{Key: wsKey("s1", "box"), State: alerts.StateHeld}}, SubjectCount: 1}}}}
	for _, k := range []backend.Key{{}, sourceKeyOf("helix-eu"), wsKey("s1", "box")} {
		d := w.diagnose("1", k)
		if !strings.Contains(d.Conclusion.String(), "failed-too-long is held: boom") || anyHas(d.Do, "Poll the session") {
			t.Errorf("about %s: %s %v", k.Safe(), d.Conclusion, d.Do)
		}
	}
}

// TestOneLineAgainstAReset: a page whose own advice is against a reset does not repeat it.
func TestOneLineAgainstAReset(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{broken("s1", "box", backend.ClassFailed, "WorkspaceFailedError: tmpdirRoot /srv/agents/tmp does not exist")},
		board: &alerts.Board{Alerts: []*alerts.Alert{{Rule: "capacity", Source: "helix-eu", Runbook: "7", State: alerts.StateFiring, Confirmed: now,
			Subjects: []alerts.Subject{{Key: wsKey("s1", "box"), State: alerts.StateFiring}}, SubjectCount: 1}}}}
	d, n := w.diagnose("1", wsKey("s1", "box")), 0
	for _, l := range d.Dont {
		if strings.Contains(l.String(), "reset") {
			n++
		}
	}
	if n != 1 || !anyHas(d.Dont, "Don't restart yet: capacity fires") {
		t.Errorf("%d lines against a reset: %v", n, d.Dont)
	}
}

// TestTheAdviceForAFailedCloseFitsItsErrno: a mount inside is no subprocess that writes.
func TestTheAdviceForAFailedCloseFitsItsErrno(t *testing.T) {
	for errno, says := range map[string]string{"EBUSY": "umount", "ENOTEMPTY": "subprocesses", "EACCES": "chmod", "EROFS": "read-only", "": "Fix what the log line names"} {
		counts := lines("app-log", backend.MetricTmpdirCloseFailed, "s1", 6)
		if errno != "" {
			counts = append(counts, lines("app-log", backend.CloseFailedWith(errno), "s1", 6)...)
		}
		if d := (world{counts: counts}).diagnose("5", sourceKeyOf("helix-eu")); !anyHas(d.Do, says) {
			t.Errorf("%s: %v", errno, d.Do)
		}
	}
}

// TestThisConsoleIsNoStrayProcess: an operator is not told to end the console that says so.
func TestThisConsoleIsNoStrayProcess(t *testing.T) {
	k := backend.Key{Kind: backend.KindTmpdir, Source: "host-a", Parent: backend.MustID("build-3"), ID: backend.MustID("helix-ws-1")}
	dir := &backend.Tmpdir{Meta: meta(k), Path: backend.Text("/tmp/helix-ws-1"), Newest: at(0)}
	for _, c := range []struct {
		how  backend.Literal
		says string
		end  bool
	}{{"fd, Sandglass itself", "by Sandglass itself", false}, {"fd", "by node (pid 7, fd)", true}} {
		dir.Holders = backend.Known([]backend.Holder{{PID: 7, Command: backend.Text("node"), How: backend.Text(c.how)}})
		d := world{tmpdirs: []*backend.Tmpdir{dir}, hosts: []*backend.Host{host()}}.diagnose("5", hostKey())
		if fact := factOf(t, d, "held"); !strings.Contains(fact, c.says) || anyHas(d.Do, "End the process") != c.end {
			t.Errorf("%s; %v", fact, d.Do)
		}
	}
}

// TestTheRangeOfARollbackIsFromTheData: an older release that reads 1 to 3 is not asked about 2 to 4.
func TestTheRangeOfARollbackIsFromTheData(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{failed("s1", "box", "ref schemaVersion 4 is outside the supported range 1-3 (ref wsr_1)")}}
	if d := w.diagnose("6", wsKey("s1", "box")); !anyHas(d.Do, "--reads 1..3") || anyHas(d.Do, "LOW") {
		t.Error(d.Do)
	}
	w.workspaces[0].LastError = backend.Text("schemaVersion mismatch")
	if d := w.diagnose("6", wsKey("s1", "box")); !anyHas(d.Do, "--reads LOW..HIGH. LOW and HIGH are the oldest and newest version") {
		t.Error(d.Do)
	}
}

// TestARollbackCountsTheVersionsThatErrorsName: no source reads the references that the running release refuses.
func TestARollbackCountsTheVersionsThatErrorsName(t *testing.T) {
	refused := failed("s1", "box", "ref schemaVersion 4 is outside the supported range 1-3 (ref wsr_1)")
	works := healthy("s2", "box")
	works.LastError = refused.LastError // of an attempt before
	st := world{workspaces: []*backend.Workspace{refused, works}}.state()
	for _, c := range []struct{ low, high, refused int }{{1, 3, 1}, {2, 4, 0}} {
		if r := CheckRollback(st, c.low, c.high, nil); len(r.Refused) != c.refused || r.Named != 1 || r.Refs != 1 {
			t.Errorf("%d to %d: %+v", c.low, c.high, r)
		}
	}
	if r := CheckRollback(st, 1, 3, func(source string) bool { return source != refused.Key.Source }); r.Refs != 0 {
		t.Errorf("another source: %+v", r)
	}
}

// TestAPageHasTheFiguresOfItsAlert: one figure for one fact, counted over one span.
func TestAPageHasTheFiguresOfItsAlert(t *testing.T) {
	w := world{workspaces: evicted("gone"), counts: append(lines("app-log", backend.MetricEvictionExhausted, "", 43), lines("prom", backend.MetricEvictionExhausted, "", 43)...)}
	w.board = &alerts.Board{Alerts: []*alerts.Alert{{Rule: "eviction-storm", Source: "helix-eu", Runbook: "7", State: alerts.StateFiring, Confirmed: now,
		Evidence: []alerts.Evidence{{Text: backend.Text("27 evictions in 8s (3.4/s)"), Value: backend.Known(3.4)}, {Text: backend.Text("31 of 113 workspaces of cloudflare-sandbox are evicted now"), Value: backend.Known(31.0)}}}}}
	fact := factOf(t, w.diagnose("7", sourceKeyOf("helix-eu")), "storm")
	if !strings.Contains(fact, "27 evictions in 8s (3.4/s); 31 of 113") || strings.Contains(fact, "86") {
		t.Error(fact)
	}
}

// TestAWarningIsOfThePagesOwnSubjects: another alert of the same provider refuses a reset, and adds no line to a page that advises none.
func TestAWarningIsOfThePagesOwnSubjects(t *testing.T) {
	storm := &alerts.Alert{Rule: "eviction-storm", Source: "helix-eu", Runbook: "7", State: alerts.StateFiring, Confirmed: now, SubjectCount: 1, Subjects: []alerts.Subject{{Key: wsKey("s3", "box"), State: alerts.StateFiring}}}
	leak := &alerts.Alert{Rule: "possible-leak", Source: "helix-eu", Runbook: "8", State: alerts.StateFiring, Confirmed: now, SubjectCount: 2, Cause: backend.Text("sandbox x is behind sessions of different tenants"),
		Subjects: []alerts.Subject{{Key: wsKey("s1", "box"), State: alerts.StateFiring}, {Key: wsKey("s2", "box"), State: alerts.StateFiring}}}
	cloud := provider("cloudflare-sandbox")
	w := world{workspaces: []*backend.Workspace{healthy("s1", "box", cloud), healthy("s2", "box", cloud), broken("s3", "box", backend.ClassEvicted, "gone", cloud)}, board: &alerts.Board{Alerts: []*alerts.Alert{leak, storm}}}
	for _, k := range []backend.Key{wsKey("s1", "box"), sourceKeyOf("helix-eu")} {
		if d := w.diagnose("8", k); anyHas(d.Dont, "eviction-storm") || d.NoReset.IsEmpty() {
			t.Errorf("%s: %v %s", k.Safe(), d.Dont, d.NoReset)
		}
	}
	storm.Subjects = append(storm.Subjects, leak.Subjects[0])
	if d := w.diagnose("8", wsKey("s1", "box")); !anyHas(d.Dont, "eviction-storm fires") {
		t.Errorf("it is evicted in the storm: %v", d.Dont)
	}
	storm.Subjects, storm.SubjectCount = []alerts.Subject{{Key: backend.Key{Kind: backend.KindSource, Source: "helix-eu", ID: backend.MustID("helix-eu/cloudflare-sandbox")}, State: alerts.StateFiring}}, 1
	for _, x := range w.workspaces[:2] {
		x.Provider = backend.Text("docker")
	}
	for _, k := range []backend.Key{wsKey("s1", "box"), sourceKeyOf("helix-eu")} {
		if d := w.diagnose("8", k); anyHas(d.Dont, "eviction-storm") {
			t.Errorf("%s uses another provider: %v", k.Safe(), d.Dont)
		}
	}
}

// TestEvictedOnesAreCountedOnThePagesOwnScope: never more of them than the alert's, and no part of one count beside another.
func TestEvictedOnesAreCountedOnThePagesOwnScope(t *testing.T) {
	a := &alerts.Alert{Rule: "capacity", Source: "helix-eu", Runbook: "7", State: alerts.StateFiring, Confirmed: now, SubjectCount: 2, Subjects: []alerts.Subject{{Key: wsKey("s1", "box"), State: alerts.StateFiring}, {Key: wsKey("s2", "box"), State: alerts.StateFiring}}}
	storm := &alerts.Alert{Rule: "eviction-storm", Source: "helix-eu", Runbook: "7", State: alerts.StatePending, Evidence: []alerts.Evidence{{Text: backend.Text("1 of 9 workspaces are evicted now, in 1 session"), Value: backend.Known(1.0), Unit: "workspaces"}},
		SubjectCount: 1, Subjects: []alerts.Subject{{Key: wsKey("s3", "box"), State: alerts.StatePending}}}
	w := world{board: &alerts.Board{Alerts: []*alerts.Alert{a, storm}}}
	for i, id := range []string{"s1", "s2", "s3", "s4"} {
		p := provider("cloudflare-sandbox")
		if i > 1 {
			p = provider("docker")
		}
		w.workspaces = append(w.workspaces, broken(id, "box", backend.ClassEvicted, "max_instances reached", p))
	}
	a.ID = "a1"
	c := w.about(sourceKeyOf("helix-eu"))
	c.Alert = "a1"
	if fact := factOf(t, c.Diagnose("7"), "evicted"); !strings.HasPrefix(fact, "2 of the alert's 2 workspaces evicted now; each evicted one was tried") {
		t.Error(fact)
	}
}
