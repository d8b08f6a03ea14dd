package runbook

import (
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Mark is what a check found out about its question.
type Mark string

// The marks. Ruled out needs a reading that shows the opposite; the lack of one is "cannot tell".
const (
	Confirmed  Mark = "confirmed"
	RuledOut   Mark = "ruled out"
	CannotTell Mark = "cannot tell"
)

// Check is one question of a diagnosis and its answer.
type Check struct {
	Name      string       `json:"name"` // short machine word, unique in its diagnosis
	Question  backend.Safe `json:"question"`
	Mark      Mark         `json:"mark"`
	Fact      backend.Safe `json:"fact,omitzero"`       // what was read
	WouldTell backend.Safe `json:"would_tell,omitzero"` // with cannot tell: which reading would answer
	Source    string       `json:"source,omitempty"`    // who reported the fact
	At        time.Time    `json:"at,omitzero"`         // when it was read

	echo bool // it repeats an alert's own cause and figures

	of *backend.Sandbox // the container that the fact is about, on the page of containers

	named, errors int // how many of the reported errors name it; no errors: it rests on something else

	_ [0]func() // two checks are never compared as a whole: no code for that is compiled
}

// Echoes reports whether the check only repeats what the alert beside it says.
func (c *Check) Echoes() bool { return c.echo }

// share notes how many of the reported errors name the cause.
func (c Check) share(named, errors int) Check {
	c.named, c.errors = named, errors
	return c
}

// few reports whether a check rests on at most half of the reported errors: too few for a headline.
func (c *Check) few() bool { return c.errors > 0 && 2*c.named <= c.errors }

// Ending is the reason why files vanished.
type Ending string

// The endings of the diagnosis of incident 2; other diagnoses have none.
const (
	EndByDesign   Ending = "by design"
	EndClosed     Ending = "closed"
	EndCleaned    Ending = "cleaned"
	EndReplaced   Ending = "replaced"
	EndShared     Ending = "shared with the parent"
	EndAsleep     Ending = "asleep"
	EndCannotTell Ending = "cannot tell"
)

// Diagnosis is a page's checks, answered for one subject.
type Diagnosis struct {
	Incident   string       `json:"incident"`
	Title      backend.Safe `json:"title"`
	Subject    backend.Key  `json:"subject"`
	Conclusion backend.Safe `json:"conclusion"`       // one sentence
	Ending     Ending       `json:"ending,omitempty"` // incident 2 only
	Checks     []Check      `json:"checks"`           // confirmed first, cannot tell last
	// Do and Dont are the lines that fit what was confirmed.
	Do   []backend.Safe `json:"do"`
	Dont []backend.Safe `json:"dont"`
	// NoReset says why a reset is not to be offered; empty when nothing speaks against one.
	NoReset backend.Safe `json:"no_reset,omitzero"`
	// NoDestroy says why a sandbox is not to be destroyed now; empty when nothing speaks against it.
	NoDestroy backend.Safe `json:"no_destroy,omitzero"`
	// NoResume says why a resume cannot help, NoBulk why nothing is done to several at once; empty when nothing speaks against it.
	NoResume backend.Safe `json:"no_resume,omitzero"`
	NoBulk   backend.Safe `json:"no_bulk,omitzero"`
	// Sessions are the sessions that share the cause, where the cause asks for a list; at most MaxSessions.
	// SessionCount is exact.
	Sessions     []backend.Key `json:"sessions,omitempty"`
	SessionCount int           `json:"session_count,omitempty"`
	// Release is what is known of the framework's release, for incidents 6, 8 and 9.
	Release Release `json:"release,omitzero"`
	// Knobs are the page's knobs with the values that are declared for the subject.
	Knobs []KnobValue `json:"knobs,omitempty"`

	told, short string // foreign text in the conclusion, and what a pane has of it

	client   string   // that reaches the engine of its sandboxes; empty: not known
	platform platform // where all of the subject runs, as far as it is known

	saves bool // the advice begins with evidence to save

	denies bool // the conclusion says that there is no such trouble, or that nothing is known of it
}

// Steps are those that a summary names: the first, and the next one where the first only saves evidence.
func (d *Diagnosis) Steps() []backend.Safe {
	n := 1
	if d.saves && len(d.Do) > 1 {
		n = 2
	}
	return d.Do[:min(n, len(d.Do))]
}

// Brief is the conclusion with shortened foreign text, for a pane.
func (d *Diagnosis) Brief() string {
	return strings.Replace(d.Conclusion.String(), d.told, d.short, 1)
}

// MaxSessions bounds Diagnosis.Sessions.
const MaxSessions = 1000

// Ref is one persisted workspace reference, as a state store keeps it.
type Ref struct {
	Session, Workspace backend.ID
	Provider           backend.Safe
	SchemaVersion      backend.Value[int] // not applicable: written before refs carried one
	Resource           backend.ID         // the sandbox id or directory inside, zero when it cannot be read
	Source             string
	At                 time.Time
	Agent              bool // the session state of an agent SDK, which has another kind of version
}

// Case is what a diagnosis may look at. Everything but State may be missing.
type Case struct {
	State   *fleet.State
	Board   *alerts.Board
	Subject backend.Key // the zero Key asks about the whole fleet
	Alert   string      // id of the alert whose page it is: its subjects and their errors are looked at; empty: the subject's
	Events  []backend.Event
	Refs    []Ref
}

// Diagnose runs the checks of one incident on a State for any subject, whether or not there is an alert about it. The
// State's own events are all the history that it sees; Case takes more.
func Diagnose(incident string, st *fleet.State, b *alerts.Board, subject backend.Key) Diagnosis {
	return Case{State: st, Board: b, Subject: subject, Events: st.Events}.Diagnose(incident)
}

// diagnoses are the checks of each page, by its number or name.
func diagnoses() map[string]func(*subjectView) Diagnosis {
	return map[string]func(*subjectView) Diagnosis{
		"1": diagnoseWorkspaceFailed,
		"2": diagnoseFilesVanished,
		"3": diagnoseAgentOutOfMemory,
		"4": diagnoseSandboxWillNotEnd,
		"5": diagnoseScratchDirectories,
		"6": diagnoseReferenceMismatch,
		"7": diagnoseEvictionStorm,
		"8": diagnoseCrossTenantLeak,
		"9": diagnoseAuditFlood,

		"container":     diagnoseContainer,
		"contradiction": diagnoseContradiction,
		"source":        diagnoseSource,
		"host":          diagnoseHost,
	}
}

// Diagnose runs the checks of one incident. It depends on nothing but the Case.
func (c Case) Diagnose(incident string) Diagnosis {
	p, ok := Incident(incident)
	if !ok {
		return Diagnosis{Incident: incident, Subject: c.Subject,
			Conclusion: backend.Textf("There is no page %s. The pages are %s.", backend.Clean(incident, 20), backend.Clean(strings.Join(Numbers(), ", "), 200))}
	}
	d, s := c.concluded(p)
	s.beside(&d)
	s.ownPage(&d)
	d.pasted(c.State.ReachTo(s.meant))
	return d
}

// concluded runs the checks of a page, and ends it: its commands do not have yet what they need in this run.
func (c Case) concluded(p *Page) (Diagnosis, *subjectView) {
	s := newSubjectView(c)
	s.lead(s.leadWith(p.Number, s.leading(p.Number)))
	d := diagnoses()[p.Number](s)
	d.Incident, d.Title, d.Subject = p.Number, p.Title, c.Subject
	s.fit(&d)
	s.undenied(&d)
	s.fitting(&d)
	s.refuse(&d)
	s.suit(&d)
	d.Knobs = s.knobs(p, &d)
	sortChecks(d.Checks)
	s.cleanable(&d)
	s.bundled(&d)
	s.fillName(&d)
	return d, s
}

// cleanable names another way to make room where no source lists scratch directories: clean would be refused.
func (s *subjectView) cleanable(d *Diagnosis) {
	const lists = "List leftovers: sandglass clean --dry-run."
	if slices.ContainsFunc(s.State.Sources, func(h *fleet.SourceHealth) bool { return h.Watches(backend.InputTmpdirs) }) {
		return
	}
	d.Do = slices.Clone(d.Do)
	for i, x := range d.Do {
		if before, after, found := strings.Cut(x.String(), lists); found {
			d.Do[i] = backend.Clean(before+"On the agents' host, df -h and df -i show what is full."+after, backend.MaxTextRunes)
		}
	}
}

// bundled names the workspace whose evidence is saved.
func (s *subjectView) bundled(d *Diagnosis) {
	const command = "(sandglass bundle)"
	id := backend.Text("ID")
	if s.alert != nil {
		id = backend.Clean(s.alert.ID, 40)
	}
	for _, w := range s.workspaces {
		if id = backend.ShellWord(w.Key.Path().Raw()); w.Class == backend.ClassFailed {
			break
		}
	}
	d.Dont = slices.Clone(d.Dont)
	for i, x := range d.Dont {
		if before, after, found := strings.Cut(x.String(), command); found {
			d.Dont[i] = backend.Clean(before+"(sandglass bundle "+id.String()+")"+after, backend.MaxTextRunes)
		}
	}
}

// meant walks the subjects that the page's commands name.
func (s *subjectView) meant(yield func(backend.Key) bool) {
	if !s.Subject.ID.IsZero() && !yield(s.Subject) {
		return
	}
	for _, b := range s.sandboxes {
		if !yield(b.Key) {
			return
		}
	}
	for _, w := range s.workspaces {
		if !yield(w.Key) {
			return
		}
	}
	for _, a := range s.led {
		for i := range a.Subjects {
			if !yield(a.Subjects[i].Key) {
				return
			}
		}
	}
	if s.session != nil {
		yield(s.session.Key)
	}
}

// pasted gives the commands of a diagnosis what they need in this run.
func (d *Diagnosis) pasted(reach backend.Reach) {
	d.Do, d.Dont = slices.Clone(d.Do), slices.Clone(d.Dont)
	for _, list := range [][]backend.Safe{d.Do, d.Dont} {
		for i := range list {
			list[i] = backend.WithFlags(list[i], reach)
		}
	}
	for i := range d.Checks {
		d.Checks[i].WouldTell = backend.WithFlags(d.Checks[i].WouldTell, reach)
		if d.Checks[i].Mark == CannotTell { // which says it in our own words
			d.Checks[i].Fact = backend.WithFlags(d.Checks[i].Fact, reach)
		}
	}
}

// fresh turns "ruled out" into "cannot tell" where the source of the fact no longer answers.
func (c Case) fresh(checks []Check) []Check {
	for i := range checks {
		x := &checks[i]
		h := c.State.Source(x.Source)
		if x.Mark != RuledOut || h == nil || h.Status != fleet.StatusDown && !h.Overdue(c.State.Wall) {
			continue
		}
		x.Mark = CannotTell
		x.Fact = backend.Textf("%s, but that is old: %s does not answer", x.Fact, backend.Clean(x.Source, 80))
		x.WouldTell = backend.Textf("%s, when it answers again", backend.Clean(x.Source, 80))
	}
	return checks
}

// Not inlined are what hundreds of sentences call: that would make the program 0.2 MB larger, and no page faster.

// Mark returns the mark of a check, "cannot tell" when the diagnosis has none of that name.
func (d *Diagnosis) Mark(name string) Mark {
	for _, c := range d.Checks {
		if c.Name == name {
			return c.Mark
		}
	}
	return CannotTell
}

// is reports whether a check was confirmed.
//
//go:noinline
func (d *Diagnosis) is(name string) bool { return d.Mark(name) == Confirmed }

// mainly reports whether a check was confirmed by more than a few of the errors: such a one is fit for a headline.
func (d *Diagnosis) mainly(name string) bool {
	return slices.ContainsFunc(d.Checks, func(c Check) bool { return c.Name == name && c.Mark == Confirmed && !c.few() })
}

//go:noinline
func (d *Diagnosis) do(l backend.Literal, args ...any) {
	d.Do = append(d.Do, backend.Textf(l, args...))
}

//go:noinline
func (d *Diagnosis) dont(l backend.Literal, args ...any) {
	d.Dont = append(d.Dont, backend.Textf(l, args...))
}

// deny concludes that there is no such trouble as far as the checks tell. An alert that fires replaces it.
//
//go:noinline
func (d *Diagnosis) deny(l backend.Literal, args ...any) {
	d.conclude(l, args...)
	d.denies = true
}

// conclude writes the sentence, with what was confirmed in it when nothing better is known.
//
//go:noinline
func (d *Diagnosis) conclude(l backend.Literal, args ...any) {
	d.Conclusion = backend.Textf(l, args...)
}
