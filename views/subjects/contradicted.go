package subjects

import (
	"slices"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/kit"
)

// contradicted says what does not work in the subjects of a contradiction, as far as it was observed, and who reports them well.
func contradicted(a *alerts.Alert, c *views.Snapshot) string {
	what := kit.Number(a.SubjectCount) + " subjects"
	if len(a.Subjects) == 0 {
		return "commands in " + what + " fail"
	}
	k := a.Subjects[0].Key
	what = counted(a.SubjectCount, k.Kind)
	one := a.SubjectCount == 1
	b, says := c.State.Sandbox(k), backend.Safe{}
	in := what
	if one {
		in = "it"
	}
	effect := nothingRuns(in, a, k)
	nothing := effect
	if one && b != nil && !c.State.SessionOn(b).IsZero() {
		effect += ": commands of its session fail"
	}
	if b != nil && (b.Class == backend.SandboxRunning || b.Class == backend.SandboxPaused) {
		effect, says = broken(b, what, one), b.Reported
	} else if k.Kind == backend.KindSandbox && (b == nil || b.Class == backend.SandboxUnknown) { // its source does not tell of it now
		if effect = nothing; !strings.Contains(a.Cause.String(), "but its container ") {
			effect = brokenBy(a.Cause.String(), what)
		}
	} else if w := c.State.Workspace(k); w != nil {
		says = w.Reported
	}
	if takes := "its agent takes it for "; strings.HasPrefix(a.Cause.String(), takes) {
		if strings.HasPrefix(a.Cause.String(), takes+"not running") {
			return "its agent does not use it, as far as its log tells"
		}
		return nothing + ": commands of its session would fail"
	}
	if one && b != nil && b.Class != backend.SandboxRunning && strings.Contains(a.Cause.String(), "/ of it was listed since") {
		effect, says = "it answers: it may run on, and be billed", b.Reported
	}
	if one && alerts.AgentFails(a.Cause.String()) {
		return "commands of its session fail, as far as its agent's log tells"
	}
	if (strings.HasPrefix(effect, "not known") || effect == brokenBy("", what)) && alerts.AgentSays(a.Cause.String()) {
		if one {
			return "no command begins in it, as far as its agent's log tells"
		}
		return "no command begins in " + what + ", as far as their agents' logs tell"
	}
	if !one || says.IsEmpty() || strings.HasPrefix(effect, "not known") {
		return effect
	}
	return effect + "; " + k.Source + ` still says "` + says.String() + `"`
}

// nothingRuns names the source whose word it is: no command was tried where none can begin. Of a workspace it is the one in which its
// container was looked for.
func nothingRuns(in string, a *alerts.Alert, k backend.Key) string {
	by := k.Source
	if k.Kind == backend.KindRef {
		by = "its platform"
	}
	for _, e := range a.Evidence {
		if k.Kind == backend.KindWorkspace && strings.HasPrefix(e.Text.String(), "observed: ") {
			by = e.Source
		}
	}
	return "nothing runs in " + in + ", says " + by
}

// effects say what fails by the cause of a contradiction: the first phrase in it counts. %s names the subjects.
var effects = [...]struct{ phrase, effect string }{
	{"but it is gone", "nothing runs in %s"}, {"exec fails", "commands in %s fail"},
	{"a command in it was refused", "commands in %s fail"}, {"main process is frozen", "the main process of %s does nothing; commands there may hang"},
	{"control server answers nothing", "the control server of %s answers nothing; commands there may hang"},
	{"control server is missing", "plain commands in %s fail"},
	{"no command in it ended", "commands in %s do not end or do not begin"},
	{"its disk has no space", "nothing can be written in %s"},
	{"its mount is gone", "the working directory of %s has none of the files of its mount"},
	{"its working directory", "commands in the working directory of %s fail"}, {"directory mounted there", "commands in the working directory of %s fail"},
	{"a command in it did not end", "commands in %s do not end or do not begin"}, {"its commands stay queued", "commands in %s do not end or do not begin"},
	{"filesystem", "files of %s cannot be read"},
}

// brokenBy says what fails in sandboxes that are not read now, by what was proved when the alert began.
func brokenBy(cause, what string) string {
	for _, e := range effects {
		if strings.Contains(cause, e.phrase) {
			return strings.ReplaceAll(e.effect, "%s", what)
		}
	}
	return "commands in " + what + " may fail"
}

// broken says what fails in a sandbox, by what was observed of its present life; what names it and those like it.
func broken(b *backend.Sandbox, what string, one bool) string {
	o, _ := b.Proved()
	failed := o.Failed()
	exec, _ := o.Of(backend.PlaneExec)
	is := func(kinds ...backend.FailureKind) bool {
		return slices.ContainsFunc(failed, func(v backend.Verdict) bool { return slices.Contains(kinds, v.Kind) })
	}
	on := func(planes ...backend.Plane) bool {
		return slices.ContainsFunc(failed, func(v backend.Verdict) bool { return slices.Contains(planes, v.Plane) })
	}
	in := what
	if one {
		in = "it"
	}
	switch {
	case is(backend.FailGone):
		return "nothing runs in " + in + ": it is gone"
	case is(backend.FailServerFrozen) && b.Provider.String() == "cloudflare":
		return "the control server of " + in + " answers nothing; commands there may hang"
	case is(backend.FailServerFrozen) && one:
		return "its main process does nothing; commands in it may hang"
	case is(backend.FailServerFrozen):
		return "the main process of " + what + " does nothing; commands there may hang"
	case is(backend.FailMountGone):
		return "the working directory of " + what + " has none of the files of its mount"
	case is(backend.FailUnauthorised) && exec.Outcome == backend.OutcomeOK: // the engine enters it as root, and the user may not list it
		return "commands in " + what + " cannot use their working directory"
	case one && !b.WorkDir.IsEmpty() && (b.WorkDirGone() || is(backend.FailWorkDirMissing)):
		return "the files of " + b.WorkDir.String() + " are missing, and a repair brings none back; commands there fail"
	case noWorkDir(b) || is(backend.FailWorkDirNoDir, backend.FailMountUnlinked, backend.FailUnauthorised):
		if one && !b.WorkDir.IsEmpty() {
			return "commands in " + b.WorkDir.String() + " fail"
		}
		return "commands in the working directory of " + what + " fail"
	case is(backend.FailNoSpace) && exec.Outcome != backend.OutcomeFailed:
		return "nothing can be written in " + in + ": its disk is full"
	case is(backend.FailExecTimeout, backend.FailExecStuckQueued):
		return "commands in " + in + " do not end or do not begin"
	case on(backend.PlaneExec):
		return "commands in " + in + " fail"
	case on(backend.PlaneList, backend.PlaneRead):
		return "files of " + what + " cannot be read"
	case len(failed) > 0:
		return "commands in " + what + " may fail"
	}
	if all, _ := b.Observed.Get(); all.Past() || len(all.Present().Unproved) > 0 {
		return "not known: no command was tried since its restart"
	}
	return "not known: nothing in " + in + " was seen to fail"
}

// noWorkDir reports whether it was observed that the working directory of a sandbox is missing, or is a link to nothing: that is
// what a repair cures.
func noWorkDir(b *backend.Sandbox) bool {
	o, _ := b.Proved()
	return b.WorkDirGone() || slices.ContainsFunc(o.Failed(), func(v backend.Verdict) bool {
		return slices.Contains([]backend.FailureKind{backend.FailWorkDirMissing, backend.FailWorkDirDangling, backend.FailFilesystemMissing}, v.Kind)
	})
}
