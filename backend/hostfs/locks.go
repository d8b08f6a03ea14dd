package hostfs

import (
	"fmt"
	"strconv"
	"strings"
)

// Lock is one line of /proc/locks: a lock that some process holds, or waits for, on a file or directory.
type Lock struct {
	Kind string // FLOCK, POSIX, OFDLCK, LEASE, …
	PID  int    // -1 for a lock that belongs to an open file description
	Dev  string // major:minor of the file system, as Mount.Dev
	Ino  uint64
}

// Locks lists the file locks that this process may see; in a container those of other containers are missing.
func (p Proc) Locks() ([]Lock, error) {
	b, err := p.read("locks")
	if err != nil {
		return nil, err
	}
	return ParseLocks(string(b))
}

// ParseLocks reads the form of /proc/locks, whose device numbers are hexadecimal
// (https://man7.org/linux/man-pages/man5/proc_locks.5.html). A line that it cannot read is an error that names it:
// an incomplete list would call a locked file free.
func ParseLocks(text string) ([]Lock, error) {
	var out []Lock
	n := 0
	for line := range strings.Lines(text) {
		n++
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		f = f[1:] // the ordinal
		if len(f) > 0 && f[0] == "->" {
			f = f[1:] // it waits for the lock above
		}
		if len(f) < 5 {
			return nil, fmt.Errorf("locks line %d: want a kind, two words, a process and major:minor:inode", n)
		}
		if strings.HasPrefix(f[4], "<none>") {
			continue // of no file
		}
		l, err := parseLock(f)
		if err != nil {
			return nil, fmt.Errorf("locks line %d: %w", n, err)
		}
		out = append(out, l)
	}
	return out, nil
}

func parseLock(f []string) (Lock, error) {
	pid, err := strconv.Atoi(f[3])
	parts := strings.Split(f[4], ":")
	if err != nil || len(parts) != 3 {
		return Lock{}, fmt.Errorf("want a process id and major:minor:inode, not %q and %q", f[3], f[4])
	}
	major, err1 := strconv.ParseUint(parts[0], 16, 32)
	minor, err2 := strconv.ParseUint(parts[1], 16, 32)
	ino, err3 := strconv.ParseUint(parts[2], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return Lock{}, fmt.Errorf("%q is not major:minor:inode", f[4])
	}
	return Lock{Kind: f[0], PID: pid, Dev: fmt.Sprintf("%d:%d", major, minor), Ino: ino}, nil
}
