package backend

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// LooseRoot reports whether a root of a manifest does not say where it is: a relative one is below the working directory of the sandbox's
// server, which nothing tells, and one with .. depends on links.
func LooseRoot(root string) bool {
	return !strings.HasPrefix(root, "/") || slices.Contains(strings.Split(root, "/"), "..")
}

// WhyLoose says of such a root why nothing is looked for in it.
func WhyLoose(root Safe) Safe {
	return Textf("the root %s of its saved state is not absolute: it depends on the directory in which the sandbox's server runs, which is not known", root)
}

// AgentState is what an agent SDK saved to find the sandbox of a session again, beside what a Ref has of every framework. Values of
// environment variables are not kept.
type AgentState struct {
	// Root is where the files of the session are: the root of the manifest, or the SDK's own where the manifest names none.
	Root        Safe `json:"root"`
	RootDefault bool `json:"root_default,omitempty"` // it is the SDK's own
	// Snapshot is the kind of its snapshot: noop keeps nothing; empty: the state names none.
	Snapshot   Safe `json:"snapshot,omitzero"`
	SnapshotID ID   `json:"snapshot_id,omitzero"`
	// Unnamed says that the state does not name its sandbox: the SDK takes the id out where it takes out the credentials of a mount.
	Unnamed bool `json:"unnamed,omitempty"`

	// Version is the $schemaVersion of the run state that it is in; empty: the file carries none.
	Version Safe `json:"version,omitzero"`
	// Directory is where a kind works that has no sandbox but a directory of the agent's own host; empty for the others.
	Directory Safe `json:"directory,omitzero"`

	// Address is where the API of its sandbox answers, without a query; empty: the state does not say.
	Address Safe `json:"address,omitzero"`

	Image  Safe `json:"image,omitzero"`
	Region Safe `json:"region,omitzero"`
	// Memory is in MB; not applicable where the state names none.
	Memory Value[int] `json:"memory_mb,omitzero"`
	TTL    Safe       `json:"ttl,omitzero"`
	Ports  []int      `json:"ports,omitempty"` // that the agent exposes
	// Drives are where its manifest has the platform's own drives, sorted. OtherMounts are where it has buckets and the like, with the
	// kind: nothing lists those.
	Drives      []Safe `json:"drives,omitempty"`
	OtherMounts []Safe `json:"other_mounts,omitempty"`
	LeftOut            // by its manifest: the agent may leave out more, which only the command of a save tells
	// Env are the names of environment variables, sorted, each with the origin that wins.
	Env    []AgentVariable `json:"env,omitempty"`
	Labels []Field         `json:"labels,omitempty"` // sorted by name
	// PauseOnExit says that the end of the session keeps the sandbox; not applicable to kinds of sandboxes that have no such choice.
	PauseOnExit Value[bool] `json:"pause_on_exit,omitzero"`
	// PauseDefault says that the state does not name it: PauseOnExit is the SDK's own, false.
	PauseDefault bool `json:"pause_default,omitempty"`
	// PortsPublic says that the exposed ports open without a token; PortTTL is for how many seconds a token of a private one is good.
	// Both are not applicable to kinds of sandboxes without such a choice.
	PortsPublic Value[bool]    `json:"ports_public,omitzero"`
	PortTTL     Value[float64] `json:"port_ttl_seconds,omitzero"`
	// Timeouts are those of the SDK, in its own order, for kinds of sandboxes that have them.
	Timeouts []AgentTimeout `json:"timeouts,omitempty"`
	// Errors are those of the SDK that stand in the state.
	Errors []AgentError `json:"errors,omitempty"`
}

// KeepsNothing reports whether no file outlives the sandbox of a saved session but in mounts: its snapshot is noop.
func (x *AgentState) KeepsNothing() bool { return x != nil && x.Snapshot.String() == "noop" }

// Keeps is the kind of its snapshot, with the paths that it leaves out.
func (x *AgentState) Keeps() Safe {
	if out := x.Named(); !out.IsEmpty() {
		return Textf("%s, without %s", x.Snapshot, out)
	}
	return x.Snapshot
}

// LostWith says what became of the files of a sandbox that is gone.
func (x *AgentState) LostWith() Safe {
	switch {
	case x.KeepsNothing():
		return Text("its files are lost, except in mounts: its snapshot, noop, keeps nothing")
	case x != nil && !x.Snapshot.IsEmpty():
		return Textf("its files are lost, except in mounts and in its last snapshot, which is %s", x.Keeps())
	}
	return Text("its files are lost, except in mounts")
}

// LostBefore says what became of the files of the sandbox before, where another one has its name now. A nil state is of a framework
// that takes no snapshots.
func (x *AgentState) LostBefore() Safe {
	switch {
	case x.KeepsNothing():
		return Text("the files of the one before are lost, except in mounts: its snapshot, noop, keeps nothing")
	case x != nil && !x.Snapshot.IsEmpty():
		return Textf("the files of the one before are lost, except in mounts and in its last snapshot, which is %s", x.Keeps())
	}
	return Text("the files of the one before are not in it, except in mounts")
}

// Bounds of the names of environment variables that are kept of a saved session, and of the record of its sandbox: how many, and of what
// length. They are the same, so that the names can be compared.
const (
	MaxVariables    = 200
	MaxVariableName = 80
)

// AgentVariable is an environment variable of a saved session.
type AgentVariable struct {
	Name   Safe `json:"name"`
	Origin Safe `json:"origin"` // manifest or base
}

// AgentTimeout is how long the SDK waits for one kind of operation.
type AgentTimeout struct {
	Name    Safe    `json:"name"` // the key in the state
	Seconds float64 `json:"seconds"`
	Default float64 `json:"default"`         // of the SDK
	Saved   bool    `json:"saved,omitempty"` // the state names it; else it is the default
}

// AgentTimeouts are those of the OpenAI Agents SDK in its own order, with its own values. Blaxel's kind of sandbox has them.
func AgentTimeouts() []AgentTimeout {
	of := func(name Literal, seconds float64) AgentTimeout {
		return AgentTimeout{Name: Text(name), Seconds: seconds, Default: seconds}
	}
	return []AgentTimeout{of(AgentExec, 300), of(AgentCleanup, 30), of("file_upload_s", 1800), of("file_download_s", 1800), of(AgentTar, 300), of(AgentFast, 30)}
}

// Names of timeouts: of a command, of the removal of an archive, of the archive itself, and of what is quick.
const (
	AgentExec    = "exec_timeout_s"
	AgentCleanup = "cleanup_s"
	AgentTar     = "workspace_tar_s"
	AgentFast    = "fast_op_s"
)

// RunStateKnown reports whether Sandglass knows a $schemaVersion of a run state of the OpenAI Agents SDK: 1.0 to 1.17.
func RunStateKnown(version string) bool {
	minor, first := strings.CutPrefix(version, "1.")
	n, err := strconv.Atoi(minor)
	return first && err == nil && n >= 0 && n <= 17 && strconv.Itoa(n) == minor
}

// What an error of a terminal is said to be, by the frame that it is from.
const (
	TerminalNoStart = "it did not start"
	TerminalNoInput = "it took no input"
)

// Causes of runaway-process of which nothing says that an agent gave up.
const (
	RunsLong    = "a process runs longer than an agent waits for a command"
	StartRunsOn = "the command that makes the root of a session runs on: whether its agent still waits is not known"
)

// Timeout is how long the SDK waits for one kind of operation, by its name: as the state of a session says, else, also for nil, the
// SDK's own.
func (x *AgentState) Timeout(name string) time.Duration {
	return time.Duration(x.timeout(name).Seconds * float64(time.Second))
}

// Waits is Timeout in words, to the second and with where it is from.
func (x *AgentState) Waits(name string) Safe {
	t := x.timeout(name)
	seconds := Clean(strconv.FormatFloat(t.Seconds, 'f', -1, 64), 30)
	switch {
	case t.Saved:
		return Textf("%s s, by its saved state", seconds)
	case x == nil:
		return Textf("%s s, the default, as no saved state is known", seconds)
	}
	return Textf("%s s, the default", seconds)
}

func (x *AgentState) timeout(name string) AgentTimeout {
	all := AgentTimeouts()
	if x != nil && len(x.Timeouts) > 0 {
		all = x.Timeouts
	}
	for _, t := range all {
		if t.Name.String() == name {
			return t
		}
	}
	return AgentTimeout{}
}

// Changed reports whether a timeout is another one than the SDK's own.
func (t AgentTimeout) Changed() bool { return t.Seconds != t.Default }
