package operator

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/fleet"
	"sandglass/config"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// printed stands for the fingerprint of alerts: the first word of a cause.
func printed(s backend.Safe) string {
	first, _, _ := strings.Cut(s.String(), " ")
	return "fp:" + first
}

func deps() backend.Deps {
	return backend.Deps{
		ID: "h", Deadline: time.Minute, Now: time.Now, Cleaner: backend.NewCleaner(), Dial: (&net.Dialer{}).DialContext,
		Command: backendtest.Command,
		Getenv: func(k string) string {
			return map[string]string{"ACT": "act-123456789", "READ": "read-123456789", "PATH": "/usr/bin:/bin", "KUBECONFIG": "/k"}[k]
		},
	}
}

type plainOptions struct {
	URL string `toml:"url" doc:"where"`
}

// parsed reads a configuration as the program does.
func parsed(t *testing.T, text string) *config.Config {
	t.Helper()
	k := HelixKind(printed)
	c, err := config.Parse([]byte(text), "f.toml", config.Catalog{
		Kinds: []backend.SourceKind{{Name: "helix", Defaults: func() any { return &plainOptions{} }},
			{Name: "docker", Defaults: func() any { return &struct{}{} }}},
		Actions:  []config.ActionKind{{Kind: "helix", Verbs: []string{"reset"}, Defaults: k.Defaults}},
		Operator: config.OperatorKind{Defaults: func() any { return BlockDefaults() }},
	})
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return c
}

// verb reads the only [[action]] of a configuration.
func verb(t *testing.T, text string) (*Verb, error) {
	t.Helper()
	a := parsed(t, "[[action]]\n"+text).Actions[0]
	return NewVerb(a.Name, a.Options)
}

func helixSite(t *testing.T, text string) actions.Site {
	t.Helper()
	s := parsed(t, "[[source]]\nid = \"h\"\nkind = \"helix\"\nactions = [\"reset\"]\n"+text).Source("h")
	d := deps()
	return actions.Site{Deps: d, Options: s.ActionOptions, Allowed: []actions.Verb{actions.Reset}}
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// seconds after noon.
func at(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }

func workspaceKey(session, name string) backend.Key {
	return backend.Key{Kind: backend.KindWorkspace, Source: "h", Parent: backend.MustID(session), ID: backend.MustID(name)}
}

// workspace is one that failed at second -10 and was read at the given second.
func workspace(readAt int, set func(*backend.Workspace)) *backend.Workspace {
	w := &backend.Workspace{Meta: backend.Meta{Key: workspaceKey("s-1", "box"), ReadAt: at(readAt)}, Named: true,
		Reported: backend.Text("failed"), Class: backend.ClassFailed, LastError: backend.Text("ENOSPC on disk 1"),
		LastAttemptAt: backend.Known(at(-10)), LastSuccessAt: backend.Known(at(-3600))}
	if set != nil {
		set(w)
	}
	return w
}

// world is a State of the source h with these workspaces, built at the given second.
func world(second int, ws ...*backend.Workspace) *fleet.State {
	return &fleet.State{Number: 1, Wall: at(second), Workspaces: fleet.NewTable(ws...),
		Sources: []*fleet.SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: "h"}, Status: fleet.StatusOK,
			LastOK: at(second), Interval: 5 * time.Second, Deadline: 10 * time.Second}}}
}

func target(c actions.Candidate) actions.Target {
	return actions.Target{Key: c.Key, Label: c.Label, Name: c.Name, Identity: c.Identity, CauseSeen: c.CauseSeen, Cause: "fp:ENOSPC"}
}
