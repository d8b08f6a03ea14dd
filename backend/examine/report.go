package examine

import (
	"time"

	"sandglass/backend"
)

// Report is what an examination found. docs/json.md describes its JSON form.
type Report struct {
	Schema  int          `json:"schema"`
	Time    time.Time    `json:"time"`
	Source  backend.Safe `json:"source"`
	Kind    backend.Safe `json:"kind"`
	Version backend.Safe `json:"sandglass"`
	// Tries is how often the source was read.
	Tries  int     `json:"tries"`
	Routes []Route `json:"routes"`
	// Versions are what answers say about the software behind them.
	Versions []backend.Safe `json:"versions"`
	States   []State        `json:"states"`
	// Inputs are what the source delivers, Missing what it does not and why.
	Inputs   []backend.Input `json:"inputs"`
	Missing  []backend.Safe  `json:"missing"`
	Problems []backend.Safe  `json:"problems"`
	Notes    []backend.Safe  `json:"notes"`
	// ExitCode is that of check: 0 all that is needed was read, 1 something is not understood or not read, 2 nothing of use was
	// read, 3 the source does not answer.
	ExitCode int `json:"exit_code"`
}

// Route is one read route.
type Route struct {
	Method backend.Safe `json:"method"` // GET, HEAD, list, read, walk, run
	Target backend.Safe `json:"target"` // without values of queries
	Why    backend.Safe `json:"why,omitzero"`
	// Asked is how often it was tried; 0: it was not, since nothing needed it.
	Asked   int         `json:"asked"`
	Answers map[int]int `json:"answers,omitempty"` // by status; 0: no answer
	Latency *Latency    `json:"latency,omitempty"`
	May     Permission  `json:"permission"`
	Type    string      `json:"type,omitempty"` // of its content
	Bytes   int64       `json:"bytes,omitempty"`
	// Known are fields that Sandglass reads or knows, Unknown those that it does not know.
	Known   []backend.Safe `json:"known_fields,omitempty"`
	Unknown []backend.Safe `json:"unknown_fields,omitempty"`
	Problem backend.Safe   `json:"problem,omitzero"`

	sample any // redacted; nil: none
}

// Latency is how long a route took, in seconds.
type Latency struct {
	Min    float64 `json:"min_seconds"`
	Median float64 `json:"median_seconds"`
	Max    float64 `json:"max_seconds"`
}

// Permission says whether a route may be read.
type Permission string

// The permissions.
const (
	MayRead    Permission = "yes"
	MayNotRead Permission = "no"
	MayUnknown Permission = "unknown"
)

// State is one state word of the source's subjects.
type State struct {
	Of       backend.Kind `json:"of"`
	Reported backend.Safe `json:"reported"`
	// Class is Sandglass's own word for a sandbox in that state; empty for other subjects.
	Class backend.SandboxClass `json:"class,omitempty"`
	Count int                  `json:"count"`
	// Known says that Sandglass knows what the word means. The words of workspaces are those of their framework's edition.
	Known bool `json:"known"`
}

// Strange reports whether a subject in this state cannot be judged. Frameworks document few words for workspaces, which are
// judged by their times where the word has no meaning.
func (s State) Strange() bool { return !s.Known && s.Of != backend.KindWorkspace }
