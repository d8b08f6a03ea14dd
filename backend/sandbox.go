package backend

import "time"

// Sandbox is the machine behind a workspace: a container, a microVM or a cloud sandbox.
type Sandbox struct {
	Meta
	Name     Safe `json:"name"`
	Provider Safe `json:"provider"` // docker, …
	Image    Safe `json:"image,omitzero"`
	// IsSandbox is false for a machine that is merely listed (dimmed, never a target).
	IsSandbox bool `json:"is_sandbox"`
	// Reported is the platform's own word; Class its meaning.
	Reported Safe         `json:"reported"`
	Class    SandboxClass `json:"class"`
	// Observed is what was proved, apart from what is reported; unknown when nothing was tried.
	Observed Value[Observation] `json:"observed"`
	// Health is the platform's health check: healthy, unhealthy, starting; not applicable without a check.
	Health       Value[Safe]      `json:"health,omitzero"`
	HealthOutput Safe             `json:"health_output,omitzero"`
	Session      ID               `json:"session,omitzero"`   // joined session, raw
	Workspace    ID               `json:"workspace,omitzero"` // joined workspace name, raw
	CreatedAt    Value[time.Time] `json:"created_at"`
	StartedAt    Value[time.Time] `json:"started_at"`
	FinishedAt   Value[time.Time] `json:"finished_at"`
	ExitCode     Value[int]       `json:"exit_code"`
	OOMKilled    Value[bool]      `json:"oom_killed"`
	RestartCount Value[int]       `json:"restart_count"`
	Usage        Value[Usage]     `json:"usage"`
	Mounts       []Mount          `json:"mounts,omitempty"`
	MountsCut    bool             `json:"mounts_cut,omitempty"` // there are more than Mounts holds
	Labels       []Field          `json:"labels,omitempty"`     // sorted by name
	WorkDir      Safe             `json:"work_dir,omitzero"`
}

// StatusWord returns the platform's word.
func (s *Sandbox) StatusWord() Safe { return s.Reported }

// SandboxClass is the meaning of a platform's status word.
type SandboxClass string

// The classes of sandbox states.
const (
	SandboxUnknown    SandboxClass = "unknown"
	SandboxCreated    SandboxClass = "created"
	SandboxRunning    SandboxClass = "running"
	SandboxPaused     SandboxClass = "paused"
	SandboxAsleep     SandboxClass = "asleep"
	SandboxRestarting SandboxClass = "restarting"
	SandboxExited     SandboxClass = "exited"
	SandboxRemoving   SandboxClass = "removing"
	SandboxDead       SandboxClass = "dead"
)

// Observation is something proved about a sandbox.
type Observation struct {
	Works bool      `json:"works"`
	What  Safe      `json:"what"`
	At    time.Time `json:"at"`
}

// Usage is one sample of what a sandbox uses. It has an age of its own, since samples are taken rarely.
type Usage struct {
	At       time.Time      `json:"at"`
	CPU      Value[float64] `json:"cpu"`       // cores in use, 1.0 = one core; unknown on the first sample
	Mem      Value[int64]   `json:"mem"`       // bytes, without page cache
	MemLimit Value[int64]   `json:"mem_limit"` // bytes, not applicable without a limit
	PIDs     Value[int64]   `json:"pids"`
}

// Mount is one directory of a sandbox that comes from outside.
type Mount struct {
	Type        Safe `json:"type"` // bind, volume, tmpfs
	Source      Safe `json:"source"`
	RawSource   ID   `json:"raw_source,omitzero"`
	Destination Safe `json:"destination"`
	ReadOnly    bool `json:"read_only,omitempty"`
}
