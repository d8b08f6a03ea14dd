package subjects

import (
	"strings"

	"sandglass/backend"
	"sandglass/views/theme"
)

// hasCloudName reports whether a cloud platform gives a sandbox a name beside its id, which its own commands ask for.
func hasCloudName(b *backend.Sandbox) bool { return !b.Region.IsEmpty() && !b.Name.IsEmpty() }

// cloud writes what only cloud platforms say of a sandbox.
func (w *writer) cloud(b *backend.Sandbox) {
	if hasCloudName(b) {
		w.text("id", b.Key.Safe())
	}
	w.text("region", b.Region)
	w.text("organisation", b.Org)
	w.text("runtime", b.Runtime)
	w.text("application", b.Application)
	w.text("script", b.Script)
	w.text("object class", b.ObjectClass)
	if !b.Container.IsZero() && b.Container != b.Key.ID {
		w.text("container", b.Container.Safe())
	}
	if !b.BridgeID.IsZero() && b.BridgeID != b.Key.ID {
		w.text("sandbox id", b.BridgeID.Safe())
	}
	if b.Unattributed {
		w.Field("sandbox id", normal("unattributed"), dim("  neither the configuration nor an operator route names it"))
	}
	if !b.FreshAt.IsZero() {
		w.Field("disk", normal("empty since "+Clock(b.FreshAt, w.f.Now)), dim("  its container started again; files from before are gone"))
	}
	if !b.ReapedAt.IsZero() {
		w.Field("removed at", normal(Clock(b.ReapedAt, w.f.Now)), dim("  if it sleeps on"))
	}
	var views []string
	for _, v := range b.Views {
		views = append(views, v.Name.String()+" says "+v.Value.String())
	}
	if len(views) > 0 {
		w.tone("routes differ", theme.Warn, strings.Join(views, ", "))
	}
}

// lifecycle writes what the platform did to a sandbox, the newest last.
func (w *writer) lifecycle(b *backend.Sandbox) {
	if len(b.Lifecycle) == 0 {
		return
	}
	w.Head("Platform events")
	for _, e := range b.Lifecycle {
		text := e.Type.String()
		if !e.Checkpoint.IsEmpty() {
			text += ", checkpoint " + e.Checkpoint.String()
		}
		if e.Deferred.Or(false) {
			text += ", deferred"
		}
		if !e.Previous.IsEmpty() {
			text += ", was " + e.Previous.String()
		}
		w.Field(Clock(e.At, w.f.Now), normal(text))
	}
	w.Field("read", dim(backend.Age(w.f.Now.Sub(b.LifecycleAt))+" ago"))
}

// hub writes what a hub says of a session.
func (w *writer) hub(h *backend.HubSession) {
	if h == nil {
		return
	}
	w.text("label", h.Label)
	w.text("error", backend.HubSeconds(h.Error))
	w.text("trace", h.Trace)
	w.text("mode", h.Mode)
	w.text("bucket", h.Bucket)
	if open, known := h.Connected.Get(); known {
		word := "no"
		if open {
			word = "yes"
		}
		w.Field("connected", normal(word), dim("  its sandbox to the Hub, as the Hub's list says"))
	}
	switch {
	case !h.NoDriverSince.IsZero():
		w.tone("driver", theme.Warn, "none for at least "+backend.Age(w.f.Now.Sub(h.NoDriverSince)))
	case h.Driver.IsKnown():
		w.yes("driver", h.Driver)
	}
	for i, p := range h.Participants {
		text := p.Role.String() + " " + p.ID.String() + " " + p.Transport.String()
		if at, known := p.ConnectedAt.Get(); known {
			text += ", connected " + backend.Age(w.f.Now.Sub(at)) + " ago"
		}
		w.Field(label(i+1, "participants"), normal(text))
	}
	if !h.DriverAt.IsZero() && len(h.Participants) == 0 {
		w.Field("participants", normal("none"))
	}
	w.at("last activity", h.LastActivity, "")
	w.yes("can be woken", h.Wakeable)
}

// joinedBy says what joins a sandbox and its session, with the log line where it was one.
func (w *writer) joinedBy(by, line backend.Safe) {
	if by.IsEmpty() {
		return
	}
	w.Field("joined by", dim(by.String()))
	if !line.IsEmpty() {
		w.Field("", dim(line.String()))
	}
}

// joins says what joins the sandboxes of a session to it.
func (w *writer) joins(s *backend.Session) {
	all := w.f.State.SandboxesOf(s.Key.ID)
	if len(all) == 0 {
		w.joinedBy(hubOf(s).JoinedBy, backend.Safe{})
		return
	}
	for _, b := range all[:min(len(all), 5)] {
		w.joinedBy(b.JoinedBy, b.JoinedLine)
	}
}
