package tmpdir

import (
	"context"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// cleanTargetReader reads directories in their places.
type cleanTargetReader struct{ t *tool }

// Look judges each directory by the written list.
func (l cleanTargetReader) Look(ctx context.Context, q actions.Question) []actions.Candidate {
	w := l.t.begin(ctx, q, false)
	defer w.close()
	all, out, hidden := w.judge(q.Keys, w.subject)
	if !q.Again {
		w.limit(all, out)
		advise(out, w.advice(out, hidden, q.Params))
	}
	return out
}

// judge applies the conditions to subjects. hidden counts those left out only because processes do not show what they use.
func (w *hostSnapshot) judge(keys []backend.Key, find func(backend.Key) *subject) (all []*subject, out []actions.Candidate, hidden int) {
	all = make([]*subject, len(keys))
	for i, k := range keys {
		all[i] = find(k)
	}
	w.findUsers(all)
	out = make([]actions.Candidate, len(all))
	for i, s := range all {
		out[i] = s.candidate()
		c, why, ok := s.failing()
		if out[i].Why = why; ok {
			s.describe(&out[i])
		} else if c.name == "processes" {
			hidden++
			out[i].Undecided = true
		}
	}
	return all, out, hidden
}

func advise(out []actions.Candidate, advice backend.Safe) {
	for i := range out {
		out[i].Advice = advice
	}
}

// candidate is what is known even of a directory that is left out.
func (s *subject) candidate() actions.Candidate {
	c := actions.Candidate{Key: s.key, Label: drawn(s.path), Name: s.path, Useless: true}
	if s.path == "" {
		c.Label = s.key.Safe()
	}
	return c
}

// describe fills in what the plan says about an eligible directory.
func (s *subject) describe(c *actions.Candidate) {
	born := "unknown"
	if !s.stat.Born.IsZero() {
		born = s.stat.Born.UTC().Format(time.RFC3339Nano)
	}
	c.Identity = []actions.Fact{
		{Name: "path", Value: s.path},
		{Name: "device", Value: strconv.FormatUint(s.stat.ID.Dev, 10)},
		{Name: "inode", Value: strconv.FormatUint(s.stat.ID.Ino, 10)},
		{Name: "born", Value: born},
	}
	if s.wait == nil {
		c.Identity = append(c.Identity, actions.Fact{Name: "newest change", Value: s.newest().UTC().Format(time.RFC3339Nano)})
	} else {
		c.Identity = append(c.Identity, actions.Fact{Name: "waits as", Value: filepath.Base(s.at)})
	}
	c.Owner = s.w.userName(s.stat.UID)
	if !s.walked {
		return
	}
	c.Loses = []backend.Safe{backend.Textf("%s, %s, newest change %s ago", entries(s.tree.Entries), backend.Bytes(s.tree.Bytes), backend.Age(s.w.now.Sub(s.newest())))}
	if s.tree.BytesOver {
		c.Notes = append(c.Notes, backend.Text("many files have several names, so that its size is less than that"))
	} else {
		c.Bytes = backend.Known(s.tree.Bytes)
	}
}

// limit leaves out what is more than clean_max, those that changed last.
func (w *hostSnapshot) limit(all []*subject, out []actions.Candidate) {
	var eligible []int
	for i := range out {
		if out[i].Why.IsEmpty() {
			eligible = append(eligible, i)
		}
	}
	most := w.t.o.CleanMax
	if w.most > 0 {
		most = min(most, w.most)
	}
	if len(eligible) <= most {
		return
	}
	stable.Sort(eligible, func(a, b int) int { return all[a].newest().Compare(all[b].newest()) })
	for _, i := range eligible[most:] {
		out[i].Why = backend.Textf("one plan cleans at most %s (clean_max, or the number asked for), and others have been unchanged for longer", backend.Counted(most, "directory", "directories"))
	}
}

// fullDisk is the share of free space under which moving alone does not help.
const fullDisk = 0.05

// advice is what the plan says at its top; empty: nothing. The plan keeps equal texts once.
func (w *hostSnapshot) advice(out []actions.Candidate, hidden int, p actions.Params) backend.Safe {
	eligible := 0
	for i := range out {
		if out[i].Why.IsEmpty() {
			eligible++
		}
	}
	u := w.users
	processes := backend.Counted(u.Unreadable, "process", "processes")
	switch {
	case hidden > 0 && u.Unreadable > 0 && w.t.self == 0:
		return backend.Textf("%d of %d: %s unreadable even for root%s: root lacks CAP_SYS_PTRACE here, or a security module hides them. Run it on the host, outside the container and its PID namespace; where /proc has the mount option hidepid, mount it without. "+
			"If they are known to use no directory, a policy file can name them: harmless = [...] (the executable of process 1, or a unit)",
			eligible, len(out), processes, w.t.first(u.Closed))
	case hidden > 0 && u.Unreadable > 0:
		return backend.Textf("%d of %d: %s unreadable, which may use any of these directories; as root all can be read: %s",
			eligible, len(out), processes, w.t.sudo(w.older, p))
	case hidden > 0:
		return backend.Textf("%d of %d: %s. Run it as root on the host, outside the container and its PID namespace; where /proc has the mount option hidepid, mount it without",
			eligible, len(out), backend.Clean(u.Blind, 200))
	case eligible == 0 || p.PurgeNow:
		return backend.Safe{}
	}
	for _, path := range w.t.scratch.Roots {
		if r := w.roots[path]; r.dir != nil && r.room() < fullDisk {
			return backend.Textf("only %s free below %s, and quarantine frees nothing: if space is needed now, choose purge (--purge-now), which removes %s at once and without undo",
				share(r.room()), drawn(path), backend.Counted(eligible, "directory", "directories"))
		}
	}
	return backend.Safe{}
}

func entries[N ~int | ~int64](n N) string { return backend.Counted(n, "entry", "entries") }

func share(f float64) backend.Safe { return backend.Textf("%.1f %%", 100*f) }

// sudo is the command that plans the same afresh as root.
func (t *tool) sudo(older time.Duration, p actions.Params) backend.Safe {
	args := append([]string{"sudo", "sandglass", "clean", "--older-than", spell(older), "--source", t.site.Deps.ID}, t.permission()...)
	if p.Most > 0 {
		args = append(args, "--max", strconv.Itoa(p.Most))
	}
	if p.PurgeNow {
		args = append(args, "--purge-now")
	}
	return backend.Clean(strings.Join(args, " "), 600)
}

// permission are the flags that allow a command what this program may: the configuration, or what a machine without one
// needs.
func (t *tool) permission() []string {
	if t.site.Config != "" {
		return []string{"--config", quote(t.site.Config)}
	}
	return []string{"--allow", "clean", "--session-lifetime", spell(t.o.SessionLifetime.Std())}
}

// quote makes one word of a shell's command line.
func quote(s string) string { return backend.ShellWord(s).String() }

// waitingTargetReader reads what was set aside.
type waitingTargetReader struct {
	t    *tool
	undo bool
}

// Look judges what waits: for purge by the conditions that must still hold, for undo by whether its name is free.
func (l waitingTargetReader) Look(ctx context.Context, q actions.Question) []actions.Candidate {
	if !l.undo {
		return l.t.look(ctx, q)
	}
	w := l.t.begin(ctx, q, true)
	defer w.close()
	out := make([]actions.Candidate, len(q.Keys))
	for i, k := range q.Keys {
		s := w.waiting(k)
		out[i] = s.candidate()
		if out[i].Why = s.noUndo(); out[i].Why.IsEmpty() {
			s.describe(&out[i])
			out[i].Notes = append(out[i].Notes, backend.Textf("quarantined at %s", backend.Clean(s.wait.Moved.UTC().Format("15:04:05 UTC"), 20)))
		}
	}
	return out
}

// noUndo says why a directory cannot get its name back.
func (s *subject) noUndo() backend.Safe {
	for _, check := range []func(*subject) backend.Safe{inRoot, isThere, hasOwner, onMount, canRename} {
		if why := check(s); !why.IsEmpty() {
			return why
		}
	}
	if s.wait.Begun {
		return backend.Text("its removal has begun: what is left is not the whole directory")
	}
	if _, err := s.root.dir.Lookup(filepath.Base(s.path)); err == nil {
		return backend.Textf("%s is there again: something else has its name now", drawn(s.path))
	}
	return backend.Safe{}
}

// look judges what waits by the conditions that hold for its removal.
func (t *tool) look(ctx context.Context, q actions.Question) []actions.Candidate {
	w := t.begin(ctx, q, true)
	defer w.close()
	_, out, hidden := w.judge(q.Keys, w.waiting)
	if hidden > 0 && !q.Again {
		advise(out, backend.Textf("%d of %d cannot be removed while processes cannot be read; as root all can: sudo sandglass clean --source %s %s --purge", hidden, len(out),
			backend.Clean(t.site.Deps.ID, 80), backend.Clean(strings.Join(t.permission(), " "), 400)))
	}
	return out
}

// lookWaiting judges what waits for the Keeper.
func (t *tool) lookWaiting(ctx context.Context, keys []backend.Key, s *fleet.State, now time.Time) []actions.Candidate {
	return t.look(ctx, actions.Question{Keys: keys, State: s, Now: now, Again: true})
}
