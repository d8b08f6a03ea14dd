package backend

import "time"

// Memory is how much memory a process used at a time.
type Memory struct {
	Of    Process   `json:"of"`
	At    time.Time `json:"at"`
	Bytes int64     `json:"bytes"`
	// Limit is how many bytes it may use, where the configuration says so.
	Limit Value[int64] `json:"limit"`
}

// Process is one process whose memory a source reads, as far as the source distinguishes processes.
type Process struct {
	Source  string `json:"source"`           // the source that read it
	Name    string `json:"name"`             // of the metric or of the log pattern
	Labels  Safe   `json:"labels,omitzero"`  // what distinguishes several
	Session ID     `json:"session,omitzero"` // where the metric or the line names one
}

// MemoryGrain is how finely memory is kept: of each such span the highest value.
const MemoryGrain = 15 * time.Second
