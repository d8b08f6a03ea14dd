package hostfs

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Proc is a /proc tree. Its Root is a parameter so that a host's tree may be mounted elsewhere and tests can bring
// their own.
type Proc struct {
	Root string
	// deny lets tests make a path unreadable, which file modes cannot do for root.
	deny func(path string) error
}

// maxProcFile bounds what is read of one file; the largest, a mount table of a host with very many containers, stays
// well below it.
const maxProcFile = 32 << 20

func (p Proc) read(parts ...string) ([]byte, error) {
	name := p.path(parts...)
	if p.deny != nil {
		if err := p.deny(name); err != nil {
			return nil, err
		}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading: nothing is lost
	b, err := io.ReadAll(io.LimitReader(f, maxProcFile+1))
	if err == nil && len(b) > maxProcFile {
		return nil, fmt.Errorf("%s is longer than %d bytes", name, maxProcFile)
	}
	return b, err
}

func (p Proc) path(parts ...string) string {
	return filepath.Join(append([]string{p.Root}, parts...)...)
}

// Memory is the host's memory in bytes. Available counts what can be used without swapping.
type Memory struct{ Total, Available int64 }

// Memory reads meminfo. A file without both figures (kernels before 3.14) is an error.
func (p Proc) Memory() (Memory, error) {
	b, err := p.read("meminfo")
	if err != nil {
		return Memory{}, err
	}
	total, err1 := labelledNumber(b, "MemTotal:")
	available, err2 := labelledNumber(b, "MemAvailable:")
	if err1 != nil || err2 != nil {
		return Memory{}, fmt.Errorf("meminfo has no MemTotal or MemAvailable")
	}
	return Memory{Total: total << 10, Available: available << 10}, nil
}

// MemoryPressure is the share, 0 to 1, of the last 10 seconds in which at least one task waited for memory. The file is
// absent before Linux 4.20 and where pressure accounting is off.
func (p Proc) MemoryPressure() (float64, error) {
	b, err := p.read("pressure", "memory")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) < 2 || f[0] != "some" {
			continue
		}
		if s, ok := strings.CutPrefix(f[1], "avg10="); ok {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil || v < 0 || v > 100 {
				return 0, fmt.Errorf("pressure/memory: avg10=%q is not a percentage", s)
			}
			return v / 100, nil
		}
	}
	return 0, fmt.Errorf("pressure/memory has no avg10")
}

// OOMKills is the number of processes that the kernel killed for want of memory since boot (Linux 4.13 and newer).
func (p Proc) OOMKills() (int64, error) {
	b, err := p.read("vmstat")
	if err != nil {
		return 0, err
	}
	return labelledNumber(b, "oom_kill")
}

// BootTime is when the host started, by its own clock, to the second.
func (p Proc) BootTime() (time.Time, error) {
	b, err := p.read("stat")
	if err != nil {
		return time.Time{}, err
	}
	s, err := labelledNumber(b, "btime")
	if err != nil {
		return time.Time{}, err
	}
	return time.Unix(s, 0), nil
}

// BootID is a random value that changes with every boot.
func (p Proc) BootID() (string, error) { return p.word("sys", "kernel", "random", "boot_id") }

// Hostname is the name the kernel knows the host by.
func (p Proc) Hostname() (string, error) { return p.word("sys", "kernel", "hostname") }

// Mounts is the mount table of this process.
func (p Proc) Mounts() (Mounts, error) {
	b, err := p.read("self", "mountinfo")
	if err != nil {
		return nil, err
	}
	return ParseMounts(b)
}

func (p Proc) word(parts ...string) (string, error) {
	b, err := p.read(parts...)
	if err != nil {
		return "", err
	}
	w := strings.TrimSpace(string(b))
	if w == "" {
		return "", fmt.Errorf("%s is empty", p.path(parts...))
	}
	return w, nil
}

// labelledNumber finds the whole number behind a label at the start of a line.
func labelledNumber(b []byte, label string) (int64, error) {
	for line := range bytes.Lines(b) {
		f := bytes.Fields(line)
		if len(f) >= 2 && string(f[0]) == label {
			v, err := strconv.ParseInt(string(f[1]), 10, 64)
			if err != nil || v < 0 {
				return 0, fmt.Errorf("%s %q is not a count", label, f[1])
			}
			return v, nil
		}
	}
	return 0, fmt.Errorf("no %s", label)
}
