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

func TestPage1TellsTheUserAndOffersThatNoWorkspaceIsDeclared(t *testing.T) {
	w := world{workspaces: []*backend.Workspace{failed("s1", "box", "boom")}, counts: lines("app-log", backend.MetricWorkspaceFailed, "s1", 12)}
	d := w.diagnose("1", wsKey("s1", "box"))
	want(t, d, map[string]Mark{"lines": Confirmed, "undeclared": RuledOut})
	if !strings.Contains(factOf(t, d, "lines"), "WorkspaceFailedError lines in the last hour: 12") || !anyHas(d.Do, "Tell the user") {
		t.Errorf("%s, %v", factOf(t, d, "lines"), d.Do)
	}
	always404 := world{sessions: []*backend.Session{session("s1", false, func(s *backend.Session) {
		s.ListedRunning, s.Answer = backend.Known(true), backend.AnswerIdle
	})}}.diagnose("1", sessionKey("s1"))
	if fact := factOf(t, always404, "undeclared"); !strings.Contains(fact, "the agent declares no workspace, or the server does not publish") {
		t.Error(fact)
	}
}

func TestPage2HasASentenceForTheUserOfABranch(t *testing.T) {
	d := world{sessions: []*backend.Session{session("s1", true, func(s *backend.Session) { s.BranchedFrom = backend.MustID("s0") })}}.diagnose("2", sessionKey("s1"))
	if !anyHas(d.Do, "Tell the user: a branch starts with an empty workspace") {
		t.Error(d.Do)
	}
}

func TestPage3KnowsWhereWritesAreGuarded(t *testing.T) {
	none := backend.NotApplicable[time.Time]()
	times := func(w *backend.Workspace) { w.LastAttemptAt, w.LastSuccessAt = none, none }
	for _, c := range []struct {
		provider backend.Literal
		edit     func(*backend.Workspace)
		mark     Mark
		says     string
	}{
		{"cloudflare-filestore", nil, Confirmed, "guards writes since rounds 2 to 4"},
		{"cloudflare-sandbox", nil, Confirmed, "guards writes since rounds 2 to 4"},
		{"cloudflare-sandbox", times, CannotTell, "the release is not known"},
		{"local-bash", nil, RuledOut, "only cloudflare-filestore and cloudflare-sandbox"},
		{"", nil, CannotTell, "not named"},
	} {
		w := healthy("s1", "box", provider(c.provider))
		if c.edit != nil {
			c.edit(w)
		}
		d := world{sessions: []*backend.Session{session("s1", true)}, workspaces: []*backend.Workspace{w}}.diagnose("3", wsKey("s1", "box"))
		want(t, d, map[string]Mark{"write-guard": c.mark})
		if fact := factOf(t, d, "write-guard"); !strings.Contains(fact, string(c.says)) {
			t.Errorf("%s: %s", c.provider, fact)
		}
		if !anyHas(d.Do, "in chunks") || !anyHas(d.Do, "a fault of its design") {
			t.Error(d.Do)
		}
	}
}

func TestPage4NamesTheImageAndItsReleaseNotes(t *testing.T) {
	w := world{sessions: []*backend.Session{session("s1", false)}, sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) { b.Image = backend.Text("cloudflare/sandbox:0.8.11") })}}
	d := w.diagnose("4", sbKey("b"))
	want(t, d, map[string]Mark{"image-version": Confirmed})
	if !anyHas(d.Do, "release notes about destroy. See: b runs image cloudflare/sandbox:0.8.11") {
		t.Error(d.Do)
	}
}

func TestPage5ReadsTheReleaseFromACloseWithoutACause(t *testing.T) {
	with := func(sample string) Diagnosis {
		c := lines("app-log", backend.MetricTmpdirCloseFailed, "", 3)
		for i := range c {
			c[i].Sample = backend.Clean(sample, 200)
		}
		return world{counts: c, hosts: []*backend.Host{host()}}.diagnose("5", sourceKeyOf("app-log"))
	}
	d := with("workspace: tmpdir close failed")
	want(t, d, map[string]Mark{"before-3": Confirmed})
	if !anyHas(d.Do, "Upgrade to round 3 or later") {
		t.Error(d.Do)
	}
	want(t, with("EBUSY: resource busy or locked"), map[string]Mark{"before-3": RuledOut})
	want(t, world{}.diagnose("5", sourceKeyOf("helix-eu")), map[string]Mark{"before-3": CannotTell})
}

func TestPage5SaysWhatARebootLeaves(t *testing.T) {
	for kind, says := range map[backend.Literal]string{"ext4": "Remove leftovers on a disk: they survive a reboot", "tmpfs": "need a tmpdirRoot on a disk"} {
		w := world{hosts: []*backend.Host{host(func(h *backend.Host) { h.Roots[0].FSType = backend.Text(kind) })}}
		if d := w.diagnose("5", hostKey()); !anyHas(d.Do, says) {
			t.Errorf("%s: %v", kind, d.Do)
		}
	}
}

func TestPage7RecommendsNumbersAndCountsDown(t *testing.T) {
	w := world{workspaces: evicted("WorkspaceFailedError: max_instances (20) reached")}
	d := w.diagnose("7", sourceKeyOf("helix-eu"))
	if !anyHas(d.Do, "Set maxGlobalConcurrentOpens to 20, in the provider. Set workspaceMaxConcurrentOpens to") || !anyHas(d.Do, "Raise max_instances (now 20) in the platform's configuration and redeploy") {
		t.Error(d.Do)
	}
	for _, x := range evicted("WorkspaceFailedError: max_instances reached (4/4 in use, request 01ab)") {
		other := *x
		other.Key.Source = "helix-us"
		w.workspaces = append(w.workspaces, &other)
	}
	if d := w.diagnose("7", sourceKeyOf("helix-eu")); !anyHas(d.Do, "Set maxGlobalConcurrentOpens to 20, in the provider.") {
		t.Error("another limit is another platform's", d.Do)
	}
	for _, x := range w.workspaces[:6] {
		x.LastError = backend.Text("WorkspaceFailedError: max_instances reached (4/4 in use, request 02cd)")
	}
	d = w.diagnose("7", sourceKeyOf("helix-eu"))
	if !anyHas(d.Do, "Set maxGlobalConcurrentOpens to 2, in each provider. Set workspaceMaxConcurrentOpens to 1, in the executors. helix-eu and helix-us report the same limit of 4 instances; whether they share it is not known. If each has its own, set maxGlobalConcurrentOpens to 4.") ||
		!anyHas(d.Do, "Plan for more instances or fewer sessions. 12 sessions have workspaces for 4 instances") {
		t.Error(d.Do)
	}
	soon := func(w *backend.Workspace) {
		w.ResetAfter, w.LastAttemptAt = backend.Known(5*time.Minute), at(2*time.Minute)
	}
	d = world{workspaces: []*backend.Workspace{broken("s1", "box", backend.ClassFailed, "boom", soon)}}.diagnose("7", sourceKeyOf("helix-eu"))
	want(t, d, map[string]Mark{"auto-reset": Confirmed})
	if fact := factOf(t, d, "auto-reset"); !strings.Contains(fact, "in 3m at the latest, at 12:03:00Z, s1/box: resetAfterMs is 5m") {
		t.Error(fact)
	}
	together := world{workspaces: []*backend.Workspace{healthy("s1", "a"), healthy("s1", "b"), healthy("s2", "a")}}.diagnose("7", sourceKeyOf("helix-eu"))
	if fact := factOf(t, together, "opened"); !strings.Contains(fact, "3 workspaces of 2 sessions were tried within one second") {
		t.Error(fact)
	}
	kills := world{hosts: []*backend.Host{host(func(h *backend.Host) { h.OOMKills = backend.Known[int64](4) })}}.diagnose("7", hostKey())
	if fact := factOf(t, kills, "kernel-kills"); !strings.Contains(fact, "has killed 4 processes for memory since it booted") {
		t.Error(fact)
	}
}

func TestPage7GivesANumberForEachKnob(t *testing.T) {
	d := world{workspaces: evicted("WorkspaceFailedError: max_instances (20) reached"), board: storming()}.diagnose("7", sourceKeyOf("helix-eu"))
	if !anyHas(d.Do, "Set resetAfterMs to 300000 (5m)") {
		t.Error(d.Do)
	}
	knobs := func(w *backend.Workspace) {
		w.ResetAfter, w.RetryAttempts, w.CloseTimeout = backend.Known(30*time.Second), backend.Known(9), backend.Known(20*time.Second)
	}
	w := world{board: storming(), counts: lines("app-log", backend.MetricCloseTimeout, "", 6)}
	for _, x := range evicted("WorkspaceFailedError: max_instances (20) reached") {
		knobs(x)
		w.workspaces = append(w.workspaces, x)
	}
	d = w.diagnose("7", sourceKeyOf("helix-eu"))
	for _, says := range []string{"Set transientRetryAttempts to 3, its default. It is 9", "resetAfterMs is 30000 (30s): set it to 300000 (5m)", "closeTimeoutMs (20000)"} {
		if !anyHas(d.Do, says) {
			t.Errorf("no %q in %v", says, d.Do)
		}
	}
}

func storming() *alerts.Board {
	return &alerts.Board{Alerts: []*alerts.Alert{{Rule: "eviction-storm", Source: "helix-eu", State: alerts.StateFiring, Confirmed: now}}}
}

func TestPage5CountsTheErrnosOfOneSession(t *testing.T) {
	var c []backend.Count
	for errno, n := range map[string]float64{"EACCES": 12, "ENOTEMPTY": 6} {
		c = append(c, lines("app-log", backend.CloseFailedWith(errno), "s1", n)...)
	}
	c = append(c, lines("app-log", backend.CloseFailedWith("EBUSY"), "s2", 6)...)
	w := world{sessions: []*backend.Session{session("s1", true), session("s2", true)}, counts: c}
	for subject, says := range map[backend.Key]string{
		sessionKey("s1"):        "session s1: EACCES 12, ENOTEMPTY 6",
		sessionKey("s2"):        "session s2: EBUSY 6",
		sourceKeyOf("helix-eu"): "session s1 has the most of 2 sessions: EACCES 12, ENOTEMPTY 6",
	} {
		d := w.diagnose("5", subject)
		if fact := factOf(t, d, "close-errnos"); fact != says {
			t.Errorf("%s: %q, want %q", subject.ID, fact, says)
		}
	}
	want(t, world{}.diagnose("5", sourceKeyOf("helix-eu")), map[string]Mark{"close-errnos": CannotTell})
}

func TestPage3AddsUpTheBytesOfReads(t *testing.T) {
	c := append(lines("app-log", backend.MetricReads, "s1", 6), lines("app-log", backend.MetricReadBytes, "s1", 600e6)...)
	d := world{sessions: []*backend.Session{session("s1", true)}, counts: c}.diagnose("3", sessionKey("s1"))
	if fact := factOf(t, d, "greps"); !strings.Contains(fact, "lines about reads in the last hour: 6 (together they name 600 MB)") {
		t.Error(fact)
	}
}

func TestCountsNameTheSpanAndTheirBound(t *testing.T) {
	c := lines("app-log", backend.MetricCloseTimeout, "", 6)
	for i := range c {
		c[i].LowerBound = true
	}
	x := world{counts: c, hosts: []*backend.Host{host()}}.about(sourceKeyOf("app-log"))
	if d := x.Diagnose("5"); !strings.Contains(factOf(t, d, "close-timeout"), "in the last hour: at least 6") {
		t.Error(factOf(t, d, "close-timeout"))
	}
	x.State.Source("app-log").FirstTry = before(10 * time.Minute)
	if d := x.Diagnose("5"); !strings.Contains(factOf(t, d, "close-timeout"), "in the last 10m: at least 6") {
		t.Error(factOf(t, d, "close-timeout"))
	}
}

// Where no instance is left the first step is the one that can cure it, and the command lists exactly the unused workspaces of
// the full provider.
func TestUnusedWorkspacesAreListedByACommand(t *testing.T) {
	w := world{workspaces: evicted("WorkspaceFailedError: max_instances (20) reached")}
	full, waiting := backend.Text("cloudflare-sandbox"), len(w.workspaces)
	for _, x := range w.workspaces {
		x.Provider = full
	}
	idle := func(n int, provider backend.Safe) (out []*backend.Workspace) {
		for i := range n {
			x := healthy(fmt.Sprintf("idle-%s-%d", provider, i), "box")
			x.Provider, x.LastAttemptAt, x.LastSuccessAt = provider, at(time.Hour), at(time.Hour)
			out = append(out, x)
		}
		return out
	}
	if waiting < 2 {
		t.Fatal(waiting)
	}
	list := "sandglass get ws --filter 'provider=" + full.String() + " attempt>30m'"
	few, many := w, w
	few.workspaces = slices.Concat(w.workspaces, idle(1, full), idle(5, backend.Text("docker")))
	many.workspaces = slices.Concat(w.workspaces, idle(waiting, full))
	for _, c := range []struct {
		in   world
		want string
	}{
		{few, "Raise max_instances (now 20) in the Wrangler configuration and redeploy. Until then end unused sessions, in their app. 1 workspace had no attempt to use it for over 30m: " + list},
		{many, fmt.Sprintf("End unused sessions, in the app that started them. It needs no deploy. %d workspaces had no attempt to use them for over 30m: %s", waiting, list)},
		{w, "Raise max_instances (now 20) in the Wrangler configuration and redeploy. Or end sessions. No workspace is known to be unused for over 30m."},
	} {
		if d := c.in.diagnose("7", sourceKeyOf("helix-eu")); len(d.Do) == 0 || d.Do[0].String() != c.want {
			t.Errorf("%q\nwant %q", d.Do, c.want)
		}
	}
}

// The step names the release that reads the references, where the error tells which versions this one reads.
func TestTheReleaseThatReadsTheReferencesIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		"ref schemaVersion 4 is outside the supported range 1-3": "Deploy a newer release of the agent that reads version 4. One that reads 2 to 4 reads all known references.",
		"ref schemaVersion 1 is outside the supported range 2-4": "Deploy a release that reads version 1. One that reads 1 to 3 reads all known references.",
		"ref schemaVersion 7 is outside the supported range 1-5": "Roll forward to a release that reads schema version 7.",
	} {
		d := world{workspaces: []*backend.Workspace{failed("s1", "box", "WorkspaceFailedError: "+text)}}.diagnose("6", wsKey("s1", "box"))
		if len(d.Do) == 0 || !strings.HasPrefix(d.Do[0].String(), want) {
			t.Errorf("%s: %q", text, d.Do)
		}
	}
}
