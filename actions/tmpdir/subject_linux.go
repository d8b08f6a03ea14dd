package tmpdir

import (
	"context"
	"math"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/backend/hostfs"
)

// unsupported says why nothing is offered here; empty: this system can do it.
func unsupported() backend.Safe { return backend.Safe{} }

// whose returns the user of this process and the required owner of the directories: the configured agent_user, else the
// user of this process, which behind sudo is the user that called it.
func whose(site actions.Site, s hostfs.Scratch) (self, owner uint32) {
	self = uint32(os.Geteuid())
	owner = s.Owner.UID
	if s.Owner.Self && self == 0 && site.Deps.Getenv != nil {
		if id, err := strconv.ParseUint(site.Deps.Getenv("SUDO_UID"), 10, 32); err == nil {
			owner = uint32(id)
		}
	}
	return self, owner
}

// root is a configured root as one Look found it.
type root struct {
	dir *hostfs.Dir // nil: it could not be opened, and err says why
	err error
	fs  hostfs.Filesystem
	// above are the identities of the root and of every directory above it.
	above []hostfs.FileID
}

// hostSnapshot is what a Look reads once for all its subjects.
type hostSnapshot struct {
	t        *tool
	ctx      context.Context
	now      time.Time
	state    *fleet.State
	older    time.Duration
	most     int    // of the plan; 0: clean_max alone
	harmless string // unreadable processes that the policy names, separated by line feeds
	purge    bool   // the directories were set aside already, and are to be removed
	roots    map[string]*root
	users    hostfs.Users
	table    hostfs.Mounts
	locks    []hostfs.Lock
	noLock   error // why locks is not known
	kernel   []kernelFile
	names    map[uint32]backend.Safe
	binds    []containerMount
	engine   backend.Safe // why not every container is known, empty: all are
	refs     refsView
}

// subject is one directory that is to be cleaned or purged.
type subject struct {
	w    *hostSnapshot
	key  backend.Key
	id   hostfs.FileID // of the key
	path string        // of the key: the place it has, or had before it was set aside
	at   string        // where it is now: path, or the name it has while it waits
	root *root
	stat hostfs.Stat
	err  error         // why stat is not known
	wait *hostfs.Aside // how it was set aside; nil: it is in its place
	uses []hostfs.Use

	walked bool
	tree   hostfs.Tree
	noTree error
}

// begin reads what all subjects share. The caller closes the world.
func (t *tool) begin(ctx context.Context, q actions.Question, purge bool) *hostSnapshot {
	w := &hostSnapshot{t: t, ctx: ctx, now: q.Now, state: q.State, older: q.Params.OlderThan, most: q.Params.Most, harmless: q.Params.Harmless, purge: purge,
		roots: map[string]*root{}, names: map[uint32]backend.Safe{}}
	if w.older == 0 {
		w.older = t.o.CleanOlderThan.Std()
	}
	for _, p := range t.scratch.Roots {
		r := &root{}
		if r.dir, r.err = hostfs.OpenDirBare(p); r.err == nil {
			var err error
			r.fs, r.err = t.scratch.Host.Filesystem(r.dir)
			if r.above, err = chain(p); r.err == nil {
				r.err = err
			}
		}
		w.roots[p] = r
	}
	w.table, _ = t.proc.Mounts() // what is not in it is not known, and isLocal says so
	w.locks, w.noLock = t.proc.Locks()
	w.kernel = t.kernelFiles()
	w.binds, w.engine = t.containers(ctx, q.State, q.Now)
	w.refs = t.readRefs(q.State, q.Now)
	return w
}

func (w *hostSnapshot) close() {
	for _, r := range w.roots {
		if r.dir != nil {
			_ = r.dir.Close() // opened for reading
		}
	}
}

// subject looks a key up in its place.
func (w *hostSnapshot) subject(k backend.Key) *subject {
	s := &subject{w: w, key: k}
	if s.id, s.path, s.err = parseKey(k); s.err != nil {
		return s
	}
	s.at = s.path
	if s.root = w.roots[filepath.Dir(s.path)]; s.root != nil && s.root.dir != nil {
		s.stat, s.err = s.root.dir.Lookup(filepath.Base(s.path))
	}
	return s
}

// waiting finds a key among the directories that were set aside. The device in the key may be that of an earlier boot,
// so the path decides.
func (w *hostSnapshot) waiting(k backend.Key) *subject {
	s := &subject{w: w, key: k}
	if s.id, s.path, s.err = parseKey(k); s.err != nil {
		return s
	}
	s.at = s.path
	s.root = w.roots[filepath.Dir(s.path)]
	if s.root == nil || s.root.dir == nil {
		return s
	}
	found, err := s.root.dir.List(w.ctx, func(name string) bool {
		a, ok := hostfs.ParseAside(name)
		return ok && a.Original == filepath.Base(s.path) && a.Ino == s.id.Ino
	}, mostTarget)
	for _, e := range found {
		if a, _ := hostfs.ParseAside(e.Name); a.Is(e.Stat) {
			s.wait, s.stat, s.at = &a, e.Stat, filepath.Join(filepath.Dir(s.path), e.Name)
			s.id.Dev = e.Stat.ID.Dev
			return s
		}
	}
	if s.err = err; err == nil {
		s.err = &os.PathError{Op: "find", Path: s.path, Err: os.ErrNotExist}
	}
	return s
}

// findUsers makes one pass over all processes for all subjects that are there.
func (w *hostSnapshot) findUsers(all []*subject) {
	var targets []hostfs.Target
	var of []*subject
	for _, s := range all {
		if s.err == nil && s.root != nil && s.root.dir != nil {
			targets = append(targets, hostfs.Target{Path: s.at, ID: s.stat.ID, MountID: s.stat.MountID})
			of = append(of, s)
		}
	}
	if len(targets) == 0 {
		return
	}
	u, err := w.t.proc.Users(w.ctx, targets)
	if err != nil {
		u = hostfs.Users{Blind: err.Error()}
	}
	w.users = u
	for i := range u.Uses {
		of[i].uses = u.Uses[i]
	}
}

// walk reads the whole tree, once. It looks out for locked objects and for open ones whose place no path tells.
func (s *subject) walk() (*hostfs.Tree, error) {
	if s.walked {
		return &s.tree, s.noTree
	}
	s.walked = true
	watch := map[hostfs.FileID]bool{}
	for id := range s.w.users.Unplaced {
		watch[id] = true
	}
	for _, l := range s.w.locks {
		if s.lockHere(l) {
			watch[hostfs.FileID{Dev: s.stat.ID.Dev, Ino: l.Ino}] = true
		}
	}
	s.tree, s.noTree = hostfs.Walk(s.w.ctx, s.root.dir, filepath.Base(s.at), hostfs.WalkOptions{Now: s.w.now, Host: s.w.t.scratch.Host, Watch: watch})
	return &s.tree, s.noTree
}

// lockHere reports whether the lock is on the subject's file system: its device as stat shows it, or as mount tables
// do, which differ on some.
func (s *subject) lockHere(l hostfs.Lock) bool {
	if l.Dev == majorMinor(s.stat.ID.Dev) {
		return true
	}
	m, ok := s.w.table.ByID(s.stat.MountID)
	return ok && l.Dev == m.Dev
}

// saw reports whether the walk met the object in the tree.
func (s *subject) saw(id hostfs.FileID) bool { return slices.Contains(s.tree.Seen, id) }

// userName is a user as people know it.
func (w *hostSnapshot) userName(uid uint32) backend.Safe {
	if n, ok := w.names[uid]; ok {
		return n
	}
	name := "uid " + strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(strconv.FormatUint(uint64(uid), 10)); err == nil {
		name = u.Username
	}
	w.names[uid] = backend.Clean(name, 64)
	return w.names[uid]
}

// newest is the newest change anywhere in the tree.
func (s *subject) newest() time.Time { return s.tree.Newest }

// room is the share of the root's file system that is free for ordinary users; 1 where the file system does not report it.
func (r *root) room() float64 {
	if r.fs.Bytes <= 0 {
		return 1
	}
	return math.Max(0, float64(r.fs.BytesFree)/float64(r.fs.Bytes))
}
