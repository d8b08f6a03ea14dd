package hostfs

import (
	"bytes"
	"regexp"
	"strconv"
	"time"
)

// LimitKill is a process that the kernel killed because its container was at its own memory limit.
type LimitKill struct {
	ID string    // of the container, 64 hexadecimal digits
	At time.Time // by this machine's clock, as exact as the two clocks of the kernel run alike
}

// KernelLog is what the kernel's log of this machine remembers.
type KernelLog struct {
	Kills []LimitKill // of containers, oldest first
	// Killed are when the kernel killed a process at the limit of any control group, oldest first.
	Killed []time.Time
	Since  time.Time // of its oldest line, zero: it has none
	Read   time.Time // by this machine's clock
	Whole  bool      // it begins with the boot: the kernel wrote over no line
}

// maxKernelLog bounds what is read of the log, in bytes; the kernel keeps 128 KiB to a few MiB.
const maxKernelLog = 16 << 20

// limitKill is the line of mm/oom_kill.c: the group at its limit, and the group of the process that was killed.
var limitKill = regexp.MustCompile(`oom-kill:constraint=CONSTRAINT_MEMCG,.*oom_memcg=[^,]*?([0-9a-f]{64})[^,]*,task_memcg=[^,]*?([0-9a-f]{64})`)

// limitKilled is the line of each process that was killed at the limit of a control group (kernels before 5.1 say "Kill").
var limitKilled = []byte("Memory cgroup out of memory: Kill")

// add reads records of /dev/kmsg ("6,1022,59693649476,-;text"); now is the clock of the log, which stops while the machine sleeps.
func (l *KernelLog) add(records []byte, now time.Duration) {
	for line := range bytes.Lines(records) {
		head, text, ok := bytes.Cut(line, []byte{';'})
		fields := bytes.Split(head, []byte{','})
		if !ok || len(fields) < 3 {
			continue // a further line of a record
		}
		micros, err := strconv.ParseInt(string(fields[2]), 10, 64)
		if err != nil || micros < 0 {
			continue
		}
		at := l.Read.Add(time.Duration(micros)*time.Microsecond - now)
		if l.Since.IsZero() {
			l.Since, l.Whole = at, micros < time.Minute.Microseconds()
		}
		if bytes.HasPrefix(text, limitKilled) {
			l.Killed = append(l.Killed, at)
		}
		if m := limitKill.FindSubmatch(text); m != nil && bytes.Equal(m[1], m[2]) {
			l.Kills = append(l.Kills, LimitKill{ID: string(m[1]), At: at})
		}
	}
}
