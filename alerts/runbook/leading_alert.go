package runbook

import (
	"cmp"
	"slices"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// AlertCheck is the name of the check that repeats what the alerts of a page conclude.
const AlertCheck = "alert"

// leading lists the alerts about the subject that lead to a page, the most certain first. A diagnosis starts from them.
func (s *subjectView) leading(page string) []*alerts.Alert {
	if s.Board == nil {
		return nil
	}
	var out []*alerts.Alert
	for _, a := range s.Board.Alerts {
		if a.Runbook == page && certainty(a.State) > 0 && s.isAbout(a) {
			out = append(out, a)
		}
	}
	stable.Sort(out, func(a, b *alerts.Alert) int {
		return cmp.Or(cmp.Compare(certainty(b.State), certainty(a.State)), cmp.Compare(b2i(a.Hidden()), b2i(b.Hidden())))
	})
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// ledBy is the first alert of the rules that fires and that the diagnosis starts from, nil when there is none.
func (s *subjectView) ledBy(rules ...string) *alerts.Alert {
	for _, a := range s.led {
		if a.State == alerts.StateFiring && slices.Contains(rules, a.Rule) {
			return a
		}
	}
	return nil
}

// isAbout reports whether an alert names the subject, a part of it, or what it is a part of.
func (s *subjectView) isAbout(a *alerts.Alert) bool {
	if s.wide {
		return s.Subject.Kind == "" || a.Source == s.Subject.Source || s.here(a.Source) && s.Subject.Kind != backend.KindSource || s.countedBy(a.Source) ||
			slices.ContainsFunc(a.Subjects, func(x alerts.Subject) bool { return x.Key == s.Subject })
	}
	return slices.ContainsFunc(a.Subjects, s.concernedBy)
}

// concernedBy reports whether a subject of an alert is that of the page, a part of it, or what it is a part of.
func (s *subjectView) concernedBy(x alerts.Subject) bool {
	k := x.Key
	switch {
	case x.State == alerts.StateEnded:
		return false
	case k == s.Subject, slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool { return b.Key == k }):
		return true
	case k.Kind == backend.KindSource:
		_, provider, part := strings.Cut(k.ID.Raw(), "/")
		return s.home != "" && k.Source == s.home && (!part || s.oneMayUse(k.Source, provider)) && !s.elsewhere(provider)
	case k.Kind == backend.KindHost:
		return s.Subject.Kind == backend.KindTmpdir && k.ID == s.Subject.Parent && k.Source == s.Subject.Source
	case s.sessionID.IsZero() || s.home != "" && k.Source != s.home && !s.speaksHere(k.Source):
		return false
	case k.Kind == backend.KindSession:
		return k.ID == s.sessionID
	case k.Kind == backend.KindWorkspace, k.Kind == backend.KindRef:
		name := s.oneWorkspace()
		return k.Parent == s.sessionID && (name.IsZero() || k.ID == name)
	}
	return false
}

// pendingIn is the subject of an alert that the page is about, where that is pending although the alert fires for others; nil: it is not so.
func (s *subjectView) pendingIn(a *alerts.Alert) (own *alerts.Subject) {
	if s.wide || a.State != alerts.StateFiring || a.Pending == 0 {
		return nil
	}
	for i := range a.Subjects {
		if x := &a.Subjects[i]; s.concernedBy(*x) {
			if x.State != alerts.StatePending {
				return nil
			}
			own = x
		}
	}
	return own
}

// mayUse reports whether what names a provider, or none, can be of another one: what names none only where none names that.
func (s *subjectView) mayUse(own, source, provider string) bool {
	return own == provider || own == "" && s.State.OfProvider(source, backend.Clean(provider, backend.MaxTextRunes)) == 0
}

// oneMayUse reports whether one of the subject's workspaces can be of a provider; without any the subject can.
func (s *subjectView) oneMayUse(source, provider string) bool {
	return len(s.workspaces) == 0 || slices.ContainsFunc(s.workspaces, func(w *backend.Workspace) bool {
		own := w.Provider.String()
		if own == "" {
			own = s.savedProvider(w)
		}
		return s.mayUse(own, source, provider)
	})
}

// affirmed are the checks that a rule's alert answers with yes. What fires is not denied beside it.
func affirmed(a *alerts.Alert) []string {
	switch a.Rule {
	case "failed-too-long", "hammered-and-failing", "reset-loop", "error-burst", "error-chaos", "capability-mismatch":
		if runsLong(a) {
			return []string{"long-attempt"}
		}
		return []string{"failed"}
	case "eviction-storm":
		return []string{"storm"}
	case "evicted-sustained":
		return []string{"evicted"}
	case "capacity":
		if !refused(a) || limitMet(a) {
			return nil // full, or nobody's limit, or one of use
		}
		return []string{"quota"}
	case "misclassified-transient":
		return []string{"permanent"}
	case "restart-storm":
		return []string{"rollout"}
	case "agent-oom":
		return []string{"agent-oom"}
	case "host-oom":
		return []string{"host-memory"}
	case "sandbox-oom":
		if isNear(a) {
			return []string{"near"}
		}
		return []string{"sandbox-oom", "memory"}
	case "contradiction":
		return contradicted(a.Cause.String())
	case "no-checkpoint", "wake-failed", "stuck-in-transit", "reaped-soon", "sandbox-expiring", "public-preview", "preview-token-expiring", "preview-failed", "snapshot-interrupted", "runaway-process", "package-missing", "pty-pressure", "pty-failed":
		return ruleOfPlatform(a)
	case "sandbox-crash-loop":
		return []string{"loop"}
	case "wont-terminate":
		return runsOn(a.Cause.String())
	case "tmpdir-pileup", "tmpdir-orphaned":
		return []string{"pile"}
	case "tmpdir-close-failed":
		return []string{"close-failed"}
	case "tmpdir-root-unusable":
		return []string{"root"}
	case "audit-saturation":
		return []string{"flood"}
	case "possible-leak":
		return sharedPlace(a.Cause.String())
	case "ref-mismatch":
		switch n := alerts.NamesIn(a.Cause.String()); {
		case n&alerts.NamesSchema != 0:
			return []string{"schema"}
		case n&alerts.NamesStrict != 0:
			return []string{"strict"}
		case strings.Contains(a.Cause.String(), "it is another sandbox"):
			return []string{"newer"}
		}
		return []string{"disagree"}
	case "intermittent-failure":
		if a.Runbook == "1" {
			return []string{"failed"}
		}
	}
	return ownPages(a)
}

// runsLong reports whether an alert is about attempts that run on: none of them has failed.
func runsLong(a *alerts.Alert) bool {
	return strings.Contains(a.Cause.String(), "longer than longest_operation")
}

// keptAlive is in the cause of a sandbox that only a destroy ends.
const keptAlive = "it is kept alive"

// runsOn are the checks of page 4 that a cause of wont-terminate answers. That no list names a session tells nothing of it.
func runsOn(cause string) []string {
	switch {
	case strings.Contains(cause, "no list names its session"):
		return nil
	case strings.Contains(cause, "waits to fall asleep"):
		return []string{"over", "awaiting-sleep"}
	case strings.Contains(cause, "ran into its deadline"):
		return []string{"over", "close-timeout"}
	case strings.Contains(cause, "should have been destroyed"):
		return []string{"over", "destroy-on-close"}
	case strings.Contains(cause, keptAlive):
		return []string{"over", "kept-alive"}
	case strings.Contains(cause, "it leaked"):
		return []string{"over", "destroy-on-close"}
	}
	return []string{"over"}
}

// contradicted are the checks of its page that a cause of contradiction answers.
func contradicted(cause string) []string {
	if strings.Contains(cause, "not verified since") { // what failed before a start or an end is not known to fail now
		return nil
	}
	for _, x := range [...]struct{ words, check string }{
		{"many sandboxes at once", "many"}, {takesFor, "believed"}, {setAside, "unusable"}, {unanswered, "unusable"}, {listedSince, "answers"}, {"was only noted", "resume"}, {"right after a resume", "resume"}, {"corrected its record", "resume"}, {"its hub says", "wake"},
		{"directory of its control server is gone", "server-dir"}, {"no command begins in it", "commands"}, {"no file call begins in it", "commands"}, {"routes disagree", "views"}, {"pending since at least", "jobs"}, {"before it slept", "missing"},
		{"its disk has no space", "disk"}, {"working directory is missing", "missing"}, {"control server is missing", "server-dir"}, {"link to nothing", "dangling"}, {"host directory mounted there was removed", "unlinked"},
		{"mount is gone", "unmounted"}, {"is not a directory", "occupied"}, {"may not enter", "permission"}, {"main process is frozen", "frozen"}, {"control server answers nothing", "frozen"}, {"container is gone", "gone"},
		{"its container ended", "down"}, {"its container could not start", "down"}, {"killed at its memory limit", "down"},
		{"filesystem", "planes"}, {"stay queued", "planes"}, {"driver", "planes"},
	} {
		if strings.Contains(cause, x.words) {
			return []string{x.check}
		}
	}
	return []string{"commands"}
}

// sharedPlace are the checks of page 8 that a cause of possible-leak answers.
func sharedPlace(cause string) []string {
	switch {
	case strings.Contains(cause, string(fleet.StorageNamespace)):
		return []string{"namespace"}
	case strings.Contains(cause, string(fleet.StorageScratch)):
		return []string{"mount"}
	}
	return []string{"shared-id"}
}

// says is what an alert concludes, with its own counts.
func (s *subjectView) says(a *alerts.Alert) backend.Safe {
	how := backend.Literal("fires")
	switch a.State {
	case alerts.StatePending:
		how = "is pending"
	case alerts.StateHeld:
		how = "is held"
	case alerts.StateFiring, alerts.StateEnded, alerts.StateResolved:
	}
	about := s.counts(a)
	if own := s.pendingIn(a); own != nil {
		how, about = "is pending", own.Label
		if b := s.sandboxOf(own.Key); b != nil {
			about = called(b)
		}
	}
	if about.IsEmpty() {
		return backend.Textf("%s %s: %s", backend.Clean(a.Rule, 60), backend.Text(how), a.Cause)
	}
	return backend.Textf("%s %s for %s: %s", backend.Clean(a.Rule, 60), backend.Text(how), about, a.Cause)
}

// counts counts the subjects of an alert and their sessions; empty where the alert is about a source as a whole.
func (s *subjectView) counts(a *alerts.Alert) backend.Safe {
	if len(a.Subjects) == 0 || a.SubjectCount == 0 {
		return backend.Safe{}
	}
	k := a.Subjects[0].Key
	noun := k.Kind.Spec().Name
	switch {
	case k.Kind == backend.KindSource || noun == "":
		return backend.Safe{}
	case a.SubjectCount == 1:
		if b := s.sandboxOf(k); b != nil && !b.Name.IsEmpty() {
			return b.Name // its id is long
		}
		return a.Subjects[0].Label
	case slices.ContainsFunc(a.Subjects, func(x alerts.Subject) bool { return x.Key.Kind != k.Kind }): // sessions, and workspaces of others
		return backend.Textf("%s of %s", plural(a.SubjectCount, "subject"), plural(a.Sessions, "session"))
	case k.Kind != backend.KindSession && a.Sessions > 0:
		return backend.Textf("%s of %s", plural(a.SubjectCount, noun), plural(a.Sessions, "session"))
	}
	return backend.Textf("%s", plural(a.SubjectCount, noun))
}

// mostFigures is how many figures of an alert a page repeats.
const mostFigures = 3

// figures are the counts and rates of an alert as its rule measured them, without the count of its subjects: that is told.
func figures(a *alerts.Alert) backend.Safe {
	var out []backend.Safe
	counted := slices.ContainsFunc(a.Evidence, func(e alerts.Evidence) bool { return e.Value.IsKnown() })
	for i := range a.Evidence {
		e := &a.Evidence[i]
		if len(out) < mostFigures && e.Value.IsKnown() == counted && !repeats(e, a) {
			out = append(out, e.Text)
		}
	}
	if !counted && a.State != alerts.StateFiring {
		return backend.Safe{}
	}
	return backend.Join(out, "; ")
}

// repeats reports whether an evidence only counts the subjects of its alert, beside the cause.
func repeats(e *alerts.Evidence, a *alerts.Alert) bool {
	text := e.Text.String()
	return strings.Contains(text, " with this cause in ") || strings.HasSuffix(text, ": "+a.Cause.String())
}

// figuresOf are the figures of an alert; on the page of one container among several they are that container's own.
func (s *subjectView) figuresOf(a *alerts.Alert) backend.Safe {
	if s.wide || a.Runbook != "container" {
		return figures(a)
	}
	for _, b := range s.sandboxes {
		if slices.ContainsFunc(a.Subjects, func(x alerts.Subject) bool { return x.Key == b.Key }) {
			if a.SubjectCount == 1 {
				return detailOf(a, b)
			}
			return backend.Textf("this one, %s: %s", b.Name, detailOf(a, b))
		}
	}
	return figures(a)
}

// measured is the evidence of an alert in a unit, nil where it has none: a page does not measure anew what the alert did.
func measured(a *alerts.Alert, unit string) *alerts.Evidence {
	for i := range a.Evidence {
		if e := &a.Evidence[i]; e.Unit == unit && e.Value.IsKnown() {
			return e
		}
	}
	return nil
}

// toldOf is the figure that names something, of the alerts that the diagnosis starts from; nil where there is none.
func (s *subjectView) toldOf(words string) *alerts.Evidence {
	for _, a := range s.led {
		for i := range a.Evidence {
			if e := &a.Evidence[i]; e.Value.IsKnown() && strings.Contains(e.Text.String(), words) {
				return e
			}
		}
	}
	return nil
}

// startFrom puts what the page's alerts conclude before what was read. A check that asks the same is confirmed, whatever
// else was read.
func (s *subjectView) startFrom(checks []Check) []Check {
	if len(s.led) == 0 {
		return checks
	}
	for _, a := range s.led {
		if a.State != alerts.StateFiring {
			continue
		}
		for _, name := range affirmed(a) {
			if name == "commands" && !s.commandFailed() {
				name = "planes"
			}
			s.affirm(checks, name, a)
		}
	}
	var all []backend.Safe
	for _, a := range s.led[:min(len(s.led), 3)] {
		all = append(all, beside(s.says(a), s.figuresOf(a)))
	}
	if more := len(s.led) - 3; more > 0 {
		all = append(all, backend.Textf("%d more", more))
	}
	q, a := question{AlertCheck, "Which alert is about it?", "the rules of this page"}, s.led[0]
	if a.State == alerts.StateFiring {
		return append([]Check{q.yes(origin{a.Source, a.Confirmed}, "%s", backend.Join(all, "; "))}, checks...)
	}
	return append([]Check{q.unsure("%s", beside(backend.Join(all, "; "), a.Why))}, checks...)
}

// commandFailed reports whether a command was tried and failed, by a probe or by a line of an agent. On a platform of agents another plane
// may be all that failed, and that tells nothing of commands; elsewhere an alert says which plane it is.
func (s *subjectView) commandFailed() bool {
	return s.platform() != agentCloud || s.saysAgent() != nil || slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool {
		o, _ := b.Observed.Get()
		v, _ := o.Of(backend.PlaneExec)
		return v.Outcome == backend.OutcomeFailed
	})
}

// affirm confirms a check by an alert that fires. What was read stays beside it, unless it denies the alert.
func (s *subjectView) affirm(checks []Check, name string, a *alerts.Alert) {
	for i := range checks {
		c := &checks[i]
		if c.Name != name || c.Mark == Confirmed {
			continue
		}
		if c.Mark == RuledOut {
			c.Fact, c.echo = figures(a), true
		}
		if c.Fact.String() == nothingTells || len(s.workspaces) == 0 && s.ofApplication() { // an application of a platform has no workspaces that could tell
			c.Fact = backend.Safe{}
		}
		c.Fact = beside(s.says(a), c.Fact)
		c.Mark, c.WouldTell, c.Source, c.At = Confirmed, backend.Safe{}, a.Source, a.Confirmed
	}
}

// undenied replaces a conclusion that denies an alert by what the alert concludes, with the first steps of its rule.
func (s *subjectView) undenied(d *Diagnosis) {
	if !d.denies || len(s.led) == 0 {
		return
	}
	a := s.led[0]
	d.Do = nil
	switch a.State {
	case alerts.StateFiring:
		if s.endPhase(d, a) {
			return
		}
		d.Conclusion = backend.Textf("%s. No check tells the cause behind it.", sentence(s.says(a)))
	case alerts.StateHeld:
		if h := s.State.Source(a.Source); a.Why.IsEmpty() && h != nil && h.Status == fleet.StatusOK { // its source answers
			d.Conclusion = backend.Textf("%s. One reading does not tell whether this still holds.", sentence(s.says(a)))
			d.Do, d.denies = []backend.Safe{backend.Text("Look for a while: sandglass check --observe 2m")}, false
			return
		}
		d.Conclusion = backend.Textf("%s. It is not known whether this still holds: %s.", sentence(s.says(a)), cmp.Or(sentence(a.Why), backend.Text("its source was not read since")))
		d.Do, d.denies = []backend.Safe{backend.Text("Restore the source first (runbook source); then ask again.")}, false
		return
	case alerts.StatePending:
		why := sentence(a.Why)
		if strings.HasPrefix(why.String(), "fires ") {
			why = backend.Textf("it %s", why)
		}
		if s.endPhase(d, a) { // its steps are the same
			d.Conclusion = backend.Textf("%s; %s.", sentence(s.says(a)), why)
			return
		}
		d.Conclusion = backend.Textf("%s; %s.", sentence(s.says(a)), why)
	case alerts.StateEnded, alerts.StateResolved:
		return
	}
	if rule := s.Board.Rule(a.Rule); rule != nil {
		for _, step := range rule.Explain.First[:min(len(rule.Explain.First), 3)] {
			d.Do = append(d.Do, backend.Clean(step, 300))
		}
	}
}

// sentence is a text without the full stop at its end.
func sentence(t backend.Safe) backend.Safe {
	if text, ok := strings.CutSuffix(t.String(), "."); ok {
		return backend.Clean(text, 600)
	}
	return t
}
