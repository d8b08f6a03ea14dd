package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/workdir"
)

// What the throwaway container may use. A runtime itself needs some MB, a microVM more.
const (
	provedMemory = 256 << 20
	provedPids   = 64
	// proveLeaves is the time that stays for the removal of the container out of that which a run gives one effect.
	proveLeaves = 40 * time.Second
	// removeWithin bounds the removal, which is tried again while the engine is still busy with the container.
	removeWithin = 30 * time.Second
	written      = "Sandglass wrote this"
)

// proof tries an engine on a container of its own.
type proof struct {
	client *mutatingClient
	made   actions.Made
	tell   func(actions.Step)

	target actions.Target
	id     string
	dir    string // the container's working directory
	sent   bool   // its creation was sent
	steps  []actions.Step
}

// Makes names the container.
func (p *proof) Makes(m actions.Made) { p.made = m }

// Tell sets who is told of each step.
func (p *proof) Tell(told func(actions.Step)) { p.tell = told }

// Close ends the connections.
func (p *proof) Close() error { return p.client.close() }

// proofStep is one step; its words are shown and kept in the journal.
type proofStep struct {
	name  backend.Literal
	plane backend.Plane // that it shows; empty: none of its own
	do    func(*proof, context.Context) (backend.Safe, error)
}

// proofSteps are the steps before the removal, in their order.
func proofSteps() []proofStep {
	return []proofStep{
		{"create", "", (*proof).create}, {"start", backend.PlaneControl, (*proof).start}, {"write", "", (*proof).write},
		{"exec", backend.PlaneExec, (*proof).exec}, {"list", backend.PlaneList, (*proof).list}, {"read", backend.PlaneRead, (*proof).read},
		{"pause", "", (*proof).pause}, {"resume", "", (*proof).resume},
		{"exec after resume", "", (*proof).exec}, {"list after resume", "", (*proof).list}, {"read after resume", "", (*proof).read},
	}
}

// Do tries every step up to the first that fails, and removes the container whatever happened.
func (p *proof) Do(ctx context.Context, t actions.Target, _ actions.Params) (actions.Done, error) {
	if p.made.Name == "" {
		return actions.Done{}, errors.New("the container has no name: nothing was made")
	}
	p.target = t
	trying, cancel := ctx, context.CancelFunc(func() {})
	if end, ok := ctx.Deadline(); ok {
		trying, cancel = context.WithDeadline(ctx, end.Add(-proveLeaves))
	}
	defer cancel()
	began := p.client.factory.deps.Now()
	var failed error
	for _, s := range proofSteps() {
		if failed != nil {
			p.note(actions.Step{Name: backend.Text(s.name), Plane: s.plane, Result: actions.StepNotTried})
			continue
		}
		failed = p.try(trying, s)
	}
	left := backend.Safe{}
	if p.sent {
		if err := p.try(context.WithoutCancel(ctx), proofStep{"destroy", "", (*proof).remove}); err != nil {
			left = backend.Clean(p.made.Name, 120)
			failed = errors.Join(failed, err)
		}
	} else {
		p.note(actions.Step{Name: backend.Text("destroy"), Result: actions.StepNotTried})
	}
	done := actions.Done{Steps: p.steps, Left: left}
	if !left.IsEmpty() {
		done.Notes = append(done.Notes, backend.Textf("%s is still there: the next start of Sandglass on this state directory removes it, or %s rm -f -v %s", left, p.client.cli(), left))
	}
	if failed != nil {
		return done, failed
	}
	done.Proved, done.Text = true, backend.Textf("the platform works: %d steps in %s", len(p.steps), p.client.factory.deps.Now().Sub(began).Round(time.Millisecond))
	return done, nil
}

// try carries out one step and notes how it ended. The error names the step, unless nothing could be learnt from it.
func (p *proof) try(ctx context.Context, s proofStep) error {
	began := p.client.factory.deps.Now()
	said, err := s.do(p, ctx)
	step := actions.Step{Name: backend.Text(s.name), Plane: s.plane, Result: actions.StepOK, Took: p.client.factory.deps.Now().Sub(began), Said: said}
	var untried *actions.UntriedError
	switch {
	case errors.As(err, &untried):
		step.Result, step.Said = actions.StepNotTried, untried.Why
	case err != nil:
		step.Result, step.Said = actions.StepFailed, p.client.factory.deps.Cleaner.Clean(err.Error(), 400)
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

func (p *proof) create(ctx context.Context) (backend.Safe, error) {
	m := p.client
	init, pids := false, int64(provedPids)
	host := &container.HostConfig{NetworkMode: "none", AutoRemove: true, Init: &init, SecurityOpt: []string{"no-new-privileges"},
		Runtime:   fact(p.target, factRuntime),
		Resources: container.Resources{Memory: provedMemory, PidsLimit: &pids}}
	if raw := fact(p.target, factLimits); raw != "" {
		if err := json.Unmarshal([]byte(raw), &host.Ulimits); err != nil {
			return backend.Safe{}, &actions.UntriedError{Why: backend.Textf("the limits of the plan cannot be read: %v", err)}
		}
	}
	argv := m.factory.opt.ProveCommand
	config := &container.Config{Image: fact(p.target, factImage), Entrypoint: argv[:1], Cmd: argv[1:],
		User: fact(p.target, factUser), WorkingDir: fact(p.target, factWorkDir), Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		Labels: map[string]string{backend.LabelPlan: p.made.Digest, backend.LabelState: p.made.State}}
	p.sent = true
	status, err := m.order(ctx, m.deadline(), func(ctx context.Context) error {
		res, err := m.api.ContainerCreate(ctx, client.ContainerCreateOptions{Name: p.made.Name, Config: config, HostConfig: host})
		p.id = res.ID
		return err
	})
	switch {
	case status == http.StatusNotFound:
		p.sent = false
		return backend.Safe{}, &actions.UntriedError{Why: backend.Textf("the engine no longer has the image %s", m.clean(fact(p.target, factReference)))}
	case err != nil && status == 0 && strings.HasPrefix(err.Error(), "not sent"):
		p.sent = false
		return backend.Safe{}, &actions.UntriedError{Why: backend.Clean(err.Error(), 400)}
	case err != nil:
		return backend.Safe{}, plain(err)
	}
	return backend.Safe{}, nil
}

// plain is an error of order without what it means for a target of a plan: here it is what the platform said.
func plain(err error) error {
	var changed *actions.ChangedError
	var uncertain *actions.UncertainError
	switch {
	case errors.As(err, &changed):
		return errors.New(changed.What.String())
	case errors.As(err, &uncertain):
		return uncertain.Err
	}
	return err
}

func (p *proof) start(ctx context.Context) (backend.Safe, error) {
	m := p.client
	if _, err := m.order(ctx, m.deadline(), func(ctx context.Context) error {
		_, err := m.api.ContainerStart(ctx, p.id, client.ContainerStartOptions{})
		return err
	}); err != nil {
		if troubleOf(err.Error()) == troubleProgram {
			return backend.Safe{}, &actions.UntriedError{Why: backend.Textf("the image %s has no program %s: set prove_command to one that waits, or name another image",
				m.clean(fact(p.target, factReference)), m.clean(m.factory.opt.ProveCommand[0]))}
		}
		return backend.Safe{}, plain(err)
	}
	return p.is(ctx, stateRunning)
}

// is checks what the engine calls the container.
func (p *proof) is(ctx context.Context, wanted string) (backend.Safe, error) {
	b, err := p.client.inspect(ctx, backend.MustID(p.id), false)
	switch {
	case err != nil:
		return backend.Safe{}, err
	case b.state != wanted:
		return backend.Safe{}, fmt.Errorf("the engine accepted it and calls the container %s", backend.Clean(b.state, 60))
	}
	p.dir = path.Join(b.Dir, p.made.Name)
	return backend.Clean(b.state, 60), nil
}

// write puts a directory with one file into the working directory.
func (p *proof) write(ctx context.Context) (backend.Safe, error) {
	m := p.client
	var tree bytes.Buffer
	w := tar.NewWriter(&tree)
	now := m.factory.deps.Now()
	for _, h := range []*tar.Header{{Name: p.made.Name + "/", Typeflag: tar.TypeDir, Mode: 0o755, ModTime: now},
		{Name: p.made.Name + "/" + writtenFile, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(written)), ModTime: now}} {
		if err := w.WriteHeader(h); err != nil {
			return backend.Safe{}, err
		}
	}
	if _, err := io.WriteString(w, written); err != nil {
		return backend.Safe{}, err
	}
	if err := w.Close(); err != nil {
		return backend.Safe{}, err
	}
	_, err := m.order(ctx, m.deadline(), func(ctx context.Context) error {
		_, err := m.api.CopyToContainer(ctx, p.id, client.CopyToContainerOptions{DestinationPath: path.Dir(p.dir), Content: &tree})
		return err
	})
	if err != nil {
		return backend.Safe{}, plain(err)
	}
	return backend.Textf("%d bytes in %s", len(written), m.clean(path.Dir(p.dir))), nil
}

// writtenFile is the file that write makes.
const writtenFile = "written"

func (p *proof) exec(ctx context.Context) (backend.Safe, error) {
	m := p.client
	r, err := m.run(ctx, &containerInfo{Container: workdir.Container{ID: p.id}}, command{argv: m.factory.opt.ProbeCommand})
	switch {
	case err != nil:
		return backend.Safe{}, plain(err)
	case r.trouble == troubleProgram:
		return backend.Safe{}, &actions.UntriedError{Why: backend.Textf("the image %s has no program %s: set probe_command to one that it has", m.clean(fact(p.target, factReference)), m.probeName())}
	case !r.ok():
		return backend.Safe{}, fmt.Errorf("%s ended with exit code %d: %s", m.probeName(), r.code, r.said)
	}
	return backend.Textf("%s in %s", m.probeName(), m.clean(path.Dir(p.dir))), nil
}

func (p *proof) list(ctx context.Context) (backend.Safe, error) {
	found := false
	err := p.archive(ctx, p.dir, func(h *tar.Header, _ io.Reader) error {
		found = found || path.Base(h.Name) == writtenFile
		return nil
	})
	if err == nil && !found {
		err = errors.New("the file that was written is not listed")
	}
	return backend.Safe{}, err
}

func (p *proof) read(ctx context.Context) (backend.Safe, error) {
	content := ""
	err := p.archive(ctx, path.Join(p.dir, writtenFile), func(_ *tar.Header, r io.Reader) error {
		b, err := io.ReadAll(io.LimitReader(r, 2*int64(len(written))))
		content += string(b)
		return err
	})
	if err == nil && content != written {
		err = fmt.Errorf("%d bytes were read that are not the %d that were written", len(content), len(written))
	}
	return backend.Safe{}, err
}

// mostArchived bounds the entries of an archive that holds one file.
const mostArchived = 100

// archive asks the engine for a path of the container.
func (p *proof) archive(ctx context.Context, of string, each func(*tar.Header, io.Reader) error) error {
	m := p.client
	ctx, cancel := context.WithTimeout(ctx, m.deadline())
	defer cancel()
	res, err := m.api.CopyFromContainer(ctx, p.id, client.CopyFromContainerOptions{SourcePath: of})
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("no answer within %s", backend.Age(m.deadline()))
		}
		return errors.New(m.words(err).String())
	}
	defer func() { _ = res.Content.Close() }()
	r := tar.NewReader(res.Content)
	for range mostArchived {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = each(h, r)
		}
		if err != nil {
			return fmt.Errorf("the archive of %s cannot be read: %s", m.clean(of), m.words(err))
		}
	}
	return errors.New("the archive of one small directory does not end")
}

func (p *proof) pause(ctx context.Context) (backend.Safe, error) {
	m := p.client
	if _, err := m.order(ctx, m.deadline(), func(ctx context.Context) error {
		_, err := m.api.ContainerPause(ctx, p.id, client.ContainerPauseOptions{})
		return err
	}); err != nil {
		return backend.Safe{}, plain(err)
	}
	return p.is(ctx, statePaused)
}

func (p *proof) resume(ctx context.Context) (backend.Safe, error) {
	m := p.client
	if _, err := m.order(ctx, m.deadline(), func(ctx context.Context) error {
		_, err := m.api.ContainerUnpause(ctx, p.id, client.ContainerUnpauseOptions{})
		return err
	}); err != nil {
		return backend.Safe{}, plain(err)
	}
	return p.is(ctx, stateRunning)
}

// remove removes the container by its name, since the answer to its creation may be lost, and checks that it is gone.
func (p *proof) remove(ctx context.Context) (backend.Safe, error) {
	return p.client.removeMade(ctx, p.made)
}

// removeMade removes a container that a plan made, when it carries the plan's labels.
func (m *mutatingClient) removeMade(ctx context.Context, made actions.Made) (backend.Safe, error) {
	ctx, cancel := context.WithTimeout(ctx, removeWithin)
	defer cancel()
	var last error
	for wait := time.Duration(0); ; wait = removeAgain {
		b, err := m.made(ctx, made)
		switch {
		case err == errGone:
			return backend.Text("the engine knows it no longer"), nil
		case err == nil:
			_, err = m.order(ctx, m.deadline(), func(ctx context.Context) error {
				_, err := m.api.ContainerRemove(ctx, b.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
				return err
			})
		}
		if err != nil && ctx.Err() == nil {
			last = plain(err)
		}
		if err == errNotOurs {
			return backend.Safe{}, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			if last == nil {
				last = errors.New("the engine still has it")
			}
			return backend.Safe{}, last
		}
	}
}

// removeAgain is how long a removal waits before it looks again.
const removeAgain = 100 * time.Millisecond

var errNotOurs = errors.New("a container of that name is there that this plan did not make: it is left alone")

// made reads a container that a plan made, by its name.
func (r *reader) made(ctx context.Context, made actions.Made) (*containerInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, r.deadline())
	defer cancel()
	ctx, x := watched(ctx)
	res, err := r.api.ContainerInspect(ctx, made.Name, client.ContainerInspectOptions{})
	c := res.Container
	switch {
	case gone(int(x.status.Load()), err):
		return nil, errGone
	case err != nil:
		return nil, errors.New(r.words(err).String())
	case c.ID == "" || c.Config == nil || strings.TrimPrefix(c.Name, "/") != made.Name ||
		c.Config.Labels[backend.LabelPlan] != made.Digest || c.Config.Labels[backend.LabelState] != made.State:
		return nil, errNotOurs
	}
	return &containerInfo{Container: workdir.Container{ID: c.ID}, name: made.Name, created: c.Created, image: c.Image}, nil
}
