package docker

import (
	"math"
	"time"

	"github.com/moby/moby/api/types/container"

	"sandglass/backend"
)

// sampleOf reads one stats answer; nil when it holds no sample, which the engine says with the year 1. Memory is
// without page cache as `docker stats` shows it: less total_inactive_file (cgroup v1) or inactive_file (v2)
// (https://docs.docker.com/reference/cli/docker/container/stats/).
func sampleOf(s container.StatsResponse) *sample {
	if s.Read.Year() <= 1 || s.OSType == "windows" {
		return nil
	}
	out := &sample{read: s.Read}
	if total := s.CPUStats.CPUUsage.TotalUsage; total > 0 && total <= math.MaxInt64 {
		out.cpu = backend.Known(time.Duration(total))
	}
	if m := s.MemoryStats; m.Usage > 0 && m.Usage <= math.MaxInt64 {
		cache, ok := m.Stats["total_inactive_file"]
		if !ok {
			cache = m.Stats["inactive_file"]
		}
		used := m.Usage
		if cache < used {
			used -= cache
		}
		out.mem = backend.Known(int64(used))
	}
	if n := s.PidsStats.Current; n > 0 && n <= math.MaxInt64 {
		out.pids = backend.Known(int64(n))
	}
	return out
}

// kernelSample reads the counters of a container's control group when its first process is one of this machine, which costs the
// engine nothing; nil: only the engine can tell. The kernel gives no time of its own, and the engine's clock is ours.
func (s *Source) kernelSample(pid int, id string) *sample {
	if pid <= 0 {
		return nil
	}
	now := s.deps.Now()
	u, err := s.kills.proc.GroupUsage(s.kills.sys, pid, id)
	if err != nil {
		return nil
	}
	out := &sample{read: now, pids: backend.Known(u.PIDs)}
	if u.CPU > 0 {
		out.cpu = backend.Known(u.CPU)
	}
	if u.Mem > 0 {
		out.mem = backend.Known(u.Mem)
	}
	return out
}

// usage makes figures of a sample and the one before it. CPU is the mean between the two; a counter that went back
// (the container was restarted) or a pause that shows no time gives none.
func usage(before, s *sample, memLimit int64, at time.Time) backend.Usage {
	u := backend.Usage{At: at, Mem: s.mem, PIDs: s.pids, MemLimit: backend.NotApplicable[int64]()}
	if memLimit > 0 {
		u.MemLimit = backend.Known(memLimit)
	}
	if before == nil {
		return u
	}
	was, ok := before.cpu.Get()
	is, ok2 := s.cpu.Get()
	wall := s.read.Sub(before.read)
	if ok && ok2 && wall > 0 && is >= was {
		u.CPU = backend.Known(float64(is-was) / float64(wall))
	}
	return u
}
