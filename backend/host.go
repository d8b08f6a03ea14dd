package backend

import "time"

// KindHost is the kind of a Host.
const KindHost Kind = "host"

var hostKind = SubjectKind{
	Kind: KindHost, Name: "host", Plural: "hosts", List: "hosts", Short: "ho", Input: InputHost,
	Copy: copyOf[Host],
}

// Host is a machine that a source can see into.
type Host struct {
	Meta
	Name         Safe             `json:"name"`
	BootedAt     Value[time.Time] `json:"booted_at"`
	MemTotal     Value[int64]     `json:"mem_total"`     // bytes
	MemAvailable Value[int64]     `json:"mem_available"` // bytes
	MemPressure  Value[float64]   `json:"mem_pressure"`  // share of the last 10 s in which some task stalled on memory, 0..1
	OOMKills     Value[int64]     `json:"oom_kills"`     // since boot
	LimitKills   Value[int64]     `json:"limit_kills"`   // of these, at the memory limit of a control group
	// LimitKillsCut says that kills at limits are not all in LimitKills: control groups that are gone took theirs with them.
	LimitKillsCut bool   `json:"limit_kills_cut,omitempty"`
	Roots         []Root `json:"roots,omitempty"`
}

// StatusWord is empty: no source reports a host's status.
func (h *Host) StatusWord() Safe { return Safe{} }

// Root is one directory below which scratch directories live, and the file system that holds it.
type Root struct {
	Path       Safe         `json:"path"`
	Exists     Value[bool]  `json:"exists"`
	Writable   Value[bool]  `json:"writable"` // by the agent's user
	ReadOnly   Value[bool]  `json:"read_only"`
	FSType     Safe         `json:"fs_type,omitzero"`
	Bytes      Value[int64] `json:"bytes"`
	BytesFree  Value[int64] `json:"bytes_free"` // for unprivileged users
	Inodes     Value[int64] `json:"inodes"`
	InodesFree Value[int64] `json:"inodes_free"`
	Problem    Safe         `json:"problem,omitzero"`
	// Waiting are scratch directories that a clean-up has set aside: they still occupy the disk, can be put back until
	// Due, and are removed by the next Sandglass after it. In the order of their keys, at most MaxWaiting of them;
	// WaitingCount counts all.
	Waiting      []Waiting `json:"waiting,omitempty"`
	WaitingCount int       `json:"waiting_count,omitempty"`
}

// MaxWaiting bounds Root.Waiting.
const MaxWaiting = 1000

// Waiting is one scratch directory that was set aside.
type Waiting struct {
	// Key is the one that the directory had as a Tmpdir, so that a clean-up can name it again.
	Key   Key          `json:"key"`
	Path  Safe         `json:"path"`  // where it was
	Aside Safe         `json:"aside"` // the name it has now, in the same root
	Moved time.Time    `json:"moved"`
	Due   time.Time    `json:"due"`   // from then on it is removed
	Bytes Value[int64] `json:"bytes"` // allocated; unknown until it was walked
	// Begun says that its removal has begun and did not end.
	Begun bool `json:"begun,omitempty"`
}
