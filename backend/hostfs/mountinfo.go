package hostfs

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Mount is one line of a mountinfo file. Paths are raw bytes, unescaped.
type Mount struct {
	ID, Parent uint64
	Dev        string // major:minor of the file system, as the kernel prints it
	Root       string // the path inside the file system that is mounted
	Point      string // where, as the process that the file belongs to sees it
	Options    string // of the mount
	FSType     string
	Source     string
	Super      string // options of the file system
	// Layers are the directories that an overlay shows, and those it works in, as the mount command named them.
	Layers []string
}

// Mounts is a mount table in the kernel's order: later mounts cover earlier ones.
type Mounts []Mount

// ParseMounts reads a mountinfo file. A line that it cannot read is an error that names the line: an incomplete table would
// call a mount absent.
func ParseMounts(b []byte) (Mounts, error) {
	var out Mounts
	for n := 1; len(b) > 0; n++ {
		line, rest, _ := bytes.Cut(b, []byte{'\n'})
		b = rest
		if len(line) == 0 {
			continue
		}
		m, err := parseMount(string(line))
		if err != nil {
			return nil, fmt.Errorf("mountinfo line %d: %w", n, err)
		}
		out = append(out, m)
	}
	return out, nil
}

func parseMount(line string) (Mount, error) {
	f := strings.Split(line, " ")
	hyphen := -1
	for i := 6; i < len(f); i++ {
		if f[i] == "-" {
			hyphen = i
			break
		}
	}
	// The super options are missing where a file system prints none; the three fields before them never are.
	if hyphen < 0 || len(f) < hyphen+3 {
		return Mount{}, fmt.Errorf("want six fields, a hyphen and at least a type and a source")
	}
	id, err1 := strconv.ParseUint(f[0], 10, 64)
	parent, err2 := strconv.ParseUint(f[1], 10, 64)
	if err1 != nil || err2 != nil || !strings.Contains(f[2], ":") {
		return Mount{}, fmt.Errorf("want a mount id, a parent id and major:minor")
	}
	m := Mount{ID: id, Parent: parent, Dev: f[2], Root: Unescape(f[3]), Point: Unescape(f[4]), Options: f[5],
		FSType: Unescape(f[hyphen+1]), Source: Unescape(f[hyphen+2])}
	if len(f) > hyphen+3 {
		m.Super = Unescape(f[hyphen+3])
		if strings.Contains(m.FSType, "overlay") {
			m.Layers = OverlayLayers(f[hyphen+3])
		}
	}
	return m, nil
}

// Unescape turns the kernel's three-digit octal escapes (space, tab, newline, backslash, and "#" in some fields) back
// into bytes. A backslash that starts no escape stays as it is.
func Unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b = append(b, byte(v))
				i += 3
				continue
			}
		}
		b = append(b, s[i])
	}
	return string(b)
}

// OverlayLayers finds the directories among the options of an overlay. They are escaped twice: the mount options have a
// backslash before a colon or comma of a name, and the kernel then writes commas in octal.
func OverlayLayers(super string) []string {
	var out []string
	for option := range strings.SplitSeq(super, ",") {
		key, value, _ := strings.Cut(option, "=")
		switch value = Unescape(value); key {
		case "lowerdir", "lowerdir+", "datadir+", "upperdir", "workdir":
		default:
			continue
		}
		var name strings.Builder
		for i := 0; i < len(value); i++ {
			switch c := value[i]; {
			case c == '\\' && i+1 < len(value):
				i++
				name.WriteByte(value[i])
			case c == ':' && key == "lowerdir":
				out = append(out, name.String())
				name.Reset()
			default:
				name.WriteByte(c)
			}
		}
		out = append(out, name.String())
	}
	return slices.DeleteFunc(out, func(s string) bool { return !path.IsAbs(s) })
}

// ByID returns the mount of that id.
func (t Mounts) ByID(id uint64) (Mount, bool) {
	for _, m := range t {
		if m.ID == id {
			return m, true
		}
	}
	return Mount{}, false
}

// LocalFilesystem reports whether only this machine's kernel uses a file system of this type, on a disk or in memory. Any
// other may be shared, or answer late.
func LocalFilesystem(fsType string) bool {
	switch fsType {
	case "ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "jfs", "reiserfs", "tmpfs", "ramfs", "overlay":
		return true
	}
	return false
}

// At returns the mount that the path lies on: the longest mount point above it, of equal ones the newest.
func (t Mounts) At(p string) (Mount, bool) {
	best, found := Mount{}, false
	for _, m := range t {
		if within(p, m.Point) && (!found || len(m.Point) >= len(best.Point)) {
			best, found = m, true
		}
	}
	return best, found
}

// Below lists the mounts whose mount point is p or lies below it.
func (t Mounts) Below(p string) []Mount {
	var out []Mount
	for _, m := range t {
		if within(m.Point, p) {
			out = append(out, m)
		}
	}
	return out
}

// Inside gives the path inside the mount's file system of a path below its mount point.
func (m Mount) Inside(p string) string {
	return path.Join("/", m.Root, strings.TrimPrefix(p, m.Point))
}

// SuperOption reports the value of an option of the file system ("hidepid" in "rw,hidepid=2").
func (m Mount) SuperOption(name string) (value string, ok bool) {
	for o := range strings.SplitSeq(m.Super, ",") {
		if k, v, _ := strings.Cut(o, "="); k == name {
			return v, true
		}
	}
	return "", false
}

// within reports whether p is dir or lies below it. Both are absolute and clean.
func within(p, dir string) bool {
	if dir == "/" {
		return strings.HasPrefix(p, "/")
	}
	return strings.HasPrefix(p, dir) && (len(p) == len(dir) || p[len(dir)] == '/')
}
