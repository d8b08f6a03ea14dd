package workdir

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/container"
	mounts "github.com/moby/moby/api/types/mount"
)

var boxID = strings.Repeat("4f1c", 16)

// tree makes a /proc with one process of the container and a mount table.
func tree(t *testing.T, b *Container, cgroup, mountinfo string) Host {
	t.Helper()
	proc := t.TempDir()
	dir := filepath.Join(proc, strconv.Itoa(b.PID))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"cgroup": cgroup, "mountinfo": mountinfo} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Host{Proc: proc}
}

func TestMountTableTellsARemovedDirectory(t *testing.T) {
	const root = "165 100 0:50 / / rw - overlay overlay rw\n"
	b := &Container{ID: boxID, PID: 12725, Dir: "/work/project", Mounts: []Mount{{Kind: "bind", Source: "/tmp/ws", Dest: "/work"}}}
	ours := "0::/system.slice/docker-" + boxID + ".scope\n"
	h := tree(t, b, ours, root+"182 165 254:0 /tmp/ws//deleted /work rw,relatime - ext4 /dev/vda rw\n")
	if v, local := h.view(b); !local || !v.unlinked(b.Dir) || v.unlinked("/srv") {
		t.Errorf("local %t", local)
	}
	if h.Settled(b, b.Dir) {
		t.Error("the engine would be asked about a container whose mount it would make anew")
	}
	h = tree(t, b, ours, root+"182 165 254:0 /tmp/ws /work rw,relatime - ext4 /dev/vda rw\n")
	if v, local := h.view(b); !local || v.unlinked(b.Dir) {
		t.Errorf("a mount that is well: local %t", local)
	}
	h = tree(t, b, ours, root)
	if err := os.MkdirAll(filepath.Join(h.Proc, "12725/root/work"), 0o755); err != nil {
		t.Fatal(err)
	}
	if r, err := h.Look(t.Context(), b, nil); err != nil || r.State != Unmounted {
		t.Errorf("a mount that is gone: %+v, %v", r, err)
	}
	if err := os.Remove(filepath.Join(h.Proc, "12725/root/work")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/srv", filepath.Join(h.Proc, "12725/root/work")); err != nil {
		t.Fatal(err)
	}
	if v, _ := h.view(b); v.lost(b) {
		t.Error("a mount point that is a link is mounted where it leads to")
	}
	h = tree(t, b, ours, "182 165 254:0 /chroot/tmp /tmp rw,relatime - ext4 /dev/vda rw\n")
	if _, local := h.view(b); local {
		t.Error("a process with a root of its own shows what commands in its container see")
	}
	h = tree(t, b, "0::/user.slice\n", root)
	if _, local := h.view(b); local || h.Settled(b, b.Dir) {
		t.Error("a process of this machine with the same number is not the container's")
	}
	h = tree(t, b, ours, "not a table\n")
	if _, local := h.view(b); local {
		t.Error("a table that cannot be read says something")
	}
	b.Mounts = []Mount{{Kind: "volume", Dest: "/cache"}, {Kind: "tmpfs", Dest: "/work"}}
	if h.Settled(b, b.Dir) || !h.Settled(b, "/srv") {
		t.Error("what is in memory is not what the engine shows; what is beside it is")
	}
}

// TestSettledIsTheSameDirectory: a bind source that was removed and made again is another directory than the one the
// container has. Only where both are one does the engine see what the container sees.
func TestSettledIsTheSameDirectory(t *testing.T) {
	source := filepath.Join(t.TempDir(), "ws")
	b := &Container{ID: boxID, PID: 12725, Mounts: []Mount{{Kind: "bind", Source: source, Dest: "/work"}}}
	h := tree(t, b, "0::/docker/"+boxID+"\n", "20 1 0:19 / / rw - overlay overlay rw\n21 20 0:20 /ws /work rw - tmpfs tmpfs rw\n")
	inside := filepath.Join(h.Proc, "12725/root/work")
	for _, dir := range []string{source, filepath.Dir(inside)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(source, inside); err != nil { // stands for the mount
		t.Fatal(err)
	}
	if !h.Settled(b, "/work") {
		t.Fatal("the container has the directory of the host")
	}
	if err := os.Remove(inside); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(inside, 0o755); err != nil {
		t.Fatal(err)
	}
	if h.Settled(b, "/work") {
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
		if m.Anonymous {
			gone = append(gone, m.Dest)
		}
	}
	if !slices.Equal(gone, []string{"/own", "/unnamed"}) {
		t.Errorf("anonymous are %q: the volumes that the configuration names stay", gone)
	}
}
