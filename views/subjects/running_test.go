package subjects

import (
	"testing"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
)

func TestWhatASourceRuns(t *testing.T) {
	run := func(pairs ...fleet.VersionCount) []fleet.VersionCount { return pairs }
	of := func(version string, n int) fleet.VersionCount {
		return fleet.VersionCount{Version: backend.Clean(version, 100), Running: n}
	}
	for _, c := range []struct {
		name      string
		sessions  []fleet.VersionCount
		sandboxes []fleet.VersionCount
		want      string
		mixed     bool
	}{
		{"nothing stated", nil, nil, "", false},
		{"one version", run(of("1.4.3", 11)), nil, "1.4.3", false},
		{"two versions", run(of("1.4.3", 11), of("1.4.2", 3)), nil, "mixed: 11 on 1.4.3, 3 on 1.4.2", true},
		{"many", run(of("6", 6), of("5", 5), of("4", 4), of("3", 3), of("2", 2), of("1", 1)), nil, "mixed: 6 on 6, 5 on 5, 4 on 4, 3 on 3, 3 on 2 others", true},
		{"images of two names", nil, run(of("reg:5000/agent:1.4", 3), of("postgres:17", 1)), "2 images", false},
		{"one image in two versions", nil, run(of("reg:5000/agent:1.4", 3), of("postgres:17", 1), of("reg:5000/agent:1.5", 1)), "mixed: 3 on reg:5000/agent:1.4, 1 on reg:5000/agent:1.5", true},
		{"the same by digest", run(of("2", 1)), run(of("agent@sha256:aa", 3), of("agent@sha256:bb", 1)), "2; mixed: 3 on agent@sha256:aa, 1 on agent@sha256:bb", true},
	} {
		st := (&fleet.State{}).WithRunning("s", backend.KindSession, c.sessions...).WithRunning("s", backend.KindSandbox, c.sandboxes...)
		got, mixed := Versions(st, "s")
		if got.String() != c.want || mixed != c.mixed {
			t.Errorf("%s: %q, %v; want %q, %v", c.name, got, mixed, c.want, c.mixed)
		}
		if cell := runsCell(&fleet.SourceHealth{Key: backend.Key{Source: "s"}}, views.NewSnapshot(noon, st, nil)); (cell.Short.String() == "mixed") != c.mixed {
			t.Errorf("%s: cell %+v", c.name, cell)
		}
	}
}

func TestAWorkspacesVersion(t *testing.T) {
	session := &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: "h", ID: backend.MustID("s")}}}
	session.FrameworkVersion = backend.Text("1.4.2")
	ctx := views.NewSnapshot(noon, &fleet.State{Sessions: fleet.NewTable(session)}, nil)
	set := Workspaces()
	session.SDKVersion = backend.Text("0.10.3")
	for parent, want := range map[string]string{"s": "1.4.2, SDK 0.10.3", "other": "–"} {
		w := &backend.Workspace{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: "h", Parent: backend.MustID(parent), ID: backend.MustID("w")}}}
		if got := set.Columns[set.Column("version")].Cell(w, ctx).Text.String(); got != want {
			t.Errorf("in %s: %s, want %s", parent, got, want)
		}
	}
}
