package runbook

import (
	"slices"
	"strconv"

	"sandglass/alerts"
	"sandglass/backend"
)

// leakedOf are the sandboxes of the alert that a page about several starts from, and of how many it is. A page that starts from two such
// alerts has no one answer.
func (s *subjectView) leakedOf() (out []*backend.Sandbox, of int) {
	var led []*alerts.Alert
	for _, a := range s.led {
		if a.Rule == "wont-terminate" && (s.alert == nil || a == s.alert) {
			led = append(led, a)
		}
	}
	if len(led) != 1 {
		return nil, 0
	}
	for _, b := range s.sandboxes {
		if slices.ContainsFunc(led[0].Subjects, func(x alerts.Subject) bool { return x.Key == b.Key }) {
			out = append(out, b)
		}
	}
	return out, max(led[0].SubjectCount, len(out))
}

// agentLeaks answers for several sandboxes of an agent's SDK at once: what holds of each of them, and else that they differ.
func (s *subjectView) agentLeaks(all []*backend.Sandbox, of int) Diagnosis {
	d := Diagnosis{Checks: s.answers(ofEach(all, s.agentOver), ofEach(all, s.agentUp), ofEach(all, s.agentDeletes), ofEach(all, s.agentKeeps), s.destroyFails())}
	name := called(all[0])
	each := plural(len(all), "sandbox")
	if of > len(all) { // an alert lists some of its many
		each = strconv.Itoa(len(all)) + " of " + plural(of, "sandbox")
	}
	asleep := slices.ContainsFunc(all, func(b *backend.Sandbox) bool { return b.Class != backend.SandboxRunning || !s.pausesOnExit(b) })
	switch {
	case d.Mark("over") == Confirmed && d.is("kept") && !asleep:
		d.conclude("%s are kept after their sessions. Something prevents standby, so that they cost.", each)
		d.do("See what keeps each awake: sandglass probe %s. Its plan says what that costs.", name)
		d.do("Ask the owners of the sessions. What is not needed: sandglass destroy %s, and so on", name)
		d.dont("Don't call it a leak: nothing failed.")
	case d.is("destroy-on-close") && (d.is("over") || d.is("destroy")):
		d.conclude("%s leaked: the end of each session should have deleted it.", each)
		d.do("Rescue the files that matter: sandglass rescue %s. Then those of the others; that wakes each.", name)
		d.do("Destroy each: sandglass destroy %s. Its plan names the snapshots that could restore it.", name)
		d.dont("Don't wait for the agent's SDK: it does not try again.")
	default:
		d.conclude("%s differ, or not all is known of them.", each)
		d.do("Ask about each, such as the first: sandglass why %s", name)
		d.dont("Don't destroy by age; go by the session.")
		d.NoDestroy = backend.Text("what is true of one of them need not be true of another; ask about each")
	}
	s.waitFirst(&d)
	return d
}

// ofEach is one answer for several sandboxes: that of each where they agree.
func ofEach(all []*backend.Sandbox, ask func(*backend.Sandbox) Check) Check {
	first, agree := ask(all[0]), 1
	for _, b := range all[1:] {
		if ask(b).Mark == first.Mark {
			agree++
		}
	}
	out := first
	if agree == len(all) {
		out.Fact = backend.Textf("of each of %s; of the first: %s", plural(len(all), "sandbox"), first.Fact)
		return out
	}
	out.Mark, out.Source = CannotTell, ""
	out.Fact = backend.Textf("%s differ in it; of the first: %s", plural(len(all), "sandbox"), first.Fact)
	if out.WouldTell.IsEmpty() {
		out.WouldTell = backend.Text("the same question about one of them, by its id")
	}
	return out
}
