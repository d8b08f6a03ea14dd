package text

import (
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/subjects"
)

// Bundle is the evidence about one thing or one alert, to be written down: for a vendor's issue, or before an action
// destroys what it shows.
type Bundle struct {
	Key         backend.Key // of an entity, or of an alert (views.AlertKey)
	Snapshot    *views.Snapshot
	Environment string
	Version     string          // of Sandglass
	Events      []backend.Event // that are known, oldest first
	// Diagnosis is the runbook's answer about the subject; nil: there is none.
	Diagnosis *runbook.Diagnosis
	// Cleaner masks what the adapters did not know for a secret.
	Cleaner *backend.Cleaner
}

// The bounds of a bundle; what is left out is counted in it.
const (
	maxBundled       = 200 // entities with their readings
	maxBundledEvents = 500
	maxBundledAlerts = 50
	maxBesides       = 20
)

// evidence is a Bundle with everything looked up.
type evidence struct {
	Bundle
	subjects []backend.Key // what was asked for: the thing itself, or the alert's subjects
	covered  []backend.Key // subjects and what is joined to them, as far as they are in the bundle
	left     int           // entities beyond maxBundled
	alerts   []*alerts.Alert
	sources  []string
}

func (b Bundle) gather() *evidence {
	e := &evidence{Bundle: b}
	if a := b.alert(); a != nil {
		for i := range a.Subjects {
			e.subjects = append(e.subjects, a.Subjects[i].Key)
		}
		e.left += a.SubjectCount - len(a.Subjects)
	} else {
		e.subjects = []backend.Key{b.Key}
	}
	seen := map[backend.Key]bool{}
	add := func(k backend.Key) {
		switch {
		case seen[k]:
		case len(e.covered) >= maxBundled:
			e.left++
		default:
			e.covered = append(e.covered, k)
		}
		seen[k] = true
	}
	for _, k := range e.subjects {
		add(k)
	}
	for _, k := range slices.Clone(e.covered) {
		b.joined(k, add)
	}
	for _, k := range e.covered {
		if k.Source != "" && !slices.Contains(e.sources, k.Source) {
			e.sources = append(e.sources, k.Source)
		}
	}
	for _, a := range b.Snapshot.Board.Alerts {
		if views.AlertKey(a) == b.Key || slices.ContainsFunc(a.Subjects, func(s alerts.Subject) bool { return seen[s.Key] }) {
			e.alerts = append(e.alerts, a)
		}
	}
	return e
}

func (b *Bundle) alert() *alerts.Alert { return views.FindAlert(b.Snapshot.Board, b.Key) }

// joined calls add with what belongs to an entity: its session, that session's workspaces and sandboxes, and the
// scratch directories that these mount.
func (b *Bundle) joined(k backend.Key, add func(backend.Key)) {
	st := b.Snapshot.State
	session, name, home := k.Parent, backend.ID{}, k.Source
	switch k.Kind {
	case backend.KindSession:
		session = k.ID
	case backend.KindWorkspace:
		name = k.ID
	case backend.KindRef:
		home = ""
	case backend.KindSandbox:
		x := st.Sandbox(k)
		if x == nil {
			return
		}
		b.mountedBy(x, add)
		session, name, home = x.Session, x.Workspace, ""
	case backend.KindTmpdir:
		t := st.Tmpdirs.Get(k)
		for x := range st.Sandboxes.All() {
			if t != nil && slices.ContainsFunc(x.Mounts, func(m backend.Mount) bool { return !t.RawPath.IsZero() && m.RawSource == t.RawPath }) {
				add(x.Key)
				b.ofSession(x.Session, x.Workspace, "", add)
			}
		}
		return
	case backend.KindHost, backend.KindSource, backend.KindExecution, backend.KindJob:
		return
	}
	b.ofSession(session, name, home, add)
}

// ofSession adds a session, and of its workspaces, sandboxes and refs those that may belong to the one of that name; no
// name: all. A home bounds sessions and workspaces to one source.
func (b *Bundle) ofSession(session, name backend.ID, home string, add func(backend.Key)) {
	if session.IsZero() {
		return
	}
	st := b.Snapshot.State
	fits := func(source string, of, its backend.ID) bool {
		return of == session && (home == "" || source == home) && (name.IsZero() || its.IsZero() || its == name)
	}
	for x := range st.Sessions.All() {
		if fits(x.Key.Source, x.Key.ID, backend.ID{}) {
			add(x.Key)
		}
	}
	for w := range st.Workspaces.All() {
		if fits(w.Key.Source, w.Key.Parent, w.Key.ID) {
			add(w.Key)
		}
	}
	for x := range st.Sandboxes.All() {
		if fits(home, x.Session, x.Workspace) {
			add(x.Key)
			b.mountedBy(x, add)
		}
	}
	for r := range st.Refs.All() {
		if fits(home, r.Session, r.Workspace) {
			add(r.Key)
		}
	}
}

func (b *Bundle) mountedBy(x *backend.Sandbox, add func(backend.Key)) {
	for t := range b.Snapshot.State.Tmpdirs.All() {
		if !t.RawPath.IsZero() && slices.ContainsFunc(x.Mounts, func(m backend.Mount) bool { return m.RawSource == t.RawPath }) {
			add(t.Key)
		}
	}
}

// Subjects are what the bundle is evidence about, what was asked for first.
func (b Bundle) Subjects() []backend.Key { return b.gather().covered }

// Question is what the runbook is to be asked for a bundle about a thing; false when it has no page for it.
func (b Bundle) Question() (incident string, subject backend.Key, ok bool) {
	page, ok := subjects.PageOf(b.Key, frameOf(b.Snapshot))
	return page.Incident, page.Subject, ok && page.Incident != ""
}

// Markdown writes the bundle as one page. Foreign text stands in code spans and blocks only, so that nothing in it
// becomes a link, a mention, an image or a heading where the page is pasted.
func (b Bundle) Markdown() string {
	e := b.gather()
	p := &page{}
	e.head(p)
	e.identifiers(p)
	e.evidence(p)
	e.diagnosis(p)
	e.timeline(p)
	e.readings(p)
	e.unread(p)
	e.redaction(p)
	out := strings.Split(p.b.String(), "\n")
	for i, l := range out {
		out[i] = b.Cleaner.Mask(l)
	}
	return strings.Join(out, "\n")
}

func utc(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}
