package subjects

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// refItem is a reference in the JSON of a list, with what the inventory of its platform says of it.
type refItem struct {
	*backend.Ref
	// Compared is absent where no agent SDK saved the reference.
	Compared *fleet.RefMatch `json:"compared,omitempty"`
}

func refJSON(r *backend.Ref, s *views.Snapshot) ([]byte, error) {
	item := refItem{Ref: r}
	if r.Agent != nil {
		m := s.State.MatchOf(r)
		item.Compared = &m
	}
	return views.JSON(item)
}

// agentState writes what the state of an agent SDK says, and how the inventory differs.
func (w *writer) agentState(r *backend.Ref) {
	x := r.Agent
	w.compared(w.f.State.MatchOf(r))
	w.savedErrors(r)
	w.Head("Session state")
	w.kept(x)
	var in *backend.Inside
	if b := w.f.State.SandboxNamed(r.Sandbox, r.Provider); b != nil {
		in, _ = b.Inside()
	}
	w.skips(x.LeftOut, in)
	if x.Unnamed {
		w.Field("sandbox id", normal("not saved"), dim("  the SDK takes it out with the credentials of a mount"))
	}
	w.text("directory", x.Directory)
	w.text("address", x.Address)
	w.text("image", x.Image)
	if mb, ok := x.Memory.Get(); ok {
		w.Field("memory", normal(strconv.Itoa(mb)+" MB"))
	}
	w.text("region", x.Region)
	w.text("ttl", x.TTL)
	w.portsOf(x)
	w.drivesOf(x)
	w.pauses(x)
	for i, v := range x.Env {
		w.Field(label(i+1, "environment"), normal(v.Name.String()+" "), dim(" from "+v.Origin.String()+", value not shown"))
	}
	for i, l := range x.Labels {
		w.Field(label(i+1, "label"), normal(l.Name.String()+" = "+l.Value.String()))
	}
	w.timeouts(x)
}

// savedState writes the newest state that names a sandbox beside what the inventory says of it.
func (w *writer) savedState(b *backend.Sandbox) {
	r := w.f.State.StateNaming(b)
	if r == nil {
		return
	}
	w.Head("Saved state of its session")
	w.text("origin", r.Origin)
	w.at("saved", r.SavedAt, "")
	w.alsoNamedBy(b, r)
	w.compared(w.f.State.MatchOf(r))
	w.kept(r.Agent)
	in, _ := b.Inside()
	w.skips(r.Agent.LeftOut, in)
	w.portsOf(r.Agent)
	w.drivesOf(r.Agent)
	w.pauses(r.Agent)
	w.timeouts(r.Agent)
	w.terminals(b)
}

// alsoNamedBy writes which other saved states name a sandbox: two sessions of which each takes it for its own.
func (w *writer) alsoNamedBy(b *backend.Sandbox, shown *backend.Ref) {
	n := 0
	for r := range w.f.State.Refs.All() {
		if r.Agent == nil || r.Key == shown.Key || r.Session == shown.Session || w.f.State.SandboxNamed(r.Sandbox, r.Provider) != b {
			continue
		}
		if n++; n <= 3 {
			w.to(r.Key)
			w.Field(label(n, "also named by"), kit.Span{Tone: theme.Warn, Text: r.Origin.String()}, dim("  the saved state of session "+r.Session.Safe().String()))
		}
	}
	if n > 3 {
		w.Field("", dim(backend.Counted(n-3, "more state", "more states")))
	}
}

// terminals writes what the agent needs to open a terminal, and what of it is there.
func (w *writer) terminals(b *backend.Sandbox) {
	needs := w.f.State.TerminalNeeds(b)
	if len(needs) == 0 {
		return
	}
	for i, n := range needs {
		word := normal("cannot tell")
		if have, known := n.Have.Get(); known && have {
			word = normal("present")
		} else if known {
			word = kit.Span{Tone: theme.Warn, Text: "missing"}
		}
		w.Field(label(i+1, "terminals need"), normal(n.Name.String()+": "), word, dim("  "+n.Why.String()))
	}
	w.Field("", dim("Commands do not need them. Their shells lack the environment of the session, by design. Sandglass opens none: that would start a shell."))
}

// agentErrors writes what its agent's log says of it, each kind of error with what the agent made of the newest.
func (w *writer) agentErrors(b *backend.Sandbox) {
	if r := w.f.State.StateOn(b); r != nil {
		w.savedErrors(r)
	}
	all := w.f.State.SDKErrorsOn(b)
	if len(all) == 0 {
		return
	}
	w.Head("Errors of its agent in the last hour")
	w.sdkErrors(all)
	if x, read := b.Inside(); read && slices.ContainsFunc(all, func(e fleet.SDKError) bool { return backend.Denied(e.Newest) }) {
		w.text("owners", x.OwnedBy())
	}
}

// savedErrors writes which errors of the SDK stand in a saved state. Each is the agent's word, from before the state was saved.
func (w *writer) savedErrors(r *backend.Ref) {
	if len(r.Agent.Errors) == 0 {
		return
	}
	w.Head("Errors of its agent in its saved state")
	w.at("saved", r.SavedAt, "")
	for i, x := range r.Agent.Errors {
		w.Field(label(i+1, "error"), normal(x.Class.String()+" "), dim(" "+x.Means.String()))
		w.Field("", dim("at "+x.Where.String()+" in the state: "+cmp.Or(x.Details.String(), "no more is told")+". When it happened is not told."))
	}
}

// stillNamed writes which saved states name a sandbox that is gone, and the alerts about them.
func (w *writer) stillNamed(key backend.Key) {
	if key.Kind != backend.KindSandbox {
		return
	}
	for r := range w.f.State.Refs.All() {
		if r.Agent == nil || r.Sandbox != key.ID {
			continue
		}
		w.Head("A saved state still names it")
		w.to(r.Key)
		w.Field(noun(r.Key.Kind), kindOf(r.Key.Kind).row(w, r)...)
		w.compared(w.f.State.MatchOf(r))
		var list []*alerts.Alert
		for _, a := range w.f.Board.Alerts {
			if slices.ContainsFunc(a.Subjects, func(x alerts.Subject) bool { return x.Key == r.Key }) {
				list = append(list, a)
			}
		}
		w.alerts(list, len(list), func(a *alerts.Alert) string { return w.aged(a.State, a.Since) })
	}
}

// unnamedErrors writes what a log says of errors of agents without naming a session: they are on the page of no sandbox.
func (w *writer) unnamedErrors(h *fleet.SourceHealth) {
	if all := w.f.State.SDKErrorsWithout(h.Key.Source); len(all) > 0 {
		w.section("Errors of agents in the last hour whose lines name no session")
		w.sdkErrors(all)
	}
}

func (w *writer) sdkErrors(all []fleet.SDKError) {
	for _, x := range all {
		w.Field(x.Of.String(), normal(backend.Counted(int(x.N), "line", "lines")+", the newest at "+Clock(x.At, w.f.Now)+": "+x.Newest.String()), dim(mean(x.Means)))
	}
}

func mean(s backend.Safe) string {
	if s.IsEmpty() {
		return ""
	}
	return "  " + s.String()
}

// kept writes where the files of a session are, and what of them is kept elsewhere.
func (w *writer) kept(x *backend.AgentState) {
	w.Field("root", append([]kit.Span{normal(x.Root.String())}, mark(x.RootDefault, "  the default")...)...)
	if backend.LooseRoot(x.Root.String()) {
		w.Field("", dim("It is not absolute: where it is depends on the directory in which the sandbox's server runs, which is not known. No probe lists it."))
	}
	switch {
	case x.Snapshot.String() == "noop":
		w.Field("snapshot", normal("noop "+x.SnapshotID.Safe().String()), dim("  it keeps nothing: files are in the sandbox only"))
	case !x.Snapshot.IsEmpty() || !x.SnapshotID.IsZero():
		w.Field("snapshot", normal(strings.TrimSpace(x.Snapshot.String()+" "+x.SnapshotID.Safe().String())))
	}
}

// skips writes which paths snapshots leave out, each with what says so: the manifest of a saved state, or the newest save that a probe
// found; nil: none looked.
func (w *writer) skips(by backend.LeftOut, x *backend.Inside) {
	const shown = 20
	n := len(by.Skips)
	if x != nil {
		by.With(&x.LeftOut)
	}
	for i, p := range by.Skips[:min(len(by.Skips), shown)] {
		from := "  by its manifest"
		if i >= n {
			from = "  by the tar of the newest save that a probe saw"
		}
		w.Field(label(i+1, "not in snapshots"), normal(p.String()), dim(from))
	}
	if more := max(0, len(by.Skips)-shown) + by.SkipsMore; more > 0 {
		w.Field("", dim(backend.Counted(more, "more path", "more paths")))
	}
}

// drivesOf writes where the manifest of a session has drives.
func (w *writer) drivesOf(x *backend.AgentState) {
	for i, d := range x.Drives {
		w.Field(label(i+1, "drives"), normal(d.String()))
	}
	for i, m := range x.OtherMounts {
		w.Field(label(i+1, "other mounts"), normal(m.String()), dim("  whether it is mounted is not known: no probe looks for it"))
	}
}

// portsOf writes the ports that a session exposes, and who can open them.
func (w *writer) portsOf(x *backend.AgentState) {
	ports := make([]string, 0, len(x.Ports))
	for _, p := range x.Ports {
		ports = append(ports, strconv.Itoa(p))
	}
	if len(ports) > 0 {
		w.Field("exposed ports", normal(strings.Join(ports, " ")))
	}
	if public, ok := x.PortsPublic.Get(); ok && public {
		w.Field("port addresses", normal("public"), dim("  they open without a token"))
	} else if ok {
		w.Field("port addresses", normal("private"), dim("  a token opens them for "+seconds(x.PortTTL.Or(0))))
	}
}

// pauses writes whether the end of a session keeps its sandbox.
func (w *writer) pauses(x *backend.AgentState) {
	if on, ok := x.PauseOnExit.Get(); ok && on {
		w.Field("pause on exit", normal("yes"), dim("  the end of the session keeps the sandbox"))
	} else if ok {
		why := "  the end of the session deletes the sandbox"
		if x.PauseDefault {
			why = "  the default, as the state does not name it:" + why[1:]
		}
		w.Field("pause on exit", normal("no"), dim(why))
	}
}

// timeouts writes how long the SDK waits, each with where that is from.
func (w *writer) timeouts(x *backend.AgentState) {
	for i, t := range x.Timeouts {
		value := normal(t.Name.String() + " " + seconds(t.Seconds))
		switch {
		case t.Changed():
			w.Field(label(i+1, "timeouts"), value, kit.Span{Tone: theme.Warn, Text: "  changed: the default is " + seconds(t.Default)})
		case t.Saved:
			w.Field(label(i+1, "timeouts"), value, dim("  from the state, as the default"))
		default:
			w.Field(label(i+1, "timeouts"), value, dim("  the default"))
		}
	}
}

func (w *writer) compared(m fleet.RefMatch) {
	tone := theme.Warn
	if m.Result == fleet.RefSame {
		tone = theme.Normal
	} else if m.Result == fleet.RefUnknown {
		tone = theme.Dim
	}
	w.Field("inventory", kit.Span{Tone: tone, Text: string(m.Result)}, dim("  "+m.Why.String()))
	for i := range m.Differences {
		d := &m.Differences[i]
		if d.State.IsEmpty() && d.Inventory.IsEmpty() {
			w.Field("", normal(d.Said().String()))
			continue
		}
		w.Field("", normal(d.Name.String()+": "), normal(d.State.String()), dim(" in the state, "), normal(d.Inventory.String()), dim(" in the inventory"))
	}
	for i := range m.Open {
		w.Field("", dim(m.Open[i].Said().String()))
	}
}

func seconds(s float64) string { return strconv.FormatFloat(s, 'f', -1, 64) + " s" }

// mark is a dim remark where it holds.
func mark(on bool, remark string) []kit.Span {
	if !on {
		return nil
	}
	return []kit.Span{dim(remark)}
}

// joinedSession writes the session of a sandbox. Where nothing else joins one, it is that of a saved state which names the sandbox, or
// with whose digits an agent SDK named it.
func (w *writer) joinedSession(b *backend.Sandbox) {
	if shared := w.f.State.SharersOf(b); len(shared) > 0 {
		for _, id := range shared[:min(len(shared), mostJoined)] {
			w.owner(b.Key.Source, id)
		}
		w.Field("", warn(number(len(shared), "session")+" share it"), dim("  their workspaces and references name it"))
		return
	}
	on := w.f.State.SessionOn(b)
	_, digits := w.f.State.AgentSession(b)
	if on.IsZero() && digits != "" {
		id, another := w.f.State.NamesAnother(digits)
		if x := w.f.State.SessionBeginning(digits); x != nil {
			w.to(x.Key)
			remark := ", and no saved state names it"
			if !another.IsZero() {
				remark = "; its saved state names " + another.Safe().String()
			}
			w.Field("session", append(sessionKind{}.row(w, x), dim("  a candidate: its id begins with the digits of the name"+remark))...)
		} else if !another.IsZero() {
			w.Field("session", normal(id.Safe().String()), dim("  a candidate from its name: the saved state of that session names "+another.Safe().String()))
		} else {
			w.Field("session", normal(digits+"…"), dim("  a candidate from its name: no saved state names one session that begins so"))
		}
		if p, invalid := w.f.State.InvalidState(digits); invalid {
			w.Field("saved state", warn("invalid"), dim("  "+p.What.String()+". It is not used: "+p.Where.String()))
		}
		return
	}
	if w.owner(b.Key.Source, on); !on.IsZero() && b.Session.IsZero() {
		w.joinedBy(joinOf(b, w.f.State))
	}
}

// belief writes what the agent of a sandbox takes it for.
func (w *writer) belief(b *backend.Sandbox) {
	x, is := w.f.State.BeliefOn(b)
	if !is {
		return
	}
	word, tone := "not known", theme.Normal
	if runs, known := x.Runs.Get(); known && runs {
		word = "running"
	} else if known {
		word = "not running"
	}
	why := "  " + x.Why.String()
	if !x.Differs.IsEmpty() {
		tone, why = theme.Warn, why+"; "+x.Differs.String()
	}
	w.Field("agent believes", kit.Span{Tone: tone, Text: word}, dim(why))
}
