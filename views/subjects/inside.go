package subjects

import (
	"strings"

	"sandglass/backend"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// inside writes what a probe read in a sandbox.
func (w *writer) inside(b *backend.Sandbox) {
	o, _ := b.Observed.Get()
	read := false
	for _, v := range o.Verdicts {
		if v.Inside != nil {
			read = true
			w.insideOf(b, v.Inside, v.Past)
		}
	}
	if !read && b.Provider.String() == "blaxel" && !b.Class.Ended() {
		w.Field("processes", dim(w.notProbed(b)))
	}
}

// notProbed says why nothing inside a sandbox of Blaxel was read, and what would read it.
func (w *writer) notProbed(b *backend.Sandbox) string {
	switch why := w.f.State.NoProbe(b); {
	case b.StatusAlone() == "ARCHIVED":
		return "none: an archive keeps files only, neither memory nor processes. There is nothing to probe"
	case !why.IsEmpty():
		return "not read, and no probe reads them now: " + why.String()
	}
	return "not read, so that runaway-process and snapshot-interrupted are not evaluated: a probe reads them"
}

func (w *writer) insideOf(b *backend.Sandbox, x *backend.Inside, past bool) {
	w.Head("Read by a probe")
	when := backend.Age(w.f.Now.Sub(x.At)) + " ago"
	if past {
		when += ", before its restart"
	}
	awake := ""
	switch {
	case x.Answered:
		awake = "  the sandbox was awake then"
	case !x.Read(backend.PartProcesses) && !x.Read(backend.PartArchives) && !x.Read(backend.PartMounts):
		awake = "  nothing inside answered"
	}
	w.Field("read", normal(when), dim(awake))
	w.text("root", x.Root)
	if sees, known := x.AgentSees.Get(); known {
		word := kit.Span{Tone: theme.Normal, Text: "running"}
		if !sees {
			word = kit.Span{Tone: theme.Warn, Text: "not running"}
		}
		w.Field("the agent sees", word, dim("  "+x.AgentWhy.String()))
	} else {
		w.Field("the agent sees", normal("not known"), dim("  "+x.AgentWhy.String()))
	}
	if off := x.ClockOff; off != 0 {
		way := "ahead of"
		if off < 0 {
			way = "behind"
		}
		w.Field("its clock", kit.Span{Tone: theme.Warn, Text: off.Abs().String() + " " + way + " ours"}, dim("  measured by a command of the probe: times of processes are corrected by it"))
	}
	_, over := w.f.State.EndOn(b)
	for i, p := range x.Processes {
		w.process(label(i+1, "processes"), &p)
		r := w.f.State.RoleOf(b, &p, x.At)
		if !r.What.IsEmpty() {
			w.Field("", dim(r.What.String()))
		}
		if !r.Late.IsEmpty() {
			w.Field("", kit.Span{Tone: theme.Warn, Text: r.Late.String()})
		}
		if over && p.MayRun() {
			w.Field("", kit.Span{Tone: theme.Warn, Text: "its session is over: it runs on"})
		}
	}
	if x.More > 0 {
		w.Field("", dim(backend.Counted(x.More, "more process", "more processes")+" that ended"))
	}
	for i, a := range x.Archives {
		what := "of a save"
		if a.Restore {
			what = "of a restore"
		}
		tone := theme.Dim
		if w.f.State.ArchiveLeft(b, x, &a) {
			what, tone = what+" that was cut off", theme.Warn
		}
		written := ", when it was written is not told"
		if !a.ChangedAt.IsZero() {
			written = ", last written " + Clock(a.ChangedAt, w.f.Now)
		}
		w.Field(label(i+1, "archives"), normal(a.Path.String()), dim("  "+backend.Bytes(a.Size)+", "), kit.Span{Tone: tone, Text: what}, dim(", "+w.archiveOf(&a)+written))
	}
	for i, m := range x.Mounts {
		w.Field(label(i+1, "drives at"), normal(m.String()))
	}
	name, tone, under := "not mounted", theme.Warn, w.f.State.Saving(b, x)
	if !under.IsEmpty() {
		name, tone = "absent then", theme.Normal
	}
	w.text("snapshot", under)
	for i, m := range w.f.State.DrivesLost(b, x) {
		w.Field(label(i+1, name), kit.Span{Tone: tone, Text: m.String()}, dim("  the saved state declares it"))
	}
	if past || w.f.State.StateNaming(b) == nil { // else the saved state has it
		w.skips(backend.LeftOut{}, x)
	}
	for i, u := range x.Owners {
		w.Field(label(i+1, "files belong to"), normal(u.String()))
	}
	for i, part := range x.Unread {
		why := ""
		if i < len(x.UnreadWhy) {
			why = "  " + x.UnreadWhy[i].String()
		}
		w.Field(label(i+1, "not read"), normal(part.String()), dim(why))
	}
}

// archiveOf names the session of an archive: by the saved state that has its digits.
func (w *writer) archiveOf(a *backend.SandboxArchive) string {
	if id := w.f.State.SessionOfDigits(a.Session.String()); !id.IsZero() {
		return "session " + id.Safe().String()
	}
	return "session " + a.Session.String() + "…"
}

// process writes one process: whether it is over, not what its status is called, decides.
func (w *writer) process(name string, p *backend.SandboxProcess) {
	words := []string{p.Reported.String()}
	switch {
	case p.Class == backend.WorkRunning && p.Reported.String() != "running":
		words = append(words, "but it runs on")
	case p.Class == backend.WorkUnknown && p.MayRun():
		words = append(words, "whether it ended is not told yet")
	}
	if code, known := p.ExitCode.Get(); known {
		words = append(words, backend.Textf("exit code %d", code).String())
	} else if !p.EndedAt.IsZero() {
		words = append(words, "its exit code is not told: the agent takes it as 0")
	}
	if !p.StartedAt.IsZero() {
		words = append(words, "started "+Clock(p.StartedAt, w.f.Now))
	}
	if !p.EndedAt.IsZero() {
		words = append(words, "ended "+Clock(p.EndedAt, w.f.Now))
	}
	if p.Restarts > 0 {
		words = append(words, "restarted "+backend.Counted(p.Restarts, "time", "times"))
	}
	w.Field(name, normal(p.PID.String()+" "+p.Name.String()), dim("  "+strings.Join(words, ", ")))
	w.Field("", normal(p.Command.String()))
	if !p.WorkDir.IsEmpty() {
		w.Field("", dim("in "+p.WorkDir.String()))
	}
	for _, out := range []struct {
		name string
		text backend.Safe
	}{{"stdout", p.Stdout}, {"stderr", p.Stderr}, {"both, in no order", p.Merged}} {
		if !out.text.IsEmpty() {
			w.Field("", dim(out.name+": "+out.text.String()))
		}
	}
}
