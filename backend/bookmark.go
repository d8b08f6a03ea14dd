package backend

import (
	"slices"
	"time"
)

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

// quietMark is the File of the mark that says until when a source asked to be left alone.
const quietMark = "asked to wait"

// longestQuiet bounds how long a former process can make this one wait.
const longestQuiet = time.Hour

// Quieter is a source that keeps to the time until which it was asked to wait in a former process by itself: parts of it may be asked all the
// same. Quiet is called before the first poll.
type Quieter interface {
	Quiet(until time.Time)
}

// QuietBookmark tells a later process until when a source asked to be left alone (Retry-After).
func QuietBookmark(until time.Time) Bookmark {
	return Bookmark{File: quietMark, Sizes: []SizeAt{{At: until}}}
}

// TakeQuiet is until when a former process was asked to wait, zero where that is over at now, and the other bookmarks, in a new list.
func TakeQuiet(marks []Bookmark, now time.Time) (until time.Time, others []Bookmark) {
	others = slices.Clone(marks)
	i := slices.IndexFunc(others, func(m Bookmark) bool { return m.File == quietMark && len(m.Sizes) > 0 })
	if i < 0 {
		return until, others
	}
	if at := others[i].Sizes[0].At; at.After(now) && at.Sub(now) <= longestQuiet {
		until = at
	}
	return until, slices.Delete(others, i, i+1)
}
