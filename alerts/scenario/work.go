package scenario

import (
	"strings"

	"sandglass/backend"
)

// Work is an execution or a job of a session or a sandbox.
type Work struct {
	ID       string       `toml:"id"` // parent/name
	Source   string       `toml:"source"`
	Within   backend.Kind `toml:"within"`  // session, the default, or sandbox: what the parent in its id is
	Sandbox  string       `toml:"sandbox"` // the raw id of the sandbox that it runs in, where it is within a session
	Type     string       `toml:"type"`    // of an execution
	States   Words        `toml:"states"`  // queued, running, completed, failed, cancelled, …; the last one stays
	Command  string       `toml:"command"`
	ExitCode int          `toml:"exit_code"` // once it ended
	Error    string       `toml:"error"`     // while it is failed
}

type workPlan struct {
	Work
	key    backend.Key
	states []string
}

// works reads executions and jobs.
func (p *plan) readWorks(f *errorList) {
	for _, list := range []struct {
		kind backend.Kind
		of   []Work
	}{{backend.KindExecution, p.Executions}, {backend.KindJob, p.Jobs}} {
		for _, w := range list.of {
			what := string(list.kind) + " " + w.ID
			parent, name, ok := strings.Cut(w.ID, "/")
			if !ok {
				f.add("%s: its id is session/name or sandbox/name", what)
				continue
			}
			if w.Within == "" {
				w.Within = backend.KindSession
			}
			if w.Within != backend.KindSession && w.Within != backend.KindSandbox {
				f.add("%s: within: %q is neither session nor sandbox", what, w.Within)
			}
			x := workPlan{Work: w, states: w.States.or("running")}
			x.key = backend.Key{Kind: list.kind, Source: p.home(f, what, w.Source), Parent: p.id(f, what, parent), ID: p.id(f, what, name)}
			p.named(f, string(list.kind), w.ID)
			if w.Sandbox != "" {
				p.id(f, what, w.Sandbox)
			}
			p.job = append(p.job, x)
		}
	}
}

// works moves executions and jobs on to a step.
func (w *world) addWorks(step int) {
	for i := range w.plan.job {
		x := &w.plan.job[i]
		w.addEntity(x.key, at(x.states, step), func(word string) func(backend.Meta) backend.Entity {
			return func(m backend.Meta) backend.Entity { return x.entity(m, word) }
		})
	}
}

func (x *workPlan) entity(m backend.Meta, word string) backend.Entity {
	work := backend.Work{Within: x.Within, Reported: backend.Clean(word, 60), Class: backend.WorkClassOf(word), Command: backend.Clean(x.Command, 400)}
	if x.Sandbox != "" {
		work.Sandbox = backend.MustID(x.Sandbox)
	}
	if x.Within == backend.KindSession {
		work.Session = x.key.Parent
	} else {
		work.Sandbox = x.key.Parent
	}
	work.ExitCode = backend.NotApplicable[int]()
	if work.Class.Ended() {
		work.ExitCode = backend.Known(x.ExitCode)
	}
	if work.Class == backend.WorkFailed {
		work.Error = backend.Clean(x.Error, 4000)
	}
	if x.key.Kind == backend.KindJob {
		return &backend.Job{Meta: m, Work: work}
	}
	return &backend.Execution{Meta: m, Type: backend.Clean(x.Type, 60), Work: work}
}
