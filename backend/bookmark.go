package backend

import "time"

// Bookmark says how long a file was at some moments, so that a later process knows between which of them a byte was written.
type Bookmark struct {
	File  string   `json:"file"`  // device and inode
	Head  uint64   `json:"head"`  // hash of its first bytes
	Bytes int      `json:"bytes"` // how many those are
	Sizes []SizeAt `json:"sizes"` // the oldest first, at least one
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
