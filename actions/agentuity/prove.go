package agentuity

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sandglass/actions"
	"sandglass/backend"
)

const (
	// proveLeaves is the time that stays for the removal out of that which a run gives one effect.
	proveLeaves  = 30 * time.Second
	removeWithin = 25 * time.Second
	written      = "Sandglass wrote this"
	writtenFile  = "sandglass-prove"
	labelPlan    = "sandglass_plan"
	labelState   = "sandglass_state"
)

// The facts of a plan that proves the platform.
const (
	factOrg     = "organisation"
	factRuntime = "runtime"
)

// proveReader decides what the throwaway sandbox is made of: the organisation and the runtime of the suspect.
type proveReader struct{ factory *factory }

// Look judges by the newest State.
func (l proveReader) Look(_ context.Context, q actions.Question) []actions.Candidate {
	out := make([]actions.Candidate, len(q.Keys))
	for i, k := range q.Keys {
		c := &out[i]
		*c = actions.Candidate{Key: k, Label: backend.Clean(k.Source, 80), Name: k.Source, Useless: true}
		suspect := l.like(k.Source, q)
		if suspect == nil {
			c.Why, c.Undecided = backend.Text("no sandbox is listed whose organisation and runtime it could have: name the suspect"), true
			continue
		}
		org, runtime := suspect.Org, suspect.Runtime
		if q.Params.Image != "" {
			runtime = backend.Clean(q.Params.Image, 200)
		}
		if runtime.IsEmpty() {
			c.Why, c.Undecided = backend.Textf("the runtime of %s is not known: name one with --image", suspect.Name), true
			continue
		}
		c.Identity = []actions.Fact{{Name: factOrg, Value: org.String()}, {Name: factRuntime, Value: runtime.String()}, {Name: factSandbox, Value: suspect.Key.ID.Raw()},
			{Name: factRegion, Value: suspect.Region.String()}}
		c.Notes = []backend.Safe{backend.Textf("one sandbox in the organisation %s with the runtime %s, those of %s, in the region %s; it is destroyed at the end",
			cmp.Or(org, backend.Text("of the key")), runtime, suspect.Name, suspect.Region)}
	}
	return out
}

// like is the sandbox that the throwaway one is made like: the suspect that is named, else one that an alert calls broken, else any
// that is reported live.
func (l proveReader) like(source string, q actions.Question) *backend.Sandbox {
	if id, err := backend.NewID(q.Params.Beside); err == nil {
		return q.State.Sandbox(backend.Key{Kind: backend.KindSandbox, Source: source, ID: id})
	}
	if q.Again {
		for _, f := range q.Planned {
			if id, err := backend.NewID(f.Value); err == nil && f.Name == factSandbox {
				return q.State.Sandbox(backend.Key{Kind: backend.KindSandbox, Source: source, ID: id})
			}
		}
	}
	for _, k := range q.Suspects {
		if b := q.State.Sandbox(k); b != nil && k.Source == source && !b.Runtime.IsEmpty() {
			return b
		}
	}
	for b := range q.State.Sandboxes.All() {
		if b.Key.Source == source && b.Class == backend.SandboxRunning && !b.Runtime.IsEmpty() && !actions.IsMade(b.Name.String()) {
			return b
		}
	}
	return nil
}

func (f *factory) prove() actions.Part {
	p := actions.Part{Targets: proveReader{f}}
	p.Open = func(context.Context) (actions.Effect, error) { return &proof{factory: f}, nil }
	p.Left = func(made actions.Made) actions.Part {
		return actions.Part{Targets: madeReader{f, made}, ReadsItself: true, Open: func(context.Context) (actions.Effect, error) { return &removal{f, made}, nil }}
	}
	return p
}

// proof tries the platform on a sandbox of its own.
type proof struct {
	factory *factory
	client  *client
	made    actions.Made
	tell    func(actions.Step)
	target  actions.Target
	id      backend.ID
	sent    bool
	wrote   bool
	steps   []actions.Step
}

// Makes names the sandbox.
func (p *proof) Makes(m actions.Made) { p.made = m }

// Tell sets who is told of each step.
func (p *proof) Tell(told func(actions.Step)) { p.tell = told }

// Close has nothing to release.
func (p *proof) Close() error { return nil }

type proofStep struct {
	name  backend.Literal
	plane backend.Plane
	needs backend.Literal // the step without which it is not tried; empty: none
	do    func(*proof, context.Context) (backend.Safe, error)
}

// proofSteps are the steps before the removal, in their order.
func proofSteps() []proofStep {
	return []proofStep{
		{"create", "", "", (*proof).create}, {"live", backend.PlaneControl, "create", (*proof).live}, {"write", "", "live", (*proof).write}, {"exec", backend.PlaneExec, "live", (*proof).exec},
		{"list", backend.PlaneList, "live", (*proof).list}, {"read", backend.PlaneRead, "write", (*proof).read}, {"pause", "", "live", (*proof).pause}, {"resume", "", "pause", (*proof).resume},
		{"list after resume", "", "resume", (*proof).list}, {"exec after resume", "", "resume", (*proof).exec},
	}
}

// Do tries every step whose needs are met, so that one route that fails hides nothing of the others, and destroys the sandbox
// whatever happened.
func (p *proof) Do(ctx context.Context, t actions.Target, _ actions.Params) (actions.Done, error) {
	if p.made.Name == "" {
		return actions.Done{}, errors.New("the sandbox has no name: nothing was made")
	}
	suspect, _ := backend.NewID(fact(t.Identity, factSandbox))
	base, org := p.factory.source.SandboxBase(suspect)
	c, err := p.factory.client(ctx, base, cmp.Or(org, fact(t.Identity, factOrg)))
	if err != nil {
		return actions.Done{}, fmt.Errorf("nothing was sent: %w", err)
	}
	defer func() { _ = c.close() }() // idle connections; nothing is lost
	p.client, p.target = c, t
	trying, cancel := ctx, context.CancelFunc(func() {})
	if end, ok := ctx.Deadline(); ok {
		trying, cancel = context.WithDeadline(ctx, end.Add(-proveLeaves))
	}
	defer cancel()
	began := c.now()
	var failed error
	passed := map[backend.Literal]bool{"": true}
	for _, s := range proofSteps() {
		if !passed[s.needs] {
			p.note(actions.Step{Name: backend.Text(s.name), Plane: s.plane, Result: actions.StepNotTried})
			continue
		}
		err := p.try(trying, s)
		passed[s.name], failed = err == nil, both(failed, err)
	}
	done := actions.Done{}
	if p.sent {
		if err := p.try(context.WithoutCancel(ctx), proofStep{"destroy", "", "", (*proof).remove}); err != nil {
			done.Left = backend.Clean(p.made.Name, 120)
			done.Notes = append(done.Notes, backend.Textf("%s is still there: the next start of Sandglass on this state directory destroys it", done.Left))
			failed = both(failed, err)
		}
	}
	done.Steps = p.steps
	if failed != nil {
		return done, failed
	}
	done.Proved, done.Text = true, backend.Textf("the platform works in the organisation %s with the runtime %s: %d steps in %s", cmp.Or(fact(t.Identity, factOrg), "of the key"), fact(t.Identity, factRuntime), len(p.steps), c.now().Sub(began).Round(time.Millisecond))
	return done, nil
}

// both are two errors in one line.
func both(a, b error) error {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	return fmt.Errorf("%w; %w", a, b)
}

func fact(of []actions.Fact, name string) string {
	for _, f := range of {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// try carries out one step and notes how it ended.
func (p *proof) try(ctx context.Context, s proofStep) error {
	began := p.client.now()
	said, err := s.do(p, ctx)
	step := actions.Step{Name: backend.Text(s.name), Plane: s.plane, Result: actions.StepOK, Took: p.client.now().Sub(began), Said: said}
	var untried *actions.UntriedError
	switch {
	case errors.As(err, &untried):
		step.Result, step.Said = actions.StepNotTried, untried.Why
	case err != nil:
		step.Result, step.Said = actions.StepFailed, p.client.clean(err.Error(), 400)
		err = fmt.Errorf("the platform fails at %s: %s", s.name, step.Said)
	}
	p.note(step)
	return err
}

func (p *proof) note(s actions.Step) {
	p.steps = append(p.steps, s)
	if p.tell != nil {
		p.tell(s)
	}
}

// order sends one request that has to succeed.
func (p *proof) order(ctx context.Context, method, path string, query url.Values, body any) (*reply, error) {
	r, err := p.client.send(ctx, method, path, query, body)
	if err != nil {
		return nil, err
	}
	if !r.ok() {
		return nil, errors.New(p.client.said(r))
	}
	return r, nil
}

// runtimeOf splits "bun:1 (srt_…)" into what a request names.
func runtimeOf(text string) (key, value string) {
	if i := strings.LastIndex(text, "(srt_"); i >= 0 {
		return "runtimeId", strings.TrimSuffix(text[i+1:], ")")
	}
	if strings.HasPrefix(text, "srt_") {
		return "runtimeId", text
	}
	return "runtime", text
}

func (p *proof) create(ctx context.Context) (backend.Safe, error) {
	key, value := runtimeOf(fact(p.target.Identity, factRuntime))
	body := map[string]any{key: value, "name": p.made.Name, "timeout": map[string]string{"idle": "5m", "execution": "1m", "paused": "10m"},
		"metadata": map[string]string{labelPlan: p.made.Digest, labelState: p.made.State}}
	p.sent = true
	r, err := p.client.send(ctx, http.MethodPost, "/sandbox", nil, body)
	switch {
	case err != nil && strings.HasPrefix(lost(err).Error(), "nothing was sent"):
		p.sent = false
		return backend.Safe{}, &actions.UntriedError{Why: p.client.clean(err.Error(), 400)}
	case err != nil:
		return backend.Safe{}, err
	case r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden || r.Status == http.StatusPaymentRequired || r.Status == http.StatusBadRequest:
		p.sent = false
		return backend.Safe{}, &actions.UntriedError{Why: p.client.clean(p.client.said(r), 400)}
	case !r.ok():
		return backend.Safe{}, errors.New(p.client.said(r))
	}
	id, err := backend.NewID(r.text("sandboxId"))
	if err != nil {
		return backend.Safe{}, errors.New("the answer names no sandbox")
	}
	p.id = id
	return id.Safe(), nil
}

// passed is a verdict as the outcome of a step.
func passed(v backend.Verdict) (backend.Safe, error) {
	if v.Outcome != backend.OutcomeOK {
		return backend.Safe{}, errors.New(v.Said().String())
	}
	return v.What, nil
}

func (p *proof) live(ctx context.Context) (backend.Safe, error) {
	return passed(p.client.control(ctx, p.id, wakeWithin))
}

func (p *proof) file() string {
	return strings.TrimRight(p.factory.source.Directory(), "/") + "/" + writtenFile
}

func (p *proof) write(ctx context.Context) (backend.Safe, error) {
	_, err := p.order(ctx, http.MethodPost, "/fs/"+segment(p.id), nil, map[string]any{"files": []map[string]string{
		{"path": p.file(), "content": base64.StdEncoding.EncodeToString([]byte(written))}}})
	p.wrote = err == nil
	return backend.Textf("%d bytes", len(written)), err
}

func (p *proof) exec(ctx context.Context) (backend.Safe, error) {
	return passed(p.client.exec(ctx, p.id))
}

func (p *proof) list(ctx context.Context) (backend.Safe, error) {
	r, err := p.order(ctx, http.MethodGet, "/fs/list/"+segment(p.id), url.Values{"path": {p.factory.source.Directory()}}, nil)
	if err != nil {
		return backend.Safe{}, err
	}
	if !p.wrote {
		return backend.Text("it is listed; nothing was written to look for"), nil
	}
	for n := range r.data.Get("files").Elements() {
		if path, _ := n.Get("path").Text(); path == writtenFile || strings.HasSuffix(path, "/"+writtenFile) {
			return backend.Text("the written file is listed"), nil
		}
	}
	return backend.Safe{}, errors.New("the file that was written is not listed")
}

func (p *proof) read(ctx context.Context) (backend.Safe, error) {
	r, err := p.client.send(ctx, http.MethodGet, "/fs/"+segment(p.id), url.Values{"path": {p.file()}}, nil)
	switch {
	case err != nil:
		return backend.Safe{}, err
	case r.Status != http.StatusOK:
		return backend.Safe{}, errors.New(p.client.said(r))
	case string(r.Body) != written:
		return backend.Safe{}, fmt.Errorf("%d bytes were read that are not the %d that were written", len(r.Body), len(written))
	}
	return backend.Textf("%d bytes", len(written)), nil
}

func (p *proof) pause(ctx context.Context) (backend.Safe, error) {
	r, err := p.order(ctx, http.MethodPost, "/sandbox/"+segment(p.id)+"/pause", nil, nil)
	if err != nil {
		return backend.Safe{}, err
	}
	return backend.Textf("%s, checkpoint %s", p.client.clean(r.text("status"), 60), cmp.Or(p.client.clean(r.text("checkpointId"), 80), backend.Text("not named"))), nil
}

// resume asks again while the checkpoint is not stored yet.
func (p *proof) resume(ctx context.Context) (backend.Safe, error) {
	for {
		r, err := p.client.send(ctx, http.MethodPost, "/sandbox/"+segment(p.id)+"/resume", nil, nil)
		switch {
		case err != nil:
			return backend.Safe{}, err
		case r.ok():
			return p.live(ctx)
		case r.Status != http.StatusConflict || strings.Contains(r.message, "no checkpoint data") || !wait(ctx, 2*askAgain):
			return backend.Safe{}, errors.New(p.client.said(r))
		}
	}
}

func (p *proof) remove(ctx context.Context) (backend.Safe, error) {
	return p.client.removeMade(ctx, p.made, p.id)
}
