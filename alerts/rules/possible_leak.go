package rules

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// LeakOptions are the keys of `[rules.possible-leak]`.
type LeakOptions struct {
	Common
}

func leakDefaults() *LeakOptions {
	return &LeakOptions{Common: common(alerts.SeverityWarning)}
}

func (o *LeakOptions) build() (alerts.Rule, error) {
	r := &possibleLeak{meta: o.meta("possible-leak")}
	r.meta.Watches = backend.InputRegistry
	r.meta.Needs = [][]backend.Input{{backend.InputRegistry}}
	r.meta.Explain = alerts.Explain{
		Means: "One sandbox id, one filestore namespace or one scratch directory stands behind two sessions, so each may see the other's files. Across tenants it is one level above " +
			"`severity`. Within one tenant, or where no tenant is named, it is not told when it is declared as wanted: shareAcrossSessions on all sides, or inheritWorkspaces.",
		Inputs: "The sandbox id, namespace, shareAcrossSessions and inheritWorkspaces of workspaces, where the aggregate route or a declaration names them; stored references; writable mounts " +
			"of scratch directories; tenants of sessions. The agents' log line about a sub-agent's workspace name that exists on its parent rules a workspace out: the child got one of its own.",
		Missing: "Held while the source is down. Blind where no workspace and no reference of a source names a sandbox id or namespace: the registry's snapshot does not.",
		Runbook: "8",
		First: []string{
			"Across tenants: start the security and compliance process, and note when the overlap began.",
			"Do not destroy or reset the sandbox: it is the evidence. Copy logs and snapshots of both sides first.",
			"Find out where the id comes from: an explicit id or namespace in the agent's declaration is shared by every session that uses it.",
		},
		Limits: "Sharing a place does not prove that anything was read. Equal ids of two sources are taken as different places.",
	}
	return r, nil
}

type possibleLeak struct{ meta alerts.Meta }

func (r *possibleLeak) Meta() *alerts.Meta { return &r.meta }

// Blind says on which sources nothing could ever be found.
func (r *possibleLeak) Blind(st *fleet.State, h *fleet.SourceHealth) (backend.Safe, bool) {
	looked := 0
	for w := range st.Workspaces.All() {
		if w.Key.Source != h.Key.Source {
			continue
		}
		if !w.ProviderID.IsZero() || !w.Namespace.IsZero() {
			return backend.Safe{}, false
		}
		if looked++; looked == leakSample {
			break
		}
	}
	for x := range st.Refs.All() {
		if from := st.Source(x.Key.Source); (!x.Sandbox.IsZero() || !x.Namespace.IsZero()) && (from == nil || from.SpeaksAbout(h.Key.Source)) {
			return backend.Safe{}, false
		}
	}
	if looked == 0 {
		return backend.Safe{}, false // without workspaces there is nothing to see
	}
	return backend.Textf("nothing names the sandbox id or namespace of %s's workspaces: give them in the aggregate route, in a declaration or by a refs source", backend.Clean(h.Key.Source, 80)), true
}

// leakSample bounds the workspaces that are asked whether their source names sandbox ids at all.
const leakSample = 500

// place is something that holds files and may stand behind several sessions.
type place struct{ home, what, id string }

// user is one workspace that uses a place.
type user struct {
	session, workspace backend.ID
	entity             *backend.Workspace // nil when only a reference or a mount names it
	from               string
	read               time.Time // steady
}

func (r *possibleLeak) JudgeFleet(env *alerts.Env, known alerts.Known) []alerts.Found {
	notes := map[backend.Key]*alerts.Note{}
	for k, n := range known.All {
		notes[k] = n
	}
	seen := map[backend.Key]bool{}
	var out []alerts.Found
	for p, users := range r.shared(env) {
		key := backend.Key{Kind: backend.KindSource, Source: p.home, ID: placeID(p)}
		v := r.judge(env, p, users, notes[key])
		if v.Outcome != alerts.True && v.Note == nil && known.Finding(key) == "" {
			continue
		}
		seen[key] = true
		out = append(out, alerts.Found{Key: key, Verdict: v})
	}
	slices.SortFunc(out, func(a, b alerts.Found) int { return a.Key.Compare(b.Key) })
	for k := range notes {
		if known.Finding(k) == "" && !seen[k] {
			out = append(out, alerts.Found{Key: k, Verdict: alerts.Verdict{Outcome: alerts.False}}) // a note that nothing needs any more
		}
	}
	return append(out, unmentioned(env, known, seen)...)
}

func placeID(p place) backend.ID {
	id, err := backend.NewID(p.home + "/" + p.what + "/" + p.id)
	if err != nil { // longer than any identifier may be: the place's own id is enough
		id = backend.MustID(p.what + "/" + alerts.Fingerprint(p.id))
	}
	return id
}

// shared finds the places with users in more than one session.
func (r *possibleLeak) shared(env *alerts.Env) map[place][]user {
	first := map[place]user{}
	many := map[place][]user{}
	add := func(home, what string, id backend.ID, u user) {
		if home == "" || id.IsZero() || u.session.IsZero() {
			return
		}
		p := place{home, what, id.Raw()}
		if users := many[p]; users != nil {
			if len(users) < alerts.MaxSubjects && !slices.ContainsFunc(users, func(x user) bool { return x.session == u.session && x.workspace == u.workspace }) {
				many[p] = append(users, u)
			}
			return
		}
		switch x, had := first[p]; {
		case !had:
			first[p] = u
		case x.session != u.session:
			many[p] = []user{x, u}
		}
	}
	for w := range env.State.Workspaces.All() {
		if w.ProviderID.IsZero() && w.Namespace.IsZero() {
			continue
		}
		u := user{session: w.Key.Parent, workspace: w.Key.ID, entity: w, from: w.Key.Source, read: env.ReadAt(&w.Meta)}
		add(w.Key.Source, "sandbox", w.ProviderID, u)
		add(w.Key.Source, "namespace", w.Namespace, u)
	}
	for x := range env.State.Refs.All() {
		if x.Sandbox.IsZero() && x.Namespace.IsZero() {
			continue
		}
		home := env.HomeOf(backend.Series{Source: x.Key.Source, Session: x.Session})
		u := user{session: x.Session, workspace: x.Key.ID, from: x.Key.Source, read: env.ReadAt(&x.Meta)}
		u.entity = env.State.Workspace(backend.Key{Kind: backend.KindWorkspace, Source: home, Parent: x.Session, ID: x.Key.ID})
		add(home, "sandbox", x.Sandbox, u)
		add(home, "namespace", x.Namespace, u)
	}
	r.mounts(env, add)
	return many
}

// mounts looks at scratch directories that are mounted writable; other mounts are shared on purpose all the time.
func (r *possibleLeak) mounts(env *alerts.Env, add func(home, what string, id backend.ID, u user)) {
	if env.State.Tmpdirs.Len() == 0 {
		return
	}
	scratch := map[backend.ID]bool{}
	for t := range env.State.Tmpdirs.All() {
		scratch[t.RawPath] = true
	}
	for b := range env.State.Sandboxes.All() {
		if !b.IsSandbox || b.Session.IsZero() {
			continue
		}
		for _, m := range b.Mounts {
			if !m.ReadOnly && scratch[m.RawSource] {
				add(env.HomeOf(backend.Series{Source: b.Key.Source, Session: b.Session}), "scratch directory", m.RawSource,
					user{session: b.Session, workspace: b.Workspace, from: b.Key.Source, read: env.ReadAt(&b.Meta)})
			}
		}
	}
}

func (r *possibleLeak) judge(env *alerts.Env, p place, users []user, note *alerts.Note) alerts.Verdict {
	if o, why, gap := env.Gap(p.home); gap {
		return alerts.Verdict{Outcome: o, Why: why, Note: note}
	}
	users, note, out := r.ruleOut(env, p, users, note)
	tenants, unknown := r.tenants(env, p.home, users)
	if sessionsOfUsers(users) < 2 || r.wanted(users) && len(tenants) < 2 {
		return alerts.Verdict{Outcome: alerts.False, Note: note}
	}
	slices.SortStableFunc(users, func(a, b user) int {
		return cmp.Or(a.session.Compare(b.session), a.workspace.Compare(b.workspace))
	})
	v := alerts.Verdict{
		Outcome: alerts.True, Source: p.home, Runbook: "8", Note: note, Bounds: r.overlap(env, p.home, users),
		Cause: backend.Textf("one %s behind several sessions", p.what), Fingerprint: alerts.Fingerprint("shared " + p.what),
	}
	switch {
	case len(tenants) > 1:
		v.Severity = worse(r.meta.Severity)
		v.Cause, v.Fingerprint = backend.Textf("one %s behind sessions of different tenants", p.what), alerts.Fingerprint("shared across tenants "+p.what)
	case unknown:
		v.Cause = backend.Textf("one %s behind several sessions; whose tenants they are is not named", p.what)
	}
	v.Detail = backend.Textf("%s %s: %s and %s", p.what, backend.Clean(p.id, 120), users[0].session.Safe(), users[len(users)-1].session.Safe())
	for _, u := range users {
		v.Confirmed = latestOf(v.Confirmed, u.read)
	}
	r.tell(env, p, users, tenants, out, &v)
	return v
}

func sessionsOfUsers(users []user) int {
	seen := map[backend.ID]bool{}
	for _, u := range users {
		seen[u.session] = true
	}
	return len(seen)
}

// wanted reports whether the sharing is declared.
func (r *possibleLeak) wanted(users []user) bool {
	all := true
	for _, u := range users {
		if u.entity == nil {
			all = false
			continue
		}
		if u.entity.InheritWorkspaces.Or(false) {
			return true
		}
		all = all && u.entity.ShareAcrossSessions.Or(false)
	}
	return all
}

// ruleOut leaves out the workspaces of which a log line says that the child got one of its own. The lines leave the
// windows after an hour, so the note keeps what they said.
func (r *possibleLeak) ruleOut(env *alerts.Env, p place, users []user, note *alerts.Note) ([]user, *alerts.Note, int) {
	var said []backend.Series
	if note != nil {
		said = note.Series
	}
	for s := range env.State.Windows.All(backend.MetricNameCollision) {
		if s.Session.IsZero() || env.HomeOf(s) != p.home || slices.Contains(said, s) || env.Over(s, fleet.WindowSpan).N == 0 ||
			!slices.ContainsFunc(users, func(u user) bool { return isolates(s, u) }) {
			continue
		}
		said = append(slices.Clip(said), s)
		note = &alerts.Note{Series: said}
	}
	if len(said) == 0 {
		return users, note, 0
	}
	left := slices.DeleteFunc(slices.Clone(users), func(u user) bool {
		return slices.ContainsFunc(said, func(s backend.Series) bool { return isolates(s, u) })
	})
	return left, note, len(users) - len(left)
}

func isolates(s backend.Series, u user) bool {
	return s.Session == u.session && (s.Workspace.IsZero() || s.Workspace == u.workspace)
}

// tenants lists the tenants that are named, and whether some are not.
func (r *possibleLeak) tenants(env *alerts.Env, home string, users []user) (out []backend.Safe, unknown bool) {
	for _, u := range users {
		s := env.State.Session(backend.Key{Kind: backend.KindSession, Source: home, ID: u.session})
		switch {
		case s == nil || s.Tenant.IsEmpty():
			unknown = true
		case !slices.Contains(out, s.Tenant):
			out = append(out, s.Tenant)
		}
	}
	slices.SortFunc(out, func(a, b backend.Safe) int { return strings.Compare(a.String(), b.String()) })
	return out, unknown
}

// overlap says since when two of the sessions use the place at the same time: the second start that is known.
func (r *possibleLeak) overlap(env *alerts.Env, home string, users []user) alerts.Bounds {
	var starts []time.Time
	var read time.Time
	seen := map[backend.ID]bool{}
	for _, u := range users {
		if read.IsZero() || u.read.Before(read) {
			read = u.read
		}
		s := env.State.Session(backend.Key{Kind: backend.KindSession, Source: home, ID: u.session})
		if seen[u.session] || s == nil {
			continue
		}
		seen[u.session] = true
		if at := env.Time(&s.Meta, s.StartedAt); !at.IsZero() {
			starts = append(starts, at)
		}
	}
	if len(starts) < 2 {
		return alerts.Bounds{Latest: read}
	}
	slices.SortFunc(starts, time.Time.Compare)
	return alerts.Bounds{Earliest: starts[1], Latest: latestOf(starts[1], read)}
}

// tell fills in the subjects and the evidence.
func (r *possibleLeak) tell(env *alerts.Env, p place, users []user, tenants []backend.Safe, ruledOut int, v *alerts.Verdict) {
	now := env.Display(env.Now)
	l := &alerts.Listing{Count: len(users), Sessions: sessionsOfUsers(users), Tenants: len(tenants)}
	derived, inherits, shares := backend.ID{}, false, false
	for _, u := range users {
		k := backend.Key{Kind: backend.KindWorkspace, Source: p.home, Parent: u.session, ID: u.workspace}
		if u.workspace.IsZero() {
			k = backend.Key{Kind: backend.KindSession, Source: p.home, ID: u.session}
		}
		l.Subjects = append(l.Subjects, alerts.Subject{Key: k, Label: k.Safe(), Since: env.Now, Bounds: v.Bounds, Detail: v.Detail})
		if holds(strings.ToLower(p.id), strings.ToLower(u.session.Raw())) {
			derived = u.session
		}
		if u.entity != nil {
			inherits = inherits || u.entity.InheritWorkspaces.Or(false)
			shares = shares || u.entity.ShareAcrossSessions.Or(false)
		}
	}
	v.Listing = l
	add := func(from string, at time.Time, format backend.Literal, args ...any) {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf(format, args...), Source: from, At: at})
	}
	add(users[0].from, env.Display(users[0].read), "%s %s is used by %s", p.what, backend.Clean(p.id, 120), plural(l.Sessions, "session"))
	if len(tenants) > 0 {
		add(p.home, now, "their tenants: %s", backend.Join(tenants[:min(len(tenants), 5)], ", "))
	} else {
		add(p.home, now, "no tenant of them is named: the list route or a declaration would tell")
	}
	switch {
	case p.what == "scratch directory":
	case derived.IsZero():
		add(p.home, now, "the id names no session, so it was given explicitly: every session of that declaration shares it")
	default:
		add(p.home, now, "the id is the one of session %s: another session was given it", derived.Safe())
	}
	if !v.Bounds.Earliest.IsZero() {
		add(p.home, env.Display(v.Bounds.Earliest), "both run since %s, when the second of them started", env.Clock(v.Bounds.Earliest))
	}
	if inherits {
		add(p.home, now, "inheritWorkspaces is on for one of them: children see their parent's files")
	}
	if shares {
		add(p.home, now, "shareAcrossSessions is declared for one of them")
	}
	if ruledOut > 0 {
		add(p.home, now, "%s left out: the log says that the child got a workspace of its own", plural(ruledOut, "workspace"))
	}
}
