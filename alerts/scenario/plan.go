package scenario

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
)

// plan is a scenario with its notation read and its names checked.
type plan struct {
	*Scenario
	interval time.Duration
	steps    int // the last step's number
	watch    int // the first step that is seen
	registry map[string][]string
	session  []sessionPlan
	work     []workspacePlan
	sandbox  []sandboxPlan
	job      []workPlan // and executions
	count    []countPlan
	host     []hostPlan
	tmpdir   []tmpdirPlan
	ref      []refPlan
	event    []eventPlan
	memory   []memoryPlan
	report   []reportPlan
	off      map[int]int      // restarts: the console stops after the key's step and starts at the value's
	expect   map[int][]Expect // by step
	subjects map[string]bool
}

type sessionPlan struct {
	Session
	key             backend.Key
	states, answers []string
	driver          []string
	ends            int // 0: never
}

type workspacePlan struct {
	Workspace
	key              backend.Key
	states, attempts []string
}

type sandboxPlan struct {
	Sandbox
	key              backend.Key
	states, health   []string
	platform         []string
	restarts, memory []sample
	observed         [][]backend.Verdict
}

type countPlan struct {
	Count
	series  backend.Series
	samples []sample
}

// errorList collects the errors of a scenario, so that all of them are reported at once.
type errorList struct{ errs []error }

func (f *errorList) add(format string, args ...any) {
	f.errs = append(f.errs, fmt.Errorf(format, args...))
}

func makePlan(s *Scenario, known []string) (*plan, error) {
	p := &plan{Scenario: s, interval: s.Interval.Std(), registry: map[string][]string{}, off: map[int]int{}, expect: map[int][]Expect{}, subjects: map[string]bool{}}
	var f errorList
	if s.Name == "" {
		f.add("it has no name")
	}
	if s.Case != "" && !slices.Contains(Cases(), s.Case) {
		f.add("%q is no case; the cases are %s", s.Case, strings.Join(Cases(), ", "))
	}
	if len(s.Rules) == 0 {
		f.add("it names no rules")
	}
	for _, r := range s.Rules {
		if !slices.Contains(known, r) {
			f.add("there is no rule %q", r)
		}
	}
	p.watch = p.step(&f, "watch", s.Watch)
	p.sources(&f)
	p.sessions(&f)
	p.workspaces(&f)
	p.sandboxes(&f)
	p.counts(&f)
	p.readWorks(&f)
	p.readResources(&f)
	p.readFacts(&f)
	p.readCloud(&f)
	p.expectations(&f)
	for _, e := range p.event {
		if e.step > p.steps {
			f.add("event %s at %s: it never happens, nothing is expected after it", e.Name, text(e.At.Std()))
		}
	}
	for _, r := range p.report {
		if r.step > p.steps {
			f.add("report at %s: it never happens, nothing is expected after it", text(r.At.Std()))
		}
	}
	p.restarts(&f)
	for class, is := range s.Classes {
		switch is {
		case backend.ClassUnknown, backend.ClassHealthy, backend.ClassOpening, backend.ClassFailed, backend.ClassEvicted, backend.ClassClosed:
		default:
			f.add("classes: %s = %q is no class", class, is)
		}
	}
	return p, errors.Join(f.errs...)
}

// step turns an offset into a step's number.
func (p *plan) step(f *errorList, what string, at backend.Duration) int {
	if at.Std()%p.interval != 0 {
		f.add("%s: %s is no multiple of the interval of %s, so nothing happens at that moment", what, text(at.Std()), text(p.interval))
	}
	n := at.Std() / p.interval
	if n > maxSteps {
		f.add("%s: %s is more than %d steps away", what, text(at.Std()), maxSteps)
		return 0
	}
	return int(n)
}

// home is the source of an entity: the named one, else the first.
func (p *plan) home(f *errorList, what, source string) string {
	if source == "" && len(p.Sources) > 0 {
		return p.Sources[0].ID
	}
	if !slices.ContainsFunc(p.Sources, func(s Source) bool { return s.ID == source }) {
		f.add("%s: there is no [[scenario.source]] %q", what, source)
	}
	return source
}

func (p *plan) id(f *errorList, what, raw string) backend.ID {
	id, err := backend.NewID(raw)
	if err != nil {
		f.add("%s: %v", what, err)
	}
	return id
}

// named registers a subject; expectations could not tell two subjects of one kind and name apart.
func (p *plan) named(f *errorList, kind, name string) {
	if p.subjects[name] {
		f.add("%s %q: something else has this name", kind, name)
	}
	p.subjects[name] = true
}

func (p *plan) sources(f *errorList) {
	if len(p.Sources) == 0 {
		f.add("it has no [[scenario.source]]")
	}
	for _, s := range p.Sources {
		what := "source " + s.ID
		p.id(f, what, s.ID)
		p.named(f, "source", s.ID)
		for _, in := range s.Inputs {
			if _, known := listedBy(in); !known {
				f.add("%s: there is no input %q", what, in)
			}
		}
		p.registry[s.ID] = s.Registry.or("none")
		for _, w := range p.registry[s.ID] {
			if _, ok := registryWord(w); !ok {
				f.add("%s: registry: %q is none of answers, all-idle, no-route, wrong-path, none", what, w)
			}
		}
		for _, o := range s.Outages {
			p.step(f, what+": outage from", o.From)
			p.step(f, what+": outage to", o.To)
			if o.To != 0 && o.To <= o.From {
				f.add("%s: an outage ends before it begins", what)
			}
			switch o.Kind {
			case backend.ErrUnreachable, backend.ErrUnauthorised, backend.ErrThrottled, backend.ErrGone, backend.ErrInvalid, backend.ErrTimeout, backend.ErrAbsent:
			default:
				f.add("%s: outage: %q is no kind of error", what, o.Kind)
			}
		}
	}
}

func (p *plan) sessions(f *errorList) {
	for _, s := range p.Sessions {
		what := "session " + s.ID
		x := sessionPlan{Session: s, states: s.States.or("running"), answers: s.Answer.or("none"), ends: p.step(f, what+": ends", s.Ends)}
		x.key = backend.Key{Kind: backend.KindSession, Source: p.home(f, what, s.Source), ID: p.id(f, what, s.ID)}
		p.named(f, "session", s.ID)
		for _, w := range x.answers {
			if _, ok := answerWord(w); !ok {
				f.add("%s: answer: %q is none of ok, idle, no-route, wrong-path, invalid, failed, none", what, w)
			}
		}
		p.session = append(p.session, x)
	}
}

func (p *plan) workspaces(f *errorList) {
	for _, w := range p.Workspaces {
		what := "workspace " + w.ID
		x := workspacePlan{Workspace: w, states: w.States.or("")}
		if len(w.States.list) == 0 {
			f.add("%s: it has no states", what)
		}
		session, name, ok := strings.Cut(w.ID, "/")
		if !ok {
			f.add("%s: its id is session/name", what)
			continue
		}
		x.key = backend.Key{Kind: backend.KindWorkspace, Source: p.home(f, what, w.Source), Parent: p.id(f, what, session), ID: p.id(f, what, name)}
		p.named(f, "workspace", w.ID)
		p.readWorkspaceFacts(f, what, &x)
		if w.Provider != "" {
			p.subjects[x.key.Source+"/"+w.Provider] = true
		}
		if len(w.Attempts.list) > 0 {
			x.attempts = w.Attempts.or("-")
		}
		for _, a := range x.attempts {
			if a != "ok" && a != "fail" && a != "-" {
				f.add("%s: attempts: %q is none of ok, fail, -", what, a)
			}
		}
		p.work = append(p.work, x)
	}
}

func (p *plan) sandboxes(f *errorList) {
	for _, s := range p.Sandboxes {
		what := "sandbox " + s.ID
		x := sandboxPlan{Sandbox: s, states: s.States.or("running")}
		x.key = backend.Key{Kind: backend.KindSandbox, Source: p.home(f, what, s.Source), ID: p.id(f, what, s.ID)}
		p.named(f, "sandbox", s.ID)
		for _, w := range x.states {
			switch backend.SandboxClass(w) {
			case wordMissing, wordStale, backend.SandboxUnknown, backend.SandboxCreated, backend.SandboxRunning, backend.SandboxPaused, backend.SandboxAsleep,
				backend.SandboxRestarting, backend.SandboxExited, backend.SandboxRemoving, backend.SandboxDead:
			default:
				f.add("%s: %q is no state of a sandbox", what, w)
			}
		}
		p.readSandboxFacts(f, what, &x)
		p.sandbox = append(p.sandbox, x)
	}
}

func (p *plan) counts(f *errorList) {
	for _, c := range p.Counts {
		what := fmt.Sprintf("count %s of %s", c.Metric, c.Source)
		x := countPlan{Count: c, series: backend.Series{Source: p.home(f, what, c.Source), Name: c.Metric, Provider: c.Provider}}
		if c.Session != "" {
			x.series.Session = p.id(f, what, c.Session)
			p.subjects[c.Session] = true
		}
		if c.Workspace != "" {
			x.series.Workspace = p.id(f, what, c.Workspace)
		}
		if c.Sandbox != "" {
			x.series.Sandbox = p.id(f, what, c.Sandbox)
		}
		if c.Provider != "" {
			for _, s := range p.Sources {
				p.subjects[s.ID+"/"+c.Provider] = true
			}
		}
		if !knownMetric(c.Metric) {
			f.add("%s: there is no metric %q", what, c.Metric)
		}
		if (c.Counter == "") == (c.Each == "") {
			f.add("%s: give either counter or each", what)
		}
		var err error
		if x.samples, err = parseSeries(c.Counter + c.Each); err != nil {
			f.add("%s: %v", what, err)
		}
		if slices.ContainsFunc(x.samples, func(s sample) bool { return s.n < 0 }) {
			f.add("%s: a count is never below 0", what)
		}
		if slices.ContainsFunc(p.count, func(o countPlan) bool { return o.series == x.series }) {
			f.add("%s: it is given twice", what)
		}
		p.count = append(p.count, x)
	}
}

func (p *plan) restarts(f *errorList) {
	last := p.watch - 1
	for _, r := range p.Restarts {
		at := p.step(f, "restart at", r.At)
		until := at + 1 + p.step(f, "restart down", r.Down)
		switch {
		case at <= last:
			f.add("restart at %s: the console does not run then", text(r.At.Std()))
		case until > p.steps:
			f.add("restart at %s: the story is over before the console runs again; nothing is expected after it", text(r.At.Std()))
		}
		for i := at + 1; i < until; i++ {
			if len(p.expect[i]) > 0 {
				f.add("expect at %s: never evaluated, the console does not run then", text(time.Duration(i)*p.interval))
			}
		}
		p.off[at] = until
		last = until - 1
	}
}

func (p *plan) expectations(f *errorList) {
	for i, e := range p.Expect {
		what := fmt.Sprintf("expect %s at %s", e.Rule, text(e.At.Std()))
		if !slices.Contains(p.Rules, e.Rule) {
			f.add("%s: the scenario does not run a rule of this name", what)
		}
		if e.empty() {
			f.add("%s: it expects nothing", what)
		}
		at := p.step(f, what, e.At)
		if at < p.watch {
			f.add("%s: never evaluated, the console starts at %s", what, text(p.Watch.Std()))
		}
		for _, l := range e.lists() {
			for _, name := range l.names() {
				if !p.subjects[name] {
					f.add("%s: %s: there is no subject %q", what, l.what, name)
				}
			}
		}
		p.steps = max(p.steps, at)
		p.expect[at] = append(p.expect[at], p.Expect[i])
	}
	if len(p.Expect) == 0 {
		f.add("it has no [[scenario.expect]], so it would test nothing")
	}
}

// at is the word of a step; the last one stays.
func at(words []string, step int) string {
	return words[min(step, len(words)-1)]
}

// outage is the one that a source has at a step, nil when it answers.
func (p *plan) outage(s *Source, step int) *Outage {
	now := time.Duration(step) * p.interval
	for i := range s.Outages {
		if o := &s.Outages[i]; now >= o.From.Std() && (o.To == 0 || now < o.To.Std()) {
			return o
		}
	}
	return nil
}

func text(d time.Duration) string {
	b, err := backend.Duration(d).MarshalText()
	if err != nil {
		return d.String()
	}
	return string(b)
}
