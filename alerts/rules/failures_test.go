package rules

import (
	"fmt"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

const (
	burstRule    = "error-burst"
	chaosRule    = "error-chaos"
	capacityRule = "capacity"
)

// failNow makes n sessions fail with causes made of their number; their last success was shortly before. The failures have
// lasted for longer than the rules' for.
func failNow(s *story, n int, cause func(i int) string) {
	for i := range n {
		s.reads(fmt.Sprintf("s%02d/box", i), reading{state: "failed", err: cause(i), attempt: 70 * time.Second, success: 2 * time.Minute, provider: "docker"})
	}
}

func oneCause(i int) string {
	return fmt.Sprintf("D1_ERROR: Network connection lost (request %08x)", 0xa0000000+i*7919)
}

func manyCauses(i int) string {
	return "trouble: " + [...]string{"database is locked", "connection refused", "certificate has expired", "out of memory", "permission denied", "no space left on device",
		"quota exceeded", "manifest unknown", "checksum mismatch", "broken pipe", "deadlock detected", "too many open files"}[i]
}

func TestBurstFiresAtOnceAndHandsOver(t *testing.T) {
	s := begin(t, burstRule, failedRule)
	failNow(s, 4, oneCause)
	s.look().quiet(burstRule)
	failNow(s, 12, oneCause)
	a := s.after(5*time.Second).want(burstRule, alerts.StateFiring)
	if a.Sessions != 12 || a.SubjectCount != 12 || a.Providers != 1 || a.Severity != alerts.SeverityCritical {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "12 sessions began to fail with this cause in the last 10m (alert from 5)", "lastError: D1_ERROR: Network connection lost")
	if f := s.want(failedRule, alerts.StatePending); f.InhibitedBy != a.ID {
		t.Errorf("the suspicion of failed-too-long is not part of it:\n%s", summary(s.board))
	}
	s.every(30*time.Second, 11*time.Minute, nil)
	s.want(failedRule, alerts.StateFiring)
	s.quiet(burstRule)
}

// TestBurstIsNoRestart: six of eight workspaces that fail for 12 seconds, polled every 5 seconds, and the same twice.
func TestBurstIsNoRestart(t *testing.T) {
	s := begin(t, burstRule)
	works := func(i int) {
		s.reads(fmt.Sprintf("s%02d/box", i), reading{state: "open", attempt: time.Second, success: time.Millisecond})
	}
	for range 3 {
		for _, lasts := range []int{12, 55} {
			for i := range 8 {
				works(i)
			}
			s.after(5 * time.Second).quiet(burstRule)
			for d := 0; d < lasts; d += 5 {
				for i := range 6 {
					s.reads(fmt.Sprintf("s%02d/box", i), reading{state: "failed", err: "Cannot connect to the Docker daemon", attempt: time.Second, success: time.Duration(d+6) * time.Second})
				}
				if s.after(5 * time.Second); len(s.alerts(burstRule)) > 0 {
					s.want(burstRule, alerts.StatePending)
				}
			}
			for i := range 8 {
				works(i)
			}
			s.every(5*time.Second, 5*time.Minute, nil).quiet(burstRule)
		}
	}
	o := burstDefaults()
	o.For = 0 // configured values are taken literally
	r, err := o.build()
	if err != nil {
		t.Fatal(err)
	}
	s = beginWith(t, r)
	for i := range 5 {
		s.reads(fmt.Sprintf("s%02d/box", i), reading{state: "failed", err: oneCause(i), attempt: time.Second, success: time.Minute})
	}
	s.look().want(burstRule, alerts.StateFiring)
}

// TestBurstOnsetNeedsEvidence: without a clock that can be used one reading does not say when failures began, and no reading
// alone shows a trend. What was seen to work before is evidence.
func TestBurstOnsetNeedsEvidence(t *testing.T) {
	undated := func(w *backend.Workspace) {
		w.LastAttemptAt, w.LastSuccessAt = backend.Unknown[time.Time](), backend.Unknown[time.Time]()
	}
	s := begin(t, burstRule)
	for i := range 12 {
		s.reads(fmt.Sprintf("s%02d/box", i), reading{state: "failed", err: oneCause(i), edit: undated})
	}
	s.look().quiet(burstRule)
	s.every(5*time.Second, 3*time.Minute, nil).quiet(burstRule)
	for i := range 6 { // these worked when they were read before
		s.reads(fmt.Sprintf("t%02d/box", i), reading{state: "failed", err: oneCause(i), edit: func(w *backend.Workspace) { undated(w); w.WorkedAt = s.wall.Add(-5 * time.Second) }})
	}
	s.look().want(burstRule, alerts.StatePending)
	wantEvidence(t, s.after(time.Minute).want(burstRule, alerts.StateFiring), "6 sessions began to fail", "12 workspaces more fail with this cause; since when is not known")

	s = begin(t, burstRule) // a clock that is only guessed dates nothing
	s.health("helix", func(h *fleet.SourceHealth) { h.ClockGuessed = true })
	failNow(s, 12, oneCause)
	s.look().quiet(burstRule)
	s.every(5*time.Second, 3*time.Minute, nil).quiet(burstRule)
	for i := range 6 {
		s.reads(fmt.Sprintf("t%02d/box", i), reading{state: "failed", err: oneCause(i), attempt: time.Hour, success: 2 * time.Hour, edit: func(w *backend.Workspace) { w.WorkedAt = s.wall.Add(-5 * time.Second) }})
	}
	s.look().want(burstRule, alerts.StatePending)
	wantEvidence(t, s.after(time.Minute).want(burstRule, alerts.StateFiring), "6 sessions began to fail", "12 workspaces more fail with this cause; since when is not known")

	s = begin(t, burstRule)
	failNow(s, 8, oneCause)
	if a := s.look().want(burstRule, alerts.StateFiring); len(a.Trend) > 0 || !a.Direction.Text().IsEmpty() {
		t.Errorf("a trend of one reading: %v, %+v", a.Trend, a.Direction)
	}
}

func TestBurstDoesNotFire(t *testing.T) {
	s := begin(t, burstRule)
	for i := range 20 { // evictions are eviction-storm's, busy sessions nobody's, a permanent cause capability-mismatch's
		s.reads(fmt.Sprintf("e%d/box", i), reading{state: "evicted", err: oneCause(i), attempt: time.Second, success: time.Minute})
		s.reads(fmt.Sprintf("b%d/box", i), reading{state: "open", err: oneCause(i), attempt: time.Second, success: time.Minute})
		s.reads(fmt.Sprintf("p%d/box", i), reading{state: "failed", err: noBucket, attempt: time.Second, success: time.Minute})
	}
	for i := range 4 {
		s.reads(fmt.Sprintf("few/w%d", i), reading{state: "failed", err: oneCause(i), attempt: time.Second, success: time.Minute}) // one session
	}
	s.look()
	s.every(10*time.Second, time.Minute, nil).quiet(burstRule)
}

func TestBurstColdStart(t *testing.T) {
	young, old := begin(t, burstRule), begin(t, burstRule, failedRule)
	failNow(young, 8, oneCause)
	young.look().want(burstRule, alerts.StateFiring)
	for i := range 8 {
		old.reads(fmt.Sprintf("s%02d/box", i), reading{state: "failed", err: oneCause(i), attempt: time.Second, success: 40 * time.Minute})
	}
	old.look().quiet(burstRule)
	old.want(failedRule, alerts.StateFiring)
}

func TestBurstGapRestart(t *testing.T) {
	s := begin(t, burstRule)
	failNow(s, 8, oneCause)
	s.look()
	survives(s, burstRule, nil)
	for i := range 8 {
		s.reads(fmt.Sprintf("s%02d/box", i), reading{state: "open", attempt: time.Second, success: time.Millisecond})
	}
	s.after(time.Second).want(burstRule, alerts.StateFiring) // kept for a minute
	s.after(time.Minute).quiet(burstRule)
}

func TestBurstAndChaosOfALargeFleetNeedTheirShare(t *testing.T) {
	s := begin(t, burstRule, chaosRule)
	for i := range 1201 {
		s.reads(fmt.Sprintf("ok%04d/box", i), reading{state: "open", attempt: time.Second, success: time.Second})
	}
	for i := range 12 {
		s.reads(fmt.Sprintf("s%02d/one", i), reading{state: "failed", err: oneCause(i), attempt: 70 * time.Second, success: 2 * time.Minute})
		s.reads(fmt.Sprintf("s%02d/many", i), reading{state: "failed", err: manyCauses(i), attempt: time.Second, success: time.Minute})
	}
	s.look().quiet(burstRule).quiet(chaosRule)
	for i := range 30 { // fewer workspaces, and the same failures are more than one in a hundred
		s.ends(fmt.Sprintf("ok%04d/box", i), "closed")
	}
	s.after(time.Second).want(burstRule, alerts.StateFiring)
	s.want(chaosRule, alerts.StateFiring)
}

func TestChaosFires(t *testing.T) {
	s := begin(t, chaosRule)
	for i := range 20 { // so that not most of the fleet fails
		s.reads(fmt.Sprintf("ok%02d/box", i), reading{state: "open", attempt: time.Second, success: time.Second})
	}
	failNow(s, 7, manyCauses)
	s.look().quiet(chaosRule)
	failNow(s, 9, manyCauses)
	a := s.after(time.Second).want(chaosRule, alerts.StateFiring)
	wantEvidence(t, a, "9 different causes in 9 sessions began in the last 10m (alert from 8)", "1 × trouble: ")
	if a.SubjectCount != 9 || a.Sessions != 9 {
		t.Errorf("alert %+v", a)
	}
	s.every(time.Minute, 12*time.Minute, nil).quiet(chaosRule) // nothing new began: failed-too-long tells each
}

func TestChaosDoesNotFireForOneCauseNorOneSession(t *testing.T) {
	s := begin(t, chaosRule)
	failNow(s, 40, oneCause)
	for i := range 12 {
		s.reads(fmt.Sprintf("one/w%d", i), reading{state: "failed", err: manyCauses(i), attempt: time.Second, success: time.Minute})
	}
	s.every(10*time.Second, time.Minute, nil).quiet(chaosRule)
}

func TestChaosColdStartGapRestart(t *testing.T) {
	s := begin(t, chaosRule)
	failNow(s, 10, manyCauses)
	s.look().want(chaosRule, alerts.StateFiring)
	survives(s, chaosRule, nil)
	old := begin(t, chaosRule)
	for i := range 10 {
		old.reads(fmt.Sprintf("s%02d/box", i), reading{state: "failed", err: manyCauses(i), attempt: 40 * time.Minute, success: time.Hour})
	}
	old.look().quiet(chaosRule)
}

func full(i int) string {
	return fmt.Sprintf("WorkspaceEvictedError: max_instances reached (60/60 in use, request %08x)", i)
}

func TestUsedOf(t *testing.T) {
	for in, want := range map[string][2]int{
		full(1):                                  {60, 60},
		"48 of 60 instances":                     {48, 60},
		"container limit: used 3/10":             {3, 10},
		"limit: used 3/10":                       {},
		"tokens of tenant acme: 60/60 used":      {},
		"container box: 60/60 tokens used":       {},
		"see /var/60/60 in use":                  {},
		"attempt 2/3 failed":                     {},
		"on 2026/11/21 in use":                   {},
		"0/0 in use":                             {},
		"99999999999999999999/1 in use":          {},
		"(7/8 containers running, request 5/6 )": {7, 8},
	} {
		used, limit, ok := usedOf(in)
		if used != want[0] || limit != want[1] || ok != (want[1] != 0) {
			t.Errorf("%q: %d of %d, %v", in, used, limit, ok)
		}
	}
}

// TestOtherQuotasAreNoCapacity: what refuses tokens, requests or storage refuses no instance.
func TestOtherQuotasAreNoCapacity(t *testing.T) {
	for _, err := range []string{
		"session=x tenant=acme quota exceeded", "Error: LLM token quota exceeded for tenant acme", "API rate limit: quota exceeded for quota metric 'Read requests'",
		"Account storage quota exceeded", "quota exceeded for GitHub API", "quota exceeded for namespace acme", "tokens of tenant acme: 60/60 used", "sandbox sbx_1: quota exceeded",
	} {
		s := begin(t, capacityRule)
		for i := range 6 {
			s.reads(fmt.Sprintf("s%d/box", i), reading{state: "failed", err: err, attempt: time.Minute, success: time.Hour})
		}
		s.look().quiet(capacityRule)
	}
	s := begin(t, capacityRule)
	for i := range 6 {
		s.reads(fmt.Sprintf("s%d/box", i), reading{state: "failed", err: "sandbox quota exceeded", attempt: time.Minute, success: time.Hour})
	}
	s.look()
	if a := s.alerts(capacityRule); len(a) != 1 || a[0].Cause.String() != "an unnamed provider has no instance left" {
		t.Errorf("%v", a)
	}
}

func TestCapacityFiresAtTheLimit(t *testing.T) {
	s := begin(t, capacityRule)
	for i := range 3 {
		s.reads(fmt.Sprintf("s%d/box", i), reading{state: "evicted", err: full(i), attempt: time.Minute, success: time.Hour, provider: "cloudflare-sandbox"})
	}
	a := s.look().want(capacityRule, alerts.StateFiring)
	if a.Severity != alerts.SeverityCritical || a.Runbook != "7" || a.Cause.String() != "cloudflare-sandbox has no instance left" {
		t.Errorf("alert %+v", a)
	}
	wantEvidence(t, a, "60 of 60 in use, as the newest error says (warning from 80 %)", "3 starts in 3 sessions refused for it in the last 10m")
	s.every(30*time.Second, 9*time.Minute, nil).want(capacityRule, alerts.StateFiring)
	s.after(30 * time.Second).quiet(capacityRule) // nothing was refused for ten minutes
}

func TestCapacityWarnsNearTheDeclaredLimit(t *testing.T) {
	o := capacityDefaults()
	o.Limit, o.Provider = 10, "docker"
	r, err := o.build()
	if err != nil {
		t.Fatal(err)
	}
	s := beginWith(t, r)
	open := func(n int) {
		for i := range n {
			s.reads(fmt.Sprintf("s%d/box", i), reading{state: "open", attempt: time.Second, success: time.Second, provider: "docker"})
		}
	}
	open(7)
	for i := range 12 { // another provider's, of which nothing is declared
		s.reads(fmt.Sprintf("x%d/box", i), reading{state: "open", attempt: time.Second, success: time.Second, provider: "e2b"})
	}
	s.look().quiet(capacityRule)
	open(8)
	if a := s.after(time.Second).want(capacityRule, alerts.StateFiring); a.Severity != alerts.SeverityWarning || a.Cause.String() != "docker is nearly full" {
		t.Errorf("alert %+v", a)
	}
	open(10)
	s.after(time.Second)
	if a := s.want(capacityRule, alerts.StateFiring); a.Severity != alerts.SeverityCritical {
		t.Errorf("severity %s", a.Severity)
	}
	wantEvidence(t, s.alerts(capacityRule)[0], "10 of 10 in use, counted against the declared limit")
	for i := range 5 {
		s.ends(fmt.Sprintf("s%d/box", i), "closed")
	}
	s.after(time.Second).quiet(capacityRule)
}

func TestCapacityDoesNotFire(t *testing.T) {
	s := begin(t, capacityRule)
	s.reads("a/box", reading{state: "failed", err: quota, attempt: time.Second, success: time.Hour}) // one refusal without numbers
	s.reads("b/box", reading{state: "failed", err: "attempt 3/3 failed", attempt: time.Second, success: time.Hour})
	s.reads("c/box", reading{state: "open", err: full(1), attempt: time.Hour, success: time.Second})
	s.reads("d/box", reading{state: "evicted", err: "WorkspaceEvictedError: 12/60 in use, instance is gone", attempt: time.Second, success: time.Hour, provider: "x"})
	s.every(10*time.Second, time.Minute, nil).quiet(capacityRule)
	s.reads("e/box", reading{state: "failed", err: quota, attempt: time.Second, success: time.Hour})
	s.reads("f/box", reading{state: "failed", err: quota, attempt: time.Second, success: time.Hour})
	s.after(time.Second).want(capacityRule, alerts.StateFiring) // three are no chance
}

func TestCapacityColdStartGapRestart(t *testing.T) {
	old := begin(t, capacityRule)
	old.reads("a/box", reading{state: "failed", err: full(1), attempt: 40 * time.Minute, success: time.Hour})
	old.look().quiet(capacityRule) // how full it was 40 minutes ago says nothing of now
	s := begin(t, capacityRule)
	s.reads("a/box", reading{state: "failed", err: full(1), attempt: time.Minute, success: time.Hour})
	s.look()
	survives(s, capacityRule, nil)
	s.pass(time.Second)
	s.edit("a/box", func(w *backend.Workspace) { w.LastSuccessAt = backend.Known(s.wall) })
	s.look().quiet(capacityRule)
}
