package tmpdir

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	"sandglass/backend"
	"sandglass/backend/hostfs"
	"sandglass/internal/stable"
)

// maxProblems bounds the problems listed one by one.
const maxProblems = 20

// poll is one poll under way.
type poll struct {
	s       *Source
	now     time.Time
	r       backend.Reading
	found   []rootSurvey
	order   []*row // listed now
	users   hostfs.Users
	skipped bool // some directory could not be given a key
	waiting int  // listed but never walked
}

// match joins what was listed with what is remembered, and lets go of what is gone.
func (p *poll) match() {
	s := p.s
	s.mu.Lock()
	attention := s.attention
	s.mu.Unlock()
	here := map[backend.Key]bool{}
	for i := range p.found {
		f := &p.found[i]
		for _, e := range f.entries {
			path := filepath.Join(f.real, e.Name)
			k, err := key(s.deps.ID, s.host, e.Stat, path)
			if err != nil {
				p.skipped = true
				p.problem(backend.ErrInvalid, backend.Key{}, path, err.Error())
				continue
			}
			if here[k] {
				continue // two roots lead to one directory
			}
			here[k] = true
			r := s.rows[k]
			if r == nil {
				r = &row{key: k, root: i, path: path}
				s.rows[k] = r
			}
			r.entry, r.missing, r.rank = e, 0, 2
			if rank, ok := attention[k]; ok {
				r.rank = rank
			}
			p.order = append(p.order, r)
		}
	}
	p.absent(here)
	p.setAside()
	stable.Sort(p.order, func(a, b *row) int { return a.key.Compare(b.key) })
}

// setAside remembers what a clean-up has set aside. It is walked like any other directory, after all others, for the
// space that it occupies.
func (p *poll) setAside() {
	s := p.s
	here := map[string]bool{}
	for i := range p.found {
		f := &p.found[i]
		for _, e := range f.asides {
			at := filepath.Join(f.real, e.Name)
			if here[at] {
				continue
			}
			a, _ := hostfs.ParseAside(e.Name) // the survey read it
			k, err := key(s.deps.ID, s.host, e.Stat, filepath.Join(f.real, a.Original))
			if err != nil {
				p.problem(backend.ErrInvalid, backend.Key{}, at, err.Error())
				continue
			}
			here[at] = true
			r := s.asides[at]
			if r == nil {
				r = &row{key: k, root: i, path: at}
				s.asides[at] = r
			}
			r.entry, r.aside, r.rank = e, &a, 3
			p.order = append(p.order, r)
		}
	}
	for at, r := range s.asides {
		if !here[at] && p.found[r.root].err == nil {
			delete(s.asides, at)
		}
	}
}

// absent judges the remembered directories that were not listed: in a root whose list is complete they are gone, after
// two such lists; in any other root nothing is known of them.
func (p *poll) absent(here map[backend.Key]bool) {
	s := p.s
	complete := true
	for i := range p.found {
		complete = complete && p.found[i].err == nil
	}
	for k, r := range s.rows {
		if here[k] {
			continue
		}
		f := &p.found[r.root]
		if f.err != nil {
			p.r.Stale = append(p.r.Stale, backend.StaleMark{Key: k, Why: backend.Textf("%s: %s", f.facts.Path, f.facts.Problem)})
			continue
		}
		if r.missing++; r.missing < 2 {
			continue
		}
		delete(s.rows, k)
		if !complete { // otherwise the complete scope says it
			p.r.Ended = append(p.r.Ended, k)
		}
	}
	stable.Sort(p.r.Stale, func(a, b backend.StaleMark) int { return a.Key.Compare(b.Key) })
	stable.Sort(p.r.Ended, backend.Key.Compare)
}

// findUsers makes the pass over all processes.
func (p *poll) findUsers(ctx context.Context) {
	s := p.s
	targets := make([]hostfs.Target, len(p.order))
	for i, r := range p.order {
		targets[i] = hostfs.Target{Path: r.path, ID: r.entry.Stat.ID, MountID: r.entry.Stat.MountID}
	}
	p.users = hostfs.Users{Blind: "the search was not finished in time", Uses: make([][]hostfs.Use, len(targets))}
	if len(targets) == 0 {
		p.users.Blind = ""
		return
	}
	c, err := start(s.deps.Spawn, &s.users, p.now, "tmpdir users", func() hostfs.Users {
		u, err := s.proc.Users(ctx, targets)
		if err != nil {
			u = hostfs.Users{Blind: err.Error(), Uses: make([][]hostfs.Use, len(targets))}
		}
		return u
	})
	if err != nil {
		p.users.Blind = err.Error()
		return
	}
	if u, ok := wait(ctx, c); ok {
		p.users = u
	}
}

// walkResult is the outcome of one walk.
type walkResult struct {
	r     *row
	tree  hostfs.Tree
	err   error
	took  time.Duration
	tried map[hostfs.FileID]bool
	top   hostfs.Stat
}

// walks reads the trees that are due, each root's on its own, within a quarter of the interval.
func (p *poll) walks(ctx context.Context) {
	s := p.s
	due := make([][]*row, len(s.roots))
	total := 0
	for _, r := range p.order {
		if r.due(p.now, s.o.WalkInterval.Std(), p.users.Unplaced) {
			due[r.root] = append(due[r.root], r)
			total++
		}
	}
	budget := ctx
	if s.deps.Interval > 0 {
		var stop context.CancelFunc
		budget, stop = context.WithTimeout(ctx, max(s.deps.Interval/4, 100*time.Millisecond))
		defer stop()
	}
	results := make(chan walkResult, total) // never blocks a walker whose poll has gone on
	var ends []<-chan bool
	for i, rows := range due {
		if len(rows) == 0 {
			continue
		}
		stable.Sort(rows, func(a, b *row) int {
			return cmp.Or(cmp.Compare(a.rank, b.rank), a.walked.Compare(b.walked))
		})
		jobs := p.jobs(rows)
		real := p.found[i].real
		end, err := start(s.deps.Spawn, &s.roots[i].gate, p.now, "tmpdir walk", func() bool {
			s.walkAll(budget, real, jobs, results)
			return true
		})
		if err == nil {
			ends = append(ends, end)
		}
	}
	for _, end := range ends {
		if _, ok := wait(ctx, end); !ok {
			p.r.Problems = append(p.r.Problems, backend.Problem{Kind: backend.ErrTimeout, Where: backend.Text("walk"),
				What: backend.Text("the file system did not answer in time"), At: p.now})
		}
	}
	for len(results) > 0 {
		p.take(<-results)
	}
}

// walkJob is one walk to do: a copy of what it needs, since a walk that hangs outlives its poll.
type walkJob struct {
	r    *row
	name string
	o    hostfs.WalkOptions
	top  hostfs.Stat
}

func (p *poll) jobs(rows []*row) []walkJob {
	out := make([]walkJob, len(rows))
	for i, r := range rows {
		watch := map[hostfs.FileID]bool{}
		for id := range p.users.Unplaced {
			if id.Dev == r.entry.Stat.ID.Dev {
				watch[id] = true
			}
		}
		out[i] = walkJob{r: r, name: r.entry.Name, top: r.entry.Stat,
			o: hostfs.WalkOptions{MaxEntries: p.s.o.MaxEntries, Now: p.now, Host: p.s.o.on(), Watch: watch}}
	}
	return out
}

func (s *Source) walkAll(ctx context.Context, real string, jobs []walkJob, results chan<- walkResult) {
	d, err := s.open(real)
	if err != nil {
		return // the next survey says why
	}
	defer func() { _ = d.Close() }() // opened for reading
	for i, j := range jobs {
		if ctx.Err() != nil {
			return
		}
		begun := s.deps.Now()
		tree, err := s.walk(ctx, d, j.name, j.o)
		if i > 0 && tree.Cut == hostfs.CutDeadline {
			return // it had only what the others left over; as the longest unread it comes first next time
		}
		results <- walkResult{r: j.r, tree: tree, err: err, took: s.deps.Now().Sub(begun), tried: j.o.Watch, top: j.top}
	}
}

// take remembers what a walk found.
func (p *poll) take(w walkResult) {
	w.r.walked, w.r.took, w.r.tree, w.r.err, w.r.tried, w.r.top = p.now, w.took, w.tree, w.err, w.tried, w.top
	p.r.Load.Requests++
	if len(p.r.Load.Latencies) < 64 {
		p.r.Load.Latencies = append(p.r.Load.Latencies, max(w.took, 0))
	}
}

// emit makes the rows of the reading. A directory that vanished between listing and walking is left out: its absence
// counts like any other.
func (p *poll) emit() {
	for i, r := range p.order {
		if r.vanished() {
			continue
		}
		if r.walked.IsZero() && r.aside == nil {
			p.waiting++
		}
		if r.err != nil {
			p.problem(kindOf(r.err), r.key, r.path, r.err.Error())
		}
		if r.aside != nil {
			p.wait(r)
			continue
		}
		h := r.holders(p.s, p.users, p.users.Uses[i])
		p.r.Tmpdirs = append(p.r.Tmpdirs, r.entity(p.s, p.now, h, p.users.Unreadable))
	}
	p.r.Partial = p.waiting > 0
}

// wait counts a directory that was set aside with the root that it lies in.
func (p *poll) wait(r *row) {
	facts := &p.found[r.root].facts
	facts.WaitingCount++
	if len(facts.Waiting) >= backend.MaxWaiting {
		return
	}
	w := backend.Waiting{Key: r.key, Moved: r.aside.Moved, Due: r.aside.Due(), Begun: r.aside.Begun,
		Path:  p.s.deps.Cleaner.Clean(filepath.Join(filepath.Dir(r.path), r.aside.Original), maxPathRunes),
		Aside: p.s.deps.Cleaner.Clean(r.entry.Name, maxPathRunes)}
	if !r.walked.IsZero() && r.err == nil && !r.tree.BytesOver && r.tree.Cut == hostfs.CutNone {
		w.Bytes = backend.Known(r.tree.Bytes)
	}
	facts.Waiting = append(facts.Waiting, w)
}

func (p *poll) problem(kind backend.ErrorKind, subject backend.Key, where, what string) {
	if len(p.r.Problems) >= maxProblems {
		return
	}
	p.r.Problems = append(p.r.Problems, backend.Problem{Kind: kind, Subject: subject, At: p.now,
		Where: p.s.deps.Cleaner.Clean(where, maxPathRunes), What: p.s.deps.Cleaner.Clean(what, 200)})
}
