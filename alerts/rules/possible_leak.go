package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// LeakOptions are the keys of `[rules.possible-leak]`.
type LeakOptions struct {
	Common
}

func leakDefaults() *LeakOptions {
	return &LeakOptions{Common: common(alerts.SeverityWarning)}
}

func (o *LeakOptions) build() (alerts.Rule, error) {
	r := &possibleLeak{base: o.base("possible-leak", "", backend.InputRegistry, backend.InputRegistry)}
	r.meta.Urgent = true
	return r, nil
}

// leakNote keeps the log lines that say of a place that its users are isolated, and when the sharing was first read.
type leakNote struct {
	seriesNote
	Seen time.Time `json:"seen,omitzero"`
}

type possibleLeak struct {
	base
	remembers[leakNote]
}

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
		if from := st.Source(x.Key.Source); (!x.Sandbox.IsZero() || !x.Namespace.IsZero()) && (from == nil || from.ReportsOn(h.Key.Source)) {
			return backend.Safe{}, false
		}
	}
	if looked == 0 {
		return backend.Safe{}, false // without workspaces there is nothing to see
	}
	return backend.Textf("%s reports no sandbox id or namespace of its workspaces: give them in the aggregate route, in a declaration or by a refs source", backend.Clean(h.Key.Source, 80)), true
}

// leakSample bounds the workspaces that are asked whether their source names sandbox ids at all.
const leakSample = 500

func (r *possibleLeak) JudgeFleet(env *alerts.Env, known alerts.Known) []alerts.Found {
	seen := map[backend.Key]bool{}
	var out []alerts.Found
	for p := range env.State.Shared(sharing(env).Home, false) {
		key := backend.Key{Kind: backend.KindSource, Source: p.Home, ID: sharedPlaceID(p)}
		v := r.judge(env, p, known.Note(key))
		if v.Outcome != alerts.True && v.Note.IsZero() && known.Finding(key) == "" {
			continue
		}
		seen[key] = true
		out = append(out, alerts.Found{Key: key, Verdict: v})
	}
	stable.Sort(out, func(a, b alerts.Found) int { return a.Key.Compare(b.Key) })
	tellOthers(out)
	for k := range known.All {
		if known.Finding(k) == "" && !seen[k] {
			out = append(out, alerts.Found{Key: k, Verdict: alerts.Verdict{Outcome: alerts.False}}) // a note that nothing needs any more
		}
	}
	return append(out, unmentioned(env, known, seen)...)
}

// tellOthers names the other places of one alert, of which only one shows its users.
func tellOthers(all []alerts.Found) {
	type alert struct {
		source, cause string
		severity      alerts.Severity
	}
	places := map[alert][]backend.Safe{}
	of := func(v *alerts.Verdict) alert { return alert{v.Source, v.Fingerprint, v.Severity} }
	for i := range all {
		if v := &all[i].Verdict; v.Outcome == alerts.True {
			places[of(v)] = append(places[of(v)], v.Detail)
		}
	}
	for i := range all {
		v := &all[i].Verdict
		if list := places[of(v)]; v.Outcome == alerts.True && len(list) > 1 {
			more := ""
			if n := len(list) - maxListed; n > 0 {
				more = " and " + number(float64(n)) + " more"
			}
			v.Evidence = append(v.Evidence, alerts.Evidence{
				Text:   backend.Textf("%s in all: %s%s", plural(len(list), "such place"), backend.Join(list[:min(len(list), maxListed)], "; "), backend.Clean(more, 40)),
				Source: v.Source, At: v.Evidence[0].At,
			})
		}
	}
}

func sharedPlaceID(p *fleet.SharedStorage) backend.ID {
	name := p.Home + "/" + string(p.What) + "/" + p.ID.Raw()
	if p.Of != "" {
		name += "/" + p.Of
	}
	id, err := backend.NewID(name)
	if err != nil { // longer than any identifier may be: the place's own id is enough
		id = backend.MustID(string(p.What) + "/" + alerts.Fingerprint(p.ID.Raw()))
	}
	return id
}

func (r *possibleLeak) judge(env *alerts.Env, p *fleet.SharedStorage, note alerts.Note) alerts.Verdict {
	if o, why, gap := env.Gap(p.Home); gap {
		return alerts.Verdict{Outcome: o, Why: why, Note: note}
	}
	p, note, out := r.ruleOut(env, p, note)
	tenants, unknown := p.Tenants(env.State)
	if p.Sessions() < 2 || p.Intended() && len(tenants) < 2 {
		return alerts.Verdict{Outcome: alerts.False, Note: unseen(note)}
	}
	note, seen := r.seen(env, p, note)
	what := backend.Clean(string(p.What), 40)
	v := alerts.Verdict{
		Outcome: alerts.True, Source: p.Home, Runbook: "8", Note: note, Bounds: r.overlap(env, p, seen),
		Cause: backend.Textf("one %s behind several sessions", what), Fingerprint: alerts.Fingerprint("shared " + string(p.What)),
	}
	switch {
	case len(tenants) > 1: // each is an incident of its own, with tenants of its own
		v.Severity = worse(r.meta.Severity)
		v.Cause = backend.Textf("%s %s is behind sessions of different tenants", what, backend.Clean(p.ID.Raw(), 80))
		v.Fingerprint = alerts.Fingerprint("shared across tenants "+string(p.What)) + "-" + alerts.Fingerprint(p.ID.Raw()+p.Of)
	case unknown:
		v.Cause = backend.Textf("one %s behind several sessions; whose tenants they are is not named", what)
	}
	v.Detail = backend.Textf("%s %s: %s and %s", what, backend.Clean(p.ID.Raw(), 120), p.Users[0].Session.Safe(), p.Users[len(p.Users)-1].Session.Safe())
	for _, u := range p.Users {
		v.Confirmed = latestOf(v.Confirmed, env.ReadAt(u.Evidence))
	}
	r.tell(env, p, tenants, out, &v)
	return v
}

// ruleOut leaves out the workspaces of which a log line says that the child got one of its own. The lines leave the
// windows after an hour, so the note keeps what they said.
func (r *possibleLeak) ruleOut(env *alerts.Env, p *fleet.SharedStorage, note alerts.Note) (*fleet.SharedStorage, alerts.Note, int) {
	var said []backend.Series
	if n := alerts.NoteAs[leakNote](note); n != nil {
		said = n.Series
	}
	if now := sharing(env).Isolated(p, said); len(now) > len(said) {
		x := leakNote{seriesNote: seriesNote{now}}
		if n := alerts.NoteAs[leakNote](note); n != nil {
			x.Seen = n.Seen
		}
		said, note = now, alerts.NoteOf(&x)
	}
	left := alerts.WithoutIsolated(p, said)
	return left, note, len(p.Users) - len(left.Users)
}

// sharing reads what log lines say of shared places.
func sharing(env *alerts.Env) alerts.Sharing {
	return alerts.Sharing{State: env.State, Over: env.Over, Home: func(source string, session backend.ID) string {
		return env.HomeOf(backend.Series{Source: source, Session: session})
	}}
}

// seen remembers when the sharing was first read: later readings prove no later onset.
func (r *possibleLeak) seen(env *alerts.Env, p *fleet.SharedStorage, note alerts.Note) (alerts.Note, time.Time) {
	x := leakNote{}
	if n := alerts.NoteAs[leakNote](note); n != nil {
		x = *n
	}
	if x.Seen.IsZero() {
		for _, u := range p.Users {
			if at := env.ReadAt(u.Evidence); x.Seen.IsZero() || at.Before(x.Seen) {
				x.Seen = at
			}
		}
		note = alerts.NoteOf(&x)
	}
	return note, x.Seen
}

// unseen forgets when a sharing was first read that is over.
func unseen(note alerts.Note) alerts.Note {
	n := alerts.NoteAs[leakNote](note)
	switch {
	case n == nil || n.Seen.IsZero():
		return note
	case len(n.Series) == 0:
		return alerts.Note{}
	}
	return alerts.NoteOf(&leakNote{seriesNote: n.seriesNote})
}

// overlap says since when two of the sessions use the place at the same time: from the second start that is known to when that
// was first read.
func (r *possibleLeak) overlap(env *alerts.Env, p *fleet.SharedStorage, read time.Time) alerts.Bounds {
	second := p.SecondStart(env.State, func(s *backend.Session) time.Time { return env.Time(&s.Meta, s.StartedAt) })
	if second.IsZero() {
		return alerts.Bounds{Latest: read}
	}
	return alerts.Bounds{Earliest: second, Latest: latestOf(second, read)}
}

// tell fills in the subjects and the evidence.
func (r *possibleLeak) tell(env *alerts.Env, p *fleet.SharedStorage, tenants []backend.Safe, ruledOut int, v *alerts.Verdict) {
	now := env.Display(env.Now)
	l := &alerts.Listing{Count: len(p.Users), Sessions: p.Sessions(), Tenants: len(tenants)}
	for _, u := range p.Users {
		k := backend.Key{Kind: backend.KindWorkspace, Source: p.Home, Parent: u.Session, ID: u.Workspace}
		if u.Workspace.IsZero() {
			k = backend.Key{Kind: backend.KindSession, Source: p.Home, ID: u.Session}
		}
		l.Subjects = append(l.Subjects, alerts.Subject{Key: k, Label: k.Safe(), Since: v.Bounds.Latest, Bounds: v.Bounds, Detail: v.Detail})
	}
	v.Listing = l
	add := func(from string, at time.Time, format backend.Literal, args ...any) {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf(format, args...), Source: from, At: at})
	}
	first := p.Users[0].Evidence
	add(first.Key.Source, env.Display(env.ReadAt(first)), "%s %s is used by %s", backend.Clean(string(p.What), 40), backend.Clean(p.ID.Raw(), 120), plural(l.Sessions, "session"))
	if len(tenants) > 0 {
		add(p.Home, now, "their tenants: %s", backend.Join(tenants[:min(len(tenants), 5)], ", "))
	} else {
		add(p.Home, now, "no tenant of them is named: the list route or a declaration would tell")
	}
	of, digits := p.AgentNamed()
	switch named := p.NamedSession(); {
	case p.What == fleet.StorageScratch:
	case digits != "" && len(of) != 1:
		add(p.Home, now, "an agent SDK names a sandbox after its session, and %d of these begin with %s", len(of), backend.Clean(digits, 20))
	case named.IsZero() && !fleet.ExplicitID(p.ID, backend.ID{}):
	case named.IsZero():
		add(p.Home, now, "the id names no session, so it was given explicitly: every session of that declaration shares it")
	default:
		add(p.Home, now, "the id is the one of session %s: another session was given it", named.Safe())
	}
	if !v.Bounds.Earliest.IsZero() {
		add(p.Home, env.Display(v.Bounds.Earliest), "the sessions run side by side since %s; Sandglass first read the sharing at %s", env.Clock(v.Bounds.Earliest), env.Clock(v.Bounds.Latest))
	}
	inherits, shares := p.Declared()
	if inherits > 0 {
		add(p.Home, now, "inheritWorkspaces is on for %d of %d: children see their parent's files", inherits, len(p.Users))
	}
	if shares > 0 {
		add(p.Home, now, "shareAcrossSessions is declared for %d of %d", shares, len(p.Users))
	}
	r.tellUses(env, p, v)
	if ruledOut > 0 {
		add(p.Home, now, "%s left out: the log says that the child got a workspace of its own", plural(ruledOut, "workspace"))
	}
}

// tellUses counts the reads and writes of each session while several used the place, as far as windows reach.
func (r *possibleLeak) tellUses(env *alerts.Env, p *fleet.SharedStorage, v *alerts.Verdict) {
	since := v.Bounds.Earliest
	if since.IsZero() {
		since = v.Bounds.Latest
	}
	window := min(max(env.Now.Sub(since), time.Second), fleet.WindowSpan)
	all := sharing(env).FileUses(p, window)
	for _, u := range all[:min(len(all), maxListed)] {
		newest := backend.Safe{}
		if !u.Newest.IsEmpty() {
			newest = backend.Textf(", the newest: %s", backend.Clean(u.Newest.String(), 160))
		}
		v.Evidence = append(v.Evidence, alerts.Evidence{
			Text:  backend.Textf("%s: %s %s in the last %s of the overlap%s", u.Who(), number(u.N), backend.Text(u.What), span(window), newest),
			Value: backend.Known(u.N), Unit: string(u.What), Source: u.Source, At: u.Last,
		})
	}
}
