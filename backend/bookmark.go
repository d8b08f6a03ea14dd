package backend

import "time"

// Bookmark is where a source stands for a later process. It says how long a file was at some moments, so that this process
// knows between which of them a byte was written; of a page of counters it says where these stood.
type Bookmark struct {
	File  string   `json:"file"`  // device and inode, a hash of what the page is, or turns or commands: of sessions
	Head  uint64   `json:"head"`  // hash of its first bytes; of turns, of the session that was read last
	Bytes int      `json:"bytes"` // how many those are
	Sizes []SizeAt `json:"sizes"` // of a file: the oldest first, at least one

	Counters *CounterMarks `json:"counters,omitempty"` // of a page of counters
}

// SizeAt is how long a file was at a moment.
type SizeAt struct {
	Size    int64     `json:"size"`
	At      time.Time `json:"at"`
	Written time.Time `json:"written,omitzero"` // when it was last written to, no later than At
}

// Resumer is a source that goes on from where a former process stopped. Resume is called before the first poll with the
// bookmarks of that process's last reading.
type Resumer interface {
	Resume([]Bookmark)
}
