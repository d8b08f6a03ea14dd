package runbook

import (
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// stormWindow is over which a storm is measured.
const stormWindow = 5 * time.Minute

// diagnoseEvictionStorm looks at the whole source of its subject: a storm is never about one session alone.
func diagnoseEvictionStorm(narrow *subjectView) Diagnosis {
	s := narrow.widen()
	d := Diagnosis{Checks: s.answers(
		s.stormNow(),
		s.retriesOnTop(),
		s.byErrors(question{"quota", "Does a quota or an instance limit refuse new containers?", "the platform's count of running instances against max_instances"}, alerts.NamesQuota),
		s.storage(),
		s.fullRoots(question{"full", "Is a root of scratch directories full?", "a tmpdir source on the hosts that run the agents"}),
		s.hostMemory(),
		s.sandboxOOM(),
		s.parentRestarts(),
		s.permanent(),
		s.rollout(),
		s.bounded(),
	)}
	s.adviseEvictionStorm(&d)
	return d
}

// stormNow asks whether evictions outrun recovery at this moment, and which way it goes.
func (s *subjectView) stormNow() Check {
	q := question{"storm", "Is a storm under way?", "eviction metrics, or a log source that reads the agents' log"}
	evictions, retries := s.tally(backend.MetricEvictions, stormWindow), s.tally(backend.MetricEvictionRetries, stormWindow)
	exhausted := s.tally(backend.MetricEvictionExhausted, stormWindow)
	evicted, total := 0, len(s.workspaces)
	for _, w := range s.workspaces {
		if w.Class == backend.ClassEvicted {
			evicted++
		}
	}
	rate, counted := evictions.in.Rate(stormWindow)
	if x := s.firing("eviction-storm"); x != nil {
		return q.yes(origin{x.Source, x.Confirmed}, "the alert fires; %d of %s are evicted now; %s%s",
			evicted, plural(total, "workspace"), toll(evictions, exhausted), s.stormDirection())
	}
	switch {
	case counted && rate >= 0.2 && retries.in.N < evictions.in.N/2:
		return q.yes(evictions.from, "%.1f evictions a second, retries for %.0f %% of them%s", rate, 100*retries.in.N/evictions.in.N, s.stormDirection())
	case exhausted.in.N >= 3:
		return q.yes(exhausted.from, "%s exhausted retries in 5m%s", number(exhausted.in.N), s.stormDirection())
	case total >= 5 && 2*evicted > total:
		return q.yes(s.newest(), "%d of %d workspaces are evicted now; nothing counts them, so this is a lower bound", evicted, total)
	case counted && rate >= 0.2:
		return q.no(evictions.from, "%.1f evictions a second, and retries for %.0f %% of them: they recover", rate, 100*min(1, retries.in.N/evictions.in.N))
	case counted:
		return q.no(evictions.from, "%s evictions in 5m", number(evictions.in.N))
	case exhausted.looked:
		return q.no(exhausted.from, "%s exhausted retries in 5m, %d of %s evicted now", number(exhausted.in.N), evicted, plural(total, "workspace"))
	}
	if why := s.blindWhy("eviction-storm"); !why.IsEmpty() {
		return q.unsure("%d of %s are evicted now; beyond that: %s", evicted, plural(total, "workspace"), why)
	}
	return q.unsure("%d of %s are evicted now, and nobody counts evictions", evicted, plural(total, "workspace"))
}

// toll writes what was counted in the window; what nobody counts is said, not given as a number.
func toll(evictions, exhausted counted) string {
	if !evictions.looked && !exhausted.looked {
		return "evictions and exhausted retries: not counted by any source"
	}
	amount := func(noun string, c counted) string {
		switch {
		case !c.looked:
			return noun + ": not counted by any source"
		case c.in.Samples == 0:
			return noun + ": none counted"
		case c.in.Samples == 1 && c.in.N == 0:
			return noun + ": read once, so not known yet"
		}
		return noun + ": " + number(c.in.N)
	}
	return amount("evictions in 5m", evictions) + "; " + amount("exhausted retries in 5m", exhausted)
}

// stormDirection compares the last 5 minutes with the 5 before.
func (s *subjectView) stormDirection() string {
	var before, after float64
	for _, m := range []backend.Metric{backend.MetricEvictions, backend.MetricEvictionExhausted} {
		for x := range s.State.Windows.All(m) {
			if b := s.State.Windows.Buckets(x, s.now, 2*stormWindow, 2); s.speaksHere(x.Source) {
				before, after = before+b[0], after+b[1]
			}
		}
		if before+after > 0 {
			break
		}
	}
	switch {
	case before == 0:
		return ""
	case after > 1.25*before:
		return "; getting worse"
	case after < 0.75*before:
		return "; ending"
	}
	return "; steady"
}

// retriesOnTop asks whether retries feed the storm: many attempts for few recoveries.
func (s *subjectView) retriesOnTop() Check {
	q := question{"retries", "Do retries on top make it worse?", "eviction metrics, or attempt and success times of the workspaces"}
	evictions, retries := s.tally(backend.MetricEvictions, stormWindow), s.tally(backend.MetricEvictionRetries, stormWindow)
	if evictions.in.Samples > 1 && retries.in.N > evictions.in.N && evictions.in.N > 0 {
		return q.yes(retries.from, "%s retries for %s evictions in 5m: more than one for each", number(retries.in.N), number(evictions.in.N))
	}
	attempts, recoveries, dated := 0, 0, 0
	for _, w := range s.workspaces {
		attempt, ok := w.LastAttemptAt.Get()
		if ok {
			dated++
		}
		if !ok || s.now.Sub(attempt) > time.Minute {
			continue
		}
		if s.failing(w) {
			attempts++
		} else if s.recoveredLately(w) {
			recoveries++
		}
	}
	watched := s.now.Sub(s.firstTry())
	switch {
	case attempts >= 3 && attempts > 2*recoveries && watched < time.Minute:
		return q.unsure("%d workspaces failed an attempt in the last minute; for recoveries this console watched %s only", attempts, ago(watched))
	case attempts >= 3 && attempts > 2*recoveries:
		return q.yes(s.newest(), "at least %.2f attempts/s without success against %.2f recoveries/s in the last minute", float64(attempts)/60, float64(recoveries)/60)
	case dated > 0:
		return s.settle(q.no(s.newest(), "%s and %s in the last minute", plural(attempts, "failed attempt"), plural(recoveries, "recovery")), q)
	}
	return q.unsure("no attempt of the last minute is known")
}

// recoveredLately reports whether a workspace that works now was seen evicted or failed within the last minutes, and has
// succeeded since. One that never was broken has not recovered.
func (s *subjectView) recoveredLately(w *backend.Workspace) bool {
	success, ok := w.LastSuccessAt.Get()
	if !ok || s.now.Sub(success) > time.Minute {
		return false
	}
	return slices.ContainsFunc(w.History, func(c backend.StatusChange) bool {
		word := strings.ToLower(c.Status.String())
		return (word == "evicted" || word == "failed") && s.now.Sub(c.At) <= stormWindow && !c.At.After(success)
	})
}

// firstTry is since when the registry of the subject is read, now when it is not.
func (s *subjectView) firstTry() time.Time {
	if h := s.delivers(backend.InputRegistry); h != nil && !h.FirstTry.IsZero() {
		return h.FirstTry
	}
	return s.now
}

func (s *subjectView) storage() Check {
	q := question{"storage", "Is object storage (R2) out of reach?", "a [[check]] that reaches the bucket: no source of the agents reports it"}
	c := s.byErrors(q, alerts.NamesStorage)
	if c.Mark == RuledOut {
		// A provider that cannot reach storage may name anything in its error; silence proves nothing here.
		return q.unsure("%s, which does not prove that storage is reachable", c.Fact)
	}
	return c
}

// parentRestarts asks whether what the workspaces live in starts over and over.
func (s *subjectView) parentRestarts() Check {
	q := question{"parent-restarts", "Does a parent process restart over and over?", "a container source, or process_start_time_seconds on a metrics page"}
	starts := 0
	var last *backend.Event
	for i := range s.Events {
		e := &s.Events[i]
		if e.Name == "process-restarted" && s.speaksHere(e.Source) && s.now.Sub(e.At) < time.Hour {
			starts++
			last = e
		}
	}
	if starts >= 2 {
		return q.yes(origin{last.Source, last.At}, "%d starts within the hour, the last: %s", starts, last.Text)
	}
	var calm *backend.Sandbox
	for sb := range s.State.Sandboxes.All() {
		if !s.speaksHere(sb.Key.Source) {
			continue
		}
		n, ok := sb.RestartCount.Get()
		started, _ := sb.StartedAt.Get()
		switch {
		case sb.Class == backend.SandboxRestarting:
			return q.yes(s.from(&sb.Meta), "%s is restarting, for the %dth time", sb.Name, n)
		case n >= 3 && s.now.Sub(started) < time.Hour:
			return q.yes(s.from(&sb.Meta), "%s was restarted %d times, the last %s ago", sb.Name, n, ago(s.now.Sub(started)))
		case ok:
			calm = sb
		}
	}
	if calm != nil {
		return q.no(s.from(&calm.Meta), "no container restarts repeatedly")
	}
	return q.unsure("no container source is read, and no two starts of the agents' process were seen")
}

// permanent asks whether something is retried that no retry cures. An entry that failed for such a cause is classed
// rightly; it is the one that goes on being tried that is not.
func (s *subjectView) permanent() Check {
	q := question{"permanent", "Is a permanent error classed as transient?", "lastError of the workspaces that are retried"}
	if x := s.firing("misclassified-transient"); x != nil {
		return q.yes(origin{x.Source, x.Confirmed}, "the alert fires: %s", x.Cause)
	}
	c := s.byErrors(q, alerts.NamesPermanent)
	if c.Mark != Confirmed {
		return c
	}
	failed := 0
	for _, e := range s.errors {
		switch {
		case e.cause&alerts.NamesPermanent == 0 || e.ws == nil:
		case e.ws.Class == backend.ClassFailed:
			failed++
		case triedSince(e.ws):
			return q.yes(e.from, "%s is %s and tried again with an error that no retry cures: %s", e.who, reported(e.ws), e.text)
		}
	}
	if failed > 0 {
		return s.settle(q.no(s.newest(), "%s failed for such an error, which is right, and none is tried again with one", plural(failed, "workspace")), q)
	}
	return q.unsure("%s; that it is retried was not seen", c.Fact)
}

// triedSince reports whether a workspace was tried after its last success.
func triedSince(w *backend.Workspace) bool {
	attempt, tried := w.LastAttemptAt.Get()
	success, worked := w.LastSuccessAt.Get()
	return tried && (!worked || attempt.After(success))
}

// reported is the state as the registry words it.
func reported(w *backend.Workspace) backend.Safe {
	if w.Reported.IsEmpty() {
		return backend.Text("in no state that is told")
	}
	return w.Reported
}

// bounded asks whether anything limits how many workspaces open at once.
func (s *subjectView) bounded() Check {
	q := question{"unbounded", "Are opens unbounded?", "concurrency in a declaration, and the provider's maxGlobalConcurrentOpens"}
	bound, silent := 0, 0
	for _, w := range s.workspaces {
		if n, ok := w.Concurrency.Get(); ok && n > 0 {
			bound = max(bound, n)
		} else if ok {
			return q.yes(s.from(&w.Meta), "%s declares no bound", w.Key.Safe())
		} else {
			silent++
		}
	}
	if bound > 0 && silent == 0 {
		return q.no(s.newest(), "at most %d opens at a time per session; the bound across sessions is not read", bound)
	}
	return q.unsure("%s do not declare it", plural(silent, "workspace"))
}

func (s *subjectView) adviseEvictionStorm(d *Diagnosis) {
	storm := d.is("storm")
	s.concludeStormCause(d)
	if d.Mark("storm") == RuledOut && !d.Conclusion.IsEmpty() {
		d.Conclusion = backend.Textf("No storm now. %s", d.Conclusion)
	}
	if d.Conclusion.IsEmpty() {
		s.concludeWithoutCause(d)
	}
	if d.is("retries") {
		d.do("Lower transientRetryAttempts where failing fast is better: retries are a part of the load.")
	}
	if storm {
		d.do("Set resetAfterMs to about 5 minutes, so that entries come back one by one when the cause is gone.")
		d.dont("Don't reset now: each reset adds an open to the queue that is already too long.")
		d.NoReset = backend.Text("a storm is under way; a reset adds opens")
	}
	d.dont("Don't restart the agents to get rid of it: that opens every workspace at once.")
}

// concludeStormCause concludes from the causes of storms, the nearest to what engineers can change first.
func (s *subjectView) concludeStormCause(d *Diagnosis) {
	switch {
	case d.is("quota"):
		d.conclude("The platform's limit refuses new containers; every retry asks again.")
		d.do("Bound opens to max_instances, per session (workspaceMaxConcurrentOpens) and per provider (maxGlobalConcurrentOpens); free instances that no session uses.")
	case d.is("permanent"):
		d.conclude("An error that no retry cures is retried.")
		d.do("Make the provider throw it as permanent (no transient flag) and redeploy; fix what it names.")
		d.dont("Don't raise transientRetryAttempts.")
	case d.is("parent-restarts"):
		d.conclude("What the workspaces live in restarts over and over; every start evicts them again.")
		d.do("Stop the restarts first: look at exit codes and memory of the parent.")
	case d.is("host-memory"), d.is("sandbox-oom"):
		d.conclude("Memory runs out where the sandboxes live.")
		d.do("Free memory on the host or bound what runs on it, before anything is reset.")
	case d.is("full"):
		d.conclude("The file system of scratch directories is full.")
		d.do("Make room (runbook 5), then let the workspaces recover.")
	case d.is("storage"):
		d.conclude("Object storage is out of reach, as far as errors or the site's own check tell.")
		d.do("Check the bucket and its binding; let retries be few meanwhile.")
	case d.is("rollout"):
		d.conclude("It follows a change: many workspaces opened anew at once.")
		d.do("Halt the rollout; let what is open settle; go on in smaller steps with opens bounded.")
	}
}

// concludeWithoutCause concludes where no cause is confirmed.
func (s *subjectView) concludeWithoutCause(d *Diagnosis) {
	switch {
	case d.is("storm"):
		d.conclude("A storm is under way and no check names its cause.")
		d.do("Limit opens, per session and per provider; that helps whatever the cause is.")
	case d.Mark("storm") == RuledOut:
		d.conclude("No storm now: evictions recover or are few.")
	default:
		d.conclude("Cannot tell whether this is a storm: nobody counts evictions here.")
		d.do("Configure a Logger or WorkspaceMetrics in the framework, and a source that reads it.")
	}
}
