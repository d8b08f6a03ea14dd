package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
)

// SessionFacts are what a list route tells of a session beside its status.
type SessionFacts struct {
	Runtime      string `toml:"runtime"`
	Version      string `toml:"version"` // of the framework
	SDK          string `toml:"sdk"`     // version of the sandbox SDK
	BranchedFrom string `toml:"branched_from"`
}

// WorkspaceFacts are what a registry or a declaration tells of a workspace beside its state. What is left out is not known.
type WorkspaceFacts struct {
	Sandbox   string           `toml:"sandbox"` // the id that its provider was given
	Namespace string           `toml:"namespace"`
	Share     *bool            `toml:"share_across_sessions"`
	Inherit   *bool            `toml:"inherit_workspaces"`
	Destroy   *bool            `toml:"destroy_on_close"`
	Sleep     backend.Duration `toml:"sleep_after"`
	Close     backend.Duration `toml:"close_timeout"`
	Reset     backend.Duration `toml:"reset_after"`
	Opens     int              `toml:"concurrency"`
	Retries   int              `toml:"retry_attempts"`
	FileSize  backend.Size     `toml:"max_file_size"`
	// Times are what its server tells: all (default), op (only lastOpAt, the time of the last attempt) or unusable (its clock
	// cannot be trusted).
	Times string `toml:"times"`
}

// SandboxFacts are what an engine tells of a container beside its state. Series hold one number a step, and the last stays.
type SandboxFacts struct {
	Workspace string           `toml:"workspace"`
	Name      string           `toml:"name"`
	Image     string           `toml:"image"`
	Plain     bool             `toml:"plain"`        // a container that is no sandbox
	Created   backend.Duration `toml:"created"`      // how long before the first step it was created
	Began     backend.Duration `toml:"started"`      // how long before the first step its present run began
	Ended     backend.Duration `toml:"ended"`        // how long before the first step its last run ended
	Health    Words            `toml:"health"`       // words: none, starting, healthy, unhealthy; the last one stays
	Period    backend.Duration `toml:"start_period"` // how long after a start its health check may fail
	Restarts  string           `toml:"restarts"`     // by its policy, since it was created
	Policy    string           `toml:"restart_policy"`
	Failure   string           `toml:"start_error"` // why it could not be started
	Limit     backend.Size     `toml:"memory_limit"`
	Memory    string           `toml:"memory"` // percent of that limit in use
	Log       []string         `toml:"log"`    // how its log ended, once it failed
	// Observed are words, one a step, the last one stays: none; fs-list:ok or exec:exec-timeout, a plane with ok, unknown or the
	// kind of a failure, several joined by +.
	Observed Words `toml:"observed"`
}

// Memory is what a process used, one sample a step, as a metrics page or log lines tell it.
type Memory struct {
	Source  string       `toml:"source"`
	Name    string       `toml:"name"` // of the metric or pattern, default memory
	Session string       `toml:"session"`
	Limit   backend.Size `toml:"limit"`
	Used    string       `toml:"used"` // in MB
}

// Trouble is a span in which a source answers and is not to be trusted wholly. From is its first poll, To the first after it.
type Trouble struct {
	From       backend.Duration `toml:"from"`
	To         backend.Duration `toml:"to"` // zero: it does not end
	Degraded   string           `toml:"degraded"`
	Unknown    bool             `toml:"workspaces_unknown"`
	Incomplete bool             `toml:"incomplete"` // its lists are not whole
	Clock      backend.Duration `toml:"clock"`      // by how much its clock is ahead
	Problem    string           `toml:"problem"`
}

type memoryPlan struct {
	Memory
	of      backend.Process
	samples []sample
}

// readFacts checks what belongs to more than one kind of entity.
func (p *plan) readFacts(f *errorList) {
	for _, m := range p.Memories {
		what := "memory of " + m.Source
		x := memoryPlan{Memory: m, of: backend.Process{Source: p.home(f, what, m.Source), Name: m.Name}, samples: p.series(f, what+": used", m.Used, 0)}
		if x.of.Name == "" {
			x.of.Name = "memory"
		}
		if m.Session != "" {
			x.of.Session = p.id(f, what, m.Session)
			p.subjects[m.Session] = true
		}
		p.memory = append(p.memory, x)
	}
	for _, s := range p.Sources {
		for _, t := range s.Troubles {
			p.step(f, "source "+s.ID+": trouble from", t.From)
			p.step(f, "source "+s.ID+": trouble to", t.To)
			if t.To != 0 && t.To <= t.From {
				f.add("source %s: a trouble ends before it begins", s.ID)
			}
		}
	}
}

func (p *plan) readSandboxFacts(f *errorList, what string, x *sandboxPlan) {
	x.health, x.restarts, x.memory = x.Health.or("none"), p.series(f, what+": restarts", x.Restarts, 0), p.series(f, what+": memory", x.SandboxFacts.Memory, 0)
	p.oneOf(f, what+": health", x.health, []string{"none", "starting", "healthy", "unhealthy"})
	if x.Workspace != "" {
		p.id(f, what, x.Workspace)
	}
	for _, word := range x.Observed.or(wordNone) {
		vs, err := verdicts(word)
		if err != nil {
			f.add("%s: observed: %v", what, err)
		}
		x.observed = append(x.observed, vs)
	}
}

// wordNone is that nothing is observed at a step.
const wordNone = "none"

// verdicts are what a word says of planes. Commands and reads of files are observed on request, the others by looks.
func verdicts(word string) ([]backend.Verdict, error) {
	if word == wordNone || word == wordMissing {
		return nil, nil
	}
	var out []backend.Verdict
	for part := range strings.SplitSeq(word, "+") {
		plane, said, _ := strings.Cut(part, ":")
		v := backend.Verdict{Plane: backend.Plane(plane), Outcome: backend.Outcome(said), What: backend.Clean(part, 60)}
		if !slices.Contains(backend.Planes(), v.Plane) {
			return nil, fmt.Errorf("%q is no plane", plane)
		}
		if v.Outcome != backend.OutcomeOK && v.Outcome != backend.OutcomeUnknown {
			v.Outcome, v.Kind = backend.OutcomeFailed, backend.FailureKind(said)
			if !slices.Contains(backend.FailureKinds(), v.Kind) {
				return nil, fmt.Errorf("%q is neither ok, unknown nor a kind of failure", said)
			}
		}
		v.Passive = v.Plane != backend.PlaneExec && v.Plane != backend.PlaneRead
		out = append(out, v)
	}
	return out, nil
}

// putObserved adds what is observed at a step.
func (x *sandboxPlan) putObserved(e *backend.Sandbox, step int, now time.Time) {
	vs := slices.Clone(x.observed[min(step, len(x.observed)-1)])
	for i := range vs {
		vs[i].At = now
	}
	if len(vs) > 0 {
		*e = *e.WithObserved(vs)
	}
}

func (p *plan) readWorkspaceFacts(f *errorList, what string, x *workspacePlan) {
	for _, id := range []string{x.Sandbox, x.Namespace} {
		if id != "" {
			p.id(f, what, id)
		}
	}
	if x.Times == "" {
		x.Times = "all"
	}
	p.oneOf(f, what+": times", []string{x.Times}, []string{"all", "op", "unusable"})
}

func (x *SessionFacts) put(e *backend.Session) {
	e.Runtime, e.FrameworkVersion, e.SDKVersion = backend.Clean(x.Runtime, 60), backend.Clean(x.Version, 60), backend.Clean(x.SDK, 60)
	if x.BranchedFrom != "" {
		e.BranchedFrom = backend.MustID(x.BranchedFrom)
	}
}

func (x *WorkspaceFacts) put(e *backend.Workspace) {
	if x.Sandbox != "" {
		e.ProviderID = backend.MustID(x.Sandbox)
	}
	if x.Namespace != "" {
		e.Namespace = backend.MustID(x.Namespace)
	}
	e.ShareAcrossSessions, e.InheritWorkspaces, e.DestroyOnClose = told(x.Share), told(x.Inherit), told(x.Destroy)
	e.SleepAfter, e.CloseTimeout, e.ResetAfter = given(x.Sleep.Std()), given(x.Close.Std()), given(x.Reset.Std())
	e.Concurrency, e.RetryAttempts, e.MaxFileSize = given(x.Opens), given(x.Retries), given(int64(x.FileSize))
	switch x.Times {
	case "op":
		e.LastOpAt = e.LastAttemptAt
		e.LastAttemptAt, e.LastSuccessAt = backend.NotApplicable[time.Time](), backend.NotApplicable[time.Time]()
	case "unusable":
		e.LastAttemptAt, e.LastSuccessAt = backend.Unknown[time.Time](), backend.Unknown[time.Time]()
	}
}

// put adds the facts of a step to a container.
func (x *sandboxPlan) put(e *backend.Sandbox, p *plan, step int) {
	now := p.Start.Add(time.Duration(step) * p.interval)
	if e.IsSandbox = !x.Plain; x.Name != "" {
		e.Name = backend.Clean(x.Name, 60)
	}
	e.Image, e.RestartPolicy, e.StartError = backend.Clean(x.Image, 100), backend.Clean(x.Policy, 40), backend.Clean(x.Failure, 400)
	if x.Workspace != "" {
		e.Workspace = backend.MustID(x.Workspace)
	}
	if x.Created > 0 {
		e.CreatedAt = backend.Known(p.Start.Add(-x.Created.Std()))
	}
	if s := sampleAt(x.restarts, step); s.there {
		e.RestartCount = backend.Known(int(s.n))
	}
	for i := min(step, len(x.restarts)-1); i > 0; i-- {
		if x.restarts[i].n > x.restarts[i-1].n { // each restart is another run
			if began := p.Start.Add(time.Duration(i) * p.interval); e.StartedAt.IsKnown() && began.After(e.StartedAt.Or(began)) {
				e.StartedAt = backend.Known(began)
			}
			break
		}
	}
	x.putHealth(e, p, step, now)
	x.putObserved(e, step, now)
	x.putCloud(e, p, step, now)
	e.MemLimit = backend.NotApplicable[int64]()
	if x.Limit > 0 {
		e.MemLimit = backend.Known(int64(x.Limit))
		if s := sampleAt(x.memory, step); s.there && x.SandboxFacts.Memory != "" {
			e.Usage = backend.Known(backend.Usage{At: now, Mem: s.of(int64(x.Limit)), MemLimit: e.MemLimit})
		}
	}
	e.Log = backend.NotApplicable[backend.LogTail]()
	if len(x.Log) > 0 && (e.Crashed() || x.Failure != "" || e.Health.Or(backend.Safe{}).String() == "unhealthy") {
		tail := backend.LogTail{At: now}
		for _, line := range x.Log {
			tail.Lines = append(tail.Lines, backend.Clean(line, 200))
		}
		e.Log = backend.Known(tail)
	}
}

// putHealth tells one health check a step.
func (x *sandboxPlan) putHealth(e *backend.Sandbox, p *plan, step int, now time.Time) {
	word := at(x.health, step)
	e.Health, e.HealthChecks, e.StartPeriod = backend.NotApplicable[backend.Safe](), backend.NotApplicable[backend.HealthChecks](), backend.NotApplicable[time.Duration]()
	if word == "none" || word == wordMissing {
		return
	}
	e.Health, e.StartPeriod = backend.Known(backend.Clean(word, 20)), backend.Known(x.Period.Std())
	c := backend.HealthChecks{Checked: now}
	if word == "unhealthy" {
		e.HealthOutput, c.ExitCode = backend.Text("the check failed"), 1
		for i := step; i >= 0 && at(x.health, i) == word; i-- {
			c.Failed, c.FailingBy = c.Failed+1, p.Start.Add(time.Duration(i)*p.interval)
		}
	} else {
		c.Passed = now
	}
	e.HealthChecks = backend.Known(c)
}

// memoryAt is what the processes of a source use at a step.
func (p *plan) memoryAt(source string, step int, now time.Time) (out []backend.Memory) {
	for _, x := range p.memory {
		if s := sampleAt(x.samples, step); x.of.Source == source && s.there && step < len(x.samples) {
			out = append(out, backend.Memory{Of: x.of, At: now, Bytes: int64(s.n * 1e6), Limit: given(int64(x.Limit))})
		}
	}
	return out
}

// put marks a reading with the troubles of its source at a step.
func (s *Source) put(r *backend.Reading, now time.Duration) {
	for _, t := range s.Troubles {
		if now < t.From.Std() || t.To != 0 && now >= t.To.Std() {
			continue
		}
		if t.Degraded != "" {
			r.Degraded = backend.Clean(t.Degraded, 200)
		}
		r.WorkspacesUnknown = r.WorkspacesUnknown || t.Unknown
		if t.Clock != 0 {
			r.ClockOffset = backend.Known(t.Clock.Std())
		}
		if t.Problem != "" {
			r.Problems = append(r.Problems, backend.Problem{Kind: backend.ErrInvalid, What: backend.Clean(t.Problem, 200), At: r.At})
		}
		for i := range r.Scopes {
			r.Scopes[i].Complete = r.Scopes[i].Complete && !t.Incomplete
		}
	}
}

func told(b *bool) backend.Value[bool] {
	if b == nil {
		return backend.Unknown[bool]()
	}
	return backend.Known(*b)
}

// given is a number of a story; zero is not known.
func given[T int | int64 | time.Duration](n T) backend.Value[T] {
	if n == 0 {
		return backend.Unknown[T]()
	}
	return backend.Known(n)
}
