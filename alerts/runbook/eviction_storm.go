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
	s.leaveOthersSandboxes(narrow.sessionID)
	d := Diagnosis{Checks: s.answers(
		s.stormNow(),
		s.stayEvicted(),
		s.retriesOnTop(),
		s.refusedByLimit(),
		s.storage(),
		s.fullRoots(question{"full", "Is a root of scratch directories full?", "a tmpdir source on the hosts that run the agents"}),
		s.hostMemory(),
		s.kernelKills(),
		s.ofAll((*subjectView).sandboxOOM),
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

// leaveOthersSandboxes leaves out the sandboxes of other sessions, where no storm joins them to the subject.
func (s *subjectView) leaveOthersSandboxes(session backend.ID) {
	if len(s.ledOn) > 0 || session.IsZero() {
		return // those of the alert's subjects are left already
	}
	s.sandboxes = slices.DeleteFunc(slices.Clone(s.sandboxes), func(b *backend.Sandbox) bool { return !b.Session.IsZero() && b.Session != session })
}

// stormNow asks what the rule eviction-storm concludes, and which way the storm goes. The figures are those of its alert.
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
	told := backend.Safe{}
	if len(s.workspaces) > 0 {
		told = backend.Textf("%d of %s evicted now", evicted, plural(len(s.workspaces), "workspace"))
	}
	if known {
		told = beside(told, beside(s.counted("evictions", evictions, over), s.counted("exhausted retries", exhausted, over)))
	}
	if told.IsEmpty() {
		told = backend.Text("no workspace of this subject is listed and no source counts evictions")
	}
	if v.alert != nil {
		if own := figures(v.alert); !own.IsEmpty() {
			told = own
		}
		told = beside(beside(s.counts(v.alert), told), v.alert.Direction.Text())
		if v.fires() {
			c := q.yes(origin{v.alert.Source, v.alert.Confirmed}, "the alert fires; %s", told)
			c.echo = true
			return c
		}
	}
	if c, open := v.unproved(q, told); open {
		return c
	}
	limit, _ := s.number(stormRate)
	many, _ := s.number(stormEvicted)
	rate, read := evictions.in.Rate(over)
	switch {
	case float64(evicted) >= many:
		return q.unsure("%s; those that may sleep do not count for the alert", told)
	case read && rate > limit:
		return q.no(evictions.from, "%.1f evictions a second; retries recover %.0f %% of them", rate, 100*min(1, retries.in.N/evictions.in.N))
	case read && s.spanOf(evictions, over) == over:
		return q.no(evictions.from, "%s; the alert needs %s evictions a second", told, number(limit))
	case len(s.workspaces) > 0:
		return s.settle(q.no(s.newest(), "%s; the alert needs %s", told, number(many)), q)
	}
	return q.unsure("%s", told)
}

// stayEvicted asks for workspaces that are evicted and do not come back though they are tried.
func (s *subjectView) stayEvicted() Check {
	q := question{"evicted", "Do workspaces that are tried stay evicted?", "registry snapshots of running sessions, read for some minutes"}
	n, total, tried, used := 0, 0, 0, 0
	over, _ := s.span(stormOver)
	for _, w := range s.workspaces {
		if !s.onPage(w) {
			continue
		}
		total++
		if w.Class != backend.ClassEvicted {
			continue
		}
		n++
		last := w.LastAttemptAt.Or(time.Time{})
		if at := w.LastSuccessAt.Or(time.Time{}); at.After(last) {
			last = at
		}
		switch {
		case w.TriedSince():
			tried++
		case s.now.Sub(last) < over:
			used++
		}
	}
	now := backend.Textf("%d of %s evicted now", n, plural(total, "workspace"))
	if s.ofAlert() {
		now = backend.Textf("%d of the alert's %s evicted now", n, plural(total, "workspace"))
	}
	if len(s.led) > 0 && s.led[0].Rule == "eviction-storm" {
		if e := measured(s.led[0], "workspaces"); e != nil {
			now = e.Text
		}
	}
	switch {
	case tried > 0 && tried == n:
		return q.yes(s.newest(), "%s; each evicted one was tried since its last success", now)
	case tried > 0:
		return q.yes(s.newest(), "%s; %d of the %d evicted ones were tried since their last success", now, tried, n)
	case used > 0:
		return q.unsure("%s; %d of the %d evicted ones were used within the last %s, and not tried since", now, used, n, spanText(over))
	case n > 0:
		return q.unsure("%s; a workspace that sleeps reads evicted too", now)
	case len(s.workspaces) == 0:
		return q.unsure("no workspace of this subject is listed")
	}
	among := backend.Literal("no eviction among %s")
	if s.ofAlert() {
		among = "no eviction among the alert's %s"
	}
	return s.settle(q.no(s.newest(), among, plural(total, "workspace")), q)
}

// ofAlert reports whether the page counts the workspaces of its alert, and not those of a source or of the fleet.
func (s *subjectView) ofAlert() bool { return s.errorsOf != nil && (s.alert != nil || s.widened) }

// onPage reports whether a workspace is one that the page counts: one of its alert's subjects, or of the provider that a led one
// names. The page of a source or of the fleet counts all of them.
func (s *subjectView) onPage(w *backend.Workspace) bool {
	if s.ofAlert() {
		return in(s.errorsOf, w)
	}
	for _, a := range s.led {
		if k := a.Subjects; len(k) > 0 && k[0].Key.Kind == backend.KindSource {
			_, provider, part := strings.Cut(k[0].Key.ID.Raw(), "/")
			return w.Key.Source == k[0].Key.Source && (!part || s.mayUse(w.Provider.String(), w.Key.Source, provider))
		}
	}
	return true
}

// counted writes what a window counted, over the span that was watched; empty where no source counts it.
func (s *subjectView) counted(noun string, t tally, over time.Duration) backend.Safe {
	switch {
	case !t.looked:
		return backend.Safe{}
	case t.in.N == 0 && t.in.Samples == 1 && t.in.First.Equal(t.in.Last):
		return backend.Textf("%s in %s: read once, so not known yet", noun, spanText(over))
	}
	return backend.Textf("%s in %s: %s", noun, s.watched(t, over), atLeast(t.in))
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

// parentRestarts asks whether what the workspaces live in restarts repeatedly.
func (s *subjectView) parentRestarts() Check {
	q := question{"parent-restarts", "Does a parent process restart repeatedly?", "a container source, or process_start_time_seconds on a metrics page"}
	many, judged := s.number(agentRestarts)
	if !judged {
		return q.off(agentRestarts)
	}
	within, _ := s.span(agentOver)
	starts := 0
	var last *backend.Event
	for i := range s.Events {
		e := &s.Events[i]
		if e.Name == "process-restarted" && s.speaksHere(e.Source) && !s.foreign(e) && s.now.Sub(e.At) <= within {
			starts++
			last = e
		}
	}
	if float64(starts) >= many {
		return q.yes(origin{last.Source, last.At}, "%d starts within %s, the last: %s", starts, spanText(within), last.Text)
	}
	var calm *backend.Sandbox
	for _, sb := range s.sandboxes {
		n, ok := sb.RestartCount.Get()
		started, _ := sb.StartedAt.Get()
		switch {
		case sb.Class == backend.SandboxRestarting:
			return q.yes(s.from(&sb.Meta), "%s is restarting, restart %d", sb.Name, n)
		case float64(n) >= many && s.now.Sub(started) <= within:
			return q.yes(s.from(&sb.Meta), "%s was restarted %d times, the last %s ago", sb.Name, n, backend.Age(s.now.Sub(started)))
		case ok:
			calm = sb
		}
	}
	if calm != nil {
		return q.no(s.from(&calm.Meta), "no container restarts repeatedly")
	}
	if len(s.sandboxes) > 0 { // their platform counts no restarts: another container source tells nothing more
		c := q.unsure("the platform of %s counts no restarts, and no two starts of the agents' process were seen", plural(len(s.sandboxes), "sandbox"))
		c.WouldTell = backend.Text("process_start_time_seconds on a metrics page of the agents")
		return c
	}
	return q.unsure("no container of this subject is listed, and no two starts of the agents' process were seen")
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
		case e.ws.TriedSince():
			return q.yes(e.from, "%s is %s and tried again with an error that no retry cures: %s", e.who, reported(e.ws), e.text)
		}
	}
	if failed > 0 {
		return s.settle(q.no(s.newest(), "%s stopped at such an error, as they should; none is tried again", plural(failed, "workspace")), q)
	}
	return q.unsure("%s; no retry of it was seen", c.Fact)
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
	if silent == 0 {
		return q.unsure("no workspace of this subject is listed")
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
	switch {
	case storm:
		d.NoReset = backend.Text("a storm is under way; a reset adds opens")
	case s.verdict("eviction-storm").alert != nil:
		storm = true
		d.NoReset = backend.Text("a storm alert is pending; a reset adds opens")
	}
	if storm {
		d.dont("Don't reset now: each reset asks for one more sandbox.")
	}
	d.dont("Don't restart the agents: a restart opens every workspace at once.")
}

// concludeStormCause concludes from the causes of storms, the nearest to what engineers can change first.
func (s *subjectView) concludeStormCause(d *Diagnosis) {
	switch {
	case s.ledBy("capacity") != nil && limitMet(s.ledBy("capacity")):
		s.endUsage(d)
	case s.noneToGive():
		d.conclude("The platform has no container to give now. That is not your limit.")
		d.do("Wait, and try again later. See www.cloudflarestatus.com if it lasts.")
		d.dont("Don't raise max_instances: that gives no container either.")
	case d.mainly("quota"), s.ledBy("capacity") != nil:
		d.conclude("The platform's limit refuses new containers. Every retry asks again.")
		if a := s.ledBy("capacity"); a != nil && !strings.Contains(d.fact("quota").String(), "name it") && !refused(a) {
			switch {
			case strings.HasSuffix(a.Cause.String(), "is nearly full"):
				d.conclude("Few places are left. Nothing that was read shows a refusal yet.")
			default:
				d.conclude("Every place is taken. Nothing that was read shows a refusal yet.")
			}
		}
		s.makeRoom(d)
	case d.mainly("permanent"):
		d.conclude("An error that no retry cures is retried.")
		d.do("Make the provider throw it as permanent and redeploy. That is: without the transient flag. Fix what it names.")
		d.dont("Don't raise transientRetryAttempts.")
	case d.mainly("parent-restarts"):
		d.conclude("The process around the workspaces restarts repeatedly.")
		if d.is("storm") || d.is("evicted") {
			d.conclude("The process around the workspaces restarts repeatedly. Each start evicts them again.")
		}
		d.do("Read the log and exit codes of the parent that restarts. Stop the restarts. Look at its memory too.")
	case d.mainly("host-memory"), d.mainly("sandbox-oom"):
		d.conclude("Memory runs out where the sandboxes live.")
		d.do("See what uses the memory: ps aux --sort=-rss. Free memory on the host before anything is reset. Or bound what runs on it.")
	case d.mainly("full"):
		d.conclude("The file system of scratch directories is full.")
		d.do("Make room. List leftovers: sandglass clean --dry-run. Then let the workspaces recover (runbook 5).")
	case d.mainly("storage"):
		d.conclude("Object storage does not answer. Errors or the site's own check say so.")
		d.do("Check the bucket and its binding. Keep retries few until it answers.")
	case d.mainly("rollout"):
		d.conclude("A change came first: many workspaces opened again at once.")
		d.do("Halt the rollout. Let what is open settle. Go on in smaller steps with opens bounded.")
	}
}

// concludeWithoutCause concludes where no cause is confirmed.
func (s *subjectView) concludeWithoutCause(d *Diagnosis) {
	switch {
	case d.is("storm"):
		d.conclude("A storm is under way; its cause is not known yet.")
		d.do("Find the cause in the errors of the evicted ones. List them: %s. Until then limit opens; that helps with any cause.", s.evictedOnes())
	case s.verdict("eviction-storm").alert != nil:
		d.conclude("An eviction storm is pending; its cause is unknown.")
		d.do("Find the cause in the errors of the evicted ones. List them: %s. Until then limit opens; that helps with any cause.", s.evictedOnes())
	case d.is("evicted"):
		d.conclude("%s; the cause is not known yet.", sentence(d.fact("evicted")))
		d.do("Read the errors of the evicted ones. List them: %s. Then look at the container or process.", s.evictedOnes())
	case d.Mark("storm") == RuledOut:
		d.deny("No storm now: evictions recover or are few.")
	default:
		d.deny("No source counts evictions here. So it is not known if this is a storm.")
		d.do("Configure a Logger or WorkspaceMetrics in the framework. Configure a source here that reads it.")
	}
}
