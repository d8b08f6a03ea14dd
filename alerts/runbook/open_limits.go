package runbook

import (
	"regexp"
	"slices"
	"strconv"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// instancesText finds the platform's limit in an error: max_instances (60), or max_instances reached (48/60 in use).
var instancesText = regexp.MustCompile(`(?i)max_instances\D{0,16}(?:\d{1,6} ?(?:/|of) ?)?(\d{1,6})`)

func instancesOf(text string) int {
	if m := instancesText.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			return n
		}
	}
	return 0
}

// instanceLimit is a platform's limit of instances, as errors name it.
type instanceLimit struct {
	instances int
	sources   []string             // that report it, sorted
	sessions  map[backend.Key]bool // with a workspace of the provider that reports it
	providers map[backend.Safe]bool
}

// limitOfInstances is the limit that the subject's errors name, with the other sources whose errors name the same one.
func (s *subjectView) limitOfInstances() (instanceLimit, bool) {
	x := instanceLimit{sessions: map[backend.Key]bool{}, providers: map[backend.Safe]bool{}}
	for _, e := range s.errors {
		if e.cause&alerts.NamesQuota == 0 || e.ws == nil {
			continue
		}
		if n := instancesOf(e.text.String()); n > 0 && x.instances == 0 {
			x.instances, x.sources = n, []string{e.ws.Key.Source}
			x.providers[e.ws.Provider] = true
		}
	}
	if x.instances == 0 {
		return x, false
	}
	looked := 0
	for w := range s.State.Workspaces.All() {
		if !bad(w) || slices.Contains(x.sources, w.Key.Source) || !x.providers[w.Provider] || looked >= maxErrors || w.LastError.IsEmpty() {
			continue
		}
		if looked++; instancesOf(w.LastError.String()) == x.instances {
			x.sources = append(x.sources, w.Key.Source)
		}
	}
	slices.Sort(x.sources)
	for w := range s.State.Workspaces.All() {
		if x.providers[w.Provider] && slices.Contains(x.sources, w.Key.Source) {
			x.sessions[backend.Key{Kind: backend.KindSession, Source: w.Key.Source, ID: w.Key.Parent}] = true
		}
	}
	return x, true
}

// advise gives one number for each setting.
func (x *instanceLimit) advise(d *Diagnosis) {
	each, n := max(1, x.instances/len(x.sources)), len(x.sessions)
	session := max(1, x.instances/max(1, n))
	if len(x.sources) > 1 {
		var names []backend.Safe
		for _, id := range x.sources {
			names = append(names, backend.Clean(id, 80))
		}
		d.do("Set maxGlobalConcurrentOpens to %d, in each provider. Set workspaceMaxConcurrentOpens to %d, in the executors. %s report the same limit of %d instances; whether they share it is not known. If each has its own, set maxGlobalConcurrentOpens to %d. Both need a redeploy of the agents. Wait for the end of the storm: it opens every workspace again.",
			each, session, backend.Join(names, " and "), x.instances, x.instances)
	} else {
		d.do("Set maxGlobalConcurrentOpens to %d, in the provider. Set workspaceMaxConcurrentOpens to %d, in the executor. Both need a redeploy of the agents. Wait for the end of the storm: it opens every workspace again.", each, session)
	}
	if n > x.instances {
		d.do("Plan for more instances or fewer sessions. %d sessions have workspaces for %d instances. Limits of opens make them wait and add no room.", n, x.instances)
	}
}

// openedTogether asks how many workspaces of how many sessions were opened at one moment.
func (s *subjectView) openedTogether() Check {
	q := question{"opened", "How many workspaces of how many sessions open at once?", "lastAttemptAt in the snapshots of running sessions"}
	own := s.ofAlert() && s.ledBy("eviction-storm") == nil // what else opens feeds a storm
	var all []time.Time
	for _, w := range s.workspaces {
		if at, ok := w.LastAttemptAt.Get(); ok && (!own || s.onPage(w)) {
			all = append(all, at)
		}
	}
	n, newest := alerts.Together(all, time.Second)
	sessions := map[backend.ID]int{}
	for _, w := range s.workspaces {
		if at, ok := w.LastAttemptAt.Get(); ok && !at.After(newest) && newest.Sub(at) <= time.Second && (!own || s.onPage(w)) {
			sessions[w.Key.Parent]++
		}
	}
	switch {
	case len(all) == 0:
		return q.unsure("no attempt is known")
	case n > 1:
		return q.yes(s.newest(), "%s of %s were tried within one second, at %s", plural(n, "workspace"), plural(len(sessions), "session"), stamp(newest))
	}
	return s.settle(q.no(s.newest(), "no two attempts fall within one second"), q)
}

// nextReset counts down to the next automatic reset of a failed entry.
func (s *subjectView) nextReset() Check {
	q := question{"auto-reset", "When does the next automatic reset come?", "resetAfterMs in the aggregate route or in a declaration, and lastAttemptAt of the failed workspaces"}
	failed, declared := 0, 0
	var next time.Time
	var of *backend.Workspace
	for _, w := range s.workspaces {
		if w.Class != backend.ClassFailed {
			continue
		}
		failed++
		after, ok := w.ResetAfter.Get()
		at, tried := w.LastAttemptAt.Get()
		if !ok || after <= 0 || !tried {
			continue
		}
		declared++
		if due := at.Add(after); due.After(s.now) && (next.IsZero() || due.Before(next)) {
			next, of = due, w
		}
	}
	switch {
	case of != nil:
		return q.yes(s.from(&of.Meta), "in %s at the latest, at %s, %s: resetAfterMs is %s", backend.Age((next.Sub(s.now) + time.Minute - 1).Truncate(time.Minute)), backend.Clean(next.UTC().Format("15:04:05Z"), 20), of.Key.Safe(), known(of.ResetAfter, spanText))
	case failed == 0 && len(s.workspaces) > 0:
		return s.settle(q.no(s.newest(), "no workspace is failed"), q)
	case declared > 0:
		q.needs = "the state of the failed workspaces when they are used next"
		return q.unsure("resetAfterMs has passed for each failed workspace since its last attempt")
	}
	return q.unsure("resetAfterMs is not declared; assume off")
}

// recommend gives a number for each knob of opens where a limit is known, and says why both are needed.
func (s *subjectView) recommend(d *Diagnosis) {
	limit, ok := s.limitOfInstances()
	switch {
	case s.noneToGive(): // fewer opens give no container either
	case ok:
		limit.advise(d)
	case d.is("quota"):
		d.do("Limit opens to the platform's max_instances. Set maxGlobalConcurrentOpens to it in the provider. Set workspaceMaxConcurrentOpens in the executor to it divided by the running sessions. Both need a redeploy of the agents.")
	default:
		d.do("Limit how many workspaces open at once. Set workspaceMaxConcurrentOpens in the executor: it is fair to its workspaces. Set maxGlobalConcurrentOpens in the provider: it protects the platform.")
	}
	s.recommendTimes(d)
}

// What the framework's documentation gives for knobs of retries, resets and closes.
const (
	defaultRetries = 3
	advisedReset   = 5 * time.Minute
)

// recommendTimes gives numbers for retries, the automatic reset and the close, or says how to work them out.
func (s *subjectView) recommendTimes(d *Diagnosis) {
	retries, reset, end := 0, time.Duration(0), time.Duration(0)
	for _, w := range s.workspaces {
		retries = max(retries, w.RetryAttempts.Or(0))
		if at := w.ResetAfter.Or(0); at > 0 && (reset == 0 || at < reset) {
			reset = at
		}
		end = max(end, w.CloseTimeout.Or(0))
	}
	switch {
	case d.is("permanent"):
		d.do("Set transientRetryAttempts to 0. No retry cures this error; the provider should throw it as permanent.")
	case retries > defaultRetries && (d.is("retries") || d.is("quota") || d.is("storm")):
		d.do("Set transientRetryAttempts to %d, its default. It is %d; the default waits about 10s.", defaultRetries, retries)
	case d.is("retries"):
		d.do("Lower transientRetryAttempts where failing fast is better. Retries are a part of the load. The default %d waits about 10s; if that does not help, more retries do not help.", defaultRetries)
	}
	switch {
	case reset > 0 && reset < advisedReset:
		d.do("resetAfterMs is %d (%s): set it to %d (%s).", reset.Milliseconds(), spanText(reset), advisedReset.Milliseconds(), spanText(advisedReset))
	case reset == 0 && d.is("storm"):
		d.do("Set resetAfterMs to %d (%s). Workspaces then come back one by one when the cause is gone.", advisedReset.Milliseconds(), spanText(advisedReset))
	}
	if t := s.tally(backend.MetricCloseTimeout, time.Hour); t.in.N > 0 {
		if end == 0 {
			end = defaultCloseTimeout
		}
		d.do("Closes took longer than closeTimeoutMs (%d). Set it to 1.5 times the slowest close that ended. A close that hangs needs no larger number.", end.Milliseconds())
	}
}

// kernelKills reads the kernel's own counter of kills for memory.
func (s *subjectView) kernelKills() Check {
	q := question{"kernel-kills", "Does the kernel kill processes for memory?", "a tmpdir source on the host that runs the agents"}
	for _, h := range s.hosts() {
		if x := s.firingOn("host-oom", h.Key); x != nil {
			return q.saysAlert(x)
		}
	}
	for _, h := range s.hosts() {
		n, ok := h.OOMKills.Get()
		switch {
		case !ok:
		case n == 0:
			return q.no(s.from(&h.Meta), "the kernel of %s has killed nothing for memory since it booted", h.Name)
		default:
			return q.unsure("the kernel of %s has killed %d processes for memory since it booted; when is not known", h.Name, n)
		}
	}
	return q.unsure("no host's counter of kills is read")
}
