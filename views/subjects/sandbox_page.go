package subjects

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
)

// reportedBy says whose word the state of a sandbox is, and why there is none.
func reportedBy(b *backend.Sandbox) string {
	switch {
	case !b.Doubt.IsEmpty():
		return "the operator routes say it; " + b.Doubt.String() + ": whether it runs is not known"
	case !b.Reported.IsEmpty() || b.BridgeID.IsZero() || b.Class != backend.SandboxUnknown:
		return "what the platform says"
	case b.Unlisted:
		return "the platform does not list it: its id is known, and no more"
	}
	return "its list gives no state of it"
}

func (w *writer) sandbox(b *backend.Sandbox) {
	set := Sandboxes()
	col := func(name string) Cell { return set.Columns[set.Column(name)].Cell(b, w.f.Snapshot) }
	w.cell("reported", col("reported"), dim("  "+reportedBy(b)))
	w.observed(b)
	if !b.Health.IsNotApplicable() {
		w.cell("health check", col("health"))
	}
	if c := col("exit"); b.ExitCode.IsKnown() || b.OOMKilled.Or(false) {
		w.cell("exit", c)
	}
	w.text("start failed", b.StartError)
	w.read(&b.Meta)
	if !b.Judged() {
		w.Field("alerts", dim("none: it is not watched. all_containers = true of its source watches every container."))
	}
	if !b.IsSandbox {
		w.Field("", dim("Nothing marks it as a sandbox, so nothing is ever done to it. A sandbox has the session label or the selector of its source."))
	}
	w.doable(w.urgent(b.Key, func() { w.sandboxFacts(b) }))
	w.linked(b)
	w.Head("Joined")
	w.joinedSession(b)
	w.joinedBy(b.JoinedBy, b.JoinedLine)
	w.belief(b)
	w.workspaceOf(w.f.State.SessionOn(b), w.f.State.WorkspaceOn(b))
	for i, m := range b.Mounts {
		ro := ", writable"
		if m.ReadOnly {
			ro = ", read-only"
		}
		w.Field(label(i+1, "mounts"), normal(fmt.Sprintf("%s on %s", m.Source, m.Destination)), dim("  "+m.Type.String()+ro))
	}
	w.workIn(b.Key)
	w.savedState(b)
	w.agentErrors(b)
	w.lifecycle(b)
	w.history(&b.Meta)
	w.extra("Labels", b.Labels)
	w.raw(&b.Meta)
}

// sandboxFacts writes what was read of a sandbox beyond its state.
func (w *writer) sandboxFacts(b *backend.Sandbox) {
	set := Sandboxes()
	col := func(name string) Cell { return set.Columns[set.Column(name)].Cell(b, w.f.Snapshot) }
	w.planes(b)
	w.checks(b)
	w.text("check said", b.HealthOutput)
	w.number("restarts", b.RestartCount)
	w.text("restart policy", b.RestartPolicy)
	w.at("created", b.CreatedAt, "")
	w.at("started", b.StartedAt, "")
	if b.FinishedAt.IsKnown() {
		w.at("finished", b.FinishedAt, "")
	}
	w.lostHere("files", b)
	if u, ok := b.Usage.Get(); ok {
		limit := ""
		if n, known := u.MemLimit.Get(); known && !u.Mem.IsKnown() {
			limit = " of " + backend.Bytes(n)
		}
		w.Field("usage", normal("cpu "+col("cpu").Text.String()+cpuLimit(&u)+", memory "+col("mem").Text.String()+limit+sent(&u)),
			dim(over(&u)+"  measured "+backend.Age(w.f.Now.Sub(u.At))+" ago"))
	}
	if _, measured := b.Usage.Get(); !measured && b.MemLimit.IsKnown() {
		w.Field("memory limit", normal(backend.Bytes(b.MemLimit.Or(0))))
	}
	w.logTail(b)
	w.running("image", b.Image, &b.Meta)
	w.text("provider", b.Provider)
	w.cloud(b)
	w.text("directory", b.WorkDir)
	w.text("command", b.Command)
	w.text("ports", backend.Join(b.Ports, " "))
}

// cpuLimit, sent and over are what only a platform's own analytics says of usage.
func cpuLimit(u *backend.Usage) string {
	if n, known := u.CPULimit.Get(); known {
		return " of " + percent1(n)
	}
	return ""
}

func sent(u *backend.Usage) string {
	if n, known := u.Sent.Get(); known {
		return ", sent " + backend.Bytes(n)
	}
	return ""
}

func over(u *backend.Usage) string {
	if u.Over > 0 {
		return "  in " + backend.Age(u.Over) + ", memory at its highest"
	}
	return ""
}

// logTail writes how its log ended when it last failed; a line that begins with a time of a known zone, with that time short.
func (w *writer) logTail(b *backend.Sandbox) {
	t, known := b.Log.Get()
	if !known {
		return
	}
	for i, l := range t.Lines {
		unzoned := time.FixedZone("", 0)
		spans := []kit.Span{normal(l.String())}
		if at, rest, dated := l.LeadingTime(unzoned); dated && at.Location() != unzoned {
			spans = []kit.Span{dim(Clock(at, w.f.Now) + "  "), normal(rest.String())}
		}
		w.Field(label(i+1, "its log ends"), spans...)
	}
	if !t.Why.IsEmpty() {
		w.Field("its log", dim("no lines: "+t.Why.String()))
	}
}

// checks says since when the health check fails, or when it passed last.
func (w *writer) checks(b *backend.Sandbox) {
	c, known := b.HealthChecks.Get()
	early, late, failing := b.Failing()
	switch {
	case failing && c.Passed.IsZero():
		w.Field("check fails", normal("since "+Clock(late, w.f.Now)+" or earlier"), dim(", ≥ "+backend.Age(w.f.Now.Sub(late))+" ago; "+inARow(c.Failed)+", none before is remembered"))
	case failing:
		w.Field("check fails", normal("began "+ago(early, late, w.f.Now)), dim("; "+inARow(c.Failed)))
	case known:
		w.at("checked", backend.Known(c.Checked), "")
	}
}

func inARow(n int) string {
	if n == 1 {
		return "1 check so far"
	}
	return number(n, "check") + " in a row"
}

// workspaceOf shows the registry entry behind a session's name for it.
func (w *writer) workspaceOf(session, name backend.ID) {
	if name.IsZero() {
		w.Field("workspace", dim("none is named"))
		return
	}
	for x := range w.f.State.Workspaces.All() {
		if x.Key.Parent == session && x.Key.ID == name {
			w.to(x.Key)
			w.Field("workspace", normal(x.Key.Safe().String()+"  "), w.state(WorksCell(x, w.f.Snapshot)),
				dim("  the registry says "+x.Reported.String()))
			return
		}
	}
	w.Field("workspace", normal(name.Safe().String()), dim("  no registry lists it"))
}

type sandboxKind struct{ base }

func (sandboxKind) listing() Listing { return Sandboxes().Listing() }

func (sandboxKind) name(k backend.Key, s *views.Snapshot) backend.Safe {
	if b := s.State.Sandbox(k); b != nil {
		return sandboxName(b)
	}
	if p, ok := s.Board.Past(k); ok {
		if name := sandboxName(p.Entity.(*backend.Sandbox)); name != k.Safe() {
			return name
		}
	}
	return shortHash(k.ID, s.State)
}

// shownHash is how much of a hash is shown at least.
const shownHash = 12

// shortHash is the beginning of an engine's id that no other sandbox has. Other ids stay whole.
func shortHash(id backend.ID, st *fleet.State) backend.Safe {
	raw, n := id.Raw(), shownHash
	if len(raw) < 32 || strings.Trim(raw, "0123456789abcdef") != "" {
		return id.Safe()
	}
	for b := range st.Sandboxes.All() {
		for other := b.Key.ID.Raw(); n < len(raw) && other != raw && strings.HasPrefix(other, raw[:n]); {
			n++
		}
	}
	return backend.Clean(raw[:n], shownHash*6)
}

func (sandboxKind) details(w *writer, k backend.Key) bool {
	return write(w, w.f.State.Sandbox(k), w.sandbox)
}

func (sandboxKind) row(w *writer, e backend.Entity) []kit.Span {
	return w.sandboxSpans(e.(*backend.Sandbox))
}

func (sandboxKind) page(backend.Key, *views.Frame) (incident, why string, trouble bool) {
	return "4", "This page is about sandboxes.", false
}

func (sandboxKind) related(k backend.Key, s *views.Snapshot, add func(backend.Key)) {
	if b := s.State.Sandbox(k); b != nil {
		mountedBy(s.State, b, add)
		ofSession(s.State, b.Session, b.Workspace, "", add)
	}
}

func (sandboxKind) summary(e backend.Entity, _ *views.Snapshot, quote func(backend.Safe) string) []string {
	b := e.(*backend.Sandbox)
	return []string{fmt.Sprintf("reported %s, image %s", quote(b.Reported), quote(b.Image))}
}

func (sandboxKind) remark(e backend.Entity) (what string, text backend.Safe) {
	return "the health check of", e.(*backend.Sandbox).HealthOutput
}

// linked writes what to do instead of a working directory that is a link, where no alert names the sandbox: the page of an alert says it.
func (w *writer) linked(b *backend.Sandbox) {
	named := func(a *alerts.Alert) bool {
		return slices.ContainsFunc(a.Subjects, func(x alerts.Subject) bool { return x.Key == b.Key })
	}
	if backend.LinkedRoot(b) == "" || slices.ContainsFunc(w.f.Board.Alerts, named) {
		return
	}
	w.Head(headThen)
	w.Field("then", normal(string(runbook.InsteadOfLink)))
}
