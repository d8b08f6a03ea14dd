package text

import (
	"slices"
	"strings"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/views"
)

// Plan is the document that the commands which act print with `-o json`; docs/json.md describes it. Its shape is
// stable.
type Plan struct {
	Schema      int          `json:"schema"`
	Time        Time         `json:"time"`
	Environment backend.Safe `json:"environment"`
	Production  bool         `json:"production"`
	// Digest is null for a plan that cannot be carried out: a refused one, a rehearsal.
	Digest     *string         `json:"digest"`
	Verb       backend.Safe    `json:"verb"`
	Kind       backend.Kind    `json:"kind"`
	Source     backend.Safe    `json:"source"`
	SourceKind backend.Safe    `json:"source_kind"`
	Effect     backend.Safe    `json:"effect"`
	Cost       backend.Safe    `json:"cost,omitzero"` // absent: none besides the effect
	Undo       *backend.Safe   `json:"undo"`
	Made       Time            `json:"made"`
	Expires    Time            `json:"expires"`
	Who        PlanWho         `json:"who"`
	Reason     *backend.Safe   `json:"reason"`
	Params     PlanParams      `json:"params"`
	DryRun     bool            `json:"dry_run"`
	Refused    bool            `json:"refused"`
	Bytes      *int64          `json:"bytes"`
	Targets    []PlanTarget    `json:"targets"`
	Excluded   []PlanExclusion `json:"excluded"`
	Choices    []PlanChoice    `json:"choices"`
	NotListed  []backend.ID    `json:"not_listed"`
	Advice     []backend.Safe  `json:"advice"`
	Warnings   []backend.Safe  `json:"warnings"`
	Refusals   []PlanRefusal   `json:"refusals"`
	// Unnamed says why the plan must be made again with a name of who acts; empty: it is known.
	Unnamed string `json:"-"`
	// Next is the command line that carries the plan out; null where there is none.
	Next     []string `json:"next"`
	Run      *PlanRun `json:"run"`
	ExitCode int      `json:"exit_code"`

	title string // of the verb, for people
}

// PlanWho is who made the plan.
type PlanWho struct {
	User      backend.Safe  `json:"user"`
	Host      backend.Safe  `json:"host"`
	Claimed   *backend.Safe `json:"claimed"`
	SudoUser  *backend.Safe `json:"sudo_user"`
	SSHClient *backend.Safe `json:"ssh_client"`
}

// PlanParams are what was chosen for the verb.
type PlanParams struct {
	OlderThanSeconds *float64 `json:"older_than_seconds"`
	PurgeNow         bool     `json:"purge_now"`
	Most             *int     `json:"most"`
	// Harmless are processes that may be unreadable, as a policy names them.
	Harmless []backend.Safe `json:"harmless"`
	// Image and Beside are what prove was asked to use: null where it chose.
	Image  *backend.Safe `json:"image"`
	Beside *backend.ID   `json:"beside"`
	// Process and Token are what was named of several: null where none was.
	Process *backend.Safe `json:"process"`
	Token   *backend.Safe `json:"token"`
}

// PlanChoice is one of several things of which the verb acts on one.
type PlanChoice struct {
	Name backend.Safe `json:"name"`
	Text backend.Safe `json:"text"`
}

// PlanTarget is one thing that is acted on.
type PlanTarget struct {
	ID        backend.ID     `json:"id"` // raw; what acts on a terminal is escaped
	Label     backend.Safe   `json:"label"`
	Owner     *backend.Safe  `json:"owner"`
	Identity  []PlanFact     `json:"identity"`
	Loses     []backend.Safe `json:"loses"`
	Notes     []backend.Safe `json:"notes"`
	Useless   bool           `json:"useless"`
	Bytes     *int64         `json:"bytes"`
	CauseSeen Time           `json:"cause_seen"`
}

// PlanFact is one value by which a target is told from another one.
type PlanFact struct {
	Name  backend.Safe `json:"name"`
	Value backend.Safe `json:"value"`
}

// PlanExclusion is something that was chosen and is left alone.
type PlanExclusion struct {
	ID    backend.ID   `json:"id"`
	Label backend.Safe `json:"label"`
	Why   backend.Safe `json:"why"`
}

// PlanRefusal is a reason not to act; one with a word can be set aside.
type PlanRefusal struct {
	Why      backend.Safe  `json:"why"`
	Next     *backend.Safe `json:"next"`
	Word     *string       `json:"word"`
	SetAside bool          `json:"set_aside"`
}

// PlanRun is what became of a plan that was carried out, or rehearsed.
type PlanRun struct {
	Phase   actions.Phase          `json:"phase"`
	Stopped *backend.Safe          `json:"stopped"`
	Summary backend.Safe           `json:"summary"`
	Began   Time                   `json:"began"`
	Ended   Time                   `json:"ended"`
	Acted   int                    `json:"acted"`
	Moved   int64                  `json:"moved_bytes"`
	Freed   int64                  `json:"freed_bytes"`
	Results map[actions.Result]int `json:"results"`
	Lines   []PlanLine             `json:"lines"`
	Problem *backend.Safe          `json:"journal_problem"`
	// Concludes is what prove says about the platform and the suspect sandbox; null where it proved nothing. Beside is that
	// sandbox, null where there is none.
	Concludes *backend.Safe `json:"concludes"`
	Beside    *PlanSuspect  `json:"beside"`
}

// PlanSuspect is the sandbox that prove is compared with.
type PlanSuspect struct {
	ID       backend.ID                         `json:"id"`
	Name     backend.Safe                       `json:"name"`
	Reported backend.Safe                       `json:"reported"`
	Observed backend.Value[backend.Observation] `json:"observed"`
}

// PlanStep is one step of an effect that has several.
type PlanStep struct {
	Name   backend.Safe       `json:"name"`
	Result actions.StepResult `json:"result"`
	Plane  *backend.Plane     `json:"plane"`        // that it shows; null: none of its own
	Took   *float64           `json:"took_seconds"` // null for a step that was not tried
	Said   *backend.Safe      `json:"said"`
}

// PlanLine is what became of one target.
type PlanLine struct {
	ID     backend.ID      `json:"id"`
	Label  backend.Safe    `json:"label"`
	Wave   int             `json:"wave"`
	Result *actions.Result `json:"result"`
	Text   backend.Safe    `json:"text"`
	Issued Time            `json:"issued"`
	Notes  []backend.Safe  `json:"notes"`
	Steps  []PlanStep      `json:"steps"`
	// Observed are the verdicts of an effect that observes a sandbox.
	Observed []backend.Verdict `json:"observed"`
}

// Paste gives the commands that the document names the flags of this command line.
func (d *Plan) Paste(reach backend.Reach) {
	lists := [][]backend.Safe{d.Advice, d.Warnings}
	for i := range d.Targets {
		d.Targets[i].Notes = slices.Clone(d.Targets[i].Notes)
		lists = append(lists, d.Targets[i].Notes)
	}
	for i := range d.Excluded {
		d.Excluded[i].Why = backend.WithFlags(d.Excluded[i].Why, reach)
	}
	if d.Run != nil {
		for i := range d.Run.Lines {
			d.Run.Lines[i].Notes = slices.Clone(d.Run.Lines[i].Notes)
			lists = append(lists, d.Run.Lines[i].Notes)
		}
	}
	for _, list := range lists {
		for i := range list {
			list[i] = backend.WithFlags(list[i], reach)
		}
	}
	for i := range d.Refusals {
		r := &d.Refusals[i]
		if r.Why = backend.WithFlags(r.Why, reach); r.Next != nil {
			next := backend.WithFlags(*r.Next, reach)
			r.Next = &next
		}
	}
}

// MakePlan concludes the document from a plan. notListed are ids that were asked for and that no source lists.
func MakePlan(p *actions.Plan, notListed []backend.ID, now time.Time) *Plan {
	d := &Plan{Schema: Schema, Time: views.At(now), Environment: backend.Clean(p.Environment, 200), Production: p.Production,
		Verb: backend.Clean(string(p.Verb), 40), Kind: p.Of, Source: backend.Clean(p.Source, 200), SourceKind: backend.Clean(p.SourceKind, 40),
		Effect: backend.Clean(p.Effect, 500), Made: views.At(p.Made), Expires: views.At(p.Expires()), DryRun: p.DryRun, Refused: len(p.Open()) > 0,
		Who: PlanWho{p.Who.User, p.Who.Host, said(p.Who.Claimed), said(p.Who.SudoUser), said(p.Who.SSHClient)}, Reason: said(p.Reason),
		Cost: backend.Clean(p.Cost, 500), Undo: said(backend.Clean(p.Undo, 500)), Params: PlanParams{PurgeNow: p.Params.PurgeNow}, Targets: []PlanTarget{},
		Excluded: []PlanExclusion{}, Choices: []PlanChoice{}, NotListed: views.List(notListed), Advice: slices.Clone(views.List(p.Advice)), Warnings: slices.Clone(views.List(p.Warnings)), Refusals: []PlanRefusal{},
		title: p.Title}
	if !d.Refused && !p.DryRun {
		d.Digest = &p.Digest
	}
	if s := p.Params.OlderThan.Seconds(); s > 0 {
		d.Params.OlderThanSeconds = &s
	}
	d.Params.Harmless = []backend.Safe{}
	for name := range strings.Lines(p.Params.Harmless) {
		d.Params.Harmless = append(d.Params.Harmless, backend.Clean(strings.TrimSuffix(name, "\n"), 200))
	}
	if p.Params.Most > 0 {
		d.Params.Most = &p.Params.Most
	}
	if id, err := backend.NewID(p.Params.Beside); err == nil {
		d.Params.Beside = &id
	}
	d.Params.Image = said(backend.Clean(p.Params.Image, 200))
	d.Params.Process, d.Params.Token = said(backend.Clean(p.Params.Process, 400)), said(backend.Clean(p.Params.Token, 400))
	for _, c := range p.Choices {
		d.Choices = append(d.Choices, PlanChoice{backend.Clean(c.Name, 400), c.Text})
	}
	if n, known := p.Bytes().Get(); known {
		d.Bytes = &n
	}
	for i := range p.Targets {
		d.Targets = append(d.Targets, planTarget(&p.Targets[i]))
	}
	for _, x := range p.Excluded {
		d.Excluded = append(d.Excluded, PlanExclusion{x.Key.Path(), x.Label, x.Why})
	}
	open := p.Open()
	for _, r := range p.Refusals {
		x := PlanRefusal{Why: r.Why, Next: said(r.Next), SetAside: true}
		for _, o := range open {
			x.SetAside = x.SetAside && o != r
		}
		if r.Word != "" {
			x.Word = &r.Word
		}
		d.Refusals = append(d.Refusals, x)
	}
	return d
}

func planTarget(t *actions.Target) PlanTarget {
	x := PlanTarget{ID: t.Key.Path(), Label: t.Label, Owner: said(t.Owner), Identity: []PlanFact{}, Loses: views.List(t.Loses), Notes: views.List(t.Notes),
		Useless: t.Useless, CauseSeen: views.At(t.CauseSeen)}
	for _, f := range t.Identity {
		x.Identity = append(x.Identity, PlanFact{backend.Clean(f.Name, 60), backend.Clean(f.Value, 500)})
	}
	if n, known := t.Bytes.Get(); known {
		x.Bytes = &n
	}
	return x
}

// Ran adds what became of the plan.
func (d *Plan) Ran(p actions.Progress) {
	r := &PlanRun{Phase: p.Phase, Summary: p.Summary(), Began: views.At(p.Began), Ended: views.At(p.Ended), Acted: p.Acted(),
		Results: map[actions.Result]int{}, Lines: []PlanLine{}, Problem: said(p.Problem), Stopped: said(p.Why)}
	for i := range p.Lines {
		l := &p.Lines[i]
		x := PlanLine{ID: l.Target.Key.Path(), Label: l.Target.Label, Wave: l.Wave, Text: l.Text, Issued: views.At(l.Issued), Notes: views.List(l.Done.Notes), Steps: planSteps(l.Done.Steps),
			Observed: views.List(l.Done.Observed)}
		if l.Result != actions.ResultNone {
			x.Result = &l.Result
			r.Results[l.Result]++
		}
		r.Moved, r.Freed = r.Moved+l.Done.Moved, r.Freed+l.Done.Freed
		r.Lines = append(r.Lines, x)
	}
	d.Run = r
}

// Beside adds the suspect sandbox, nil where there is none, and what the run says about it.
func (d *Plan) Beside(suspect *backend.Sandbox, concludes backend.Safe) {
	d.Run.Concludes = said(concludes)
	if suspect != nil {
		d.Run.Beside = &PlanSuspect{ID: suspect.Key.ID, Name: suspect.Name, Reported: suspect.Reported, Observed: suspect.Observed}
	}
}

func planSteps(steps []actions.Step) []PlanStep {
	out := []PlanStep{}
	for _, s := range steps {
		x := PlanStep{Name: s.Name, Result: s.Result, Said: said(s.Said)}
		if s.Plane != "" {
			x.Plane = &s.Plane
		}
		if s.Result != actions.StepNotTried {
			took := s.Took.Seconds()
			x.Took = &took
		}
		out = append(out, x)
	}
	return out
}

// said is a text, or nil where there is none.
func said(s backend.Safe) *backend.Safe {
	if s.IsEmpty() {
		return nil
	}
	return &s
}
