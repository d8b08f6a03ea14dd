package subjects

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/theme"
)

// A page leads to everything that is joined to its subject; of very many the rest is counted.
func TestPagesListEverythingJoined(t *testing.T) {
	id := backend.MustID
	meta := func(k backend.Kind, parent, name string) backend.Meta {
		m := backend.Meta{Key: backend.Key{Kind: k, Source: "src", ID: id(name)}}
		if parent != "" {
			m.Key.Parent = id(parent)
		}
		return m
	}
	var spaces []*backend.Workspace
	for i := range 30 {
		spaces = append(spaces, &backend.Workspace{Meta: meta(backend.KindWorkspace, "s1", fmt.Sprintf("w%02d", i)), Named: true})
	}
	var boxes []*backend.Sandbox
	var work []*backend.Execution
	for i := range 12 {
		box := fmt.Sprintf("box-%02d", i)
		boxes = append(boxes, &backend.Sandbox{Meta: meta(backend.KindSandbox, "", box), IsSandbox: true, Session: id("s1"), Workspace: id("w01"),
			Mounts: []backend.Mount{{RawSource: id("/tmp/" + box)}}})
		for n := range 15 {
			work = append(work, &backend.Execution{Meta: meta(backend.KindExecution, box, fmt.Sprintf("exe-%d-%d", i, n)), Work: backend.Work{Within: backend.KindSandbox, Sandbox: id(box)}})
		}
	}
	dir := &backend.Tmpdir{Meta: meta(backend.KindTmpdir, "host", "1:2:/tmp/box-03"), Path: backend.Text("/tmp/box-03"), RawPath: id("/tmp/box-03")}
	ref := &backend.Ref{Meta: meta(backend.KindRef, "s1", "w01"), Session: id("s1"), Workspace: id("w01"), Sandbox: id("box-03")}
	f := &views.Frame{Theme: theme.New(theme.NoColours, theme.Unicode), Snapshot: views.NewSnapshot(noon, &fleet.State{Number: 1, Wall: noon,
		Sessions: fleet.NewTable(&backend.Session{Meta: meta(backend.KindSession, "", "s1")}), Workspaces: fleet.NewTable(spaces...), Sandboxes: fleet.NewTable(boxes...),
		Executions: fleet.NewTable(work...), Tmpdirs: fleet.NewTable(dir), Refs: fleet.NewTable(ref),
		Sources: []*fleet.SourceHealth{{Key: meta(backend.KindSource, "", "src").Key, Status: fleet.StatusOK, LastOK: noon}}}, &alerts.Board{})}
	for _, key := range []backend.Key{meta(backend.KindSession, "", "s1").Key, spaces[1].Key, boxes[3].Key, dir.Key, ref.Key, work[0].Key} {
		doc, links := Doc(key, f)
		joined, missing := 0, 0
		Related(key, f.Snapshot, func(k backend.Key) {
			if k == key {
				return
			}
			if joined++; !slices.Contains(links, k) {
				missing++
			}
		})
		text := strings.Join(doc.Layout(f.Theme, 100), "\n")
		if joined < 10 || missing > 0 && !strings.Contains(text, " more") {
			t.Errorf("%s: %d joined, %d of them not on its page:\n%s", key.Safe(), joined, missing, text)
		}
		if n := len(slices.Compact(slices.SortedFunc(slices.Values(links), backend.Key.Compare))); n != len(links) {
			t.Errorf("%s: %d of %d links are twice on the page:\n%s", key.Safe(), len(links)-n, len(links), text)
		}
	}
}
