package tmpdir

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/hostfs"
)

// planDigits stands for the digest of any plan where only its length counts.
const planDigits = "0123456789abcdef"

// part is one verb.
func (t *tool) part(v actions.Verb) actions.Part {
	p := actions.Part{ReadsItself: true}
	switch v {
	case actions.Clean:
		p.Targets, p.Verifier = cleanTargetReader{t}, cleanVerifier{}
		p.Open = func(context.Context) (actions.Effect, error) { return &effect{t: t, do: t.clean1}, nil }
	case actions.Purge:
		p.Targets, p.Verifier = waitingTargetReader{t: t}, purgeVerifier{}
		p.Open = func(context.Context) (actions.Effect, error) {
			return &effect{t: t, do: func(ctx context.Context, x actions.Target, _ actions.Params, _ string) (actions.Done, error) {
				return t.purge(ctx, x)
			}}, nil
		}
	case actions.Undo:
		p.Targets, p.Verifier = waitingTargetReader{t: t, undo: true}, undoVerifier{}
		p.Open = func(context.Context) (actions.Effect, error) { return &effect{t: t, do: t.undo1}, nil }
	}
	return p
}

// effect performs one verb.
type effect struct {
	t    *tool
	plan string
	do   func(context.Context, actions.Target, actions.Params, string) (actions.Done, error)
}

// ForPlan says which plan the effect works for; its digest becomes part of the record of what is set aside.
func (e *effect) ForPlan(digest string) { e.plan = digest }

// Do acts on one directory.
func (e *effect) Do(ctx context.Context, t actions.Target, p actions.Params) (actions.Done, error) {
	return e.do(ctx, t, p, e.plan)
}

// Close does nothing: the effect holds no resources.
func (e *effect) Close() error { return nil }

// object is what a target's identity says about the directory that is meant.
type object struct {
	path string
	id   hostfs.FileID
	born time.Time
	name string // while it waits
}

func objectOf(t actions.Target) (object, error) {
	var o object
	var err error
	for _, f := range t.Identity {
		switch f.Name {
		case "path":
			o.path = f.Value
		case "device":
			o.id.Dev, err = strconv.ParseUint(f.Value, 10, 64)
		case "inode":
			o.id.Ino, err = strconv.ParseUint(f.Value, 10, 64)
		case "born":
			if f.Value != "unknown" {
				o.born, err = time.Parse(time.RFC3339Nano, f.Value)
			}
		case "waits as":
			o.name = f.Value
		}
		if err != nil {
			return o, fmt.Errorf("the target's %s is not readable: %w", f.Name, err)
		}
	}
	if !filepath.IsAbs(o.path) || o.id.Ino == 0 {
		return o, errors.New("the target does not say which directory is meant")
	}
	return o, nil
}

// is reports whether what was found is the directory that is meant.
func (o *object) is(s hostfs.Stat) bool {
	return s.Mode.IsDir() && s.ID == o.id && (o.born.IsZero() || s.Born.Equal(o.born))
}

// lockedDir is a directory that is open and locked, with its root.
type lockedDir struct {
	root *hostfs.Dir
	fd   int
	stat hostfs.Stat
}

// hold opens a directory by its name in its root, makes sure that it is the one that is meant, and takes its lock, which
// cleaners that honour locks respect (systemd-tmpfiles does).
func (t *tool) hold(o *object, name string) (*lockedDir, error) {
	if !slices.Contains(t.scratch.Roots, filepath.Dir(o.path)) {
		return nil, fmt.Errorf("%s is in no configured root", drawn(o.path))
	}
	root, err := hostfs.OpenDirBare(filepath.Dir(o.path))
	if err != nil {
		return nil, errors.New(noRoot(filepath.Dir(o.path), err).String())
	}
	h := &lockedDir{root: root, fd: -1}
	if h.fd, h.stat, err = openChild(root.FD(), name); err == nil && !o.is(h.stat) {
		err = changed("%s is another directory now", drawn(o.path))
	}
	if err == nil {
		switch lock := unix.Flock(h.fd, unix.LOCK_EX|unix.LOCK_NB); {
		case errors.Is(lock, unix.EWOULDBLOCK):
			err = changed("a process holds a lock on it")
		case lock != nil:
			err = failed("it cannot be locked", lock)
		}
	}
	if err != nil {
		h.close()
		return nil, err
	}
	return h, nil
}

func (h *lockedDir) close() {
	if h.fd >= 0 {
		_ = unix.Close(h.fd) // opened for reading; ends the lock
	}
	_ = h.root.Close() // opened for reading
}

func changed(format backend.Literal, args ...any) error {
	return &actions.ChangedError{What: backend.Textf(format, args...)}
}

// failed is a failure that a person reads.
func failed(what backend.Literal, err error) error {
	return &failure{backend.Textf("%s: %s", backend.Text(what), translate(err)), err}
}

// failure has words of its own and keeps the cause.
type failure struct {
	text  backend.Safe
	cause error
}

// Error is the text.
func (f *failure) Error() string { return f.text.String() }

// Unwrap returns the cause.
func (f *failure) Unwrap() error { return f.cause }

// record makes what the name of a directory that is set aside says.
func (t *tool) record(s *subject, now time.Time, plan string, begun bool) hostfs.Aside {
	return t.aside(filepath.Base(s.path), s.stat, now, plan, begun)
}

func (t *tool) aside(base string, st hostfs.Stat, now time.Time, plan string, begun bool) hostfs.Aside {
	return hostfs.Aside{Original: base, Moved: now.Truncate(time.Second), Grace: t.o.CleanGrace.Std(), Ino: st.ID.Ino, Born: st.Born, Plan: plan, Begun: begun}
}

// clean1 sets one directory aside, and removes it at once where the plan says so. Some file systems need room in the
// parent for a second name (ext4, when its last block is full), and an overlay cannot rename what comes from a lower
// layer; then a removal at once goes on under the directory's own name.
func (t *tool) clean1(ctx context.Context, x actions.Target, p actions.Params, plan string) (actions.Done, error) {
	o, err := objectOf(x)
	if err != nil {
		return actions.Done{}, err
	}
	base := filepath.Base(o.path)
	h, err := t.hold(&o, base)
	if err != nil {
		return actions.Done{}, openFailed(err)
	}
	defer h.close()
	now := t.site.Deps.Now()
	name, err := t.aside(base, h.stat, now, plan, p.PurgeNow).Name()
	if err != nil {
		return actions.Done{}, err
	}
	if match, err := path.Match(t.scratch.Pattern, name); match || err != nil {
		return actions.Done{}, fmt.Errorf("the pattern %q matches the name it would wait under", t.scratch.Pattern)
	}
	switch err := t.swap(h, &o, base, name); {
	case (errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EXDEV)) && p.PurgeNow:
		name = base // it cannot have another name, and removing it was what was asked for
	case err != nil:
		return actions.Done{}, err
	}
	bytes := x.Bytes.Or(0)
	if !p.PurgeNow {
		due := now.Truncate(time.Second).Add(t.o.CleanGrace.Std())
		return actions.Done{Moved: bytes, Proved: true, Text: backend.Textf("quarantined: %s moved, 0 B freed; purge removes it now, else it goes at %s",
			backend.Bytes(bytes), backend.Clean(due.UTC().Format("15:04 UTC"), 20))}, nil
	}
	if why := t.usedNow(ctx, &o, name, h.stat, p.Harmless); !why.IsEmpty() {
		if name == base {
			return actions.Done{}, changed("%s", why)
		}
		if err := rename(h.root.FD(), name, base); err != nil {
			return actions.Done{}, fmt.Errorf("%s, and it cannot get its name back: %s; it waits as %s", why, translate(err), drawn(name))
		}
		return actions.Done{}, changed("%s", why)
	}
	return t.remove(ctx, h, &o, name)
}

// openFailed keeps a change what it is, and puts everything else in words.
func openFailed(err error) error {
	var c *actions.ChangedError
	switch {
	case errors.As(err, &c):
		return err
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.EXDEV):
		return changed("%s", translate(err))
	}
	return failed("it cannot be opened", err)
}

// swap renames a directory in place, atomically and without replacing another, and checks that it was the intended one.
// If it was exchanged in between, the renamed one gets its name back.
func (t *tool) swap(h *lockedDir, o *object, from, to string) error {
	if err := rename(h.root.FD(), from, to); err != nil {
		if errors.Is(err, unix.ENOENT) {
			return changed("it is gone")
		}
		if errors.Is(err, unix.EXDEV) {
			return &failure{backend.Text("it cannot be renamed: it comes from a lower layer of an overlay file system, where names stay (EXDEV): choose purge (--purge-now), which removes it in its place"), err}
		}
		return failed("it cannot be renamed", err)
	}
	st, err := hostfs.StatAt(h.root.FD(), to)
	if err == nil && o.is(st) {
		return nil
	}
	if back := rename(h.root.FD(), to, from); back != nil {
		return fmt.Errorf("something else had its name at that moment, and cannot get it back: %s; it is at %s", translate(back), drawn(to))
	}
	return changed("something else had its name at that moment")
}

// rename never replaces anything and moves nothing out of the directory.
func rename(dir int, from, to string) error {
	for {
		err := unix.Renameat2(dir, from, dir, to, unix.RENAME_NOREPLACE)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// usedNow checks again whether a process uses the directory, under the new name that no process knew before.
func (t *tool) usedNow(ctx context.Context, o *object, name string, st hostfs.Stat, harmless string) backend.Safe {
	at := filepath.Join(filepath.Dir(o.path), name)
	u, err := t.proc.Users(ctx, []hostfs.Target{{Path: at, ID: st.ID, MountID: st.MountID}})
	if err != nil {
		return backend.Clean("who uses it is not known: "+err.Error(), 300)
	}
	s := &subject{w: &hostSnapshot{t: t, now: t.site.Deps.Now(), users: u, harmless: harmless}, path: o.path, at: at, stat: st, uses: u.Uses[0]}
	for _, check := range []func(*subject) backend.Safe{noMounts, noHolders, allShown} {
		if why := check(s); !why.IsEmpty() {
			return why
		}
	}
	return backend.Safe{}
}

// purge removes a directory that waits.
func (t *tool) purge(ctx context.Context, x actions.Target) (actions.Done, error) {
	o, err := objectOf(x)
	if err != nil {
		return actions.Done{}, err
	}
	a, ok := hostfs.ParseAside(o.name)
	if !ok || a.Original != filepath.Base(o.path) {
		return actions.Done{}, errors.New("the target does not say under which name it waits")
	}
	h, err := t.hold(&o, o.name)
	if err != nil {
		return actions.Done{}, openFailed(err)
	}
	defer h.close()
	name, err := t.going(h, &o, a)
	if err != nil {
		return actions.Done{}, err
	}
	return t.remove(ctx, h, &o, name)
}

// going gives a directory the name that says that its removal has begun, and returns the name that it has then. Where
// there is no room for another name it keeps the one it has, from which undo would offer a rest: removing makes room, and
// is what a disk as full as this needs.
func (t *tool) going(h *lockedDir, o *object, a hostfs.Aside) (string, error) {
	if a.Begun {
		return o.name, nil
	}
	a.Begun = true
	name, err := a.Name()
	if err != nil {
		return "", err
	}
	switch err := t.swap(h, o, o.name, name); {
	case errors.Is(err, unix.ENOSPC):
		return o.name, nil
	case err != nil:
		return "", err
	}
	return name, nil
}

// undo1 gives a directory its name back.
func (t *tool) undo1(_ context.Context, x actions.Target, _ actions.Params, _ string) (actions.Done, error) {
	o, err := objectOf(x)
	if err != nil {
		return actions.Done{}, err
	}
	a, ok := hostfs.ParseAside(o.name)
	if !ok || a.Begun || a.Original != filepath.Base(o.path) {
		return actions.Done{}, errors.New("the target does not say under which name it waits, whole")
	}
	h, err := t.hold(&o, o.name)
	if err != nil {
		return actions.Done{}, openFailed(err)
	}
	defer h.close()
	if err := t.swap(h, &o, o.name, a.Original); err != nil {
		return actions.Done{}, err
	}
	return actions.Done{Proved: true, Text: backend.Textf("%s has its name back", drawn(o.path))}, nil
}

// remove removes an open directory under the name it has now, and says what came of it.
func (t *tool) remove(ctx context.Context, h *lockedDir, o *object, name string) (actions.Done, error) {
	r := removal{ctx: ctx, top: h.stat}
	err := r.run(h.root.FD(), name)
	done := actions.Done{Freed: r.freed, Notes: r.notes()}
	kept, keptBytes := t.kept(ctx, filepath.Join(filepath.Dir(o.path), name), h.stat)
	done.Notes = append(done.Notes, kept...)
	done.Freed = max(0, done.Freed-keptBytes)
	if err != nil {
		done.Text, err = r.brokenOff(err, name, done.Freed)
		return done, err
	}
	done.Proved = true
	done.Text = backend.Textf("%s removed, %s freed", entries(r.removed), backend.Bytes(done.Freed))
	if keptBytes > 0 {
		done.Text = backend.Textf("%s, %s still held by open files", done.Text, backend.Bytes(keptBytes))
	}
	return done, nil
}

// brokenOff says what is left where a removal did not end. One that removed a part has failed, whatever stopped it.
func (r *removal) brokenOff(err error, name string, freed int64) (backend.Safe, error) {
	switch {
	case r.moved && r.removed == 0:
		return backend.Safe{}, err
	case r.moved:
		text := backend.Textf("partly done: %s removed for good, %s freed; then %s was renamed or moved away, and what is left in it is not touched",
			entries(r.removed), backend.Bytes(freed), drawn(name))
		return text, errors.New(text.String())
	}
	text := backend.Textf("%s removed, %s freed; the rest waits as %s and is tried again", entries(r.removed), backend.Bytes(freed), drawn(name))
	return text, fmt.Errorf("%w (%s)", err, text)
}

// kept names the processes that still hold deleted files of the directory open, and how many bytes these keep.
func (t *tool) kept(ctx context.Context, at string, st hostfs.Stat) (notes []backend.Safe, bytes int64) {
	u, err := t.proc.Users(ctx, []hostfs.Target{{Path: at, ID: st.ID, MountID: st.MountID}})
	if err != nil || len(u.Uses) != 1 {
		return []backend.Safe{backend.Text("whether processes still hold deleted files of it is not known")}, 0
	}
	for _, x := range u.Uses[0] {
		if x.How != hostfs.HowMount && x.How != hostfs.HowPoint {
			bytes += x.Bytes
			notes = append(notes, backend.Textf("still held by %s", holder(t, x, t.site.Deps.Now())))
		}
	}
	if u.Unreadable > 0 {
		notes = append(notes, backend.Textf("%s unreadable, which may hold deleted files of it", backend.Counted(u.Unreadable, "process", "processes")))
	}
	return notes, bytes
}
