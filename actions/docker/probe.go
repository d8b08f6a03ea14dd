package docker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/moby/moby/client"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/workdir"
)

// probeCost is what a probe costs, for its plan.
const probeCost = "starts at most 3 short commands in the container, one after the other: probe_command, ls, head; the engine's event log records them; it wakes, resumes and bills nothing"

// planeProbe is one probe of one container, plane by plane. Each step runs once; what a step before it ruled out is not tried.
type planeProbe struct {
	m    *mutatingClient
	b    *containerInfo
	root workdir.Root
	shut *workdir.Denial // what its user may not enter; nil: nothing is known to be shut
	done actions.Done
	err  error // of the engine, not of the container
}

// probe observes a container: that the engine describes it, that a command runs, that its working directory is listed and
// that a file of it is read. In one that does not run nothing is started.
func (m *mutatingClient) probe(ctx context.Context, b *containerInfo, _ actions.Target) (actions.Done, error) {
	p := &planeProbe{m: m, b: b, done: actions.Done{Proved: true}}
	p.add(backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, What: backend.Textf("the engine calls it %s", backend.Clean(b.state, 60)), Took: b.took, Passive: true})
	began := m.factory.deps.Now()
	root, err := m.rootOf(ctx, b)
	if p.root = root; err != nil {
		p.root = workdir.Root{State: workdir.Unseen}
	}
	if d, denied := m.factory.host.Denied(&b.Container, p.root); denied {
		p.shut = &d
	}
	seen := m.factory.deps.Now().Sub(began)
	if rest, kind := b.rests(); !rest.IsEmpty() {
		p.done.Text = rest
		v := backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeUnknown, Kind: kind, What: rest, Passive: true}
		if b.state == statePaused { // no new life begins when it goes on: nothing that ends then may be kept as found
			v.Outcome = backend.OutcomeNotTried
		}
		p.add(v)
		p.looked(seen)
		return p.concluded(), nil
	}
	if p.exec(ctx) && p.root.State != workdir.Unmounted {
		if name, found := p.list(ctx); found {
			p.read(ctx, name)
		}
	} else {
		p.looked(seen)
	}
	return p.concluded(), p.err
}

// concluded is the result with a step for each plane. Its text tells the first plane that failed, where a command runs all the same.
func (p *planeProbe) concluded() actions.Done {
	p.done.Steps = planeSteps(p.done.Observed, backend.Planes())
	for i := range p.done.Observed {
		if v := &p.done.Observed[i]; v.Outcome == backend.OutcomeFailed {
			if v.Plane != backend.PlaneExec {
				p.done.Text = backend.Textf("%s; but %s fails: %s", p.done.Text, v.Plane, v.Said())
			}
			break
		}
	}
	return p.done
}

// rests is why no command can run in a container in its state, and of what kind that is; empty: one can.
func (b *containerInfo) rests() (backend.Safe, backend.FailureKind) {
	switch b.state {
	case stateRunning:
		return backend.Safe{}, ""
	case statePaused:
		return backend.Text("it is paused, and no command runs in it until it is resumed"), backend.FailAsleep
	case stateRestarting:
		return backend.Text("it is restarting, and no command runs in it until it runs"), backend.FailWaking
	}
	return backend.Textf("it does not run: %s", backend.Clean(b.state, 60)), ""
}

func (p *planeProbe) add(v backend.Verdict) {
	v.At = p.m.factory.deps.Now()
	p.done.Observed = append(p.done.Observed, v)
}

// result is the verdict of a command: failed where it did not begin, hung or ended badly. said is what to say where it ran well.
func (p *planeProbe) result(plane backend.Plane, r commandResult, err error, said backend.Safe) backend.Verdict {
	v := backend.Verdict{Plane: plane, Outcome: backend.OutcomeOK, What: said, Took: r.took}
	var hung *hungError
	switch {
	case errors.As(err, &hung):
		v.Outcome, v.Kind, v.Took = backend.OutcomeFailed, backend.FailExecTimeout, hung.after
		v.What = backend.Textf("commands hang: %s did not end within %s; %s", hung.name, backend.Age(hung.after), hung.fate)
		return v
	case err != nil:
		p.err, v.Outcome, v.What = err, backend.OutcomeUnknown, p.m.clean(err.Error())
		var refused *refusedError
		if errors.As(err, &refused) {
			v.Kind = refused.kind()
		}
		return v
	case r.ok():
		return v
	case r.trouble == troubleProgram:
		v.Outcome, v.What = backend.OutcomeUnknown, backend.Text("the image has no program for it")
	default:
		v.Outcome, v.Kind, v.What = backend.OutcomeFailed, p.kind(r), p.m.verdict(p.b, r)
	}
	if !r.said.IsEmpty() {
		v.Evidence = []backend.Safe{r.said}
	}
	return v
}

// kind is why a command failed. The engine has the same words for a missing directory and for a link to one.
func (p *planeProbe) kind(r commandResult) backend.FailureKind {
	switch r.trouble {
	case troubleLoop:
		return backend.FailWorkDirDangling
	case troubleMissing:
		if p.root.State == workdir.Dangling || workdir.Kernel(p.root.Target) != "" {
			return backend.FailWorkDirDangling
		}
		return backend.FailWorkDirMissing
	case troubleNoDir:
		return backend.FailWorkDirNoDir
	case troubleUnlinked:
		return backend.FailMountUnlinked
	case troubleDenied:
		return backend.FailUnauthorised
	case troubleNone, troubleProgram, troubleOther:
	}
	return ""
}

// exec runs the probe command. It reports whether other commands can be tried.
func (p *planeProbe) exec(ctx context.Context) bool {
	r, err := p.m.run(ctx, p.b, command{argv: p.m.factory.opt.ProbeCommand, ends: true})
	if r.trouble == troubleProgram && p.shut != nil { // no program is found where its user may not look
		r.trouble = troubleDenied
	}
	v := p.result(backend.PlaneExec, r, err, p.m.verdict(p.b, r))
	if r.trouble == troubleProgram { // which says nothing about the container
		v.What = p.m.verdict(p.b, r)
	}
	if why := p.b.offLimits(p.root.Target); v.Kind == backend.FailWorkDirDangling && p.root.Target != "" && !p.root.Loop && !why.IsEmpty() {
		v.What = backend.Textf("commands do not run: the working directory %s is a link to %s, which is missing and %s", p.m.clean(p.b.Dir), p.m.clean(p.root.Target), why)
	} else if v.Kind == backend.FailWorkDirDangling && r.trouble != troubleLoop {
		v.What = backend.Textf("commands do not run: the working directory %s leads to %s, which is missing; repair makes that again", p.m.clean(p.b.Dir), p.m.clean(p.root.Target))
	}
	p.add(v)
	p.done.Text = v.What
	if r.trouble == troubleUnlinked {
		p.done.Notes = append(p.done.Notes, p.m.unlinkedAdvice(p.b))
	}
	return err == nil && (r.trouble == troubleNone || r.trouble == troubleProgram)
}

// looked tells what the look from outside says about the directory where no command lists it.
func (p *planeProbe) looked(took time.Duration) {
	v := backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, Took: took, Passive: true}
	dir := p.m.clean(p.b.Dir)
	if p.shut != nil && (p.root.State == workdir.There || p.root.State == workdir.Link) {
		v.Kind, v.What = backend.FailUnauthorised, backend.Textf("the container's user%s may not enter %s", p.b.called(p.m.clean), dir)
		v.Evidence = []backend.Safe{p.m.clean(p.shut.String())}
		p.add(v)
		return
	}
	switch p.root.State {
	case workdir.Missing:
		v.Kind, v.What = backend.FailWorkDirMissing, backend.Textf("%s is missing", dir)
	case workdir.Dangling:
		v.Kind, v.What = backend.FailWorkDirDangling, backend.Textf("%s is a link to %s, which is missing", dir, p.m.clean(p.root.Target))
		if p.root.Loop {
			v.What = backend.Textf("%s is a link that leads back to itself", dir)
		}
	case workdir.Unlinked:
		v.Kind, v.What = backend.FailMountUnlinked, backend.Textf("the directory of the host that is mounted at %s was removed", dir)
	case workdir.Unmounted:
		v.Kind, v.What = backend.FailMountGone, backend.Textf("the mount that held %s is gone", dir)
	case workdir.Other:
		v.Kind, v.What = backend.FailWorkDirNoDir, backend.Textf("%s is not a directory", dir)
	case workdir.There, workdir.Link, workdir.Unseen:
		return
	}
	p.add(v)
}

// list lists the working directory as the container's user, and names a file in it that can be read.
func (p *planeProbe) list(ctx context.Context) (name string, found bool) {
	r, err := p.m.run(ctx, p.b, command{argv: []string{"ls", "-1AF"}, ends: true})
	entries := strings.FieldsFunc(r.raw, func(c rune) bool { return c == '\n' })
	v := p.result(backend.PlaneList, r, err, backend.Textf("%s has %s", p.m.clean(p.b.Dir), backend.Counted(len(entries), "entry", "entries")))
	switch {
	case r.cut && v.Outcome == backend.OutcomeOK:
		v.What = backend.Textf("%s has more than %d entries", p.m.clean(p.b.Dir), len(entries))
	case v.Outcome == backend.OutcomeOK:
	case r.trouble == troubleNone && err == nil && denied(r.raw):
		v.Kind, v.What = backend.FailUnauthorised, backend.Textf("%s cannot be listed by the container's user%s", p.m.clean(p.b.Dir), p.b.called(p.m.clean))
	case r.trouble == troubleNone && err == nil:
		v.What = backend.Textf("%s cannot be listed: ls ends with exit code %d", p.m.clean(p.b.Dir), r.code)
	}
	if v.Outcome == backend.OutcomeOK {
		v.Evidence = nil
		name, found = readable(entries, r.cut)
	}
	p.add(v)
	if v.Outcome == backend.OutcomeOK && !found {
		p.add(backend.Verdict{Plane: backend.PlaneRead, Outcome: backend.OutcomeNotTried, What: backend.Textf("%s holds no plain file to read", p.m.clean(p.b.Dir))})
	}
	return name, found
}

// readable picks a plain file of what `ls -F` printed: its name carries no mark. The last entry may be cut.
func readable(entries []string, cut bool) (string, bool) {
	if cut && len(entries) > 0 {
		entries = entries[:len(entries)-1]
	}
	i := slices.IndexFunc(entries, func(e string) bool { return !strings.ContainsAny(e, "*/=>@|?\r\t\x1b\"'\\") })
	if i < 0 {
		return "", false
	}
	return entries[i], true
}

// read reads one byte of a file that was listed. What is in it is not shown.
func (p *planeProbe) read(ctx context.Context, name string) {
	r, err := p.m.run(ctx, p.b, command{argv: []string{"head", "-c", "1", "./" + name}, ends: true})
	file := p.m.clean(name)
	v := p.result(backend.PlaneRead, r, err, backend.Textf("%s was read", file))
	switch {
	case v.Outcome == backend.OutcomeOK:
		v.Evidence = nil
	case r.trouble == troubleNone && err == nil && denied(r.raw):
		v.Outcome, v.Kind, v.What = backend.OutcomeUnknown, backend.FailUnauthorised, backend.Textf("the container's user%s may not read %s", p.b.called(p.m.clean), file)
	case r.trouble == troubleNone && err == nil && strings.Contains(strings.ToLower(r.raw), "no such file"):
		v.Outcome, v.What = backend.OutcomeUnknown, backend.Textf("%s was removed after it was listed", file)
	case r.trouble == troubleNone && err == nil:
		v.What = backend.Textf("%s cannot be read: head ends with exit code %d", file, r.code)
	}
	p.add(v)
}

func denied(said string) bool { return strings.Contains(strings.ToLower(said), "permission denied") }

// hungError says that a command did not end in time, and what happened to its process.
type hungError struct {
	name, fate backend.Safe
	after      time.Duration
}

// Error says it.
func (e *hungError) Error() string {
	return fmt.Sprintf("%s did not end within %s; %s", e.name, backend.Age(e.after), e.fate)
}

// markVariable is in the environment of a command that is ended when it hangs, with a value of its own.
const markVariable = "SANDGLASS_PROBE"

// killMarked ends all processes that carry a mark. It needs a shell and no other program: shells read over the zero bytes.
const killMarked = `for p in /proc/[0-9]*; do while IFS= read -r e || [ -n "$e" ]; do case "$e" in *"$0"*) kill -9 "${p#/proc/}";; esac; done <"$p/environ"; done 2>/dev/null`

func newMark() string { return markVariable + "=" + rand.Text() }

// killWithin bounds how long a command that hangs is waited for once it was killed.
const killWithin = 3 * time.Second

// end ends a command that hangs: the engine has no order for it, so a command in the container kills it by its mark.
func (m *mutatingClient) end(ctx context.Context, b *containerInfo, exec, mark string) backend.Safe {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), killWithin)
	defer cancel()
	if made, err := m.api.ExecCreate(ctx, b.ID, client.ExecCreateOptions{Cmd: []string{"sh", "-c", killMarked, mark}, WorkingDir: "/", AttachStdout: true, AttachStderr: true}); err == nil {
		_, _ = m.output(ctx, made.ID) // the engine says below whether the command runs
	}
	if _, err := m.exitCode(ctx, exec); err == nil {
		return backend.Text("it was ended")
	}
	return backend.Text("it may be running still: the engine has no order that ends it")
}
