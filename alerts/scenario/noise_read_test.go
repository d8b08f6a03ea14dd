package scenario_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
)

// noisySources are the sources through which the fleet is seen.
var noisySources = []string{"helix", "docker", "logs", "metrics", "host", "refs", "changes"}

const noisyHost = "agents-1"

func sessionKeyOf(s *noisySession) backend.Key {
	return backend.Key{Kind: backend.KindSession, Source: "helix", ID: backend.MustID(s.id)}
}

func workKey(w *noisyWork) backend.Key {
	return backend.Key{Kind: backend.KindWorkspace, Source: "helix", Parent: backend.MustID(w.in.id), ID: backend.MustID(w.name)}
}

func noisyBoxKey(id string) backend.Key {
	return backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID(id)}
}

func noisyDirKey(path string) backend.Key {
	return backend.Key{Kind: backend.KindTmpdir, Source: "host", Parent: backend.MustID(noisyHost), ID: backend.MustID("8:1:" + path)}
}

func (f *noisyFleet) tellSession(s *noisySession) {
	runs := s.paused.IsZero()
	status := "running"
	if !runs {
		status = "paused"
	}
	e := &backend.Session{Meta: backend.Meta{Key: sessionKeyOf(s)}, Status: backend.Clean(status, 20), Running: backend.Known(runs), ListedRunning: backend.Known(runs)}
	e.Tenant, e.StartedAt = backend.Clean(s.tenant, 40), backend.Known(s.started)
	e.FrameworkVersion = backend.Text("7.1.0")
	if s.parent != "" {
		e.BranchedFrom = backend.MustID(s.parent)
	}
	f.helix.Sessions = append(f.helix.Sessions, e)
}

// tell puts a workspace into the next reading of its registry.
func (f *noisyFleet) tell(w *noisyWork) {
	known := func(t time.Time) backend.Value[time.Time] {
		if t.IsZero() {
			return backend.NotApplicable[time.Time]()
		}
		return backend.Known(t)
	}
	e := &backend.Workspace{Meta: backend.Meta{Key: workKey(w)}, Named: true, Reported: backend.Clean(w.state, 20), Class: backend.ClassUnknown,
		LastError: backend.Clean(w.err, 400), LastAttemptAt: known(w.attempt), LastSuccessAt: known(w.success), LastOpAt: backend.NotApplicable[time.Time]()}
	switch w.state {
	case "failed":
		e.Class = backend.ClassFailed
	case "evicted":
		e.Class = backend.ClassEvicted
	}
	e.Provider = backend.Clean(w.in.provider, 40)
	if w.in.provider == "docker" {
		e.DestroyOnClose, e.SleepAfter = backend.Known(destroys(w.in)), backend.Known(10*time.Minute)
	}
	if w.box != "" {
		e.ProviderID = backend.MustID(w.box)
	}
	if w.edit != nil {
		w.edit(e)
	}
	f.helix.Workspaces = append(f.helix.Workspaces, e)
}

// startBox creates the container of a workspace. The reference to it is saved up to a minute later.
func (f *noisyFleet) startBox(w *noisyWork) {
	f.boxes++
	w.box, w.made = fmt.Sprintf("%064d", f.boxes), f.now
	f.makeDir(w) // it is mounted into the container
	f.box(w, backend.SandboxRunning)
	box := w.box
	f.after(f.between(0, time.Minute), func() {
		if w.box == box {
			f.saveRef(w.in.id, w.name, box, 3)
		}
	})
}

func refKey(session, workspace string) backend.Key {
	return backend.Key{Kind: backend.KindRef, Source: "refs", Parent: backend.MustID(session), ID: backend.MustID(workspace)}
}

func (f *noisyFleet) saveRef(session, workspace, box string, version int) {
	k := refKey(session, workspace)
	f.refs.Ended = slices.DeleteFunc(f.refs.Ended, func(x backend.Key) bool { return x == k })
	f.refs.Refs = append(f.refs.Refs, &backend.Ref{Meta: backend.Meta{Key: k}, Session: backend.MustID(session), Workspace: backend.MustID(workspace), Provider: backend.Text("docker"),
		Sandbox: backend.MustID(box), SchemaVersion: backend.Known(version), SavedAt: backend.Known(f.now)})
}

func (f *noisyFleet) box(w *noisyWork, class backend.SandboxClass) {
	f.docker.Sandboxes = append(f.docker.Sandboxes, f.container(w, class))
}

func (f *noisyFleet) container(w *noisyWork, class backend.SandboxClass) *backend.Sandbox {
	limit := int64(4 << 30)
	b := &backend.Sandbox{Meta: backend.Meta{Key: noisyBoxKey(w.box)}, Name: backend.Clean(w.in.id+"-"+w.name, 60), Provider: backend.Text("docker"), IsSandbox: true,
		Image: backend.Text("agents/box:7"), Reported: backend.Clean(string(class), 20), Class: class, Session: backend.MustID(w.in.id), Workspace: backend.MustID(w.name),
		CreatedAt: backend.Known(w.made), StartedAt: backend.Known(f.now), FinishedAt: backend.NotApplicable[time.Time](), OOMKilled: backend.Known(false), RestartCount: backend.Known(0),
		Usage: backend.Known(backend.Usage{At: f.now, CPU: backend.Known(f.rnd.Float64()), Mem: backend.Known(int64(float64(limit) * (0.2 + 0.6*f.rnd.Float64()))), MemLimit: backend.Known(limit)})}
	return b.WithObserved(ordinary(w, f.now))
}

// ordinary is what is observed of containers that are well: looks that pass, one command in a hundred that is slow once, and in
// one of ten a failure of the life before.
func ordinary(w *noisyWork, now time.Time) []backend.Verdict {
	list := backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeOK, At: now, Passive: true}
	exec := backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeNotTried}
	switch {
	case strings.HasSuffix(w.box, "77"):
		exec = backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailExecTimeout, At: w.made}
	case strings.HasSuffix(w.box, "3"):
		exec = backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: now.Add(-time.Hour)}
	}
	return []backend.Verdict{list, exec}
}

// dropBox destroys a container; every twentieth had to be killed and is seen in between.
func (f *noisyFleet) dropBox(w *noisyWork) {
	box := *w
	w.box = ""
	f.dropDir(w)
	if f.rnd.IntN(20) == 0 {
		e := f.container(&box, backend.SandboxExited)
		e.ExitCode, e.FinishedAt = backend.Known(137), backend.Known(f.now)
		f.docker.Sandboxes = append(f.docker.Sandboxes, e)
	}
	f.after(f.between(time.Second, 40*time.Second), func() {
		f.docker.Ended = append(f.docker.Ended, noisyBoxKey(box.box))
		f.docker.Events = append(f.docker.Events, backend.Event{Kind: backend.EventPlatform, At: f.now, Source: "docker", Subject: noisyBoxKey(box.box), Name: "destroy", Text: backend.Text("container was removed")})
	})
}

func (f *noisyFleet) makeDir(w *noisyWork) {
	f.dirs++
	w.dir = fmt.Sprintf("/tmp/helix-ws-%06d", f.dirs)
	f.dir(w.dir, f.now, 12_000_000, true)
}

func (f *noisyFleet) dir(path string, newest time.Time, bytes int64, held bool) {
	e := &backend.Tmpdir{Meta: backend.Meta{Key: noisyDirKey(path)}, Path: backend.Clean(path, 100), RawPath: backend.MustID(path), Root: backend.Text("/tmp"),
		Newest: backend.Known(newest), Born: backend.Known(newest), Bytes: backend.Known(bytes), Entries: backend.Known[int64](40), Holders: backend.Known([]backend.Holder(nil))}
	if held {
		e.Holders = backend.Known([]backend.Holder{{PID: 4000, Command: backend.Text("node"), How: backend.Text("cwd")}})
	}
	f.host.Tmpdirs = append(f.host.Tmpdirs, e)
}

func (f *noisyFleet) dropDir(w *noisyWork) {
	if w.dir == "" {
		return
	}
	f.host.Ended = append(f.host.Ended, noisyDirKey(w.dir))
	w.dir = ""
}

// leftover is a scratch directory that a crash left behind some time ago.
func (f *noisyFleet) leftover(age time.Duration) {
	f.dirs++
	path := fmt.Sprintf("/tmp/helix-ws-%06d", f.dirs)
	f.dir(path, f.now.Add(-age), 9_000_000, false)
	f.after(23*time.Hour-age, func() { f.host.Ended = append(f.host.Ended, noisyDirKey(path)) })
}

// hostNow is the host as it is read at every poll.
func (f *noisyFleet) hostNow() {
	total := int64(256 << 30)
	f.free = min(max(f.free+0.002*(f.rnd.Float64()-0.5), 0.4), 0.5) // builds fill it and are cleaned up
	root := backend.Root{Path: backend.Text("/tmp"), Exists: backend.Known(true), Writable: backend.Known(f.rooted), ReadOnly: backend.Known(!f.rooted), FSType: backend.Text("ext4"),
		Bytes: backend.Known(total), BytesFree: backend.Known(int64(float64(total) * f.free)), Inodes: backend.Known[int64](10_000_000), InodesFree: backend.Known[int64](9_000_000)}
	k := backend.Key{Kind: backend.KindHost, Source: "host", ID: backend.MustID(noisyHost)}
	f.host.Hosts = []*backend.Host{{Meta: backend.Meta{Key: k}, Name: backend.Text(noisyHost), BootedAt: backend.Known(f.booted), MemTotal: backend.Known(total),
		MemAvailable: backend.Known(int64(float64(total) * (0.1 + 0.5*f.rnd.Float64()))), OOMKills: backend.Known(f.kills), LimitKills: backend.Known[int64](0), Roots: []backend.Root{root}}}
}

// count is what the log source counts in this step.
func (f *noisyFleet) count(m backend.Metric, session string, n float64, sample string) {
	s := backend.Series{Source: "logs", Name: m}
	if session != "" {
		s.Session = backend.MustID(session)
	}
	f.counts = append(f.counts, backend.Count{Series: s, At: f.now, N: n, Sample: backend.Clean(sample, 200)})
}

// noisySource is one source of the fleet.
type noisySource struct {
	id    string
	fleet *noisyFleet
}

func (s noisySource) ID() string { return s.id }

// Poll hands over what happened since the last poll that succeeded.
func (s noisySource) Poll(context.Context) (backend.Reading, error) {
	f := s.fleet
	if f.lost[s.id] > 0 {
		return backend.Reading{}, &backend.Error{Kind: backend.ErrUnreachable, Source: s.id, Err: errors.New("connection refused")}
	}
	var r backend.Reading
	whole := func(kinds ...backend.Kind) {
		for _, k := range kinds {
			r.Confirmed = append(r.Confirmed, backend.Scope{Kind: k, Complete: true})
		}
	}
	switch s.id {
	case "helix":
		r, f.helix = f.helix, backend.Reading{}
		r.Inputs = []backend.Input{backend.InputRegistry, backend.InputSessions}
		r.Sessions, r.Workspaces = newest(r.Sessions), newest(r.Workspaces)
		r.Sessions = slices.DeleteFunc(r.Sessions, func(x *backend.Session) bool { return slices.Contains(r.Ended, x.Key) })
		r.Workspaces = slices.DeleteFunc(r.Workspaces, func(w *backend.Workspace) bool {
			return slices.Contains(r.Ended, w.Key) || slices.Contains(r.Ended, backend.Key{Kind: backend.KindSession, Source: "helix", ID: w.Key.Parent})
		})
		r.Registry = backend.RegistryAnswers
		whole(backend.KindSession, backend.KindWorkspace)
	case "docker":
		r, f.docker = f.docker, backend.Reading{}
		r.Inputs, r.Sandboxes = []backend.Input{backend.InputContainers}, newest(r.Sandboxes)
		r.Sandboxes = slices.DeleteFunc(r.Sandboxes, func(b *backend.Sandbox) bool { return slices.Contains(r.Ended, b.Key) })
		whole(backend.KindSandbox)
	case "host":
		r, f.host = f.host, backend.Reading{Hosts: f.host.Hosts}
		r.Inputs, r.Tmpdirs = []backend.Input{backend.InputTmpdirs, backend.InputHost}, newest(r.Tmpdirs)
		r.Tmpdirs = slices.DeleteFunc(r.Tmpdirs, func(t *backend.Tmpdir) bool { return slices.Contains(r.Ended, t.Key) })
		whole(backend.KindTmpdir)
	case "refs":
		r, f.refs = f.refs, backend.Reading{}
		r.Inputs, r.Refs = []backend.Input{backend.InputRefs}, newest(r.Refs)
		r.Refs = slices.DeleteFunc(r.Refs, func(x *backend.Ref) bool { return slices.Contains(r.Ended, x.Key) })
		whole(backend.KindRef)
	case "logs":
		r.Counts, f.counts = f.counts, nil
		r.Inputs = []backend.Input{backend.InputEvictionLogs, backend.InputRejections}
	case "metrics":
		r.Inputs = []backend.Input{backend.InputEvictions}
		for _, p := range slices.Compact(slices.Sorted(slices.Values(noisyProviders))) {
			r.Counts = append(r.Counts, backend.Count{Series: backend.Series{Source: "metrics", Name: backend.MetricEvictions, Provider: p}, At: f.now, N: f.evictions[p]},
				backend.Count{Series: backend.Series{Source: "metrics", Name: backend.MetricEvictionRetries, Provider: p}, At: f.now, N: f.recoveries[p]})
		}
		clear(f.evictions)
		clear(f.recoveries)
	case "changes":
		r.Events, f.changes = f.changes, nil
	}
	r.Started, r.At = f.now, f.now
	r.ClockOffset = backend.Known(f.offset[s.id])
	return r, nil
}

// newest keeps the last of several readings of one thing.
func newest[T backend.Entity](in []T) []T {
	last := map[backend.Key]int{}
	for i, e := range in {
		last[e.EntityMeta().Key] = i
	}
	out := in[:0]
	for i, e := range in {
		if last[e.EntityMeta().Key] == i {
			out = append(out, e)
		}
	}
	return out
}
