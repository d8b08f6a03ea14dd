package hostfs

import "time"

// UseKind says in which way a process uses an object.
type UseKind string

// The ways.
const (
	HowCwd    UseKind = "cwd"
	HowRoot   UseKind = "root"
	HowExe    UseKind = "exe"
	HowFD     UseKind = "fd"
	HowMap    UseKind = "map"
	HowMount  UseKind = "mount"       // some mount table shows the directory, or something inside it, at another place
	HowSocket UseKind = "socket"      // it is bound to a name there
	HowPoint  UseKind = "mount point" // in some mount table something is mounted on the directory, or inside it
)

// Target is a directory whose users are wanted.
type Target struct {
	Path    string // absolute, without links, as this process sees it
	ID      FileID
	MountID uint64 // 0: unknown
}

// Use is one process that uses something in a target.
type Use struct {
	PID     int    // 0: no process but our own mount table
	Command string // untrusted
	How     UseKind
	// Deleted says that the object has no name any more: its space returns when the process lets go of it.
	Deleted bool
	Own     bool // it is this process itself
	// Bytes are allocated by such objects together, each counted once; of mapped files it is not known.
	Bytes int64
	// Program is the name under which an unreadable process was started, untrusted; Unit its systemd unit, by its control
	// group, which it cannot change. Empty: not known.
	Program, Unit string
	Since         time.Time // when the process started, to the second; zero: unknown
}

// MaxUses bounds the uses remembered per target; more say nothing new.
const MaxUses = 64

// MaxClosed bounds Users.Closed.
const MaxClosed = 8

// Users is what one pass over all processes found.
type Users struct {
	// Uses are by index of the target, in the order of process ids.
	Uses [][]Use
	// Processes is the number of processes looked at, Unreadable the number of those that exist but do not show what
	// they use. A directory counts as unused only if Unreadable is 0 and Blind empty.
	Processes, Unreadable int
	// Closed are the first of the unreadable ones, at most MaxClosed, with PID, Command, Program and Unit only.
	Closed []Use
	// Blind says why some processes may not be visible at all; empty: no reason is known.
	Blind string
	// Unplaced are open objects on a target's device whose place no path tells (longer than the kernel prints, or on a
	// mount that no table lists). Whether they lie in a target only a walk can tell: WalkOptions.Watch.
	Unplaced map[FileID]Use
	// Unlocated are processes with a Unix socket whose name does not say in which directory it lies, by the last part of
	// the name. Whether a socket of that name lies in a target only a walk can tell: Tree.Sockets.
	Unlocated map[string]Use
}
