package tmpdir

import (
	"context"
	"errors"
	"io/fs"
	"os/user"
	"path"
	"strconv"
	"sync"
	"time"

	"sandglass/backend"
	"sandglass/backend/hostfs"
)

// maxDirectories bounds the scratch directories of one root. Beyond it the list counts as incomplete.
const maxDirectories = 20_000

// root is one configured root.
type root struct {
	path string
	gate callGate
	full lastFull
}

// rootSurvey is what one look at a root found, without entering any scratch directory.
type rootSurvey struct {
	facts   backend.Root
	real    string // the root's path without links, empty when the root could not be opened
	entries []hostfs.Entry
	asides  []hostfs.Entry // set aside by a clean-up
	dev     uint64         // of the root's file system
	others  int            // names that match but are no directories
	// err says why entries is not the list of all scratch directories; nil: it is.
	err error
}

// kindOf classifies what the system answered.
func kindOf(err error) backend.ErrorKind {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return backend.ErrGone
	case errors.Is(err, fs.ErrPermission):
		return backend.ErrUnauthorised
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return backend.ErrTimeout
	}
	return backend.ErrUnreachable
}

// look surveys one root. It may block for ever on a dead file system.
func (s *Source) look(ctx context.Context, r *root) rootSurvey {
	out := rootSurvey{facts: backend.Root{Path: s.deps.Cleaner.Clean(r.path, maxPathRunes)}}
	d, err := s.open(r.path)
	if err != nil {
		out.err = err
		if errors.Is(err, fs.ErrNotExist) {
			out.facts.Exists = backend.Known(false)
		}
		return out
	}
	defer func() { _ = d.Close() }() // opened for reading
	out.real, out.dev = d.Path(), d.Stat().ID.Dev
	out.facts.Exists = backend.Known(true)
	s.disk(d, &out.facts)
	found, err := d.List(ctx, func(name string) bool {
		if _, aside := hostfs.ParseAside(name); aside {
			return true
		}
		ok, _ := path.Match(s.o.Pattern, name) // the pattern was checked
		return ok
	}, maxDirectories)
	out.err = err
	for _, e := range found {
		if a, ok := hostfs.ParseAside(e.Name); ok {
			if a.Is(e.Stat) {
				out.asides = append(out.asides, e)
			}
			continue
		}
		if !e.Stat.Mode.IsDir() {
			out.others++
			continue
		}
		out.entries = append(out.entries, e)
		s.owners.learn(e.Stat.UID)
	}
	return out
}

// disk fills in what holds the root and who may write there.
func (s *Source) disk(d *hostfs.Dir, r *backend.Root) {
	var problems []backend.Safe
	if fsys, err := s.o.on().Filesystem(d); err != nil {
		problems = append(problems, s.deps.Cleaner.Clean("file system figures: "+err.Error(), 200))
	} else {
		r.ReadOnly = backend.Known(fsys.ReadOnly)
		r.Bytes, r.BytesFree = backend.Known(fsys.Bytes), backend.Known(fsys.BytesFree)
		r.Inodes, r.InodesFree = backend.Known(fsys.Inodes), backend.Known(fsys.InodesFree)
		if fsys.Inodes == 0 { // btrfs and others make them as they need them
			r.Inodes, r.InodesFree = backend.NotApplicable[int64](), backend.NotApplicable[int64]()
		}
		r.FSType = s.deps.Cleaner.Clean(fsys.Type, 40)
	}
	if table, err := s.proc.Mounts(); err == nil {
		m, ok := table.ByID(d.Stat().MountID)
		if !ok {
			m, ok = table.At(d.Path())
		}
		if ok {
			r.FSType = s.deps.Cleaner.Clean(m.FSType, 40)
		}
	}
	ok, decided, err := d.Writable(s.account)
	switch {
	case err != nil:
		problems = append(problems, s.deps.Cleaner.Clean("write permission: "+err.Error(), 200))
	case decided:
		r.Writable = backend.Known(ok && !r.ReadOnly.Or(false))
	default:
		problems = append(problems, backend.Text("whether the agent's user may write depends on an access list or on groups that are unknown here"))
	}
	r.Problem = backend.Join(problems, "; ")
}

// userNames remembers the names of users, which the system may fetch over the network.
type userNames struct {
	mu    sync.Mutex
	names map[uint32]string
}

func (o *userNames) learn(uid uint32) {
	o.mu.Lock()
	_, known := o.names[uid]
	o.mu.Unlock()
	if known {
		return
	}
	name := "uid " + strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10)); err == nil {
		name = u.Username
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.names == nil || len(o.names) > 4096 {
		o.names = map[uint32]string{}
	}
	o.names[uid] = name
}

func (o *userNames) name(uid uint32) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n := o.names[uid]; n != "" {
		return n
	}
	return "uid " + strconv.FormatUint(uint64(uid), 10)
}

// surveys looks at all roots at once and waits for each until the context ends.
func (s *Source) surveys(ctx context.Context, now time.Time) []rootSurvey {
	out := make([]rootSurvey, len(s.roots))
	calls := make([]<-chan rootSurvey, len(s.roots))
	for i, r := range s.roots {
		out[i].facts = backend.Root{Path: s.deps.Cleaner.Clean(r.path, maxPathRunes)}
		calls[i], out[i].err = start(s.deps.Spawn, &r.gate, now, "tmpdir root", func() rootSurvey { return s.look(ctx, r) })
	}
	for i, c := range calls {
		if c == nil {
			continue
		}
		if v, ok := wait(ctx, c); ok {
			out[i] = v
		} else {
			out[i].err = context.DeadlineExceeded
		}
	}
	for i := range out {
		if out[i].err != nil {
			out[i].facts.Problem = s.deps.Cleaner.Clean(out[i].reason(), 300)
		}
	}
	return out
}

// reason says in words why the list of scratch directories is not complete.
func (s *rootSurvey) reason() string {
	switch kindOf(s.err) {
	case backend.ErrGone:
		return "the directory does not exist"
	case backend.ErrUnauthorised:
		return "the directory cannot be read: permission denied"
	case backend.ErrTimeout:
		return "the file system did not answer in time"
	default:
		return s.err.Error()
	}
}
