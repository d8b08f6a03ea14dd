package runbook

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// diagnoseSource answers the questions of Sandglass's own page about a source that cannot be read.
func diagnoseSource(s *subjectView) Diagnosis {
	id := s.home
	if id == "" {
		id = s.Subject.Source
	}
	h := s.State.Source(id)
	checks := []Check{
		s.doesNotAnswer(h),
		s.answersWith(h, question{"refused", "Does it refuse our credentials?", "its answer to a request with the configured credentials"}, backend.ErrUnauthorised),
		s.answersWith(h, question{"throttled", "Does it ask us to wait?", "its answer to the newest request"}, backend.ErrThrottled),
		s.answersWith(h, question{"unreadable", "Is its answer unreadable?", "the body of its newest answer"}, backend.ErrInvalid),
		s.partly(h),
		s.oldAnswers(h),
		s.registryRoute(h),
		s.skewed(h),
		s.failTogether(h),
	}
	if h != nil && !h.Exposed.IsEmpty() {
		checks = append(checks, s.exposed(h))
	}
	d := Diagnosis{Checks: s.startFrom(checks)}
	d.end(sourceEndings())
	if h != nil {
		d.refused(h.Error.String())
		d.platformFails(h.Error.String())
		d.ask(h.Error.String())
		d.askParts(h)
	} else {
		d.ask("")
	}
	if d.is("together") {
		if strings.Contains(d.fact("together").String(), othersAnswer) {
			d.do("Look first at what only those that fail share.")
		} else {
			d.do("Look first at what the sources share. It may be the network, a proxy, this machine.")
		}
	}
	return d
}

// askParts says whom to ask where a part of the source cannot be read: what its problems are about. A list, a region or a hub is
// no such part: what its problem names is to be mended.
func (d *Diagnosis) askParts(h *fleet.SourceHealth) {
	if len(d.Do) == 0 || len(h.Problems) == 0 || !d.is("partly") || !strings.HasPrefix(d.Do[0].String(), "Read its problems") {
		return
	}
	parts := h.Problems[0].Subject.Kind
	if h.UnreadSessions() > 0 {
		parts = backend.KindSession
	}
	if parts == "" || parts == backend.KindSource || parts == backend.KindRef { // a saved state is mended in its file
		d.Do[0] = backend.Textf("%s Mend what they name.", d.Do[0])
		return
	}
	d.Do[0] = backend.Textf("%s Ask one of those %s by hand.", d.Do[0], backend.Clean(parts.Spec().Plural, 40))
}

// refused says what a refused connection means, where the address names its port.
func (d *Diagnosis) refused(err string) {
	u, bad := url.Parse(addressIn(err))
	if len(d.Do) == 0 || bad != nil || u.Port() == "" || !strings.Contains(err, "refused") || !d.is("down") {
		return
	}
	d.Do[0] = backend.Textf("Ask it from the machine of Sandglass: curl -i ADDRESS. Refused again: start the server behind port %s, or the tunnel to it. A firewall may refuse too.", backend.Clean(u.Port(), 5))
}

// platformFails says where to look when the error of a platform's own service names its status page: nobody here can mend it.
func (d *Diagnosis) platformFails(err string) {
	const page = "www.cloudflarestatus.com"
	if len(d.Do) > 0 && d.is("down") && strings.Contains(err, page) {
		d.Conclusion = backend.Text("It answers with errors of its own. What it watches may still work.")
		d.Do[0] = backend.Text("See " + page + ". The platform's own service fails. It is read again by itself.")
	}
}

// ask puts the address that an error names into the command that asks it; without one the docker client or the reader of the
// configuration knows it.
func (d *Diagnosis) ask(err string) {
	where := addressIn(err)
	for i, step := range d.Do {
		text := step.String()
		for _, command := range []string{"curl -i ADDRESS", "curl -I ADDRESS"} {
			where := where
			if u, err := url.Parse(where); err == nil && strings.Contains(command, "-I") { // whether the service answers, whatever was asked of it
				where = strings.TrimSuffix(where, u.EscapedPath())
			}
			if where != "" {
				text = strings.Replace(text, command, strings.Replace(command, "ADDRESS", where, 1), 1)
			} else {
				text = strings.Replace(text, ": "+command, "", 1)
			}
		}
		if text != step.String() {
			d.Do[i] = backend.Clean(text, 600)
		}
	}
}

// addressIn is the first URL in a text, without its path where the connection was refused: that was never asked for.
func addressIn(text string) string {
	at := strings.Index(text, "http")
	if at < 0 {
		return ""
	}
	u, err := url.Parse(strings.TrimRight(strings.FieldsFunc(text[at:], func(r rune) bool { return strings.ContainsRune(" \"'<>", r) })[0], ":,;."))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || backend.ShellWord(u.Host).String() != u.Host {
		return ""
	}
	whole := u.Scheme + "://" + u.Host + u.EscapedPath()
	if strings.Contains(text, "refused") || u.User != nil || u.RawQuery != "" || backend.ShellWord(whole).String() != whole {
		return u.Scheme + "://" + u.Host
	}
	return whole
}

func sourceEndings() []ending {
	return []ending{
		{any: []string{"refused"}, conclude: "It refuses our credentials", quotes: true, do: "Renew the token or key in its table of the configuration.", dont: "Don't take its alerts as resolved: they stay as last seen."},
		{any: []string{"throttled"}, conclude: "It asks us to wait", quotes: true, do: "At 429 lengthen its interval in the configuration. See who else asks it. At 503 look at the service.", dont: "Don't shorten its interval to see more."},
		{any: []string{"unreadable"}, conclude: "Its answer cannot be read", quotes: true, do: "Ask it from this machine: curl -i ADDRESS. Compare the answer. Another route, a login page or a proxy may answer.", dont: "Don't take its alerts as resolved: they stay as last seen."},
		{any: []string{"down"}, conclude: "It does not answer. What it watches may still work.", do: "Ask it from this machine: curl -i ADDRESS. Fix what the error names.", dont: "Don't take its alerts as resolved: they stay as last seen."},
		{any: []string{"exposed"}, conclude: "All who know its address can use it", quotes: true,
			do: "Set SANDBOX_API_KEY in its Worker now. Give Sandglass that key: [source.bridge]. See the Worker's log for requests of others.", dont: "Don't wait: others can run commands meanwhile."},
		{any: []string{"unpublished"}, conclude: "Its routes show no registry of sessions that run", quotes: true,
			do: "Check that the executor passes on publishWorkspaceRegistry. That is pitfall 9 of the framework's upgrade guide. Check the configured route too.", dont: "Don't take its silence for health."},
		{any: []string{"old"}, conclude: "It answers with old data", quotes: true, do: "Ask it past any cache or proxy and compare the times. See whether its collector still runs.", dont: "Don't conclude from its ages: they are of the past."},
		{any: []string{"partly"}, conclude: "A part of it cannot be read", quotes: true, do: "Read its problems: 9, or sandglass get sources.", dont: "Don't count what is missing as ended."},
		{any: []string{"clock"}, conclude: "Its clock differs from ours", quotes: true, do: "Set the clock of that machine by its time service.", dont: "Don't compare its times with those of other sources."},
		{denies: true, without: "down", conclude: "The source answers, and no check finds a fault.", do: "Read the Timeline: 8, or sandglass get events.", dont: "Don't restart anything for a fault that is over."},
		{denies: true, conclude: "Nothing was read that tells how the source is.", do: "Ask about one source by its id.", dont: "Don't take silence for health."},
	}
}

// answered is who said something about a source: the source itself, when it answered last.
func answered(h *fleet.SourceHealth) origin { return origin{h.Key.Source, h.LastTry} }

func (s *subjectView) doesNotAnswer(h *fleet.SourceHealth) Check {
	q := question{"down", "Does it not answer?", "a poll of the source"}
	switch {
	case h == nil:
		return q.unsure("no source of that name is configured")
	case h.Status == fleet.StatusStarting:
		return q.unsure("it was not read yet")
	case h.Status == fleet.StatusDown && h.DownFrom.IsZero():
		return q.yes(answered(h), "%s", h.Error)
	case h.Status == fleet.StatusDown:
		if x := s.firingOn("source-down", h.Key); x != nil && x.Bounds.Latest.Before(h.DownFrom) { // the runs before count
			return q.yes(answered(h), "%s; polls fail since %s, %s ago", h.Error, hourOf(x.Bounds.Latest), backend.Age(s.now.Sub(x.Bounds.Latest)))
		}
		polls, from := s.failedPolls(h)
		c := q.yes(answered(h), "%s; %s since %s, %s ago", h.Error, plural(polls, "failed poll"), hourOf(from), backend.Age(s.now.Sub(from)))
		c.echo = s.firingOn("source-down", h.Key) != nil
		return c
	case h.Status == fleet.StatusAbsent:
		return q.unsure("it is not there, which is not a failure: %s", h.Error)
	case h.Overdue(s.now):
		return q.yes(answered(h), "its last answer is %s old", backend.Age(s.now.Sub(h.LastOK)))
	}
	return q.no(origin{h.Key.Source, h.LastOK}, "it answered %s ago", backend.Age(s.now.Sub(h.LastOK)))
}

// failedPolls is how many polls of a source failed in a row and since when. A pending alert about it counts those of the runs
// before, too.
func (s *subjectView) failedPolls(h *fleet.SourceHealth) (n int, from time.Time) {
	n, from = h.Failures, h.DownFrom
	if s.Board == nil {
		return n, from
	}
	for _, a := range s.Board.Alerts {
		if a.Rule != "source-down" || !slices.ContainsFunc(a.Subjects, func(x alerts.Subject) bool { return x.Key == h.Key && x.State != alerts.StateEnded }) {
			continue
		}
		for i := range a.Evidence {
			if e := &a.Evidence[i]; e.Unit == "polls" && int(e.Value.Or(0)) > n {
				n = int(e.Value.Or(0))
				if at := a.Bounds.Latest; !at.IsZero() && at.Before(from) {
					from = at
				}
			}
		}
	}
	return n, from
}

// answersWith asks for one kind of error in the newest answer.
func (s *subjectView) answersWith(h *fleet.SourceHealth, q question, kind backend.ErrorKind) Check {
	switch {
	case h == nil || h.LastTry.IsZero():
		return q.unsure("it was not read yet")
	case !h.Error.IsEmpty() && h.ErrorKind == kind:
		return q.yes(answered(h), "%s", h.Error)
	case !h.Error.IsEmpty():
		return q.unsure("its error is another one: %s", h.Error)
	}
	return q.no(origin{h.Key.Source, h.LastOK}, "its newest answer was read")
}

// exposed says that a service of the source obeys without a credential.
func (s *subjectView) exposed(h *fleet.SourceHealth) Check {
	q := question{"exposed", "Does it obey without a credential?", "a request without one, which a source of kind cloudflare sends to its bridge"}
	return q.yes(answered(h), "%s", h.Exposed)
}

// partly asks for parts of the source that cannot be read while the rest is.
func (s *subjectView) partly(h *fleet.SourceHealth) Check {
	q := question{"partly", "Does a part of it fail?", "the problems of its newest poll"}
	switch {
	case h == nil || h.LastTry.IsZero():
		return q.unsure("it was not read yet")
	case len(h.Problems) > 0:
		return q.yes(answered(h), "%s, the first: %s", plural(len(h.Problems), "problem"), h.Problems[0].What)
	case h.Status == fleet.StatusOK:
		return q.no(origin{h.Key.Source, h.LastOK}, "its newest poll names no problem")
	}
	return q.unsure("it was not read whole")
}

// oldAnswers asks what the rule source-stale concludes.
func (s *subjectView) oldAnswers(h *fleet.SourceHealth) Check {
	q := question{"old", "Does it answer with old data?", "a second source that shows its sessions at work"}
	if h != nil {
		if a := s.firingOn("source-stale", h.Key); a != nil {
			return q.saysAlert(a)
		}
	}
	return q.unsure("a body that is older than it says looks like a quiet fleet")
}

// registryRoute asks whether the registry is published where it is asked for.
func (s *subjectView) registryRoute(h *fleet.SourceHealth) Check {
	q := question{"unpublished", "Do its routes show no registry though sessions run?", "the health routes of sessions that another source shows at work"}
	switch {
	case h == nil || h.Kind != "helix":
		return q.unsure("a source of its kind has no health route")
	case s.ledBy("registry-not-published") != nil:
		return q.saysAlert(s.ledBy("registry-not-published"))
	case h.Registry == backend.RegistryNone:
		return q.unsure("no session's registry was asked for: its list names none that could be asked")
	case h.Registry == backend.RegistryAnswers:
		return q.no(origin{h.Key.Source, h.LastOK}, "a session answered with its registry")
	}
	return q.unsure("its routes answer: %s", backend.Clean(string(h.Registry), 40))
}

// skewed asks what the rule clock-skew concludes.
func (s *subjectView) skewed(h *fleet.SourceHealth) Check {
	q := question{"clock", "Does its clock differ from ours?", "a Date header, or the newest timestamp of a log"}
	if h == nil {
		return q.unsure("no source of that name is configured")
	}
	if a := s.firingOn("clock-skew", h.Key); a != nil {
		return q.saysAlert(a)
	}
	offset, ok := h.ClockOffset.Get()
	if !ok {
		return q.unsure("its clock was not read")
	}
	if offset.Abs() < time.Second {
		return q.no(origin{h.Key.Source, h.LastOK}, "it differs by less than a second")
	}
	return q.no(origin{h.Key.Source, h.LastOK}, "it differs by %s, which is corrected", spanText(offset.Abs().Round(time.Second)))
}

// othersAnswer is said where others do not fail: what all share is not the cause then.
const othersAnswer = " either; "

// failTogether asks whether other sources fail at the same time.
func (s *subjectView) failTogether(h *fleet.SourceHealth) Check {
	q := question{"together", "Do other sources fail at the same time?", "more than one source"}
	down, others, well := 0, 0, 0
	var other *fleet.SourceHealth
	for _, o := range s.State.Sources {
		if h != nil && o.Key == h.Key || o.Status == fleet.StatusStarting || o.Status == fleet.StatusAbsent {
			continue
		}
		if others++; other == nil || o.Status == fleet.StatusDown {
			other = o
		}
		if o.Status == fleet.StatusDown {
			down++
		} else if o.Status == fleet.StatusOK {
			well++
		}
	}
	switch {
	case others == 0:
		return q.unsure("no other source is read")
	case h != nil && h.Status != fleet.StatusDown:
		return q.unsure("%d of %s do not answer", down, plural(others, "other source"))
	case down > 0 && well > 0:
		return q.yes(origin{other.Key.Source, s.now}, "%d of %s do not answer%s%d answer", down, plural(others, "other source"), backend.Text(othersAnswer), well)
	case down > 0:
		return q.yes(origin{other.Key.Source, s.now}, "%d of %s do not answer either", down, plural(others, "other source"))
	}
	return q.no(origin{other.Key.Source, s.now}, "%s answer", plural(others, "other source"))
}

// diagnoseHost answers the questions of Sandglass's own page about a host.
func diagnoseHost(s *subjectView) Diagnosis {
	d := Diagnosis{Checks: s.startFrom(s.fresh([]Check{
		s.hostMemory(),
		s.fullRoots(question{"full", "Is a file system of scratch directories full?", "a tmpdir source on the host"}),
		s.rootsWritable(),
		s.inMemory(),
		s.ofAll((*subjectView).sandboxOOM),
		s.bootedLately(),
	}))}
	d.end([]ending{
		{any: []string{"host-memory"}, conclude: "Memory runs out on the host", quotes: true,
			do: "See what uses the memory: ps aux --sort=-rss. Free memory before you start anything on the host. Or move work away from it.", dont: "Don't restart the host before its kernel log is saved. It names what was killed.",
			noReset: "memory runs out on the host; a reset starts more on it"},
		{any: []string{"full"}, conclude: "A file system of the host is full", quotes: true, do: "Make room. List leftovers: sandglass clean --dry-run. Then let the workspaces recover (runbook 5).", dont: "Don't delete by the age of the top directory alone."},
		{any: []string{"boot"}, conclude: "The host started again", quotes: true, do: "See what did not come back: sandglass get sb. For example containers without a restart policy, scratch directories on a tmpfs.", dont: "Don't take the new start for the cause: find why it went down."},
		{denies: true, conclude: "What was read shows no trouble of the host.", do: "Read the host's kernel log: journalctl -k. Then the Timeline.", dont: "Don't restart the host without a cause. What runs on it goes with it."},
	})
	if d.is("tmpfs") {
		d.dont("Don't let scratch directories grow on a tmpfs. They take the host's memory.")
	}
	return d
}

// bootedLately asks whether the host started within the time for which a kill is news.
func (s *subjectView) bootedLately() Check {
	q := question{"boot", "Did the host start again lately?", "a tmpdir source on the host"}
	recent, judged := s.span(memoryRecent)
	if !judged {
		return q.off(memoryRecent)
	}
	for _, h := range s.hosts() {
		if at, ok := h.BootedAt.Get(); ok {
			if s.now.Sub(at) <= recent {
				return q.yes(s.from(&h.Meta), "%s booted %s ago", h.Name, backend.Age(s.now.Sub(at)))
			}
			return q.no(s.from(&h.Meta), "%s booted %s ago", h.Name, backend.Age(s.now.Sub(at)))
		}
	}
	return q.unsure("no host's boot time is read")
}

// ownPages are the checks that alerts of Sandglass's own pages answer with yes.
func ownPages(a *alerts.Alert) []string {
	switch a.Rule {
	case "source-down":
		return []string{"down"}
	case "source-degraded":
		return []string{"partly"}
	case "source-open":
		return []string{"exposed"}
	case "source-stale":
		return []string{"old"}
	case "clock-skew":
		return []string{"clock"}
	case "registry-not-published":
		return []string{"unpublished"}
	case "host-restarted":
		return []string{"boot"}
	case "sandbox-start-failed":
		return []string{"start"}
	case "sandbox-exited":
		return []string{"ended"}
	case "sandbox-unhealthy":
		if len(a.Subjects) > 0 && a.Subjects[0].Key.Kind == backend.KindSource {
			return []string{"application"}
		}
		return []string{"unhealthy"}
	}
	return nil
}
