package tmpdir

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"sandglass/backend"
	"sandglass/backend/hostfs"
)

const (
	maxPathRunes = 400
	// recent is the age below which an incomplete walk still tells the age: what was not seen can only be newer.
	recent = time.Hour
	// calm is how many times its duration must pass between two walks of a directory that keeps changing.
	calm = 20
)

// row is one scratch directory and what the last walk of it found.
type row struct {
	key   backend.Key
	root  int
	path  string
	entry hostfs.Entry
	aside *hostfs.Aside // set aside by a clean-up; nil: in its place
	rank  int           // 0 alerting, 1 visible, 2 other, 3 set aside

	walked time.Time // zero: never
	took   time.Duration
	top    hostfs.Stat // the top as it was when the walk began
	tree   hostfs.Tree
	err    error // of the last walk
	// tried are the unplaced objects that the last walk looked for; cleared says that it could see the whole tree.
	tried   map[hostfs.FileID]bool
	missing int // complete lists of its root in a row that lacked it
}

// vanished reports whether the last walk found the directory gone or replaced since it was listed.
func (r *row) vanished() bool {
	return errors.Is(r.err, fs.ErrNotExist) || r.err == nil && !r.walked.IsZero() && r.tree.Top.ID != r.entry.Stat.ID
}

// due reports whether the tree should be read now. The top's times tell only that something changed, never that
// nothing did: they bring a walk forward and never put one off beyond the interval.
func (r *row) due(now time.Time, interval time.Duration, unplaced map[hostfs.FileID]hostfs.Use) bool {
	age := now.Sub(r.walked)
	if r.aside != nil && !r.aside.Begun && !r.walked.IsZero() && r.err == nil && r.tree.Cut == hostfs.CutNone {
		return false // it does not change any more
	}
	if r.walked.IsZero() || age >= interval || age < 0 || r.vanished() {
		return true
	}
	for id := range unplaced {
		if id.Dev == r.entry.Stat.ID.Dev && !r.tried[id] {
			return true
		}
	}
	changed := !r.entry.Stat.Changed.Equal(r.top.Changed) || !r.entry.Stat.Modified.Equal(r.top.Modified)
	return changed && age >= calm*r.took
}

// holders are the processes that use the directory; unknown when none was found and some may have been missed.
func (r *row) holders(s *Source, u hostfs.Users, uses []hostfs.Use) backend.Value[[]backend.Holder] {
	out := make([]backend.Holder, 0, len(uses))
	sure := u.Unreadable == 0 && u.Blind == ""
	for id, use := range u.Unplaced {
		if id.Dev != r.entry.Stat.ID.Dev {
			continue
		}
		if r.saw(id) {
			uses = append(uses[:len(uses):len(uses)], use)
		} else if !r.tried[id] || r.err != nil || !r.tree.Whole() {
			sure = false
		}
	}
	for _, x := range uses {
		how := string(x.How)
		if x.Deleted {
			how += " (deleted)"
		}
		if x.Own {
			how += backend.HeldByConsole
		}
		out = append(out, backend.Holder{PID: x.PID, Command: s.deps.Cleaner.Clean(x.Command, 200), How: backend.Clean(how, 40)})
	}
	if len(out) == 0 && !sure {
		return backend.Unknown[[]backend.Holder]()
	}
	return backend.Known(out)
}

func (r *row) saw(id hostfs.FileID) bool {
	for _, x := range r.tree.Seen {
		if x == id {
			return true
		}
	}
	return false
}

// entity makes what the fleet sees of the directory.
func (r *row) entity(s *Source, now time.Time, holders backend.Value[[]backend.Holder], unreadable int) *backend.Tmpdir {
	st := r.entry.Stat
	t := &backend.Tmpdir{
		Meta:    backend.Meta{Key: r.key, ReadAt: now},
		Path:    s.deps.Cleaner.Clean(r.path, maxPathRunes),
		RawPath: backend.MustID(r.path),
		Root:    s.deps.Cleaner.Clean(s.roots[r.root].path, maxPathRunes),
		Owner:   s.deps.Cleaner.Clean(s.owners.name(st.UID), 64),
		Mode:    backend.Clean(st.Mode.String(), 20),
		Holders: holders, Unreadable: unreadable,
	}
	if born := s.o.on().Born(st); !born.IsZero() {
		t.Born = backend.Known(born)
	}
	top := seen(s.o.on(), st, now) // the top is looked at in every poll
	if now.Sub(top) < recent {
		t.Newest = backend.Known(top)
	}
	switch {
	case r.walked.IsZero():
		t.CutWhy = backend.Text("not read yet")
		return t
	case r.err != nil:
		t.ReadAt, t.Cut = r.walked, true
		t.CutWhy = s.deps.Cleaner.Clean("cannot be read: "+r.err.Error(), 300)
		return t
	}
	t.ReadAt = r.walked
	t.Entries = backend.Known(r.tree.Entries)
	if !r.tree.BytesOver {
		t.Bytes = backend.Known(r.tree.Bytes)
	}
	newest := r.tree.Newest
	if top.After(newest) {
		newest = top
	}
	if r.tree.Whole() || now.Sub(newest) < recent {
		t.Newest = backend.Known(newest)
	}
	t.Cut = !r.tree.Whole()
	t.CutWhy = s.deps.Cleaner.Clean(why(r.tree, s.o.MaxEntries), 300)
	t.Raw = s.deps.Cleaner.Clean(fmt.Sprintf("device %d, inode %d, mount %d; uid %d, gid %d; read in %s; %d changes dated in the future",
		st.ID.Dev, st.ID.Ino, st.MountID, st.UID, st.GID, r.took.Round(time.Microsecond), r.tree.Future), 400)
	return t
}

// seen is the newest change that the top itself shows; a time set by hand to later than now is none.
func seen(host hostfs.Host, st hostfs.Stat, now time.Time) time.Time {
	if st.Modified.After(now) {
		return st.Changed
	}
	return host.Newest(st)
}

// why says in words what a walk did not see, empty when it saw everything.
func why(t hostfs.Tree, most int64) string {
	var out string
	add := func(s string) {
		if out != "" {
			out += "; "
		}
		out += s
	}
	switch t.Cut {
	case hostfs.CutNone:
	case hostfs.CutEntries:
		add(fmt.Sprintf("more than max_entries = %d entries", most))
	case hostfs.CutDeadline:
		add("not finished in the time of one poll")
	case hostfs.CutNames:
		add("too many directories side by side")
	case hostfs.CutMoved:
		add("a directory was moved while it was read")
	}
	if t.Mounts > 0 {
		add(fmt.Sprintf("%d mount points inside were not entered", t.Mounts))
	}
	if t.Unreadable > 0 {
		add(fmt.Sprintf("%d places could not be read (%v)", t.Unreadable, t.Unread))
	}
	if t.BytesOver {
		add("too many files with several names to count each once")
	}
	return out
}
