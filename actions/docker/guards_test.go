package docker

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/container"
	mounts "github.com/moby/moby/api/types/mount"

	"sandglass/actions"
)

// TestRootOfTheContainerIsNoTarget: a container without a working directory has /, which is always there.
func TestRootOfTheContainerIsNoTarget(t *testing.T) {
	f := newFake(t)
	f.answer = func(w http.ResponseWriter, _ *http.Request, path string) bool {
		if path != "containers/"+boxID+"/json" {
			return false
		}
		_, _ = fmt.Fprintf(w, `{"Id":%q,"Name":"/web-eval-12","State":{"Status":"running","Pid":12725},"HostConfig":{},"Config":{"WorkingDir":""}}`, boxID)
		return true
	}
	c := lookAt(t, f.parts(soon)[actions.Repair], known(sandbox()))
	if !strings.Contains(c.Why.String(), "it has no working directory of its own") || len(f.requests()) != 1 {
		t.Errorf("%q, asked %q", c.Why, f.requests())
	}
}

// TestLinkWhoseEndIsNotSeen: where a link leads nowhere that the engine can show, the engine is not asked, and nothing is
// concluded: it would tell what lies below a mount in memory.
func TestLinkWhoseEndIsNotSeen(t *testing.T) {
	for _, target := range []string{"/mem/ws", ""} {
		f := newFake(t)
		f.mounts = `[{"Type":"image","Source":"x","Destination":"/mem"}]`
		f.answer = func(w http.ResponseWriter, r *http.Request, path string) bool {
			switch {
			case !strings.HasSuffix(path, "/archive"):
				return false
			case r.URL.Query().Get("path") != "/work":
				w.WriteHeader(http.StatusNotFound)
				return true
			}
			answerLink(w, target)
			return true
		}
		c := lookAt(t, f.parts(soon)[actions.Repair], known(sandbox()))
		if !c.Why.IsEmpty() || fact(actions.Target{Identity: c.Identity}, factRoot) != string(rootUnseen) || fact(actions.Target{Identity: c.Identity}, factTarget) != target {
			t.Errorf("a link to %q: left out because of %q, identity %v", target, c.Why, c.Identity)
		}
		if asked := f.requests(); len(asked) != 2 {
			t.Errorf("a link to %q: asked %q", target, asked)
		}
	}
}

// TestSettledIsTheSameDirectory: a bind source that was removed and made again is another directory than the one the
// container has. Only where both are one does the engine see what the container sees.
func TestSettledIsTheSameDirectory(t *testing.T) {
	source := filepath.Join(t.TempDir(), "ws")
	b := &containerInfo{id: boxID, pid: 12725, mounts: []mount{{kind: "bind", source: source, dest: "/work"}}}
	h := tree(t, b, "0::/docker/"+boxID+"\n", "20 1 0:19 / / rw - overlay overlay rw\n21 20 0:20 /ws /work rw - tmpfs tmpfs rw\n")
	inside := filepath.Join(h.proc, "12725/root/work")
	for _, dir := range []string{source, filepath.Dir(inside)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(source, inside); err != nil { // stands for the mount
		t.Fatal(err)
	}
	if !h.settled(b, "/work") {
		t.Fatal("the container has the directory of the host")
	}
	if err := os.Remove(inside); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	if h.settled(b, "/work") {
		t.Error("the container has another directory than the one that is at its bind source now")
	}
}

// TestVolumeThatSomebodyNamedStays: a name of 64 hexadecimal digits is the engine's only where the container's own
// configuration does not give it.
func TestVolumeThatSomebodyNamedStays(t *testing.T) {
	name := strings.Repeat("ab", 32)
	points := []container.MountPoint{}
	for _, dest := range []string{"/bound", "/mounted", "/unnamed", "/own"} {
		points = append(points, container.MountPoint{Type: mounts.TypeVolume, Name: name, Source: "/var/lib/docker/volumes/x", Destination: dest})
	}
	c := container.InspectResponse{Mounts: points, HostConfig: &container.HostConfig{Binds: []string{name + ":/bound/:ro", "/unnamed"},
		Mounts: []mounts.Mount{{Type: mounts.TypeVolume, Source: name, Target: "/mounted"}, {Type: mounts.TypeVolume, Target: "/own"}}}}
	var gone []string
	for _, m := range mountsOf(c) {
		if m.anonymous {
			gone = append(gone, m.dest)
		}
	}
	if !slices.Equal(gone, []string{"/own", "/unnamed"}) {
		t.Errorf("anonymous are %q: the volumes that the configuration names stay", gone)
	}
}
