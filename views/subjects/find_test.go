package subjects_test

import (
	"slices"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/subjects"
)

// A container's other ids, a directory's path and the processes that use it are names of the subject.
func TestSubjectsHaveAllTheirNames(t *testing.T) {
	key := func(k backend.Kind, id string) backend.Key {
		return backend.Key{Kind: k, Source: "s", ID: backend.MustID(id)}
	}
	box := &backend.Sandbox{Meta: backend.Meta{Key: key(backend.KindSandbox, "abc")}}
	box.Container, box.BridgeID = backend.MustID("cont-1"), backend.MustID("bridge-1")
	box.Session, box.Workspace = backend.MustID("sess-1"), backend.MustID("ws-1")
	box.Raw = backend.Text(`{"Id":"abc","State":{"Status":"running","Pid":23168,"ExitCode":0}}`)
	box.Labels = []backend.Field{{Name: backend.Text("com.docker.compose.project"), Value: backend.Text("shop")}}
	dir := &backend.Tmpdir{Meta: backend.Meta{Key: key(backend.KindTmpdir, "d1")}, Path: backend.Text("/tmp/helix-ws-1"),
		Holders: backend.Known([]backend.Holder{{PID: 4711}})}
	ws := &backend.Workspace{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: "s", Parent: backend.MustID("se"), ID: backend.MustID("box")}}}
	ws.ProviderID = backend.MustID("prov-1")
	state := &fleet.State{Sandboxes: fleet.NewTable(box), Tmpdirs: fleet.NewTable(dir), Workspaces: fleet.NewTable(ws),
		Sources: []*fleet.SourceHealth{{Kind: "docker", Key: key(backend.KindSource, "s")}}}
	have := map[backend.Kind][]string{}
	for _, f := range subjects.All(views.NewSnapshot(time.Unix(1, 0), state, nil)) {
		have[f.Key.Kind] = append(have[f.Key.Kind], f.Names...)
	}
	for kind, want := range map[backend.Kind][]string{backend.KindSandbox: {"abc", "cont-1", "bridge-1", "23168", " sess-1", " ws-1", " shop"}, backend.KindTmpdir: {"/tmp/helix-ws-1", "4711"},
		backend.KindWorkspace: {"prov-1", "se/box"}, backend.KindSource: {"s", "docker"}} {
		for _, name := range want {
			if !slices.Contains(have[kind], name) {
				t.Errorf("%s has no name %q: %q", kind, name, have[kind])
			}
		}
	}
}
