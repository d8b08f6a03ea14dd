package fleet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
)

// Unfit is why the action of a verb refuses a sandbox, by what was read of it last; empty: nothing is known that speaks against it. The
// actions of cloud platforms ask it, and so does each page before it advises one of them, so that no page advises what is refused. An
// action may know more: an engine is asked anew.
func (s *State) Unfit(verb string, b *backend.Sandbox) backend.Safe {
	switch {
	case b.OfWorker():
		return s.unfitWorker(verb, b)
	case b.Provider.String() == "agentuity":
		return s.unfitAgentuity(verb, b)
	case b.Provider.String() == "blaxel":
		return cmp.Or(unfitBlaxel(verb, b), s.outsideHosts(verb, b), noProcess(verb, b))
	case verb == "repair" && idle(b):
		return backend.Textf("it does not run: %s", b.Reported)
	}
	return backend.Safe{}
}

// NoProbe is why no probe runs a command in a sandbox; empty: nothing is known that forbids one. An engine's probe is not refused where
// none runs, and runs no command there.
func (s *State) NoProbe(b *backend.Sandbox) backend.Safe {
	if why := s.Unfit("probe", b); !why.IsEmpty() || !idle(b) || b.Provider.String() == "blaxel" { // whose answer would contradict its status
		return why
	}
	return backend.Textf("it does not run: %s", b.Reported)
}

// outsideHosts is why nothing is asked of the server in a sandbox: its address is none to which the key may go. Empty: it may, as far as is
// known.
func (s *State) outsideHosts(verb string, b *backend.Sandbox) backend.Safe {
	h := s.Source(b.Key.Source)
	if h == nil || !slices.Contains([]string{"probe", "rescue", "stop-process", "kill-process"}, verb) {
		return backend.Safe{}
	}
	for _, p := range h.Problems {
		if p.Subject == b.Key && strings.Contains(p.What.String(), backend.OutsideHosts) {
			return backend.Textf("%s. If that host is the platform's, add it to hosts of the source %s", p.What, backend.Clean(h.Key.Source, 80))
		}
	}
	return backend.Safe{}
}

// idle reports whether nothing can run in a container of an engine.
func idle(b *backend.Sandbox) bool {
	return b.Class.Over() || b.Class == backend.SandboxCreated
}

// unfitWorker judges a sandbox of a Cloudflare Worker: any request for one whose container ended starts another.
func (s *State) unfitWorker(verb string, b *backend.Sandbox) backend.Safe {
	h := s.Source(b.Key.Source)
	switch {
	case b.Unattributed:
		return backend.Text(backend.NoBridgeID + "; the account API can only show it")
	case h != nil && !h.Refuses.IsEmpty():
		return h.Refuses
	case b.Class.Over() || b.Class == backend.SandboxAsleep || b.Class == backend.SandboxRemoving:
		return backend.Textf("it is reported %s: any request for it would start a new, empty container", b.Reported)
	case verb == "repair":
		o, _ := b.Proved()
		exec, _ := o.Of(backend.PlaneExec)
		if exec.Outcome == backend.OutcomeOK && s.noneBegins(b, exec.At) {
			return backend.Textf("a command ran in it at %s, and its agent's log says since then that none begins. Which fault it has is not known: probe it first",
				exec.At.UTC().Format("15:04:05Z"))
		}
		return Unrepairable(exec)
	}
	return backend.Safe{}
}

// noneBegins reports whether a log says after a time that a command could not begin in a sandbox of a Worker.
func (s *State) noneBegins(b *backend.Sandbox, after time.Time) bool {
	return slices.ContainsFunc(s.Sources, func(h *SourceHealth) bool {
		return h.ReportsOn(b.Key.Source) && slices.ContainsFunc(h.Reports, func(x backend.Report) bool {
			return x.Kind == backend.ReportNotStarted && x.At.After(after) && x.NamesBox(b)
		})
	})
}

// Unrepairable says why a repair does not help; empty: a missing directory or a link to nothing was found.
func Unrepairable(exec backend.Verdict) backend.Safe {
	switch {
	case exec.Kind == backend.FailWorkDirMissing, exec.Kind == backend.FailWorkDirDangling:
		return backend.Safe{}
	case exec.Kind == backend.FailServerDir:
		return backend.Text("the directory of its control server was removed: making /workspace again does not help. Destroy it, and give its image another WORKDIR or a newer SDK")
	case exec.Kind == backend.FailServerFrozen:
		return backend.Text("its control server does not answer: no repair gets through; destroy it")
	case exec.Kind == backend.FailExecTimeout && exec.Outcome == backend.OutcomeFailed:
		return backend.Text("no command in it ended: no repair gets through. See whether its container runs, then probe it again")
	case exec.Kind == backend.FailNoSpace:
		return backend.Text("its disk has no space left, and a repair writes to it: make room first, then probe it")
	case exec.Kind == backend.FailWorkDirNoDir:
		return backend.Text("something else is where /workspace should be: a repair removes nothing but a link to nothing")
	case exec.Outcome == backend.OutcomeOK:
		return backend.Textf("commands ran in it (%s): there is nothing to repair", exec.Said())
	case exec.Outcome == backend.OutcomeFailed:
		return backend.Textf("commands fail for another reason than a missing directory: %s", exec.Said())
	}
	return backend.Text("which of the faults it has is not known: probe it first")
}

// unfitAgentuity judges a sandbox of Agentuity.
func (s *State) unfitAgentuity(verb string, b *backend.Sandbox) backend.Safe {
	asleep, live := b.Class == backend.SandboxAsleep, b.Class == backend.SandboxRunning
	o, _ := b.Proved()
	list, _ := o.Of(backend.PlaneList)
	gone := list.Outcome == backend.OutcomeFailed && list.Kind == backend.FailMountGone
	switch verb {
	case "resume":
		switch {
		case live:
			return backend.Textf("it is reported %s: there is nothing to resume. Resume is no cure for a sandbox that is reported live and does not work", b.Reported)
		case !asleep:
			return backend.Textf("it is reported %s, and only one that sleeps can be resumed", b.Reported)
		}
		if v, is := o.Unrecoverable(); is && !v.Passive {
			return backend.Textf("a resume of it was refused at %s, since it has no checkpoint: another one fails too. Replace it: sandglass replace %s. If the vendor's support brings the checkpoint back, resume it with the vendor's command line",
				v.At.UTC().Format("15:04:05Z"), b.Key.ID.Safe())
		}
	case "rescue", "probe":
		switch {
		case asleep:
			return backend.Textf("it is reported %s, and a request into it could wake it: resume it first", b.Reported)
		case !live:
			return backend.Textf("it is reported %s, and only a live one can be read", b.Reported)
		case gone && verb == "rescue":
			return backend.Text("its mount is gone, so no file of it can be read; a snapshot or checkpoint of it may hold some")
		}
		if verb == "probe" {
			return s.Busy(b, "a command would only wait behind it and leave one more record")
		}
	case "pause":
		if !live {
			return backend.Textf("it is reported %s, and only a live one can be paused", b.Reported)
		}
	case "destroy":
		if b.Class == backend.SandboxExited || b.Class == backend.SandboxDead {
			return backend.Textf("it is reported %s: it is no more", b.Reported)
		}
	}
	return backend.Safe{}
}

// Busy says that something is queued or runs in a sandbox; empty: neither.
func (s *State) Busy(b *backend.Sandbox, so backend.Literal) backend.Safe {
	queued, runs := 0, 0
	for x := range s.Executions.Of(backend.KindExecution, b.Key.Source, b.Key.ID) {
		switch x.Class {
		case backend.WorkQueued:
			queued++
		case backend.WorkRunning:
			runs++
		case backend.WorkUnknown, backend.WorkSucceeded, backend.WorkFailed, backend.WorkCancelled:
		}
	}
	switch {
	case queued > 0:
		return backend.Textf("%s queued in it: %s", backend.Counted(queued, "execution is", "executions are"), backend.Text(so))
	case runs > 0:
		return backend.Text("an execution runs in it: that proves that commands run")
	}
	return backend.Safe{}
}

// unfitBlaxel judges a sandbox of Blaxel.
func unfitBlaxel(verb string, b *backend.Sandbox) backend.Safe {
	if verb == "destroy" || verb == "revoke-token" {
		if b.Class == backend.SandboxExited || b.Class == backend.SandboxRemoving {
			return backend.Textf("it is reported %s already", b.Reported)
		}
		return backend.Safe{}
	}
	if verb == "probe" && (b.Class == backend.SandboxExited || b.Class == backend.SandboxRemoving) {
		return backend.Safe{} // an answer would contradict its status
	}
	x, probed := b.Inside()
	switch {
	case b.StatusAlone() == "DEPLOYED" && b.Class != backend.SandboxPaused:
	case verb == "rescue" && EndedForGood(b) && probed && x.Answered: // it answers although it is reported so
	case b.Class == backend.SandboxUnknown:
		return backend.Textf("it is reported %s, which is not known here: whether its server answers then is not known either", b.Reported)
	default:
		return backend.Textf("it is reported %s: its server does not answer then", b.Reported)
	}
	return backend.Safe{}
}

// noProcess is why no process in a sandbox can be ended: the newest probe read none that may run.
func noProcess(verb string, b *backend.Sandbox) backend.Safe {
	x, probed := b.Inside()
	switch {
	case verb != "stop-process" && verb != "kill-process":
	case !probed || !x.Read(backend.PartProcesses):
		return backend.Text("which processes run in it is not known: probe it first")
	case !slices.ContainsFunc(x.Processes, func(p backend.SandboxProcess) bool { return p.MayRun() }):
		return backend.Text("nothing ran in it when it was probed")
	}
	return backend.Safe{}
}

// noRoomFor is how long a command that was refused for want of an instance speaks of the next one.
const noRoomFor = 10 * time.Minute

// NoRoom reports whether a probe of a sandbox of a Cloudflare Worker is likely to find no instance: the newest command in it was refused
// for want of one a short time ago, and nothing says that it runs.
func (s *State) NoRoom(b *backend.Sandbox, now time.Time) bool {
	v, is := refusedRoom(b)
	return is && now.Sub(v.At) < noRoomFor
}

func refusedRoom(b *backend.Sandbox) (v backend.Verdict, is bool) {
	o, _ := b.Observed.Get()
	v, is = o.Of(backend.PlaneExec)
	return v, is && b.OfWorker() && b.Class != backend.SandboxRunning && v.Kind == backend.FailThrottled
}

// PlacesFor are the keys of alerts about the places in which a sandbox would run whose newest command was refused for want of one; none where
// it was not, or where something says that it runs. On a platform of agents a usage limit is that of all sandboxes of a source.
func (s *State) PlacesFor(b *backend.Sandbox) (out []backend.Key) {
	if b.Provider.String() == "blaxel" {
		return []backend.Key{backend.PlacesKey(b.Key.Source, nil)}
	}
	if _, is := refusedRoom(b); !is {
		return nil
	}
	if h := s.Source(b.Key.Source); h != nil {
		for i := range h.Pools {
			if x := &h.Pools[i]; b.Application.IsEmpty() || b.Application == x.Name {
				out = append(out, backend.PlacesKey(b.Key.Source, x))
			}
		}
	}
	return append(out, backend.PlacesKey(b.Key.Source, nil))
}

// RootMoved is where the agent of a sandbox of a Cloudflare Worker moved its working directory, and when, as the newest line of its log
// tells that names what changed the directory; empty: it was not moved, or no log that is read says so.
func (s *State) RootMoved(b *backend.Sandbox) (to string, at time.Time) {
	for _, h := range s.Sources {
		if len(h.Reports) == 0 || !h.ReportsOn(b.Key.Source) {
			continue
		}
		for i := range h.Reports {
			if x := &h.Reports[i]; !x.Changed.IsEmpty() && x.ChangedAt.After(at) && x.NamesBox(b) {
				to, at = backend.RootMovedTo(x.Changed.String(), backend.SandboxRoot), x.ChangedAt
			}
		}
	}
	return to, at
}
