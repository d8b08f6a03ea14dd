package fleet

import (
	"testing"
	"time"

	"sandglass/backend"
)

// TestASaveUnderWayIsTold by what a probe read: until its archive is removed, and past the timeouts of the SDK no more.
func TestASaveUnderWayIsTold(t *testing.T) {
	read := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	box := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("agents-0a1b2c3d4e5f")}}, Name: backend.Text("agents-0a1b2c3d4e5f")}
	st := &State{Wall: read, Sandboxes: NewTable(box)}
	const (
		digits = "0a1b2c3d4e5f4a6b8c7d9e0f1a2b3c4d"
		save   = "sh -c 'tar --exclude=cache -C /workspace -cf /tmp/bl-persist-" + digits + ".tar .'"
		load   = "sh -c 'tar -C /workspace -xf /tmp/bl-hydrate-" + digits + ".tar'"
		remove = "rm -f -- /tmp/bl-persist-" + digits + ".tar"
		never  = -1
		says   = "a save or restore of its files "
		absent = ": mounts may be absent until it ends"
		was42  = says + "was under way then (process 42)" + absent
		may42  = says + "may have been under way then (process 42)" + absent
	)
	process := func(command string, began, ended time.Duration, class backend.WorkClass) backend.SandboxProcess {
		p := backend.SandboxProcess{PID: backend.Text("42"), Command: backend.Clean(command, 400), Class: class}
		if began != never {
			p.StartedAt = read.Add(-began)
		}
		if ended != never {
			p.EndedAt = read.Add(-ended)
		}
		return p
	}
	archive := func(age time.Duration) backend.SandboxArchive {
		return backend.SandboxArchive{Path: backend.Text("/tmp/bl-persist-x.tar"), Session: backend.Text(digits), ChangedAt: read.Add(-age)}
	}
	runs, over := backend.WorkRunning, backend.WorkSucceeded
	for name, c := range map[string]struct {
		process backend.SandboxProcess
		archive backend.SandboxArchive
		want    string
	}{
		"tar works":                    {process(save, 5*time.Minute, never, runs), archive(0), was42},
		"since when is not told":       {process(save, never, never, runs), backend.SandboxArchive{}, was42},
		"it unpacks":                   {process(load, time.Minute, never, runs), backend.SandboxArchive{}, was42},
		"tar runs past its timeout":    {process(save, 5*time.Minute+time.Second, never, runs), archive(0), ""},
		"tar ended just now":           {process(save, time.Minute, 30*time.Second, over), backend.SandboxArchive{}, may42},
		"the agent takes the archive":  {process(save, 4*time.Minute, 2*time.Minute, over), archive(2 * time.Minute), says + "may have been under way then (/tmp/bl-persist-x.tar)" + absent},
		"the archive is being removed": {process(remove, time.Second, never, runs), backend.SandboxArchive{}, was42},
		"a removal hangs":              {process(remove, time.Minute, never, runs), backend.SandboxArchive{}, ""},
		"it is over":                   {process(save, time.Minute, 31*time.Second, over), backend.SandboxArchive{}, ""},
		"the archive was left":         {process("npm test", time.Minute, never, runs), archive(331 * time.Second), ""},
		"another tar":                  {process("tar -cf /tmp/mine.tar .", time.Minute, never, runs), backend.SandboxArchive{}, ""},
	} {
		x := &backend.Inside{At: read, Processes: []backend.SandboxProcess{c.process}}
		if !c.archive.Path.IsEmpty() {
			x.Archives = append(x.Archives, c.archive)
		}
		if got := st.Saving(box, x).String(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
