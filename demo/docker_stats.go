package demo

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/moby/moby/api/types/container"
)

const engineCPUs = 8

// stats samples a container. One that does not run has zeros and the zero time,
// as the engine answers. before is the earlier sample of a two-sample answer;
// without it there is none.
func (w world) stats(b *fakeContainer, before moment) container.StatsResponse {
	s := w.containerState(b)
	out := container.StatsResponse{Name: "/" + b.name, ID: b.id}
	if !s.up() {
		return out
	}
	out.Read = w.when(w.t)
	out.CPUStats = w.cpu(b, s, w.t)
	if before.known {
		out.PreRead, out.PreCPUStats = w.when(before.at), w.cpu(b, s, max(before.at, s.started.at))
	}
	h := w.random.value(saltStats, int(b.phase/time.Microsecond), 0)
	out.MemoryStats = container.MemoryStats{Usage: w.memory(b, s, h), Limit: memoryLimit, Stats: map[string]uint64{"inactive_file": 4 << 20}}
	out.PidsStats = container.PidsStats{Current: 2 + h%14, Limit: 256}
	out.BlkioStats.IoServiceBytesRecursive = []container.BlkioStatEntry{
		{Major: 259, Op: "read", Value: 12<<20 + h&0xfffff}, {Major: 259, Op: "write", Value: uint64((w.t - s.started.at).Seconds()) * (h >> 32 & 0xfff)},
	}
	return out
}

// cpu is the time used since the start: a few percent of a core, in waves.
func (w world) cpu(b *fakeContainer, s containerState, t time.Duration) container.CPUStats {
	h := w.random.value(saltStats, int(b.phase/time.Microsecond), 1)
	share := 0.002 + float64(h%97)/1600
	seconds := max(0, (t - s.started.at).Seconds())
	// The derivative share·(1 - 0.8·cos) is never negative, so the counter never falls.
	used := share * (seconds - 0.8*10*math.Sin(seconds/10))
	ns := uint64(max(0, used) * 1e9)
	up := (t + 30*24*time.Hour).Nanoseconds()
	return container.CPUStats{
		CPUUsage:    container.CPUUsage{TotalUsage: ns, UsageInKernelmode: ns / 5, UsageInUsermode: ns - ns/5},
		SystemUsage: uint64(up) * engineCPUs, OnlineCPUs: engineCPUs,
	}
}

// memory is level with a slow wave, and climbs to the limit in a container that
// will be killed for it.
func (w world) memory(b *fakeContainer, s containerState, h uint64) uint64 {
	base := 18<<20 + h>>20%(90<<20)
	if b.kind == containerOOMLoop {
		next := b.since
		if w.t >= b.since {
			next = b.since + time.Duration(floorDiv(w.t-b.since, oomGap)+1)*oomGap
		}
		left := min(1, (next-w.t).Seconds()/oomGap.Seconds())
		return base + uint64((1-left)*float64(memoryLimit-base))
	}
	wave := 1 + 0.1*math.Sin((w.t-s.started.at).Seconds()/47)
	return uint64(float64(base) * wave)
}

// written is how many bytes a container wrote into its own layer.
func (w world) written(b *fakeContainer) *int64 {
	h := w.random.value(saltStats, int(b.phase/time.Microsecond), 3)
	n := int64(1<<20 + h%(200<<20))
	return &n
}

// stats serves one sample, or a stream of one a second.
func (s dockerServer) stats(w http.ResponseWriter, r *http.Request) {
	b, ok := s.find(w, r)
	if !ok {
		return
	}
	q := r.URL.Query()
	stream, oneShot := truth(q.Get("stream"), true), truth(q.Get("one-shot"), false)
	if stream && oneShot {
		complain(w, http.StatusBadRequest, "cannot have stream=true and one-shot=true")
		return
	}
	world := s.now()
	if !stream {
		before := moment{}
		if !oneShot {
			// A real engine waits a second between its two samples; this one
			// knows what it would have seen a second ago.
			before = known(world.t - time.Second)
		}
		answerJSON(w, http.StatusOK, world.stats(b, before))
		return
	}
	s.streamStats(w, r, b)
}

func (s dockerServer) streamStats(w http.ResponseWriter, r *http.Request, b *fakeContainer) {
	w.Header().Set("Content-Type", "application/json")
	enc, flush := json.NewEncoder(w), http.NewResponseController(w)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	before := moment{}
	for {
		world := s.now()
		if enc.Encode(world.stats(b, before)) != nil || flush.Flush() != nil {
			return
		}
		before = known(world.t)
		select {
		case <-tick.C:
		case <-r.Context().Done():
			return
		case <-s.done:
			return
		}
	}
}

// truth reads a boolean of a query as the engine does: 1 and true are true.
func truth(v string, absent bool) bool {
	if v == "" {
		return absent
	}
	on, err := strconv.ParseBool(v)
	return err == nil && on
}
