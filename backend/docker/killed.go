package docker

import (
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/backend/hostfs"
)

const (
	// killedExit is the exit code of a process that SIGKILL ended.
	killedExit = 137
	// killSlack is by how much a kill and the end of its container may be apart.
	killSlack = 2 * time.Second
	// maxRises bounds how many rises of the kernel's counter are remembered.
	maxRises = 64
)

// kernelKills is what the kernel of this machine says about kills at memory limits, for engines that do not say it
// themselves: Podman's OOMKilled is false after most of them. Only Poll changes it.
type kernelKills struct {
	proc hostfs.Proc
	sys  string // where sysfs is mounted
	log  string // the kernel's log
	now  func() time.Time

	here   bool      // a container of the engine was seen among the processes of this machine
	since  time.Time // from when on the counter was read, zero: never
	readAt time.Time
	count  int64
	rises  []killRise
}

// killRise is how often the kernel killed between two readings of its counter.
type killRise struct {
	after, until time.Time
	n            int64
}

// containerKills is what is known of the kills in one container.
type containerKills struct {
	finished backend.Value[time.Time] // of the run that was judged
	limit    backend.Value[bool]      // whether that run ended at the memory limit
	group    int64                    // kills in its control group
	grouped  bool
	told     time.Time // of the newest kill that was told
	looked   int       // the process that was looked for on this machine
}

func newKernelKills(now func() time.Time) kernelKills {
	return kernelKills{proc: hostfs.Proc{Root: "/proc"}, sys: "/sys", log: "/dev/kmsg", now: now}
}

// podman reports whether Podman wrote the inspection: that is its word for every runtime.
func (in *inspection) podman() bool { return in.raw.HostConfig.Runtime == "oci" }

// kernelKills reads the kernel's counter, tells of kills that Podman has no event for, and judges what SIGKILL ended.
func (p *poll) kernelKills() {
	k := &p.s.kills
	var running, dead []*cachedContainer // at a memory limit of their own, perhaps
	for _, e := range p.s.entries {
		switch {
		case !e.current() || e.ins.memLimit <= 0:
		case e.alive():
			running = append(running, e)
			k.look(e)
		case e.class().Ended() && e.ins.exit == killedExit && !e.ins.raw.State.OOMKilled:
			dead = append(dead, e)
		}
	}
	var log *hostfs.KernelLog // read once, and only when something calls for it
	if k.rose() && slices.ContainsFunc(running, func(e *cachedContainer) bool { return e.ins.podman() }) {
		log = k.readLog()
		p.tellKills(log, running)
	}
	k.mark(running)
	for _, e := range dead {
		if e.ins.oomKilled || e.ins.oomUnknown {
			continue
		}
		if e.kills.finished != e.ins.finished {
			if log == nil {
				log = k.readLog()
			}
			e.kills.finished, e.kills.limit = e.ins.finished, k.judge(e, dead, log, p.offset)
		}
		atLimit, known := e.kills.limit.Get()
		if !atLimit && known {
			continue
		}
		ins := *e.ins
		ins.oomKilled, ins.oomUnknown = atLimit, !known
		e.ins, e.touched = &ins, true
		if at := e.ins.finished.Or(time.Time{}); atLimit && !k.since.IsZero() && at.Add(-p.offset).After(k.since) {
			p.tellKill(e, at)
		}
	}
}

// look looks once for each process of a container whether it runs on this machine.
func (k *kernelKills) look(e *cachedContainer) {
	if pid := e.ins.raw.State.Pid; !k.here && e.kills.looked != pid {
		e.kills.looked, k.here = pid, k.proc.InGroup(pid, e.id.Raw())
	}
}

// rose reads the counter; true when it rose since the last time.
func (k *kernelKills) rose() bool {
	n, err := k.proc.OOMKills()
	if err != nil || !k.here {
		k.since = time.Time{}
		return false
	}
	before, rose := k.readAt, n > k.count && !k.since.IsZero()
	k.readAt = k.now()
	if k.since.IsZero() || n < k.count {
		k.since, rose = k.readAt, false
	}
	if rose {
		if len(k.rises) == maxRises {
			k.rises = k.rises[1:]
		}
		k.rises = append(k.rises, killRise{before, k.readAt, n - k.count})
	}
	k.count = n
	return rose
}

// readLog reads the kernel's log; one that may not be read is empty.
func (k *kernelKills) readLog() *hostfs.KernelLog {
	l, err := hostfs.ReadKernelLog(k.log)
	if err != nil {
		l = hostfs.KernelLog{}
	}
	return &l
}

// mark notes how often the kernel killed in the control groups of running containers when they were first seen.
func (k *kernelKills) mark(running []*cachedContainer) {
	for _, e := range running {
		if !e.kills.grouped && e.ins.podman() {
			e.kills.group, e.kills.grouped = k.inGroup(e)
		}
	}
}

// inGroup is how often the kernel killed in a running container's control group, false when this machine does not tell.
func (k *kernelKills) inGroup(e *cachedContainer) (int64, bool) {
	pid := e.ins.raw.State.Pid
	if !k.proc.InGroup(pid, e.id.Raw()) {
		return 0, false
	}
	n, err := k.proc.GroupKills(k.sys, pid)
	return n, err == nil
}

// tellKills makes events of kills in containers that go on running. Docker sends such events itself.
func (p *poll) tellKills(log *hostfs.KernelLog, running []*cachedContainer) {
	k := &p.s.kills
	after := k.rises[len(k.rises)-1].after.Add(-killSlack)
	for _, e := range running {
		if !e.ins.podman() {
			continue
		}
		at := time.Time{}
		for _, x := range log.Kills {
			if x.ID == e.id.Raw() && x.At.After(e.kills.told) && log.Read.Sub(x.At) < k.readAt.Sub(after) {
				at = x.At
			}
		}
		if n, told := k.inGroup(e); told {
			if e.kills.grouped && n > e.kills.group && at.IsZero() {
				at = k.readAt.Add(p.offset)
			}
			e.kills.group, e.kills.grouped = n, true
		}
		if !at.IsZero() {
			p.tellKill(e, at)
		}
	}
}

// tellKill makes an event of a kill, once. Its time is the engine's.
func (p *poll) tellKill(e *cachedContainer, at time.Time) {
	if e.ins.podman() && at.Sub(e.kills.told) > killSlack {
		e.kills.told = at
		p.pend.events = append(p.pend.events, lifecycle{action: "oom", id: e.id.Raw(), name: e.ins.name, image: e.ins.image, labels: e.ins.labels, at: at})
	}
}

// judge decides whether SIGKILL ended a container at its memory limit: the kernel's log names it, or the kernel killed at
// that second and nothing else was. Docker's own no counts unless the log names it.
func (k *kernelKills) judge(e *cachedContainer, dead []*cachedContainer, log *hostfs.KernelLog, offset time.Duration) backend.Value[bool] {
	began, end := e.ins.started.Or(time.Time{}), e.ins.finished.Or(time.Time{}) // by the engine's clock, which is the kernel's
	drift := killSlack + log.Read.Sub(log.Since)/5000                           // between the clocks of the kernel
	for _, x := range log.Kills {
		if x.ID == e.id.Raw() && x.At.After(began.Add(-drift)) && x.At.Before(end.Add(drift)) {
			return backend.Known(true)
		}
	}
	ended := func(e *cachedContainer) time.Time { return e.ins.finished.Or(time.Time{}).Add(-offset) }
	switch {
	case !e.ins.podman(), k.here && !log.Since.IsZero() && log.Since.Before(end.Add(-drift)):
		return backend.Known(false)
	case !e.ins.finished.IsKnown() || k.since.IsZero() || k.since.After(ended(e).Add(-killSlack)):
		return backend.Unknown[bool]()
	}
	for _, r := range k.rises {
		within := func(at time.Time) bool {
			return !at.Before(r.after.Add(-killSlack)) && !at.After(r.until.Add(killSlack))
		}
		if !within(ended(e)) {
			continue
		}
		same := int64(0)
		for _, o := range dead {
			if within(ended(o)) {
				same++
			}
		}
		if same <= r.n {
			return backend.Known(true)
		}
		return backend.Unknown[bool]()
	}
	return backend.Known(false)
}

// killedWord is the flag of an inspection as the kernel corrected it.
func (in *inspection) killedWord() backend.Value[bool] {
	if in.oomUnknown {
		return backend.Unknown[bool]()
	}
	return backend.Known(in.oomKilled)
}
