package runbook

import (
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// subjectView is what a Case shows of its subject: every entity, error and source that belongs to it.
type subjectView struct {
	Case
	now time.Time
	// home is the source whose registry the subject belongs to; empty: those of about, or all when that is empty too.
	home      string
	about     []string
	sessionID backend.ID
	session   *backend.Session // nil when it is not listed
	// workspaces are the subject's: itself, those of its session, or those of its source.
	workspaces []*backend.Workspace
	sandboxes  []*backend.Sandbox // joined to the session, or all that belong to a session of the source
	wide       bool               // the subject is a source or the whole fleet
	widened    bool               // the question was about a part of it

	alert *alerts.Alert        // whose page it is; nil: the page is about the subject alone
	only  map[backend.Key]bool // the workspaces of that alert, without their source; nil: those of the subject

	past     *alerts.Past // the session as it was before it left; nil: it is listed, or nothing is remembered
	recalled bool         // the workspaces are those of a registry that closed, as read last

	led   []*alerts.Alert      // the alerts that the diagnosis starts from, the most certain first
	ledOn map[backend.Key]bool // the subjects of those that fire

	// errorsOf are the workspaces whose errors count, where a page looks at a whole source; nil: all of them.
	errorsOf map[backend.Key]bool
	errors   []reportedError
	mute     int // failing workspaces that give no error
	// running are attempts that give neither an error nor a success so far: those that take longer than any operation may, and
	// all of them where an alert fires.
	running int
	unread  int // errors beyond maxErrors

	failingIn map[backend.ID]bool // sessions of a whole source with a workspace that fails; nil: not looked up yet

	old backend.Safe // why the workspaces' values are old, empty when they are not
}

// maxErrors bounds the errors that are searched: a diagnosis must not cost more than a frame.
const maxErrors = 4000

func newSubjectView(c Case) *subjectView {
	s := &subjectView{Case: c, now: c.State.Wall, alert: c.alert()}
	if s.Refs == nil {
		s.Refs = storedRefs(c.State, c.Board)
	}
	k := c.Subject
	if e := c.State.Entity(k); e != nil && k.Kind != backend.KindWorkspace && k.Kind.Spec().PartOfParent {
		k, _ = backend.Owner(e)
	}
	switch {
	case k.Kind == backend.KindWorkspace:
		s.home, s.sessionID = k.Source, k.Parent
		if w := c.State.Workspace(k); w != nil {
			s.workspaces = append(s.workspaces, w)
		}
	case k.Kind == backend.KindSession:
		s.home, s.sessionID = c.listOf(k), k.ID
	case k.Kind == backend.KindRef:
		s.sessionID = k.Parent
	case k.Kind == backend.KindSandbox:
		s.fromSandbox(c.sandboxOf(k))
	case k.Kind == backend.KindTmpdir:
		s.fromSandbox(s.mountOf(c.State.Tmpdirs.Get(k)))
	case k.Kind == backend.KindSource:
		s.home, s.wide = k.Source, true
		if h := c.State.Source(k.Source); h != nil && onlyCounts(h) {
			s.home, s.about = "", h.About
		}
	case k.Kind.Spec().Kind == "": // an alert or no subject
		s.wide = true
	}
	s.findSession()
	s.findWorkspaces()
	s.narrowWorkspaces()
	s.findSandboxes()
	return s
}

// listOf is the source whose list a session belongs to: a log names sessions of others. Empty: any that lists it.
func (c Case) listOf(session backend.Key) string {
	h := c.State.Source(session.Source)
	if h == nil || !onlyCounts(h) || c.State.Session(session) != nil {
		return session.Source
	}
	if home := c.State.HomeOf(session.Source, session.ID); home != session.Source {
		return home
	}
	return ""
}

// lead sets the alerts that the diagnosis starts from, and reads the errors behind them.
func (s *subjectView) lead(led []*alerts.Alert) *subjectView {
	s.led, s.ledOn = led, map[backend.Key]bool{}
	for _, a := range led {
		if a.Runbook == stormPage && (s.alert == nil || a == s.alert) {
			s.errorsOf = add(s.errorsOf, a)
		}
		for i := range a.Subjects {
			if x := &a.Subjects[i]; a.State == alerts.StateFiring && x.State == alerts.StateFiring {
				s.ledOn[x.Key] = true
			}
		}
	}
	s.narrowSandboxes()
	s.readErrors()
	s.readAlerts()
	s.readLog()
	return s
}

// narrowSandboxes leaves out the sandboxes that have nothing to do with the alerts that a page of a whole source starts from:
// those of other sessions, and those without a session on another platform.
func (s *subjectView) narrowSandboxes() {
	if s.only != nil {
		s.sandboxes = slices.DeleteFunc(s.sandboxes, func(b *backend.Sandbox) bool {
			return !slices.ContainsFunc(s.workspaces, func(w *backend.Workspace) bool {
				return w.Key.Parent == b.Session && (b.Workspace.IsZero() || w.Key.ID == b.Workspace)
			})
		})
		return
	}
	if !s.wide || len(s.ledOn) == 0 {
		return
	}
	sessions, at := map[backend.ID]bool{}, map[platform]bool{}
	for k := range s.ledOn {
		if k.Kind == backend.KindSession {
			sessions[k.ID] = true
		} else if k.Kind == backend.KindWorkspace || k.Kind == backend.KindRef {
			sessions[k.Parent] = true
		}
		if w := s.State.Workspace(k); w != nil {
			at[platformOf(w.Provider.String())] = true
		}
	}
	cut := slices.ContainsFunc(s.led, func(a *alerts.Alert) bool { return a.Left() > 0 })
	s.sandboxes = slices.DeleteFunc(s.sandboxes, func(b *backend.Sandbox) bool {
		switch p := platformOf(b.Provider.String()); {
		case sessions[b.Session], s.ledOn[b.Key], len(sessions) == 0:
			return false
		case !b.Session.IsZero() && !cut:
			return true
		default:
			return p != anywhere && len(at) > 0 && !at[p] && !at[anywhere]
		}
	})
}

// foreign reports whether an event is about a sandbox that the page does not look at.
func (s *subjectView) foreign(e *backend.Event) bool {
	return e.Subject.Kind == backend.KindSandbox && s.wide && len(s.ledOn) > 0 &&
		!slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool { return b.Key == e.Subject })
}

// onlyCounts reports whether a source counts or reads what happens to the workspaces of other sources and has none
// itself: metrics and logs.
func onlyCounts(h *fleet.SourceHealth) bool {
	may := func(inputs ...backend.Input) bool {
		return slices.ContainsFunc(inputs, h.Delivers) ||
			slices.ContainsFunc(h.Missing, func(m backend.MissingInput) bool { return slices.Contains(inputs, m.Input) })
	}
	return may(backend.InputEvictions, backend.InputEvictionLogs, backend.InputRejections) &&
		!may(backend.InputRegistry, backend.InputSessions, backend.InputContainers, backend.InputTmpdirs)
}

// here reports whether a source is one of those whose registry the subject belongs to.
func (s *subjectView) here(source string) bool {
	if s.home != "" {
		return source == s.home
	}
	return len(s.about) == 0 || slices.Contains(s.about, source)
}

// widen looks at the whole source that the subject belongs to: storms are not about one session.
func (s *subjectView) widen() *subjectView {
	if s.wide && s.only == nil {
		return s
	}
	c := s.Case
	c.Subject, c.Alert = backend.Key{}, ""
	if s.home != "" {
		c.Subject = backend.Key{Kind: backend.KindSource, Source: s.home, ID: backend.MustID(s.home)}
	}
	w := newSubjectView(c)
	w.alert, w.widened = s.alert, !s.wide
	return w.lead(s.led)
}

// sandboxOf finds a sandbox, as it was read last where it is listed no more; nil where nothing is known of it.
func (c Case) sandboxOf(k backend.Key) *backend.Sandbox {
	if b := c.State.Sandbox(k); b != nil {
		return b
	}
	p, _ := c.Board.Past(k)
	b, _ := p.Entity.(*backend.Sandbox)
	return b
}

func (s *subjectView) fromSandbox(sb *backend.Sandbox) {
	if sb == nil {
		return
	}
	s.sandboxes = append(s.sandboxes, sb)
	s.sessionID = s.State.SessionOn(sb)
}

// mountOf finds the sandbox that has a scratch directory mounted.
func (s *subjectView) mountOf(t *backend.Tmpdir) *backend.Sandbox {
	if t == nil || t.RawPath.IsZero() {
		return nil
	}
	for sb := range s.State.Sandboxes.All() {
		if sb.IsSandbox && slices.ContainsFunc(sb.Mounts, func(m backend.Mount) bool { return m.RawSource == t.RawPath }) {
			return sb
		}
	}
	return nil
}

// findSession looks the session up; a subject of another kind does not know the source that runs it.
func (s *subjectView) findSession() {
	if s.sessionID.IsZero() {
		return
	}
	if s.home != "" {
		k := backend.Key{Kind: backend.KindSession, Source: s.home, ID: s.sessionID}
		if s.session = s.State.Session(k); s.session == nil {
			if p, ok := s.Board.Past(k); ok {
				s.setPast(p)
			}
		}
		return
	}
	for x := range s.State.Sessions.All() {
		if x.Key.ID == s.sessionID {
			s.session, s.home = x, x.Key.Source
			return
		}
	}
	for _, p := range s.Board.PastOf(backend.KindSession) {
		if k := p.Entity.EntityMeta().Key; k.ID == s.sessionID {
			s.home = k.Source
			s.setPast(p)
			return
		}
	}
}

// setPast takes a session that is not listed any more as it was read last.
func (s *subjectView) setPast(p alerts.Past) {
	if x, ok := p.Entity.(*backend.Session); ok {
		s.session, s.past = x, &p
	}
}

// recall takes the workspaces of a session that closed as they were read last.
func (s *subjectView) recall() {
	if s.wide || s.sessionID.IsZero() || len(s.workspaces) > 0 {
		return
	}
	name := s.oneWorkspace()
	for _, p := range s.Board.PastOf(backend.KindWorkspace) {
		w, ok := p.Entity.(*backend.Workspace)
		if ok && w.Key.Parent == s.sessionID && (s.home == "" || w.Key.Source == s.home) && (name.IsZero() || w.Key.ID == name) {
			s.workspaces, s.home, s.recalled = append(s.workspaces, w), w.Key.Source, true
		}
	}
}

func (s *subjectView) findWorkspaces() {
	switch {
	case len(s.workspaces) > 0:
	case s.wide:
		provider, ok := strings.CutPrefix(s.Subject.ID.Raw(), s.Subject.Source+"/")
		if !ok {
			provider = ""
		}
		for w := range s.State.Workspaces.All() {
			if s.here(w.Key.Source) && (provider == "" || w.Provider.String() == provider) {
				s.workspaces = append(s.workspaces, w)
			}
		}
	case !s.sessionID.IsZero() && s.home != "":
		for w := range s.State.Workspaces.Of(backend.KindWorkspace, s.home, s.sessionID) {
			s.workspaces = append(s.workspaces, w)
		}
	case !s.sessionID.IsZero():
		for w := range s.State.Workspaces.All() {
			if w.Key.Parent == s.sessionID {
				s.workspaces = append(s.workspaces, w)
			}
		}
	}
	if !s.wide {
		for i, w := range s.workspaces {
			s.workspaces[i] = s.State.WithStoredProvider(w)
		}
	}
	s.recall()
	if len(s.workspaces) > 0 && s.home == "" && !s.wide {
		s.home = s.workspaces[0].Key.Source
	}
}

func (s *subjectView) findSandboxes() {
	if len(s.sandboxes) > 0 {
		return
	}
	for sb := range s.State.Sandboxes.All() {
		if !sb.IsSandbox {
			continue
		}
		if s.wide && s.speaksHere(sb.Key.Source) || s.ofThisSession(sb) {
			if w := s.oneWorkspace(); w.IsZero() || sb.Workspace.IsZero() || sb.Workspace == w {
				s.sandboxes = append(s.sandboxes, sb)
			}
		}
	}
}

// ofThisSession reports whether a sandbox belongs to the subject's session, or a saved state of that session names it.
func (s *subjectView) ofThisSession(b *backend.Sandbox) bool {
	if s.sessionID.IsZero() {
		return false
	}
	if s.State.SessionOn(b) == s.sessionID {
		return true
	}
	x := s.State.StateNaming(b)
	return x != nil && x.Session == s.sessionID
}

// oneWorkspace is the name of the workspace that the subject is or is the sandbox of, zero for other subjects.
func (s *subjectView) oneWorkspace() backend.ID {
	if s.Subject.Kind == backend.KindWorkspace {
		return s.Subject.ID
	}
	if b := s.State.Sandbox(s.Subject); b != nil {
		return b.Workspace
	}
	return backend.ID{}
}

// speaksHere reports whether what a source says concerns the subject's home, or the sandboxes of the one subject.
func (s *subjectView) speaksHere(source string) bool {
	if s.here(source) || s.wide && source == s.Subject.Source {
		return true
	}
	h := s.State.Source(source)
	if h == nil || len(h.About) == 0 && h.Delivers(backend.InputRegistry) { // another registry speaks for itself
		return false
	}
	if !s.wide && slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool { return h.ReportsOn(b.Key.Source) }) {
		return true
	}
	if s.home != "" {
		return h.ReportsOn(s.home)
	}
	return slices.ContainsFunc(s.about, h.ReportsOn)
}

// bad reports whether the registry itself calls the workspace broken.
func bad(w *backend.Workspace) bool {
	return w.Class == backend.ClassFailed || w.Class == backend.ClassEvicted
}

// failing reports whether the workspace does not work, by its state, its times, or an alert that fires about it.
func (s *subjectView) failing(w *backend.Workspace) bool {
	return !s.runsLong(w) && w.Condition(s.now, s.State.LongestOperation) == backend.CondFailing || w.TriedSince() && !w.LastError.IsEmpty() && s.ledOn[w.Key]
}

// runsLong reports whether the newest attempt takes longer than any operation may and gives no error: it has not failed yet.
func (s *subjectView) runsLong(w *backend.Workspace) bool {
	return w.RunsLong(s.now, s.State.LongestOperation)
}

// watchesAlert reports whether an alert fires about the subject, so that attempts under way are a part of a trouble.
func (s *subjectView) watchesAlert() bool {
	fires := func(a *alerts.Alert) bool { return a.State == alerts.StateFiring }
	return slices.ContainsFunc(s.led, fires) || s.Board != nil && slices.ContainsFunc(s.Board.Alerts, func(a *alerts.Alert) bool { return fires(a) && s.isAbout(a) })
}

// from is who reported an entity, and when it was last read.
func (s *subjectView) from(m *backend.Meta) origin { return origin{m.Key.Source, s.State.ReadAt(m)} }

// newest is the origin of the workspaces' newest reading.
func (s *subjectView) newest() origin {
	var o origin
	for _, w := range s.workspaces {
		if f := s.from(&w.Meta); f.at.After(o.at) {
			o = f
		}
	}
	return o
}

// provider is the provider of the subject's workspaces; empty when it is not named or they differ.
func (s *subjectView) provider() string {
	p := ""
	for _, w := range s.workspaces {
		own := s.providerOf(w)
		if own == "" || p != "" && p != own {
			return ""
		}
		p = own
	}
	return p
}

// providerOf is what a workspace, or else its stored references, name as its provider.
func (s *subjectView) providerOf(w *backend.Workspace) string {
	if p := w.Provider.String(); p != "" || s.wide {
		return p
	}
	return s.savedProvider(w)
}

// savedProvider is the provider that the stored references of a workspace name; empty where none does or they differ.
func (s *subjectView) savedProvider(w *backend.Workspace) string {
	p := ""
	for i := range s.Refs {
		r := &s.Refs[i]
		if r.Session != w.Key.Parent || r.Provider.IsEmpty() || !r.Workspace.IsZero() && r.Workspace != w.Key.ID {
			continue
		}
		if p != "" && p != r.Provider.String() {
			return ""
		}
		p = r.Provider.String()
	}
	return p
}
