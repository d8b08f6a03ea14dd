package sandbox

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sandglass/backend/wire"
)

// Entry is one name in a directory. Of a directory in another one only the name is told.
type Entry struct {
	Path, Name string
	Dir        bool
	Link       bool // a symbolic link, which the server lists among the files
	Size       int64
	Changed    time.Time
	Owner      string
	Mode       string // octal
}

// Directory is what a directory holds.
type Directory struct {
	Path    string
	Entries []Entry // files first, as the server lists them
	Left    int     // that cannot be read, or are beyond the bound
}

// Find is the entry of a name, false when there is none.
func (d *Directory) Find(name string) (Entry, bool) {
	for _, e := range d.Entries {
		if e.Name == name {
			return e, true
		}
	}
	return Entry{}, false
}

const maxEntries = 20_000

// ErrIsFile says that the path is a file.
var ErrIsFile = errors.New("the path is a file, not a directory")

// ReadDirectory reads a list.
func ReadDirectory(body []byte) (Directory, error) {
	doc, err := wire.Parse(body)
	if err != nil {
		return Directory{}, err
	}
	root := doc.Root()
	files, dirs := root.Get("files"), root.Get("subdirectories")
	switch {
	case root.Get("content").Exists():
		return Directory{}, ErrIsFile
	case !root.Get("path").Exists() || !listed(files) && !listed(dirs): // an empty list may be null
		return Directory{}, errNoList
	}
	d := Directory{}
	d.Path, _ = root.Get("path").Text()
	for n := range files.Elements() {
		d.add(entry(n))
	}
	for n := range dirs.Elements() {
		e, ok := entry(n)
		e.Dir = true
		d.add(e, ok)
	}
	return d, nil
}

// listed reports whether a part of a list is one, or is said to be empty.
func listed(n wire.Node) bool { return n.Kind() == '[' || n.Exists() && n.IsNull() }

func (d *Directory) add(e Entry, ok bool) {
	if !ok || len(d.Entries) >= maxEntries {
		d.Left++
		return
	}
	d.Entries = append(d.Entries, e)
}

// linkBit marks a symbolic link in the server's permissions.
const linkBit = 1 << 27

func entry(n wire.Node) (e Entry, ok bool) {
	e.Path, _ = n.Get("path").Text()
	e.Name, _ = n.Get("name").Text()
	if e.Name == "" { // a single read leaves it empty
		e.Name = e.Path[strings.LastIndexByte(e.Path, '/')+1:]
	}
	if e.Path == "" || e.Name == "." || e.Name == ".." || len(e.Path) > maxCommand || strings.ContainsRune(e.Name, '/') && e.Path != "/" {
		return Entry{}, false
	}
	if f, is := n.Get("size").Float(); is && f >= 0 && f < 1<<60 {
		e.Size = int64(f)
	}
	e.Mode, _ = n.Get("permissions").Text()
	if mode, err := strconv.ParseUint(e.Mode, 8, 64); err == nil {
		e.Link = mode&linkBit != 0
	}
	e.Owner, _ = n.Get("owner").Text()
	e.Changed = moment(n.Get("lastModified"))
	return e, true
}

// ReadFile reads a file that was asked for with its owner and permissions.
func ReadFile(body []byte) (e Entry, content string, err error) {
	doc, err := wire.Parse(body)
	if err != nil {
		return Entry{}, "", err
	}
	content, is := doc.Root().Get("content").Text()
	e, ok := entry(doc.Root())
	if !is || !ok {
		return Entry{}, "", errors.New("the answer holds no file")
	}
	return e, content, nil
}

// Archive is a file that the agent's SDK makes in /tmp while it saves or restores the files of a session, and removes then.
type Archive struct {
	Entry
	Restore bool   // it was being unpacked; else it was being made
	Session string // hexadecimal digits of the session's id
}

var archiveName = regexp.MustCompile(`^bl-(persist|hydrate)-([0-9a-f-]{12,36})\.tar$`)

// Archives are those of a list of /tmp.
func (d *Directory) Archives() (out []Archive) {
	for _, e := range d.Entries {
		if m := archiveName.FindStringSubmatch(e.Name); m != nil && !e.Dir {
			out = append(out, Archive{Entry: e, Restore: m[1] == "hydrate", Session: strings.ReplaceAll(m[2], "-", "")})
		}
	}
	return out
}

// ReadMounts reads the drives that are mounted: where each is, and which drive it is where the answer names that.
func ReadMounts(body []byte) (out []Mount, err error) {
	doc, err := wire.Parse(body)
	if err != nil {
		return nil, err
	}
	list := doc.Root().Get("mounts")
	if list.Kind() != '[' && !list.IsNull() {
		return nil, errNoList
	}
	for n := range list.Elements() {
		var m Mount
		m.Path, _ = n.Get("mountPath").Text()
		m.Drive, _ = n.Get("driveName").Text()
		if m.Path != "" && len(out) < 200 {
			out = append(out, m)
		}
	}
	return out, nil
}

// Mount is a drive in a sandbox.
type Mount struct{ Path, Drive string }

// Server is what the server says of itself.
type Server struct {
	Status, Version string
	Started         time.Time
	Upgrades        int
}

// ReadHealth reads that.
func ReadHealth(body []byte) (Server, error) {
	doc, err := wire.Parse(body)
	if err != nil {
		return Server{}, err
	}
	s := Server{Started: moment(doc.Root().Get("startedAt"))}
	s.Status, _ = doc.Root().Get("status").Text()
	s.Version, _ = doc.Root().Get("version").Text()
	if f, is := doc.Root().Get("upgradeCount").Float(); is && f > 0 && f < 1e6 {
		s.Upgrades = int(f)
	}
	if s.Status == "" {
		return Server{}, errors.New("the answer holds no status")
	}
	return s, nil
}
