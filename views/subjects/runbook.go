package subjects

import (
	"cmp"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Page is a place in the runbook: one incident's page, asked about a subject.
type Page struct {
	views.Question
	// Rule is the alert's, whose site text comes first; empty: none.
	Rule string
	// Why says how the incident or the subject was chosen, where that is not plain; empty: it is.
	Why string
	// Trouble says that an alert names the subject, or that its own state shows that something is wrong.
	Trouble bool
}

// PageOf chooses the page for an alert or a thing; false when there is none.
func PageOf(key backend.Key, f *views.Frame) (Page, bool) {
	if a := views.FindAlert(f.Board, key); a != nil {
		q, _ := Asked(a)
		_, local := f.Local[a.Rule]
		p := Page{Question: q, Rule: a.Rule, Trouble: true}
		if stands(a) {
			p.Why = "Asked about the first of " + kit.Number(a.SubjectCount) + " with the same cause."
		}
		return p, a.Runbook != "" || local
	}
	near := JoinedTo(key, f.State)
	var part, late Page                // of the worst alert about a part of it, or about what it is joined to; of the worst that is pending
	for _, a := range f.Board.Alerts { // worst first
		for i := range a.Subjects {
			k := a.Subjects[i].Key
			switch {
			case a.Runbook == "":
			case a.About(i, key):
				p := Page{Question: views.Question{Incident: a.Runbook, Subject: key}, Rule: a.Rule, Trouble: true}
				if a.State != alerts.StatePending {
					return p, true
				}
				late = cmp.Or(late, p)
			case part.Rule == "" && (key.Kind == backend.KindSession && k.Source == key.Source && k.Parent == key.ID || near[k]):
				part = Page{Question: views.Question{Incident: a.Runbook, Subject: k}, Rule: a.Rule, Why: "An alert names " + ofIt(k, f.Snapshot) + ".", Trouble: true}
			}
		}
	}
	if late.Rule != "" {
		return late, true
	}
	if part.Rule != "" {
		return part, true
	}
	incident, why, trouble := kindOf(key.Kind).page(key, f)
	why = "No alert names it. " + why
	if !f.Printed {
		why += " [ and ] turn to other pages."
	}
	return Page{Question: views.Question{Incident: incident, Subject: key}, Why: why, Trouble: trouble}, incident != ""
}

// JoinedTo are the subjects whose troubles are those of a session or workspace: its sandboxes, the references saved of it, a session's
// workspaces, and a workspace's session; of a piece of work what it belongs to, and what that is joined to; of a sandbox of an agent SDK its session
// and the saved state that names it, and of one that was refused a place the places.
func JoinedTo(key backend.Key, st *fleet.State) map[backend.Key]bool {
	session, name := key.ID, backend.ID{}
	near := map[backend.Key]bool{}
	switch {
	case key.Kind == backend.KindWorkspace:
		session, name = key.Parent, key.ID
	case key.Kind == backend.KindSandbox:
		return joinedToBox(key, st)
	case key.Kind != backend.KindSession:
		if !key.Kind.Spec().PartOfParent || key.Parent.IsZero() {
			return nil
		}
		box := backend.Key{Kind: backend.KindSandbox, Source: key.Source, ID: key.Parent}
		if session = key.Parent; st.Sandbox(box) != nil {
			near[box], session = true, st.Sandbox(box).Session
		}
		near[backend.Key{Kind: backend.KindSession, Source: key.Source, ID: session}] = true
		return near
	}
	if !name.IsZero() {
		near[backend.Key{Kind: backend.KindSession, Source: key.Source, ID: session}] = true
	}
	if key.Kind == backend.KindSession {
		for x := range st.Workspaces.Of(backend.KindWorkspace, key.Source, key.ID) {
			near[x.Key] = true
		}
	}
	for _, b := range st.BoxesOf(session) {
		if b.IsSandbox && (name.IsZero() || b.Workspace.IsZero() || b.Workspace == name) {
			near[b.Key] = true
		}
	}
	for _, h := range st.Sources {
		for r := range st.Refs.Of(backend.KindRef, h.Key.Source, session) {
			if name.IsZero() || r.Workspace.IsZero() || r.Workspace == name {
				near[r.Key] = true
			}
		}
	}
	return near
}

// ofIt says what a subject is to the one that it is joined to.
func ofIt(k backend.Key, s *views.Snapshot) string {
	if h := s.State.Source(k.Source); k.Kind == backend.KindSource && h != nil && h.Kind == "blaxel" {
		return "the workspace of " + k.Source + ", in which it is"
	}
	if k.Kind == backend.KindSource {
		return "the instances of " + k.Source + ", of which it was refused one"
	}
	return "its " + k.Kind.Spec().Name + " " + nameOf(k, s)
}

// joinedToBox are the session of a sandbox that an agent SDK uses, by whatever source an alert names it, the saved states of it, what shares
// it, and the places of which it was refused one.
func joinedToBox(key backend.Key, st *fleet.State) map[backend.Key]bool {
	near := map[backend.Key]bool{}
	var session backend.ID
	if b := st.Sandbox(key); b != nil {
		for _, k := range st.PlacesFor(b) {
			near[k] = true
		}
		for _, id := range st.SharersOf(b) {
			shared(st, b, id, near)
		}
		state := st.StateNaming(b)
		if state == nil && b.Provider.String() != "blaxel" {
			return near
		}
		if session = st.SessionOn(b); state != nil {
			near[state.Key] = true
		}
	} else {
		for r := range st.Refs.All() {
			if r.Agent != nil && r.Sandbox == key.ID {
				near[r.Key], session = true, r.Session
			}
		}
	}
	for _, h := range st.Sources {
		if !session.IsZero() {
			near[backend.Key{Kind: backend.KindSession, Source: h.Key.Source, ID: session}] = true
		}
	}
	return near
}

// shared adds the workspaces by which one of several sessions shares a sandbox, by whatever source an alert names them.
func shared(st *fleet.State, b *backend.Sandbox, session backend.ID, near map[backend.Key]bool) {
	for _, h := range st.Sources {
		for w := range st.Workspaces.Of(backend.KindWorkspace, h.Key.Source, session) {
			if st.SandboxNamed(w.ProviderID, w.Provider) == b {
				near[w.Key] = true
			}
		}
		for r := range st.Refs.Of(backend.KindRef, h.Key.Source, session) {
			if st.SandboxNamed(r.Sandbox, r.Provider) == b {
				near[r.Key] = true
				for _, home := range st.Sources {
					near[backend.Key{Kind: backend.KindWorkspace, Source: home.Key.Source, Parent: session, ID: r.Key.ID}] = true
				}
			}
		}
	}
}

// nameOf is how people call a subject: a sandbox by its name, others by their id.
func nameOf(k backend.Key, s *views.Snapshot) string {
	if b := s.State.Sandbox(k); b != nil && !b.Name.IsEmpty() {
		return b.Name.String()
	}
	return k.ID.Safe().String()
}

// Turn goes to another page of the runbook for the same subject.
func (p Page) Turn(by int) Page {
	all := runbook.All()
	at := 0
	for i, x := range all {
		if x.Number == p.Incident {
			at = i
		}
	}
	p.Incident, p.Why = all[(at+by+len(all))%len(all)].Number, ""
	return p
}

// Title is the heading over the page.
func (p Page) Title(f *views.Frame) string {
	s := pageName(p.Incident)
	if p.Incident == "" {
		s = "runbook of this site: " + p.Rule
	}
	if p.Subject.Kind != "" && p.Incident != "" {
		s += " · " + Title(p.Subject, f)
	}
	return s
}

// Doc is what the diagnosis found out, which stands above the page's text; links are what it leads to.
func (p Page) Doc(f *views.Frame) (doc *kit.Doc, links []backend.Key) {
	w := &writer{Doc: &kit.Doc{}, f: f}
	if p.Why != "" {
		w.Line(dim(p.Why))
	}
	if w.home = p.Subject.Source; p.Subject.Kind != "" && !f.Printed {
		w.to(p.Subject)
		w.Field("about", normal(Title(p.Subject, f)))
	}
	if p.Incident == "" {
		return w.Doc, w.links
	}
	d := f.Diagnoses[p.Question]
	if d == nil {
		w.Field("diagnosis", dim("…"))
		return w.Doc, w.links
	}
	w.quotes(p.Question)
	w.Blank()
	w.diagnosis(d)
	return w.Doc, w.links
}

// Markdown is the page's text with what this site adds to it, without the knobs: those stand in Doc, with their values.
func (p Page) Markdown(f *views.Frame) string {
	page, ok := runbook.Incident(p.Incident)
	if !ok {
		page = &runbook.Page{Title: backend.Clean(p.Rule, 80)}
	}
	page = page.Fitting(f.Diagnoses[p.Question])
	rule := p.Rule
	if rule == "" {
		rule = page.Number // it is not known
	}
	return f.Pasted(page.Advice(runbook.LocalOf(f.Local, rule)))
}

// Platform is where the page's subject runs, as far as its diagnosis tells: Markdown leaves out what concerns others.
func (p Page) Platform(f *views.Frame) string {
	if d := f.Diagnoses[p.Question]; d != nil {
		return d.Platform()
	}
	return ""
}

// Checked writes what an alert's diagnosis confirmed, with its facts, and what it cannot tell and what would; nil while it is
// worked out, or when there is none.
func Checked(a *alerts.Alert, f *views.Frame) *kit.Doc {
	q, ok := Asked(a)
	d := f.Diagnoses[q]
	if !ok || d == nil {
		return nil
	}
	w := &writer{Doc: &kit.Doc{}, f: f, home: a.Source, page: &Page{Question: q}}
	w.tell(a.Cause)
	w.quotes(q)
	w.Line(kit.Span{Tone: theme.Strong, Text: "What the diagnosis asked"}, dim("  "+pageName(a.Runbook)))
	w.examined(d, runbook.Confirmed, runbook.CannotTell)
	return w.Doc
}

// AskedBy is the question that the details of a thing want answered: an alert's own, and that of the worst alert which names
// the thing or a part of it; false when there is none.
func AskedBy(key backend.Key, f *views.Frame) (views.Question, bool) {
	if a := views.FindAlert(f.Board, key); a != nil {
		return Asked(a)
	}
	p, ok := PageOf(key, f)
	return p.Question, ok && p.Rule != ""
}
