package fleet

import (
	"strings"

	"sandglass/backend"
)

// toldOf says who tells of a sandbox, and how its platform reports it.
func toldOf(b *backend.Sandbox) backend.Safe {
	said := backend.Textf("%s lists it", backend.Clean(b.Key.Source, 80))
	if !b.ToldBy.IsEmpty() {
		said = backend.Textf("%s reports it", backend.Clean(b.Key.Source, 80))
	}
	if !b.Reported.IsEmpty() {
		said = backend.Textf("%s as %s", said, b.Reported)
	}
	if !b.ToldBy.IsEmpty() {
		said = backend.Textf("%s, by %s", said, b.ToldBy)
	}
	return said
}

// resumed is what the status of a Blaxel sandbox means for the saved state that names it: what a resume finds, or what its platform keeps.
// Empty: it runs, or nothing documented says. A resume takes a sandbox by its name alone where the state says pause_on_exit; else it asks
// the platform for one of that name, which makes a new one in place of one that failed or ended.
func resumed(r *backend.Ref, b *backend.Sandbox) backend.Safe {
	word := b.Reported.String()
	if b.Provider.String() != "blaxel" {
		return backend.Safe{}
	}
	switch b.Class {
	case backend.SandboxDead, backend.SandboxExited, backend.SandboxRemoving:
		switch {
		case r.Agent.PauseOnExit.Or(false):
			return backend.Text("a resume takes it by its name as it is while its record is kept, as pause_on_exit is true, and makes a new one after that")
		case strings.HasPrefix(word, "DELETING"):
			return backend.Text("what a resume finds before it is deleted is not documented")
		}
		if r.Agent.KeepsNothing() {
			return backend.Text("a resume makes a new one under its name, without its ports; files from before are not in it, except in mounts")
		}
		return backend.Text("a resume makes a new one under its name, without its ports; files from before are not in it, except in mounts or a snapshot")
	case backend.SandboxPaused:
		switch {
		case strings.HasSuffix(word, "disabled"):
			return backend.Text("it refuses connections until it is enabled: a resume finds it, and cannot use it")
		case strings.HasPrefix(word, "ARCHIV"):
			return backend.Text("its disk is kept and its memory is not; what a resume finds before it is unarchived is not documented")
		}
		return backend.Text("what a resume finds is not documented")
	case backend.SandboxCreated:
		if strings.HasPrefix(word, "UNARCHIVING") {
			return backend.Text("its disk is kept and its memory is not")
		}
		return backend.Text("it is still made")
	case backend.SandboxAsleep:
		return backend.Text("it sleeps, with its memory, files and processes, and the next connection wakes it")
	case backend.SandboxRunning, backend.SandboxRestarting, backend.SandboxUnknown:
	}
	return backend.Safe{}
}
