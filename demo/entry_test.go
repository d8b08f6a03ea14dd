package demo

import (
	"testing"
	"time"
)

// longestOperation and tooLong are the defaults of the alert rules that a calm
// world must never meet.
const (
	longestOperation = 300 * time.Second
	tooLong          = 5 * time.Minute
)

// watched is what a console that polls remembers of one workspace.
type watched struct {
	last     entry
	session  string
	attempts int // different ones since the last success
}

func TestCalmWorldGivesNoReasonToAlert(t *testing.T) {
	f := testFleet(t, "calm", 700, 3)
	// The first hour and a half, and some minutes after a week.
	watchCalm(t, f, 0, 90*time.Minute)
	watchCalm(t, f, 7*24*time.Hour, 7*24*time.Hour+45*time.Minute)
}

func watchCalm(t *testing.T, f *fleet, from, to time.Duration) {
	t.Helper()
	seen := make([]watched, len(f.workspaces))
	opening, evicted, busy := 0, 0, 0
	for at := from; at < to; at += 5 * time.Second {
		w := f.At(at)
		for i := range f.workspaces {
			e := w.entry(int32(i))
			watch(t, w, int32(i), e, &seen[i])
			switch e.state {
			case reportedFailed:
				t.Fatalf("workspace %d is failed at %s", i, at)
			case reportedEvicted:
				evicted++
			case reportedOpening:
				opening++
			case reportedHealthy, reportedUnused:
			}
			if e.attempt.known && (!e.success.known || e.attempt.at > e.success.at) {
				busy++
			}
		}
	}
	if opening == 0 || evicted == 0 || busy == 0 {
		t.Errorf("a calm world is not busy: %d opening, %d evicted, %d busy", opening, evicted, busy)
	}
}

func watch(t *testing.T, w world, i int32, e entry, m *watched) {
	t.Helper()
	id := w.sessionID(int(w.workspaces[i].session))
	if m.session != id {
		*m = watched{session: id}
	}
	if e.attempt.at > w.t || e.success.at > w.t {
		t.Fatalf("workspace %d at %s comes from the future: %+v", i, w.t, e)
	}
	if m.last.attempt.known && (e.attempt.at < m.last.attempt.at || e.success.at < m.last.success.at) {
		t.Fatalf("workspace %d at %s: timestamps go back from %+v to %+v", i, w.t, m.last, e)
	}
	if !e.success.known || e.success.at != m.last.success.at {
		m.attempts = 0
	}
	if e.attempt.known && e.attempt != m.last.attempt && e.attempt.at > e.success.at {
		m.attempts++
	}
	failing := e.attempt.known && (!e.success.known || e.attempt.at > e.success.at)
	if failing && w.t-e.attempt.at > longestOperation {
		t.Fatalf("workspace %d at %s is stuck: %+v", i, w.t, e)
	}
	if failing && e.success.known && e.attempt.at-e.success.at > tooLong && (e.state == reportedEvicted || m.attempts > 1) {
		t.Fatalf("workspace %d at %s is hammered: %+v", i, w.t, e)
	}
	m.last = e
}

func TestCalmCountersStayFarBelowAStorm(t *testing.T) {
	f := testFleet(t, "calm", maxWorkspaces, 3)
	rate := 0.0
	for p := range providers {
		evictions, retries := f.evictionCurves(p)
		for at := time.Duration(0); at < time.Hour; at += time.Minute {
			rate = max(rate, evictions.at(at))
			if evictions.at(at) > 0 && retries.at(at)/evictions.at(at) < 0.9 {
				t.Errorf("%s at %s: only %v of %v evictions recover", p, at, retries.at(at), evictions.at(at))
			}
		}
	}
	if rate >= 0.02 {
		t.Errorf("a calm world evicts %v times a second", rate)
	}
}

func TestCalmLogHoldsNoErrors(t *testing.T) {
	f := testFleet(t, "calm", 300, 3)
	for where := range instances {
		lines := f.At(30*time.Minute).logLines(where, -logPast)
		warnings := 0
		for _, l := range lines {
			if l.level >= levelError {
				t.Errorf("%s logs %q", where, l.message)
			}
			if l.level == levelWarn {
				warnings++
			}
		}
		if warnings == 0 || warnings > len(lines)/5 {
			t.Errorf("%s: %d of %d lines are warnings", where, warnings, len(lines))
		}
	}
}

// byCause finds the workspaces that play a cause.
func byCause(f *fleet, c cause) []int32 {
	var out []int32
	for i := range f.workspaces {
		if tr := f.workspaces[i].trouble; tr != noIndex && f.troubles[tr].cause == c {
			out = append(out, int32(i))
		}
	}
	return out
}

func TestFailedWorldOpensWithAPast(t *testing.T) {
	f := testFleet(t, "failed", defaultWorkspaces, 1)
	old := byCause(f, causeSchema)
	if len(old) != 9 {
		t.Fatalf("%d workspaces share the schema cause, want 9", len(old))
	}
	texts := map[string]bool{}
	for _, i := range old {
		e := f.At(0).entry(i)
		if e.success.at > -40*time.Minute || e.success.at < -42*time.Minute || e.attempt.at < -2*time.Minute {
			t.Errorf("schema failure %d opens as %+v", i, e)
		}
		texts[f.At(0).wireEntry(i).LastError] = true
	}
	if len(texts) < 9 {
		t.Errorf("only %d different texts for one cause", len(texts))
	}
	single := func(c cause) (before, after entry) {
		all := byCause(f, c)
		if len(all) != 1 {
			t.Fatalf("cause %d has %d workspaces, want one", c, len(all))
		}
		return f.At(0).entry(all[0]), f.At(30 * time.Minute).entry(all[0])
	}
	if a, b := single(causeColdStart); a.success.at != -72*time.Hour || a.attempt.at != -20*time.Second || a != b {
		t.Errorf("idle for three days, failed just now: %+v then %+v", a, b)
	}
	if a, b := single(causeFirstOpen); a.success.known || a.attempt.at != -40*time.Minute || a != b {
		t.Errorf("opened once 40 minutes ago: %+v then %+v", a, b)
	}
	if a, b := single(causeImage); a.attempt.at < -10*time.Second || b.attempt.at < 29*time.Minute || a.success != b.success {
		t.Errorf("hammered for 41 minutes: %+v then %+v", a, b)
	}
	for _, i := range byCause(f, causeBackupBucket) {
		if s := f.At(0).entry(i).success.at; s > -9*time.Minute || s < -10*time.Minute {
			t.Errorf("a failure that becomes ten minutes old in the first minute has its success at %s", s)
		}
	}
	for _, i := range byCause(f, causeNoSpace) {
		if a, b := f.At(0).entry(i), f.At(time.Minute).entry(i); a.state == reportedFailed || b.state != reportedFailed {
			t.Errorf("a failure of the first minute goes from %+v to %+v", a, b)
		}
	}
}

func TestAutoResetDoesNotHelp(t *testing.T) {
	f := testFleet(t, "failed", defaultWorkspaces, 1)
	opened := false
	for _, i := range byCause(f, causeSchema) {
		success := f.At(0).entry(i).success
		for at := time.Duration(0); at < 6*time.Minute; at += time.Second {
			e := f.At(at).entry(i)
			opened = opened || e.state == reportedOpening
			if e.success != success {
				t.Fatalf("workspace %d works again at %s", i, at)
			}
		}
	}
	if !opened {
		t.Error("no failed workspace is ever reset")
	}
}

func TestHammeredKeepTheHealthyWord(t *testing.T) {
	f := testFleet(t, "hammered", defaultWorkspaces, 1)
	all := byCause(f, causeR2)
	if len(all) != 18 {
		t.Fatalf("%d workspaces cannot reach the bucket, want 18", len(all))
	}
	words := map[reportedState]int{}
	for _, i := range all {
		e := f.At(time.Minute).entry(i)
		words[e.state]++
		if e.success.at > -12*time.Minute || e.attempt.at < 50*time.Second {
			t.Errorf("%d: %+v", i, e)
		}
	}
	if words[reportedHealthy] != 18 {
		t.Errorf("states %v", words)
	}
	for _, i := range byCause(f, causeDatabase) {
		if s := f.At(0).entry(i).success.at; s < -5*time.Minute {
			t.Errorf("a workspace that should cross five minutes before the eyes has its success at %s", s)
		}
	}
}

func TestStormGetsWorse(t *testing.T) {
	f := testFleet(t, "eviction-storm", defaultWorkspaces, 1)
	lost := func(at time.Duration) (n int) {
		for i := range f.workspaces {
			e := f.At(at).entry(int32(i))
			if e.cause == causeMaxInstances || e.cause == causeMaxInstancesFailed || e.cause == causeInstanceGone {
				n++
			}
		}
		return n
	}
	a, b, c := lost(0), lost(2*time.Minute), lost(5*time.Minute)
	if a < 20 || b < a*3/2 || c < 190 {
		t.Errorf("%d, then %d, then %d workspaces are lost", a, b, c)
	}
	evictions, retries := f.evictionCurves(cloudSandbox)
	if r := evictions.at(5 * time.Minute); r != 41.2 || retries.at(5*time.Minute)/r > 0.05 {
		t.Errorf("%v evictions a second, %v recover", r, retries.at(5*time.Minute))
	}
}

func TestCurveTotals(t *testing.T) {
	c := curve{{0, 0}, {10 * time.Second, 2}, {20 * time.Second, 2}}
	for _, v := range []struct {
		from, to time.Duration
		want     float64
	}{{-time.Minute, 0, 0}, {0, 10 * time.Second, 10}, {5 * time.Second, 10 * time.Second, 7.5}, {0, 30 * time.Second, 50}, {time.Minute, time.Second, 0}} {
		if got := c.total(v.from, v.to); got != v.want {
			t.Errorf("total(%s, %s) = %v, want %v", v.from, v.to, got, v.want)
		}
	}
}
