package workdir

import (
	"path"
	"strconv"
	"strings"

	"github.com/moby/moby/api/types/container"
	mounts "github.com/moby/moby/api/types/mount"

	"sandglass/internal/stable"
)

// Container is what an inspection says that matters here. All strings are raw.
type Container struct {
	ID      string
	PID     int    // of its first process, 0: none
	Dir     string // its working directory, clean and absolute
	User    string // as its configuration has it; empty: root
	Runtime string
	Mounts  []Mount
	// Mounter says that its processes may mount directories themselves, which its engine does not see.
	Mounter bool
}

// Mount is one directory from outside the container's own layer.
type Mount struct {
	Kind, Name, Source, Dest string
	ReadOnly                 bool
	Anonymous                bool // a volume without a given name: it is removed with the container
}

// Kept reports whether what is in the mount stays when the container is removed.
func (m Mount) Kept() bool { return m.Kind == "bind" || m.Kind == "volume" && !m.Anonymous }

// Under reports whether the mount is below a directory.
func (m Mount) Under(dir string) bool { return m.Dest != dir && within(m.Dest, dir) }

// Of reads an inspection whose State, Config and HostConfig are there.
func Of(c container.InspectResponse) Container {
	out := Container{ID: c.ID, PID: c.State.Pid, Dir: path.Clean("/" + c.Config.WorkingDir), User: c.Config.User, Runtime: c.HostConfig.Runtime,
		Mounts: mountsOf(c), Mounter: c.HostConfig.Privileged}
	for _, added := range c.HostConfig.CapAdd {
		if name := strings.TrimPrefix(strings.ToUpper(added), "CAP_"); name == "SYS_ADMIN" || name == "ALL" {
			out.Mounter = true
		}
	}
	return out
}

// mountsOf lists the mounts of a container, tmpfs included. Podman lists the volumes that it named itself among the binds. The engine removes a volume with its container when the
// container's own configuration did not name it; names that it makes up are 64 hexadecimal digits.
func mountsOf(c container.InspectResponse) []Mount {
	named := map[string]bool{}
	for _, b := range c.HostConfig.Binds {
		if parts := strings.Split(b, ":"); len(parts) > 1 && !(c.HostConfig.Runtime == podmans && madeUp(parts[0])) {
			named[path.Clean(parts[1])] = true
		}
	}
	var out []Mount
	for _, m := range c.HostConfig.Mounts {
		if m.Source != "" {
			named[path.Clean(m.Target)] = true
		}
		if m.Type == mounts.TypeTmpfs {
			out = append(out, Mount{Kind: "tmpfs", Dest: path.Clean(m.Target), ReadOnly: m.ReadOnly})
		}
	}
	for dest := range c.HostConfig.Tmpfs {
		out = append(out, Mount{Kind: "tmpfs", Dest: path.Clean(dest)})
	}
	for _, m := range c.Mounts {
		if m.Type == mounts.TypeTmpfs {
			continue // named above
		}
		dest := path.Clean(m.Destination)
		out = append(out, Mount{Kind: string(m.Type), Name: m.Name, Source: m.Source, Dest: dest, ReadOnly: !m.RW,
			Anonymous: m.Type == mounts.TypeVolume && !named[dest] && madeUp(m.Name)})
	}
	stable.Sort(out, func(a, b Mount) int { return strings.Compare(a.Dest, b.Dest) })
	return out
}

// podmans is Podman's word for every runtime.
const podmans = "oci"

// Podman reports whether Podman wrote the inspection.
func (c *Container) Podman() bool { return c.Runtime == podmans }

// Superuser reports whether its configuration makes its user root.
func (c *Container) Superuser() bool {
	name, _, _ := strings.Cut(c.User, ":")
	number, err := strconv.ParseUint(name, 10, 32)
	return name == "" || name == "root" || err == nil && number == 0
}

// madeUp reports whether a volume's name is one that the engine makes up.
func madeUp(name string) bool {
	return len(name) == 64 && strings.Trim(name, "0123456789abcdef") == ""
}

// Covering is the mount that holds a path of the container; false when the path is on the container's own layer.
func (c *Container) Covering(p string) (Mount, bool) {
	best, found := Mount{}, false
	for _, m := range c.Mounts {
		if within(p, m.Dest) && (!found || len(m.Dest) >= len(best.Dest)) {
			best, found = m, true
		}
	}
	return best, found
}

// Kernel is which of the kernel's own directories a path of a container lies in, empty: none. Its engine does not see into them.
func Kernel(p string) string {
	for _, top := range []string{"/proc", "/sys", "/dev"} {
		if within(p, top) {
			return top
		}
	}
	return ""
}

// shared reports whether the engine sees the files that the container sees: a runtime with a kernel of its own may keep
// them to itself.
func (c *Container) shared() bool {
	switch c.Runtime {
	case "", podmans, "runc", "crun", "youki", "nvidia", "io.containerd.runc.v2", "io.containerd.runc.v1", "io.containerd.runtime.v1.linux":
		return true
	}
	return false
}

// within reports whether p is dir or lies below it.
func within(p, dir string) bool {
	return dir == "/" || p == dir || strings.HasPrefix(p, dir+"/")
}
