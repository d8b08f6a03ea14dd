package docker

import (
	"cmp"
	"errors"
	"time"

	"sandglass/backend"
	"sandglass/backend/workdir"
)

// maxLookRetry caps the wait after a working directory that could not be looked at: the engine may hold a lock on its
// container for as long as the look hangs.
const maxLookRetry = 10 * time.Minute

// insight is what checks without side effects found of the present run of a container.
type insight struct {
	root, process *backend.Verdict // nil: not looked at
	target        string           // of a working directory that is a link to a directory
	rootFails     int              // looks in a row that failed
	rootRetry     time.Time
	far           bool      // its processes are not to be seen on this machine
	idle          bool      // it used no CPU between its two newest samples
	frozenSince   time.Time // since when every look found the main process frozen, zero: the newest did not
	ran           string
}

// observed are the verdicts, in the order of their planes.
func (x *insight) observed() backend.Value[backend.Observation] {
	var vs []backend.Verdict
	for _, v := range []*backend.Verdict{x.root, x.process} {
		if v != nil {
			vs = append(vs, *v)
		}
	}
	if len(vs) == 0 {
		return backend.Unknown[backend.Observation]()
	}
	return backend.Known(backend.Observation{Verdicts: backend.MergeVerdicts(vs)})
}

// retryAfter is how long an error says to wait.
func retryAfter(err error) time.Duration {
	var e *backend.Error
	if errors.As(err, &e) {
		return e.RetryAfter
	}
	return 0
}

// rootSeen notes what the working directory of a container is. That it exists proves that it can be listed at most: whether
// a command runs in it only a probe tells.
func (p *poll) rootSeen(e *cachedContainer, r checkResult) {
	dir := p.s.clean(r.ins.place.Dir, 200)
	v := &backend.Verdict{Plane: backend.PlaneList, At: r.at, Took: r.root.took, Passive: true}
	if r.root.err != nil {
		if backend.KindOf(r.root.err) == backend.ErrGone {
			return // the container has just gone
		}
		e.rootFails++
		e.rootRetry = r.at.Add(min(maxLookRetry, time.Minute<<min(e.rootFails-1, 10)))
		if e.rootFails > 1 || e.root == nil {
			v.Outcome, v.What = backend.OutcomeUnknown, backend.Textf("whether the working directory %s is there is not known", dir)
			v.Evidence = []backend.Safe{p.s.reason(r.root.err)}
			e.root, e.touched = v, true
		}
		return
	}
	e.rootFails, e.rootRetry = 0, time.Time{}
	target := p.s.clean(r.root.Target, 200)
	if r.root.Seen != "" {
		v.Evidence = append(v.Evidence, backend.Textf("as this machine's kernel shows it below %s", p.s.clean(r.root.Seen, 60)))
	}
	id := e.id.Raw() // engines take its beginning too
	for _, path := range r.root.Looked {
		v.Evidence = append(v.Evidence, backend.Textf("HEAD /containers/%s/archive?path=%s", backend.Clean(id[:min(len(id), 12)], 12), p.s.clean(path, 200)))
	}
	v.Outcome = backend.OutcomeFailed
	switch r.root.State {
	case workdir.There:
		v.Outcome, v.What, v.Evidence = backend.OutcomeOK, backend.Textf("the working directory %s is there", dir), nil
	case workdir.Link:
		v.Outcome, v.What = backend.OutcomeOK, backend.Textf("the working directory %s is a link to the directory %s", dir, target)
		v.Evidence = []backend.Safe{p.s.mountOf(&r.ins.place, r.root.Target)}
	case workdir.Missing:
		v.Kind, v.What = backend.FailWorkDirMissing, backend.Textf("the working directory %s is missing", dir)
		v.Evidence = append(v.Evidence, p.s.mountOf(&r.ins.place, r.ins.place.Dir))
	case workdir.Dangling:
		v.Kind, v.What = backend.FailWorkDirDangling, backend.Textf("the working directory %s is a link to %s, which is missing", dir, target)
		if r.root.Via != "" {
			v.What = backend.Textf("the working directory %s leads through the link %s to %s, which is missing", dir, p.s.clean(r.root.Via, 200), target)
		}
		if r.root.Loop {
			v.What = backend.Textf("the working directory %s is a link that leads back to itself", dir)
		}
		v.Evidence = append(v.Evidence, p.s.mountOf(&r.ins.place, r.root.Target))
	case workdir.Unlinked:
		m, _ := r.ins.place.Covering(r.ins.place.Dir)
		v.Kind, v.What = backend.FailMountUnlinked, backend.Textf("the working directory %s is on a mount whose directory was removed on the host", dir)
		v.Evidence = []backend.Safe{backend.Textf("%s of the host was mounted at %s; the mount table of the container calls it deleted", p.s.clean(m.Source, 200), p.s.clean(m.Dest, 200))}
	case workdir.Unmounted:
		m, _ := r.ins.place.Covering(r.ins.place.Dir)
		v.Kind, v.What = backend.FailMountGone, backend.Textf("the mount that held the working directory %s is gone", dir)
		v.Evidence = []backend.Safe{backend.Textf("the %s %s was mounted at %s; the mount table of the container has no such mount", p.s.clean(m.Kind, 20), p.s.clean(cmp.Or(m.Name, m.Source), 200), p.s.clean(m.Dest, 200))}
	case workdir.Other:
		v.Kind = backend.FailWorkDirNoDir
		v.What = backend.Textf("the working directory %s is not a directory", dir)
	case workdir.Unseen:
		v.Outcome, v.What, v.Evidence = backend.OutcomeNotTried, backend.Textf("the working directory %s cannot be looked at from outside without a side effect", dir), nil
		if e.root != nil && e.root.Outcome != backend.OutcomeNotTried { // what was found before holds no more
			v.Outcome = backend.OutcomeUnknown
			if r.root.Target != "" {
				v.What = backend.Textf("the working directory %s is a link to %s now, which cannot be looked at from outside", dir, target)
			}
		}
	}
	if d := r.root.denial; d != nil && v.Outcome == backend.OutcomeFailed {
		v.Evidence = append(v.Evidence, backend.Textf("the container's user %s may not make it: %s", p.s.clean(d.User, 60), p.s.clean(d.String(), 300)))
	} else if d != nil {
		v.Outcome, v.Kind = backend.OutcomeFailed, backend.FailUnauthorised
		v.What = backend.Textf("the container's user %s may not enter the working directory %s", p.s.clean(d.User, 60), dir)
		v.Evidence = []backend.Safe{p.s.clean(d.String(), 300)}
	}
	p.linkMoved(e, dir, r.root.Root)
	e.root, e.touched = v, true
}

// mountOf says what is mounted where a path of a container leads.
func (s *Source) mountOf(c *workdir.Container, path string) backend.Safe {
	m, mounted := c.Covering(path)
	if !mounted {
		return backend.Textf("nothing is mounted at %s: it is in the container's own layer", s.clean(path, 200))
	}
	mode := backend.Text("writable")
	if m.ReadOnly {
		mode = backend.Text("read-only")
	}
	return backend.Textf("%s is on the %s %s, mounted %s at %s", s.clean(path, 200), s.clean(m.Kind, 20), s.clean(cmp.Or(m.Name, m.Source), 200), mode, s.clean(m.Dest, 200))
}

// linkMoved tells that a working directory which is a link leads to another directory now: an event, and no trouble.
func (p *poll) linkMoved(e *cachedContainer, dir backend.Safe, r workdir.Root) {
	if r.State != workdir.Link {
		if r.State != workdir.Unseen {
			e.target = ""
		}
		return
	}
	if e.target != "" && e.target != r.Target {
		p.r.Events = append(p.r.Events, backend.Event{Kind: backend.EventPlatform, At: p.s.deps.Now(), Source: p.s.deps.ID, Subject: p.s.key(e.id), Name: "link",
			Text: backend.Textf("the working directory %s of container %s leads to %s now; it led to %s", dir, p.s.clean(e.ins.name, 200), p.s.clean(r.Target, 200), p.s.clean(e.target, 200))})
	}
	e.target = r.Target
}

// processSeen notes what the main process of a container does. It is frozen when every look for the threshold found all of
// its threads stopped or in uninterruptible sleep and none had run. That it is not frozen is all that is proved otherwise.
func (p *poll) processSeen(e *cachedContainer, r checkResult) {
	x := r.process
	if e.far = r.topped; x == nil {
		return
	}
	v := &backend.Verdict{Plane: backend.PlaneDriver, Outcome: backend.OutcomeOK, At: r.at, Passive: true, What: backend.Text("the main process is not frozen")}
	if !x.Frozen() {
		e.frozenSince, e.ran = time.Time{}, ""
		e.process, e.touched = v, true
		return
	}
	if e.frozenSince.IsZero() || e.ran != x.Ran {
		e.frozenSince, e.ran = r.at, x.Ran
		if m, known := p.s.frozen[e.id.Raw()]; known && m.Head == e.stillness(x.Ran) && m.Sizes[0].At.Before(r.at) { // a former process saw it first
			e.frozenSince = m.Sizes[0].At
		}
	}
	delete(p.s.frozen, e.id.Raw())
	since := r.at.Sub(e.frozenSince)
	if since < p.s.opt.FrozenAfter.Std() { // a moment says nothing: a failure that was found before stays
		if x.Stopped == x.Threads && (e.process == nil || e.process.Outcome != backend.OutcomeFailed) {
			v.Outcome, v.Since, v.What = backend.OutcomeUnknown, e.frozenSince, backend.Textf("the main process is stopped; it counts as frozen after %s", backend.Age(p.s.opt.FrozenAfter.Std()))
			e.process, e.touched = v, true
		}
		return
	}
	if !e.inspected.After(e.frozenSince) { // a pause that no event told of looks the same
		e.dirty = true
		return
	}
	what := backend.Text("are stopped or in uninterruptible sleep")
	switch {
	case x.Waiting == 0:
		what = backend.Text("are stopped")
	case x.Stopped == 0:
		what = backend.Text("are in uninterruptible sleep")
	}
	v.Outcome, v.Kind, v.Since = backend.OutcomeFailed, backend.FailServerFrozen, e.frozenSince
	v.What = backend.Textf("the main process is frozen: all of its threads %s for at least %s", what, backend.Age(since))
	v.Evidence = []backend.Safe{backend.Textf("%s: %d in state T, %d in state D; none has run since %s", backend.Counted(x.Threads, "thread", "threads"), x.Stopped, x.Waiting, backend.Clean(e.frozenSince.UTC().Format(time.RFC3339), 40))}
	e.process, e.touched = v, true
}
