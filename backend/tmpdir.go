package backend

import (
	"strings"
	"time"
)

// KindTmpdir is the kind of a Tmpdir.
const KindTmpdir Kind = "tmpdir"

var tmpdirKind = SubjectKind{
	Kind: KindTmpdir, Name: "scratch directory", Plural: "scratch directories", List: "tmpdirs", Short: "td", Input: InputTmpdirs,
	Parents: []Kind{KindHost}, Copy: copyOf[Tmpdir],
	InUse: func(e Entity) bool {
		held, known := e.(*Tmpdir).Holders.Get()
		return !known || len(held) > 0
	},
}

// TmpdirPath is the path in the key of a scratch directory.
func TmpdirPath(k Key) string {
	parts := strings.SplitN(k.ID.Raw(), ":", 3) // device, inode, path
	return parts[len(parts)-1]
}

// Tmpdir is one scratch directory. Its key's Parent is the host and its ID is "device:inode:path".
type Tmpdir struct {
	Meta
	Path    Safe             `json:"path"`
	RawPath ID               `json:"raw_path"`
	Root    Safe             `json:"root"`
	Newest  Value[time.Time] `json:"newest"` // newest change anywhere in the tree
	Born    Value[time.Time] `json:"born"`
	Bytes   Value[int64]     `json:"bytes"` // allocated
	Entries Value[int64]     `json:"entries"`
	// Cut says that the walk stopped at its bound, so that Bytes and Entries are lower bounds and Newest is unknown
	// unless it was already recent.
	Cut bool `json:"cut,omitempty"`
	// CutWhy says why the numbers are not those of the whole tree: the bound that was reached, what could not be read,
	// what is mounted inside.
	CutWhy  Safe            `json:"cut_why,omitzero"`
	Owner   Safe            `json:"owner,omitzero"`
	Mode    Safe            `json:"mode,omitzero"`
	Holders Value[[]Holder] `json:"holders"` // unknown when some process could not be read and none was found
	// Unreadable is the number of processes whose use of files could not be read.
	Unreadable int `json:"unreadable,omitempty"`
}

// Alias is its path as the file system has it.
func (t *Tmpdir) Alias() string { return t.RawPath.Raw() }

// StatusWord is empty: no source reports a directory's status.
func (t *Tmpdir) StatusWord() Safe { return Safe{} }

// HeldByConsole ends How where the holder is the process that reads: Sandglass itself.
const HeldByConsole = ", Sandglass itself"

// Holder is a process that uses something inside a directory.
type Holder struct {
	PID     int  `json:"pid"`
	Command Safe `json:"command"`
	How     Safe `json:"how"` // cwd, root, exe, fd, map, mount
}
