package backend

import (
	"slices"
	"strings"
	"time"
)

// Inside is what a probe read in a sandbox beside whether it works, where nothing but an action may ask: each request there wakes
// it. It is kept with the verdict of the control plane.
type Inside struct {
	At time.Time `json:"at"`
	// Root is the directory of the session.
	Root Safe `json:"root"`
	// Answered says that the server inside answered a request: only then was the sandbox awake.
	Answered bool `json:"answered,omitempty"`
	// Unread are the parts that could not be read, of processes, archives and mounts: then an empty list says nothing.
	Unread []Safe `json:"unread,omitempty"`
	// UnreadWhy says for each of Unread why; shorter where that was not kept.
	UnreadWhy []Safe `json:"unread_why,omitempty"`
	// Processes are those that run, then the newest of the others, each with the newest first. More is how many are left out.
	Processes []SandboxProcess `json:"processes,omitempty"`
	More      int              `json:"more,omitempty"`
	// ClockOff is by how much the sandbox's clock is ahead of ours where that is no time zone; negative: behind, zero: it is not. The
	// times of processes are corrected by it.
	ClockOff time.Duration `json:"clock_off,omitempty"`
	// Archives are what the agent's SDK left in /tmp while it saved or restored the files of a session.
	Archives []SandboxArchive `json:"archives,omitempty"`
	// Mounts are the directories at which a drive is mounted.
	Mounts  []Safe `json:"mounts,omitempty"`
	LeftOut        // by the tar of the newest save that it found
	// AgentSees is what the agent's own liveness check would have said, and AgentWhy why; unknown where only our key or our way to
	// the sandbox was met.
	AgentSees Value[bool] `json:"agent_sees"`
	AgentWhy  Safe        `json:"agent_why,omitzero"`
	// Owners are the users to whom the entries of Root belong, sorted, each once.
	Owners []Safe `json:"owners,omitempty"`
}

// NoInstance begins what a probe found whose platform said for the whole wait that the sandbox exists and cannot answer.
const NoInstance = "its platform knows it, and no instance of it was ready"

// OutsideHosts is in the problem of a sandbox whose address is none to which the key of its source may go.
const OutsideHosts = "which is not https below one of hosts: the key is not sent there"

// ListHangs is in what a probe found of commands that run, where the list of processes of the same server was not answered.
const ListHangs = "its list of processes was not answered"

// The names of the parts in Unread.
const (
	PartProcesses = "processes"
	PartArchives  = "archives"
	PartMounts    = "mounts"
)

// Read reports whether a part could be read.
func (x *Inside) Read(part Literal) bool {
	return !slices.Contains(x.Unread, Text(part))
}

// OwnedBy says to whom the entries of the root belong, which can explain that another user is denied a permission; empty: not known.
func (x *Inside) OwnedBy() Safe {
	if len(x.Owners) == 0 {
		return Safe{}
	}
	return Textf("what is in %s belongs to %s: another user may not change it, and what is written through the platform belongs to root", x.Root, Join(x.Owners, " and "))
}

// Denied reports whether a text says that a permission was denied.
func Denied(texts ...Safe) bool {
	return slices.ContainsFunc(texts, func(t Safe) bool { return strings.Contains(strings.ToLower(t.String()), "permission denied") })
}

// Bounds of what a probe keeps.
const (
	MaxProcessesKept = 60
	MaxArchivesKept  = 50
	MaxMountsKept    = 50
)

// bounded is what is kept of it, with no list that is empty and not nil: so it is equal to what is read back.
func (x *Inside) bounded() *Inside {
	if x == nil {
		return nil
	}
	c := *x
	cutAll(&c.Root, &c.AgentWhy)
	c.Unread, c.UnreadWhy, c.Owners, c.Mounts = firstOf(x.Unread, 3), firstOf(x.UnreadWhy, 3), firstOf(x.Owners, MaxMountsKept), firstOf(x.Mounts, MaxMountsKept)
	c.Skips = firstOf(x.Skips, MaxSkipsKept)
	for _, list := range [][]Safe{c.Unread, c.UnreadWhy, c.Owners, c.Mounts, c.Skips} {
		for i := range list {
			cutAll(&list[i])
		}
	}
	c.Processes, c.Archives = firstOf(x.Processes, MaxProcessesKept), firstOf(x.Archives, MaxArchivesKept)
	for i := range c.Processes {
		p := &c.Processes[i]
		cutAll(&p.PID, &p.Name, &p.Command, &p.Reported, &p.WorkDir, &p.Stdout, &p.Stderr, &p.Merged)
		if !slices.Contains([]WorkClass{WorkQueued, WorkRunning, WorkSucceeded, WorkFailed, WorkCancelled}, p.Class) {
			p.Class = WorkUnknown
		}
		p.ExitCode = knownOrNot(p.ExitCode)
	}
	for i := range c.Archives {
		cutAll(&c.Archives[i].Path, &c.Archives[i].Session)
	}
	c.AgentSees = knownOrNot(x.AgentSees)
	return &c
}

func cutAll(texts ...*Safe) {
	for _, t := range texts {
		*t = Clean(t.String(), maxVerdictRunes)
	}
}

// knownOrNot is a value that is known or unknown, as a file keeps it.
func knownOrNot[T any](v Value[T]) Value[T] {
	if v.IsKnown() {
		return v
	}
	return Unknown[T]()
}

func firstOf[T any](list []T, most int) []T {
	if len(list) == 0 {
		return nil
	}
	return slices.Clone(list[:min(len(list), most)])
}

// SandboxProcess is a command that the server inside a sandbox started.
type SandboxProcess struct {
	PID     Safe `json:"pid"`
	Name    Safe `json:"name,omitzero"`
	Command Safe `json:"command,omitzero"`
	// Reported is the server's own word; Class its meaning with the time of the end: a process that was asked to end is called
	// stopped although it may run on.
	Reported  Safe      `json:"reported"`
	Class     WorkClass `json:"class"`
	StartedAt time.Time `json:"started_at,omitzero"` // our clock; zero: not told
	EndedAt   time.Time `json:"ended_at,omitzero"`   // zero: not over
	// ExitCode is unknown before the end, and where the server gives none: the agent's SDK takes that as 0.
	ExitCode Value[int] `json:"exit_code"`
	WorkDir  Safe       `json:"work_dir,omitzero"`
	// Stdout and Stderr are the ends of the two streams.
	Stdout Safe `json:"stdout,omitzero"`
	Stderr Safe `json:"stderr,omitzero"`
	// Merged is both where the server gives no more than that: its order says nothing.
	Merged   Safe `json:"merged,omitzero"`
	Restarts int  `json:"restarts,omitempty"`
	// Restartable says that the server starts it again when it fails, which a kill is.
	Restartable bool `json:"restartable,omitempty"`
}

// MayRun reports whether a process runs, or nothing tells that it ended.
func (p *SandboxProcess) MayRun() bool {
	return p.Class == WorkRunning || p.Class == WorkUnknown && p.EndedAt.IsZero()
}

// AskedToEnd reports whether a process was asked to end and runs on: its server calls it stopped then.
func (p *SandboxProcess) AskedToEnd() bool { return p.MayRun() && p.Reported.String() == "stopped" }

// SandboxArchive is a file that an agent's SDK makes while it saves or restores the files of a session, and removes then.
type SandboxArchive struct {
	Path    Safe `json:"path"`
	Restore bool `json:"restore,omitempty"` // it was being unpacked; else it was being made
	// Session are the hexadecimal digits of the session's id in its name.
	Session   Safe      `json:"session"`
	Size      int64     `json:"size"`
	ChangedAt time.Time `json:"changed_at,omitzero"` // zero: not told
}

// Inside is what a probe last read in it, in its present life; false: nothing did.
func (b *Sandbox) Inside() (*Inside, bool) {
	o, _ := b.Proved()
	v, _ := o.Of(PlaneControl)
	return v.Inside, v.Inside != nil
}
