package subjects

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

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
	w.text("told by", b.ToldBy)
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
		w.Field("sandbox id", normal("unattributed"), dim("  nothing names its sandbox: list it in sandboxes, read references, or add operator routes"))
	}
	if at := b.EmptySince(); !at.IsZero() {
		w.Field("disk", normal("empty since "+Clock(at, w.f.Now)), dim("  its container started again; files from before are gone"))
	}
	if !b.ExpiresAt.IsZero() {
		w.Field("expires", normal(Clock(b.ExpiresAt, w.f.Now)), dim("  by "+b.ExpiresBy.String()))
	}
	w.text("ttl", b.TTL)
	w.text("power", b.Power)
	if !b.LastUsedAt.IsZero() {
		w.at("last used", backend.Known(b.LastUsedAt), "")
	}
	if why := w.invalid(b); !why.IsEmpty() {
		w.Field("address", normal(b.Address.String()), warn("  "+why.String()))
	} else {
		w.text("address", b.Address)
	}
	if len(b.EnvNames) > 0 {
		w.Field("environment", normal(backend.Join(b.EnvNames, " ").String()), dim("  names only"))
	} else if b.NoEnv {
		w.Field("environment", normal("none"))
	}
	w.inside(b)
	w.previews(b)
	w.snapshots(b)
	if !b.ReapedAt.IsZero() {
		why := "  if it sleeps on"
		if !b.ReapedBy.IsEmpty() {
			why = "  by " + b.ReapedBy.String() + ", if nothing uses it before"
		}
		w.Field("removed at", normal(Clock(b.ReapedAt, w.f.Now)), dim(why))
	}
	for i, x := range b.OpenLimits {
		w.Field(label(i+1, "limits"), normal(x.String()))
	}
	var views []string
	for _, v := range b.Views {
		views = append(views, v.Name.String()+" says "+v.Value.String())
	}
	if len(views) > 0 {
		w.tone("routes differ", theme.Warn, strings.Join(views, ", "))
	}
}

// previews writes where a sandbox answers on the internet, and until when.
func (w *writer) previews(b *backend.Sandbox) {
	for i, p := range b.Previews {
		at, ends := p.Expires.Get()
		who := access(&p, ends && !at.After(w.f.Now))
		text := p.Name.String()
		if port, known := p.Port.Get(); known {
			text += backend.Textf(" port %d", port).String()
		}
		if lives := p.Lives(w.until); !lives.IsEmpty() {
			who += ", " + lives.String()
		}
		if p.Control {
			who += ", leads to files and commands"
		}
		if !p.Status.IsEmpty() {
			who += ", " + p.Status.String()
		}
		w.Field(label(i+1, "previews"), normal(text), dim("  "+who))
		if origin := w.previewOrigin(b, &p); origin != "" {
			w.Field("", dim(origin))
		}
		if !p.URL.IsEmpty() {
			w.Field("", dim(p.URL.String()+reached(p.URL)))
		}
		for _, t := range p.Tokens {
			until := "its end is not known"
			if at, known := t.Expires.Get(); known {
				until = w.until(at)
			} else if t.Expires.IsNotApplicable() {
				until = "without an end"
			}
			if t.Expired.Or(false) && !strings.HasPrefix(until, "ended") {
				until = "expired"
			}
			w.Field("", dim("token "+t.Name.String()+", "+until))
		}
		if !p.TokensAt.IsZero() && len(p.Tokens) == 0 && !p.Public.Or(true) && !p.Unmade() {
			w.Field("", dim("no token: it cannot be opened"))
		}
	}
	if !b.PreviewsAt.IsZero() && len(b.Previews) == 0 {
		w.Field("previews", normal("none"))
	}
}

// access says who may open an address, or could before it ended.
func access(p *backend.Preview, ended bool) string {
	public, known := p.Public.Get()
	switch {
	case p.Unmade():
		return "not made: it has no address"
	case !known:
		return "public or private is not told"
	case ended && public:
		return "was public"
	case ended:
		return "was private"
	case public:
		return "public: anyone with the address"
	}
	return "private"
}

// until is an end that is to come, or that is over.
func (w *writer) until(at time.Time) string {
	if at.After(w.f.Now) {
		return "until " + Clock(at, w.f.Now)
	}
	return "ended " + backend.Age(w.f.Now.Sub(at)) + " ago, at " + Clock(at, w.f.Now)
}

// previewOrigin says who made an address, and whether the saved state of its session declares its port.
func (w *writer) previewOrigin(b *backend.Sandbox, p *backend.Preview) string {
	port, known := p.Port.Get()
	var said []string
	switch {
	case p.Control:
		said = append(said, "a credential: its address opens the sandbox's own API")
	case known && p.Name.String() == "port-"+strconv.Itoa(port):
		said = append(said, "of the agent's SDK, by its name")
	}
	if r := w.f.State.StateOn(b); r != nil && known && !p.Control {
		word := "is not among the exposed ports of the saved state"
		if slices.Contains(r.Agent.Ports, port) {
			word = "is declared by the saved state"
		}
		said = append(said, "port "+strconv.Itoa(port)+" "+word)
	}
	return strings.Join(said, "; ")
}

// reached says how an address is reached: with or without TLS, and at which port. The agent's SDK drops its path.
func reached(address backend.Safe) string {
	u, err := url.Parse(address.String())
	if err != nil || u.Host == "" {
		return ""
	}
	port, tls := u.Port(), "without TLS"
	if u.Scheme == "https" {
		port, tls = cmp.Or(port, "443"), "TLS"
	}
	text := "  " + tls + ", port " + cmp.Or(port, "80")
	if strings.Trim(u.Path, "/") != "" {
		text += "; the agent's SDK drops the path"
	}
	return text
}

// snapshots writes what could be restored, the newest first.
func (w *writer) snapshots(b *backend.Sandbox) {
	const shown = 3
	for i, s := range b.Snapshots[:min(len(b.Snapshots), shown)] {
		text := s.Name.String()
		if at, known := s.CreatedAt.Get(); known {
			text += " of " + Clock(at, w.f.Now)
		}
		w.Field(label(i+1, "snapshots"), normal(text), dim("  "+s.Status.String()+", id "+s.ID.Safe().String()))
	}
	if more := len(b.Snapshots) - shown; more > 0 {
		w.Field("", dim(backend.Counted(more, "older one", "older ones")))
	}
	if !b.SnapshotsAt.IsZero() && len(b.Snapshots) == 0 {
		w.Field("snapshots", normal("none"))
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
	all := w.f.State.BoxesOf(s.Key.ID)
	if len(all) == 0 {
		w.joinedBy(hubOf(s).JoinedBy, backend.Safe{})
		return
	}
	for _, b := range all[:min(len(all), 5)] {
		w.joinedBy(joinOf(b, w.f.State))
	}
}

// invalid is what its source says of the address of a sandbox that cannot be used; empty: nothing.
func (w *writer) invalid(b *backend.Sandbox) (why backend.Safe) {
	for _, p := range w.f.State.Source(b.Key.Source).InvalidBoxes() {
		if p.Subject == b.Key && !b.Address.IsEmpty() && strings.Contains(p.What.String(), "hosts") {
			return p.What
		}
	}
	return why
}
