package runbook

import (
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// diagnoseEvictionStorm looks at the whole source of its subject: a storm is never about one session alone.
func diagnoseEvictionStorm(narrow *subjectView) Diagnosis {
	s := narrow.widen()
	d := Diagnosis{Checks: s.answers(
		s.stormNow(),
		s.stayEvicted(),
		s.retriesOnTop(),
		s.byErrors(question{"quota", "Does a quota or an instance limit refuse new containers?", "the platform's count of running instances against max_instances"}, alerts.NamesQuota),
		s.storage(),
		s.fullRoots(question{"full", "Is a root of scratch directories full?", "a tmpdir source on the hosts that run the agents"}),
		s.hostMemory(),
		s.kernelKills(),
		s.sandboxOOM(),
		s.parentRestarts(),
		s.permanent(),
		s.rollout(),
		s.bounded(),
		s.openedTogether(),
		s.nextReset(),
	)}
	s.adviseEvictionStorm(&d)
	s.recommend(&d)
	return d
}

// stormNow asks what the rule eviction-storm concludes, and which way the storm goes.
func (s *subjectView) stormNow() Check {
	q := question{"storm", "Is a storm under way?", "eviction metrics, or a log source that reads the agents' log"}
	v := s.verdict("eviction-storm")
	over, known := s.span(stormOver)
	evictions, retries := s.tally(backend.MetricEvictions, over), s.tally(backend.MetricEvictionRetries, over)
	exhausted := s.tally(backend.MetricEvictionExhausted, over)
	evicted := 0
	for _, w := range s.workspaces {
		if w.Class == backend.ClassEvicted {
			evicted++
		}
	}
	told := backend.Textf("%d of %s are evicted now", evicted, plural(len(s.workspaces), "workspace"))
	if known {
		told = backend.Textf("%s; %s; %s", told, counted("evictions", evictions, over), counted("exhausted retries", exhausted, over))
	}
	if v.fires() { // its own figures: others would be counted over another span
		if own := figures(v.alert); !own.IsEmpty() {
			told = own
		}
		if way := v.alert.Direction.Text(); !way.IsEmpty() {
			told = beside(told, way)
		}
		if n := about(v.alert); !n.IsEmpty() {
			told = backend.Textf("it is about %s; %s", n, told)
		}
		return q.yes(origin{v.alert.Source, v.alert.Confirmed}, "the alert fires; %s", told)
	}
	if c, open := v.unproved(q, told); open {
		return c
	}
	limit, _ := s.number(stormRate)
	rate, read := evictions.in.Rate(over)
	switch {
	case read && rate > limit:
		return q.no(evictions.from, "%.1f evictions a second; retries recover %.0f %% of them", rate, 100*min(1, retries.in.N/evictions.in.N))
	case read:
		return q.no(evictions.from, "%s; the alert needs %s evictions a second", told, number(limit))
	case exhausted.looked:
		return q.no(exhausted.from, "%s", told)
	case len(s.workspaces) > 0:
		return s.settle(q.no(s.newest(), "%s", told), q)
	}
	return q.unsure("%s, and no source counts evictions", told)
}

// stayEvicted asks for workspaces that are evicted and do not come back though they are tried.
func (s *subjectView) stayEvicted() Check {
	q := question{"evicted", "Do workspaces that are tried stay evicted?", "registry snapshots of running sessions, read for some minutes"}
	n := 0
	for _, w := range s.workspaces {
		if w.Class == backend.ClassEvicted {
			n++
		}
	}
	switch all := plural(len(s.workspaces), "workspace"); {
	case n > 0:
		return q.unsure("%d of %s are evicted now; a workspace that sleeps reads evicted too", n, all)
	case len(s.workspaces) == 0:
		return q.unsure("no workspace of this subject is listed")
	default:
		return s.settle(q.no(s.newest(), "0 of %s are evicted", all), q)
	}
}

// counted writes what a window counted; what no source counts is said, not given as a number.
func counted(noun string, t tally, over time.Duration) backend.Safe {
	in := backend.Textf("%s in %s", noun, spanText(over))
	switch {
	case !t.looked:
		return backend.Textf("%s: not counted by any source", in)
	case t.in.Samples == 0:
		return backend.Textf("%s: none counted", in)
	case t.in.Samples == 1 && t.in.N == 0:
		return backend.Textf("%s: read once, so not known yet", in)
	}
	return backend.Textf("%s: %s", in, atLeast(t.in))
}

// retriesOnTop asks whether retries feed the storm: many attempts for few recoveries.
func (s *subjectView) retriesOnTop() Check {
	q := question{"retries", "Do retries on top make it worse?", "eviction metrics, or attempt and success times of the workspaces"}
	over, judged := s.span(stormOver)
	if !judged {
		return q.off(stormOver)
	}
	evictions, retries := s.tally(backend.MetricEvictions, over), s.tally(backend.MetricEvictionRetries, over)
	if evictions.in.Samples > 1 && retries.in.N > evictions.in.N && evictions.in.N > 0 {
		return q.yes(retries.from, "%s retries for %s evictions in %s: more than one for each", number(retries.in.N), number(evictions.in.N), spanText(over))
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
		if s.failing(w) || triedSince(w) && !w.LastError.IsEmpty() {
			attempts++
		} else if s.recoveredLately(w, over) {
			recoveries++
		}
	}
	watched := s.now.Sub(s.firstTry())
	many, _ := s.number(stormEvicted)
	recovery, _ := s.number(stormRecovery)
	vain := float64(attempts) >= many && float64(recoveries) < recovery*float64(attempts+recoveries)
	switch {
	case vain && watched < time.Minute:
		return q.unsure("%d workspaces failed an attempt in the last minute; this console watched for recoveries for %s only", attempts, backend.Age(watched))
	case vain:
		return q.yes(s.newest(), "at least %.2f attempts/s without success against %.2f recoveries/s in the last minute", float64(attempts)/60, float64(recoveries)/60)
	case dated > 0:
		if attempts == 0 {
			return s.settle(q.no(s.newest(), "no attempt failed in the last minute; %s", plural(recoveries, "recovery")), q)
		}
		return s.settle(q.no(s.newest(), "%s and %s in the last minute", plural(attempts, "failed attempt"), plural(recoveries, "recovery")), q)
	}
	return q.unsure("no attempt of the last minute is known")
}

// recoveredLately reports whether a workspace that works now was seen evicted or failed within the last minutes, and has
// succeeded since. One that never was broken has not recovered.
func (s *subjectView) recoveredLately(w *backend.Workspace, over time.Duration) bool {
	success, ok := w.LastSuccessAt.Get()
	if !ok || s.now.Sub(success) > time.Minute {
		return false
	}
	return slices.ContainsFunc(w.History, func(c backend.StatusChange) bool {
		word := strings.ToLower(c.Status.String())
		return (word == "evicted" || word == "failed") && s.now.Sub(c.At) <= over && !c.At.After(success)
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
	many, judged := s.number(agentRestarts)
	if !judged {
		return q.off(agentRestarts)
	}
	within, _ := s.span(agentOver)
	starts := 0
	var last *backend.Event
	for i := range s.Events {
		e := &s.Events[i]
		if e.Name == "process-restarted" && s.speaksHere(e.Source) && s.now.Sub(e.At) <= within {
			starts++
			last = e
		}
	}
	if float64(starts) >= many {
		return q.yes(origin{last.Source, last.At}, "%d starts within %s, the last: %s", starts, spanText(within), last.Text)
	}
	var calm *backend.Sandbox
	for sb := range s.State.Sandboxes.All() {
		if !sb.IsSandbox || !s.speaksHere(sb.Key.Source) {
			continue
		}
		n, ok := sb.RestartCount.Get()
		started, _ := sb.StartedAt.Get()
		switch {
		case sb.Class == backend.SandboxRestarting:
			return q.yes(s.from(&sb.Meta), "%s is restarting, for the %dth time", sb.Name, n)
		case float64(n) >= many && s.now.Sub(started) <= within:
			return q.yes(s.from(&sb.Meta), "%s was restarted %d times, the last %s ago", sb.Name, n, backend.Age(s.now.Sub(started)))
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
		return q.saysAlert(x)
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
		return s.settle(q.no(s.newest(), "%s stopped at such an error, as they should; none is tried again", plural(failed, "workspace")), q)
	}
	return q.unsure("%s; no retry of it was seen", c.Fact)
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
		return backend.Text("in an unnamed state")
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
	if !d.Conclusion.IsEmpty() {
		s.concludeShares(d)
	}
	if d.Mark("storm") == RuledOut && !d.Conclusion.IsEmpty() && !d.is("evicted") && !d.is(AlertCheck) {
		d.Conclusion = backend.Textf("No storm now. %s", d.Conclusion)
	}
	if d.Conclusion.IsEmpty() {
		s.concludeWithoutCause(d)
	}
	if d.is("retries") {
		d.do("Lower transientRetryAttempts where failing fast is better: retries are a part of the load.")
	}
	switch {
	case storm:
		d.NoReset = backend.Text("a storm is under way; a reset adds opens")
	case s.verdict("eviction-storm").alert != nil:
		storm = true
		d.NoReset = backend.Text("a storm is suspected; a reset adds opens")
	}
	if storm {
		d.dont("Don't reset now: each reset adds an open to the queue that is already too long.")
	}
	d.dont("Don't restart the agents: a restart opens every workspace at once.")
}

// concludeStormCause concludes from the causes of storms, the nearest to what engineers can change first.
func (s *subjectView) concludeStormCause(d *Diagnosis) {
	switch {
	case d.mainly("quota"):
		d.conclude("The platform's limit refuses new containers; every retry asks again.")
		d.do("Bound opens to max_instances, per session (workspaceMaxConcurrentOpens) and per provider (maxGlobalConcurrentOpens); free instances that no session uses.")
	case d.mainly("permanent"):
		d.conclude("An error that no retry cures is retried.")
		d.do("Make the provider throw it as permanent (no transient flag) and redeploy; fix what it names.")
		d.dont("Don't raise transientRetryAttempts.")
	case d.mainly("parent-restarts"):
		d.conclude("The process or container around the workspaces restarts over and over; each start evicts them again.")
		d.do("Stop the restarts first: look at exit codes and memory of the parent.")
	case d.mainly("host-memory"), d.mainly("sandbox-oom"):
		d.conclude("Memory runs out where the sandboxes live.")
		d.do("Free memory on the host or bound what runs on it, before anything is reset.")
	case d.mainly("full"):
		d.conclude("The file system of scratch directories is full.")
		d.do("Make room (runbook 5), then let the workspaces recover.")
	case d.mainly("storage"):
		d.conclude("Object storage does not answer; errors or the site's own check say so.")
		d.do("Check the bucket and its binding; keep retries few until it answers.")
	case d.mainly("rollout"):
		d.conclude("A change came first: many workspaces opened again at once.")
		d.do("Halt the rollout; let what is open settle; go on in smaller steps with opens bounded.")
	}
}

// concludeWithoutCause concludes where no cause is confirmed.
func (s *subjectView) concludeWithoutCause(d *Diagnosis) {
	switch {
	case d.is("storm"):
		d.conclude("A storm is under way; its cause is not known yet.")
		d.do("Limit opens per session and per provider: that helps with any cause.")
	case d.is("evicted"):
		d.conclude("%s; the cause is not known yet.", sentence(d.fact("evicted")))
		d.do("Read lastError of one of them; look at the container or process around it.")
	case d.Mark("storm") == RuledOut:
		d.deny("No storm now: evictions recover or are few.")
	default:
		d.deny("Cannot tell whether this is a storm: no source counts evictions here.")
		d.do("Configure a Logger or WorkspaceMetrics in the framework, and a source that reads it.")
	}
}
