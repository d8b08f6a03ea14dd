package alerts

import (
	"slices"
	"strings"
	"unicode"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// KeptOnPurpose finds what says that a sandbox is meant to outlive its session: a label that keeps it alive, its registry, or its
// workspace's saved reference (shared, kept alive but for Cloudflare, or paused on exit; refs sources keep such members under
// their own names). It returns whose words they are and the words; nil when nothing says so. How names are written does not
// matter: keepAlive, keep-alive and keep_alive are one.
func KeptOnPurpose(st *fleet.State, b *backend.Sandbox) (*backend.Meta, backend.Field) {
	for _, l := range b.Labels {
		switch bareName(l.Name) {
		case "keepalive", "sandglass.keepalive":
			if !strings.EqualFold(l.Value.String(), "false") {
				return &b.Meta, l
			}
		}
	}
	words := []string{"pauseonexit", "shareacrosssessions", "shared", keepsAlive}
	if b.OfWorker() { // there it is how a container is run, and not who needs it
		words = words[:3]
	}
	return keptBy(st, b, words)
}

// keepsAlive is the name of what keeps a container alive, without what its writers do differently.
const keepsAlive = "keepalive"

// KeptAwake finds what says that a container behind a Cloudflare Worker is kept alive: it never falls asleep, and only a destroy ends it.
func KeptAwake(st *fleet.State, b *backend.Sandbox) (*backend.Meta, backend.Field) {
	if !b.OfWorker() {
		return nil, backend.Field{}
	}
	return keptBy(st, b, []string{keepsAlive})
}

// keptBy finds which of some words the registry or the saved reference of a sandbox's workspace says.
func keptBy(st *fleet.State, b *backend.Sandbox, words []string) (*backend.Meta, backend.Field) {
	session := st.SessionOn(b)
	if session.IsZero() {
		return nil, backend.Field{}
	}
	for _, h := range st.Sources {
		for w := range st.Workspaces.Of(backend.KindWorkspace, h.Key.Source, session) {
			if !b.Workspace.IsZero() && w.Key.ID != b.Workspace {
				continue
			}
			if f, kept := KeptAlive(w); kept && slices.Contains(words, keepsAlive) {
				return &w.Meta, f
			}
		}
		for x := range st.Refs.Of(backend.KindRef, h.Key.Source, session) {
			if !x.Workspace.IsZero() && !b.Workspace.IsZero() && x.Workspace != b.Workspace {
				continue
			}
			if x.Agent != nil && x.Agent.PauseOnExit.Or(false) && slices.Contains(words, "pauseonexit") {
				return &x.Meta, backend.Field{Name: backend.Text("pause_on_exit"), Value: backend.Text("true")}
			}
			for _, f := range x.Extra {
				if f.Value.String() == "true" && slices.Contains(words, bareName(f.Name)) {
					return &x.Meta, f
				}
			}
		}
	}
	return nil, backend.Field{}
}

// KeptAlive finds what the registry says of keeping a workspace's sandbox alive.
func KeptAlive(w *backend.Workspace) (backend.Field, bool) {
	for _, f := range w.Extra {
		if bareName(f.Name) == keepsAlive && f.Value.String() == "true" {
			return f, true
		}
	}
	return backend.Field{}, false
}

// bareName is a name without what its writers do differently.
func bareName(name backend.Safe) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' {
			return -1
		}
		return unicode.ToLower(r)
	}, name.String())
}

// WaitsToSleep is the cause of an alert about a sandbox that its platform still has time to put to sleep.
const WaitsToSleep = backend.Literal("it waits to fall asleep")
