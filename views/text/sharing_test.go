package text_test

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/subjects"
)

// TestSharedPlacesAndRefsHaveAJSONForm holds that `get` prints what its tables show.
func TestSharedPlacesAndRefsHaveAJSONForm(t *testing.T) {
	st := state(fleet.StatusOK)
	meta := func(kind backend.Kind, parent, id string) backend.Meta {
		return backend.Meta{ReadAt: noon, Key: backend.Key{Kind: kind, Source: "a", Parent: backend.MustID(parent), ID: backend.MustID(id)}}
	}
	one := &backend.Workspace{Meta: meta(backend.KindWorkspace, "s1", "box")}
	one.Namespace, one.Provider = backend.MustID("team"), backend.Text("cloudflare-filestore")
	two := &backend.Workspace{Meta: meta(backend.KindWorkspace, "s2", "box")}
	two.Namespace = one.Namespace
	st.Workspaces = fleet.NewTable(one, two)
	started := &backend.Session{Meta: backend.Meta{ReadAt: noon, Key: backend.Key{Kind: backend.KindSession, Source: "a", ID: backend.MustID("s1")}}}
	started.StartedAt, started.Tenant = backend.Known(noon.Add(-time.Hour)), backend.Text("acme")
	st.Sessions = fleet.NewTable(started)
	st.Refs = fleet.NewTable(&backend.Ref{Meta: meta(backend.KindRef, "s1", "box"), Session: backend.MustID("s1")})
	ctx := views.NewSnapshot(noon, st, nil)
	seen := 0
	for _, l := range []subjects.Listing{subjects.Sharing().Listing(), subjects.Refs().Listing()} {
		for r := range l.Each(ctx) {
			raw, err := r.JSON()
			if err != nil || string(raw) == "null" {
				t.Fatalf("%s: %s, %v", l.Kind, raw, err)
			}
			seen++
			want := []string{`"key":`}
			if l.Kind == "sharing" {
				want = []string{`"what":"namespace"`, `"id":"team"`, `"session_count":2`, `"tenants":["acme"]`, `"tenants_unknown":true`, `"since":null`, `"by_design":false`,
					`"verdict":"not declared"`, `{"session":"s1","workspace":"box","tenant":"acme","provider":"cloudflare-filestore","started_at":"2`,
					`{"session":"s2","workspace":"box","started_at":null,"from":"a"}`}
			}
			for _, w := range want {
				if !strings.Contains(string(raw), w) {
					t.Errorf("%s: %s is missing in %s", l.Kind, w, raw)
				}
			}
		}
	}
	if seen != 2 {
		t.Errorf("%d rows", seen)
	}
}
