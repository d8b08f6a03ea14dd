package subjects

import (
	"testing"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
)

// TestAProviderThatOnlyAReferenceNames is in the table and in CSV.
func TestAProviderThatOnlyAReferenceNames(t *testing.T) {
	key := func(kind backend.Kind) backend.Key {
		return backend.Key{Kind: kind, Source: "h", Parent: backend.MustID("s1"), ID: backend.MustID("box")}
	}
	w := &backend.Workspace{Meta: backend.Meta{Key: key(backend.KindWorkspace)}}
	r := &backend.Ref{Meta: backend.Meta{Key: key(backend.KindRef)}, Session: backend.MustID("s1"), Workspace: backend.MustID("box"), Provider: backend.Text("cloudflare-filestore")}
	st := &fleet.State{Workspaces: fleet.NewTable(w), Refs: fleet.NewTable(r),
		Sources: []*fleet.SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: "h", ID: backend.MustID("h")}}}}
	l := Workspaces().Listing()
	for rec := range l.Each(views.NewSnapshot(st.Wall, st, nil)) {
		for i, h := range l.Heads {
			if h.Name == "provider" && rec.Cell(i).Text.String() != "cloudflare-filestore" {
				t.Errorf("the provider is %q", rec.Cell(i).Text)
			}
		}
	}
}
