package rules

import (
	"slices"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// PublicOptions are the keys of `[rules.public-preview]`.
type PublicOptions struct{ Common }

func publicDefaults() *PublicOptions {
	return &PublicOptions{common(alerts.SeverityInfo)}
}

func (o *PublicOptions) build() (alerts.Rule, error) {
	return &publicPreview{dueBase(&o.Common, "public-preview")}, nil
}

type publicPreview struct{ cloudDue }

// Blind says where no preview was read yet: a command that looks once does not wait for them.
func (r *publicPreview) Blind(st *fleet.State, h *fleet.SourceHealth) (backend.Safe, bool) {
	return previewsUnread(st, h)
}

// previewsUnread says of a source that has previews that none was read yet.
func previewsUnread(st *fleet.State, h *fleet.SourceHealth) (backend.Safe, bool) {
	looked := 0
	for b := range st.Sandboxes.All() {
		if b.Key.Source != h.Key.Source || h.Kind != "blaxel" || b.Class.Ended() {
			continue
		}
		if !b.PreviewsAt.IsZero() {
			return backend.Safe{}, false
		}
		if looked++; looked == leakSample {
			break
		}
	}
	return backend.Textf("no preview of %s was read yet: check again with --observe 75s", backend.Clean(h.Key.Source, 80)), looked > 0
}

// Judge looks for addresses of a sandbox that open without a credential.
func (r *publicPreview) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	b, ok := e.(*backend.Sandbox)
	if !ok || !b.Judged() || !onPlatform(b) {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	if b.PreviewsAt.IsZero() {
		return notReadYet("its previews are not read yet")
	}
	if b.Class.Ended() || b.Class == backend.SandboxRemoving {
		return alerts.Verdict{Outcome: alerts.False}
	}
	state := env.State.StateOn(b)
	private := state != nil && state.Agent.PortsPublic.IsKnown() && !state.Agent.PortsPublic.Or(true)
	severity := alerts.SeverityInfo
	cause := backend.Text("a port of it can be opened from the internet without a token")
	var first, told []backend.Safe // those of its own API come first
	var next time.Time
	var began alerts.Bounds
	for _, p := range b.Previews {
		if !p.Public.Or(false) || p.Unmade() || over(env, p.Expires) {
			continue
		}
		began = earliest(began, madePublic(env, &p))
		if end, known := p.Expires.Get(); known {
			next = sooner(next, env.Ours(end))
		}
		if severity == alerts.SeverityInfo && private {
			severity, cause = alerts.SeverityWarning, backend.Text("a port of it is open to the internet, and its saved state says private")
		}
		if p.Control {
			severity, cause = alerts.SeverityWarning, backend.Text("its own API is open to the internet: files, commands and terminals")
			first = append(first, backend.Textf("%s, to its own API", preview(env, &p)))
		} else {
			told = append(told, preview(env, &p))
		}
	}
	if told = append(first, told...); len(told) == 0 {
		return alerts.Verdict{Outcome: alerts.False}
	}
	v := r.due(env, b, cause.String(), cause, time.Time{})
	r.began(env, &v, known, began)
	v.Severity, v.Detail, v.Recheck = severity, backend.Join(told[:min(len(told), maxListed)], "; "), sooner(recheckOf(env, b.Key), next)
	if more := len(told) - maxListed; more > 0 {
		v.Detail = backend.Textf("%s; and %d more", v.Detail, more)
	}
	if state != nil {
		if on, known := state.Agent.PortsPublic.Get(); known {
			v.Detail = backend.Textf("%s; of the agent's ports its saved state says %s", v.Detail, publicWord(on))
		}
	}
	return v
}

// madePublic is between which times an address was made public: by its making, or by a change since. Without a time of its making
// nothing is known.
func madePublic(env *alerts.Env, p *backend.Preview) alerts.Bounds {
	made, known := p.CreatedAt.Get()
	if !known {
		return alerts.Bounds{}
	}
	b := alerts.Bounds{Latest: env.Ours(made)}
	if !p.ChangedAt.IsZero() {
		b = alerts.Bounds{Earliest: env.Ours(made), Latest: env.Ours(p.ChangedAt)}
	}
	return b
}

// earliest are the bounds of what began first; those without an end are of no use.
func earliest(a, b alerts.Bounds) alerts.Bounds {
	if a.Latest.IsZero() || !b.Latest.IsZero() && b.Latest.Before(a.Latest) {
		return b
	}
	return a
}

// began gives a verdict its onset. Where no reading tells it, it began at some time before it was first seen.
func (r *cloudDue) began(env *alerts.Env, v *alerts.Verdict, known alerts.Note, b alerts.Bounds) {
	n := waitNote{Since: env.Now}
	if old := alerts.NoteAs[waitNote](known); old != nil && !old.Since.IsZero() {
		n = *old
	}
	v.Note, v.Bounds = alerts.NoteOf(&n), b
	if b.Latest.IsZero() {
		v.Bounds.Latest = n.Since
	}
}

func publicWord(on bool) backend.Safe {
	if on {
		return backend.Text("public")
	}
	return backend.Text("private")
}

// Evidence is each open address.
func (r *publicPreview) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	return append(r.cloudDue.Evidence(env, a, oldest), details(env, a)...)
}

// preview names an address: its port, its name, and how long it lives.
func preview(env *alerts.Env, p *backend.Preview) backend.Safe {
	text := backend.Textf("preview %s", p.Name)
	if port, known := p.Port.Get(); known {
		text = backend.Textf("port %d, %s", port, text)
	}
	if lives := p.Lives(func(end time.Time) string { return "until " + env.Clock(env.Ours(end)) }); !lives.IsEmpty() {
		text = backend.Textf("%s, %s", text, lives)
	}
	return text
}

// sooner is the earlier of two times; zero is never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// over reports whether a time is known and has passed.
func over(env *alerts.Env, v backend.Value[time.Time]) bool {
	end, known := v.Get()
	return known && !env.Now.Before(env.Ours(end))
}

// TokenOptions are the keys of `[rules.preview-token-expiring]`.
type TokenOptions struct {
	Common
	Before backend.Duration `toml:"before" doc:"time until the newest token of a private address ends"`
}

func tokenDefaults() *TokenOptions {
	o := &TokenOptions{Common: common(alerts.SeverityWarning), Before: backend.Duration(10 * time.Minute)}
	o.For = backend.Duration(time.Minute) // an address is there a moment before its token
	return o
}

func (o *TokenOptions) build() (alerts.Rule, error) {
	return &previewToken{dueBase(&o.Common, "preview-token-expiring"), o.Before.Std()}, positive("before", o.Before)
}

type previewToken struct {
	cloudDue
	before time.Duration
}

// Blind says where no preview was read yet, or nothing tells which sessions run.
func (r *previewToken) Blind(st *fleet.State, h *fleet.SourceHealth) (backend.Safe, bool) {
	if why, blind := previewsUnread(st, h); blind {
		return why, blind
	}
	if len(st.SessionSourcesOf(h.Key.Source)) > 0 {
		return backend.Safe{}, false
	}
	return noSessionList(h)
}

// Judge looks whether the private addresses of a sandbox on which a session runs can be opened, and how long yet.
func (r *previewToken) Judge(env *alerts.Env, e backend.Entity, known alerts.Note) alerts.Verdict {
	b, ok := e.(*backend.Sandbox)
	if !ok || !b.Judged() || !onPlatform(b) {
		return alerts.Verdict{Outcome: alerts.NotApplicable}
	}
	if b.PreviewsAt.IsZero() {
		return notReadYet("its previews are not read yet")
	}
	if b.Class.Ended() || b.Class == backend.SandboxRemoving {
		return alerts.Verdict{Outcome: alerts.False}
	}
	found, next := r.faults(env, b)
	if len(found) == 0 {
		if slices.ContainsFunc(b.Previews, func(p backend.Preview) bool { return !p.Control && !p.Public.Or(true) && p.TokensAt.IsZero() }) {
			v := notReadYet("the tokens of a private address are not read yet")
			v.Recheck = next
			return v
		}
		if next.IsZero() {
			return alerts.Verdict{Outcome: alerts.False}
		}
		return waitsUntil(next)
	}
	s, v := liveOn(env, b)
	if s == nil {
		return v
	}
	v = r.due(env, b, found[0].says.String(), found[0].says, time.Time{})
	r.began(env, &v, known, found[0].from)
	parts := make([]backend.Safe, 0, maxListed)
	for _, f := range found[:min(len(found), maxListed)] {
		parts = append(parts, f.told)
	}
	if more := len(found) - len(parts); more > 0 {
		parts = append(parts, backend.Textf("and %d more", more))
	}
	v.Session, v.Tenant, v.Detail, v.Recheck = s.Key.ID, s.Tenant, backend.Join(parts, "; "), sooner(recheckOf(env, b.Key), next)
	return v
}

// tokenFault is a private address that cannot be opened, or not for long.
type tokenFault struct {
	from       alerts.Bounds
	says, told backend.Safe
}

// faults are those of a sandbox, first those that cannot be opened now; next is when another one may come.
func (r *previewToken) faults(env *alerts.Env, b *backend.Sandbox) (found []tokenFault, next time.Time) {
	var later []tokenFault
	for _, p := range b.Previews {
		if p.Control || p.Public.Or(true) || p.TokensAt.IsZero() || p.Unmade() || over(env, p.Expires) {
			continue
		}
		from, says := r.token(env, &p)
		if says.IsEmpty() || env.Now.Before(from.Latest) {
			next = sooner(next, from.Latest)
			continue
		}
		f := tokenFault{from, says, backend.Textf("%s%s", preview(env, &p), lastToken(env, &p))}
		if says == tokenEndsSoon {
			later = append(later, f)
		} else {
			found = append(found, f)
		}
	}
	return append(found, later...), next
}

var tokenEndsSoon = backend.Text("a session runs on it, and the token of its private address ends soon")

// lastToken says when the token of an address ends that ends last.
func lastToken(env *alerts.Env, p *backend.Preview) backend.Safe {
	var name backend.Safe
	var last time.Time
	for _, t := range p.Tokens {
		if end, known := t.Expires.Get(); known && end.After(last) {
			name, last = t.Name, end
		}
	}
	switch {
	case len(p.Tokens) == 0:
		return backend.Text(" (no token opens it)")
	case last.IsZero():
		return backend.Safe{}
	case env.Now.Before(env.Ours(last)):
		return backend.Textf(" (token %s ends at %s)", name, env.Clock(env.Ours(last)))
	}
	return backend.Textf(" (token %s ended at %s)", name, env.Clock(env.Ours(last)))
}

// token is what is wrong with the tokens of a private address, and between which times it began; empty: nothing is, as far as is known.
func (r *previewToken) token(env *alerts.Env, p *backend.Preview) (from alerts.Bounds, says backend.Safe) {
	made := env.Ours(p.CreatedAt.Or(time.Time{}))
	if len(p.Tokens) == 0 {
		return alerts.Bounds{Earliest: made}, backend.Text("a session runs on it, and no token opens its private address")
	}
	var last time.Time
	for _, t := range p.Tokens {
		end, known := t.Expires.Get()
		if !known && !t.Expired.Or(false) {
			return alerts.Bounds{}, backend.Safe{} // it has no end, or none that is told
		}
		if known && env.Ours(end).After(last) {
			last = env.Ours(end)
		}
	}
	if !env.Now.Before(last) {
		return alerts.Bounds{Latest: last}, backend.Text("a session runs on it, and each token of its private address has ended")
	}
	return alerts.Bounds{Latest: latestOf(last.Add(-r.before), made)}, tokenEndsSoon
}

// Evidence is each address.
func (r *previewToken) Evidence(env *alerts.Env, a *alerts.Alert, oldest backend.Entity) []alerts.Evidence {
	return append(r.cloudDue.Evidence(env, a, oldest), details(env, a)...)
}
