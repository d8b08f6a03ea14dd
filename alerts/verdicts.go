package alerts

import (
	"encoding/json"
	"fmt"

	"sandglass/backend"
)

// verdictsFile is the name of what actions observed of sandboxes in the state directory: any permitted process adds to it, and
// all that run take it over.
const verdictsFile = "verdicts.jsonl"

// verdictsSize is how large that file may grow. What was taken over is in the state file too.
const verdictsSize = 1 << 20

// verdictSchema is the number of the line's form.
const verdictSchema = 1

type verdictLine struct {
	Schema int           `json:"schema"`
	Proof  backend.Proof `json:"proof"`
}

// KeepVerdicts writes down what an action observed of a sandbox, for processes that run beside this one or come after it.
func (svc *Service) KeepVerdicts(k backend.Key, vs []backend.Verdict) {
	if svc.opt.Store == nil {
		return
	}
	line, err := json.Marshal(verdictLine{verdictSchema, backend.Proof{Sandbox: k, Verdicts: backend.MergeVerdicts(vs)}})
	if err == nil {
		err = storeFile(svc.opt.Store, verdictsFile).add(false, line)
	}
	if err != nil {
		svc.problem(fmt.Errorf("what was observed is not written down: %w", err))
	}
}

// readVerdicts returns what was added to the file since it was last asked.
func (svc *Service) readVerdicts() []backend.Proof {
	svc.ordering.Lock()
	defer svc.ordering.Unlock()
	lines, _, err := storeFile(svc.opt.Store, verdictsFile).since(&svc.verdictsAt, verdictsSize)
	svc.problemIf(err)
	var out []backend.Proof
	for _, line := range lines {
		var v verdictLine
		if json.Unmarshal(line, &v) == nil && v.Schema == verdictSchema && v.Proof.Sandbox.Kind == backend.KindSandbox {
			out = append(out, v.Proof)
		}
	}
	return out
}

// trimVerdicts keeps the file within its bound: the newest lines stay.
func (svc *Service) trimVerdicts() error {
	file := storeFile(svc.opt.Store, verdictsFile)
	if _, size, err := file.oldest(func([]byte) bool { return true }); err != nil || size < verdictsSize {
		return err
	}
	return file.compact(verdictsSize/2, func([]byte) bool { return true })
}

// Proved is what former processes, and those beside this one, observed of sandboxes. It is for the start of a process.
func (svc *Service) Proved() map[backend.Key][]backend.Verdict {
	svc.mu.Lock()
	defer svc.mu.Unlock()
	out := map[backend.Key][]backend.Verdict{}
	if svc.adopted != nil && svc.adopted.memory != nil {
		for k, vs := range svc.adopted.memory.proved {
			out[k] = vs
		}
	}
	for _, p := range svc.written {
		out[p.Sandbox] = backend.MergeVerdicts(out[p.Sandbox], p.Verdicts)
	}
	return out
}
