package tmpdir

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"sandglass/backend"
	"sandglass/backend/hostfs"
)

// Source reads the scratch directories of this host.
type Source struct {
	o       Options
	deps    backend.Deps
	account hostfs.Account
	proc    hostfs.Proc
	limits  hostfs.LimitKills
	roots   []*root
	owners  userNames
	users   callGate // the pass over all processes

	// Of the one poll in flight:
	host   backend.ID
	bootID string
	rows   map[backend.Key]*row
	asides map[string]*row // by path

	resumed []backend.Bookmark // of a former process, until the first poll

	mu        sync.Mutex
	attention map[backend.Key]int

	// open and walk replace the system's, in tests.
	open func(path string) (*hostfs.Dir, error)
	walk func(ctx context.Context, parent *hostfs.Dir, name string, o hostfs.WalkOptions) (hostfs.Tree, error)
}

func newSource(o Options, a hostfs.Account, deps backend.Deps) *Source {
	s := &Source{o: o, deps: deps, account: a, proc: o.on().Proc(), limits: hostfs.LimitKills{Sys: o.on().Sys(), Log: o.on().KernelLog()}, rows: map[backend.Key]*row{}, asides: map[string]*row{},
		open: hostfs.OpenDir, walk: hostfs.Walk}
	for _, p := range o.Roots {
		s.roots = append(s.roots, &root{path: p})
	}
	return s
}

// ID returns the source's id.
func (s *Source) ID() string { return s.deps.ID }

// Scratch says which directories the source looks at, for whoever acts on them.
func (s *Source) Scratch() hostfs.Scratch {
	return hostfs.Scratch{Roots: slices.Clone(s.o.Roots), Pattern: s.o.Pattern, Owner: s.account, Host: s.o.on()}
}

// Attend makes walks of these directories come first.
func (s *Source) Attend(a backend.Attention) {
	m := make(map[backend.Key]int, len(a.Alerting)+len(a.Visible))
	for _, k := range a.Visible {
		m[k] = 1
	}
	for _, k := range a.Alerting {
		m[k] = 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attention = m
}

// Routes lists what is read.
func (s *Source) Routes() []backend.Route {
	var out []backend.Route
	for _, r := range s.roots {
		out = append(out,
			backend.Route{Verb: "list", Target: r.path, Why: "scratch directories, free space and inodes, write permission"},
			backend.Route{Verb: "walk", Target: filepath.Join(r.path, s.o.Pattern), Why: "newest change and size, links not followed, mounts not entered"})
	}
	return append(out,
		backend.Route{Verb: "read", Target: s.proc.Root + "/<pid>/{cwd,root,exe,fd,maps,mountinfo,stat,cmdline}", Why: "which processes use a scratch directory"},
		backend.Route{Verb: "read", Target: s.proc.Root + "/{meminfo,vmstat,stat,pressure/memory,sys/kernel,self/mountinfo}", Why: "memory, boot and mounts of the host"})
}

// Shares of a poll's time that its parts may wait, so that one file system that does not answer leaves time for the
// rest.
const (
	shareSurvey = 0.4
	shareUsers  = 0.3
	shareAll    = 0.9

	defaultDeadline = 10 * time.Second // where the wiring sets none
)

// Poll lists the roots, finds who uses the directories, and walks as many trees as a quarter of the interval allows:
// those that rules and screens look at first, then the longest unread. It returns before the deadline of ctx even if a
// file system never answers.
func (s *Source) Poll(ctx context.Context) (backend.Reading, error) {
	if err := ctx.Err(); err != nil {
		return backend.Reading{}, &backend.Error{Kind: backend.ErrTimeout, Source: s.deps.ID, Where: "poll", Err: err}
	}
	total := s.deps.Deadline
	if total <= 0 {
		total = defaultDeadline
	}
	if d, ok := ctx.Deadline(); ok {
		if left := d.Sub(s.deps.Now()); left > 0 {
			total = min(total, left)
		}
	}
	all, cancel := context.WithTimeout(ctx, share(total, shareAll))
	defer cancel()

	p := &poll{s: s, now: s.deps.Now()}
	p.r = backend.Reading{Schema: backend.ReadingSchema, Source: s.deps.ID, Kind: "tmpdir", Started: p.now}
	host, missing := s.hostFacts(p.now)
	if host.Key.ID != s.host {
		s.host, s.rows, s.asides = host.Key.ID, map[backend.Key]*row{}, map[string]*row{}
	}
	booted := s.bootID
	p.r.Events = s.bootEvent(host, p.now)
	if booted != "" && booted != s.bootID {
		for _, r := range s.roots {
			r.full = lastFull{}
		}
	}
	p.resume()

	listing, stop := context.WithTimeout(all, share(total, shareSurvey))
	p.found = s.surveys(listing, p.now)
	stop()
	p.mounted()
	p.match()
	searching, stop := context.WithTimeout(all, share(total, shareUsers))
	p.findUsers(searching)
	stop()
	p.walks(all)
	p.emit()
	p.report(host, missing)
	p.r.At = s.deps.Now()
	return p.r, nil
}

func share(d time.Duration, part float64) time.Duration { return time.Duration(float64(d) * part) }

// report fills in the host, what is delivered and what is not.
func (p *poll) report(host *backend.Host, missing string) {
	s, r := p.s, &p.r
	unlisted := 0
	var first backend.Safe
	for i := range p.found {
		f := &p.found[i]
		host.Roots = append(host.Roots, f.facts)
		r.Load.Requests++
		if f.others > 0 {
			r.Notes = append(r.Notes, backend.Textf("%d names in %s match the pattern but are no directories", f.others, f.facts.Path))
		}
		if f.err == nil {
			continue
		}
		r.Problems = append(r.Problems, backend.Problem{Kind: kindOf(f.err), Where: f.facts.Path, What: f.facts.Problem, At: p.now})
		if unlisted++; unlisted == 1 {
			first = backend.Textf("%s: %s", f.facts.Path, f.facts.Problem)
		}
	}
	r.Hosts = []*backend.Host{host}
	r.Scopes = []backend.Scope{
		{Kind: backend.KindTmpdir, Parent: s.host, Complete: unlisted == 0 && !p.skipped},
		{Kind: backend.KindHost, Complete: true},
	}
	if unlisted > 0 {
		r.Degraded = backend.Textf("%d of %d roots could not be listed: %s", unlisted, len(p.found), first)
	}
	if unlisted < len(p.found) {
		r.Inputs = append(r.Inputs, backend.InputTmpdirs)
	} else {
		r.Missing = append(r.Missing, backend.MissingInput{Input: backend.InputTmpdirs, Why: r.Degraded})
	}
	if missing == "" {
		r.Inputs = append(r.Inputs, backend.InputHost)
	} else {
		r.Missing = append(r.Missing, backend.MissingInput{Input: backend.InputHost, Why: s.deps.Cleaner.Clean(missing, 200)})
	}
	if p.waiting > 0 {
		r.Notes = append(r.Notes, backend.Textf("%s for the first reading", backend.Counted(p.waiting, "directory waits", "directories wait")))
	}
	switch u := p.users; {
	case len(p.order) == 0:
	case u.Blind != "":
		r.Notes = append(r.Notes, s.deps.Cleaner.Clean("who uses a directory is not fully known: "+u.Blind, 300))
	case u.Unreadable > 0:
		r.Notes = append(r.Notes, backend.Textf("%d of %s unreadable, so that who uses a directory is not fully known; as root all can be read", u.Unreadable, backend.Counted(u.Processes, "process", "processes")))
	}
}

func key(source string, host backend.ID, st hostfs.Stat, path string) (backend.Key, error) {
	id, err := backend.NewID(fmt.Sprintf("%d:%d:%s", st.ID.Dev, st.ID.Ino, path))
	return backend.Key{Kind: backend.KindTmpdir, Source: source, Parent: host, ID: id}, err
}
