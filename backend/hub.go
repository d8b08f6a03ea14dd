package backend

import "time"

// HubSession is what a hub that drives agents in sandboxes says of a session.
type HubSession struct {
	Label   Safe `json:"label,omitzero"`
	Mode    Safe `json:"mode,omitzero"`
	Bucket  Safe `json:"bucket,omitzero"`  // the hub's own group: running, paused, provisioning, history
	Sandbox ID   `json:"sandbox,omitzero"` // raw; zero: none is joined to it
	// JoinedBy is what names its sandbox: the hub's list, or a log line.
	JoinedBy Safe `json:"joined_by,omitzero"`
	// Error is the last error that the hub keeps of it; it stays after its cause is gone.
	Error Safe `json:"error,omitzero"`
	// Connected is whether the sandbox's own connection to the hub is open, as the hub's list says.
	Connected Value[bool] `json:"connected"`
	// Driver is whether a driver leads the session: a participant with the role lead.
	Driver       Value[bool]   `json:"driver"`
	DriverAt     time.Time     `json:"driver_at,omitzero"` // when that was read
	Participants []Participant `json:"participants,omitempty"`
	// NoDriverSince is since when no reading found a driver in a session that should have one; zero: the newest found one,
	// or it needs none.
	NoDriverSince time.Time        `json:"no_driver_since,omitzero"`
	Wakeable      Value[bool]      `json:"wakeable"`
	LiveExpected  Value[bool]      `json:"live_expected"`
	LastActivity  Value[time.Time] `json:"last_activity"`
	// Trace names the answer that carried the error, for the vendor's support.
	Trace Safe `json:"trace,omitzero"`
}

// Participant is one connection to a hub's session.
type Participant struct {
	ID          Safe             `json:"id,omitzero"`
	Role        Safe             `json:"role"` // lead, observer, controller
	Transport   Safe             `json:"transport,omitzero"`
	ConnectedAt Value[time.Time] `json:"connected_at"`
	ActiveAt    Value[time.Time] `json:"active_at"`
}

// RoleLead is the role of a participant that drives a session.
const RoleLead = "lead"
