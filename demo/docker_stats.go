package demo

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"
)

// dockerStats is one sample of GET /containers/{id}/stats.
type dockerStats struct {
	Read     string                   `json:"read"`
	PreRead  string                   `json:"preread"`
	Name     string                   `json:"name"`
	ID       string                   `json:"id"`
	CPU      dockerCPU                `json:"cpu_stats"`
	PreCPU   dockerCPU                `json:"precpu_stats"`
	Memory   dockerMemory             `json:"memory_stats"`
	Pids     dockerPids               `json:"pids_stats"`
	Blkio    dockerBlkio              `json:"blkio_stats"`
	NumProcs uint32                   `json:"num_procs"`
	Storage  struct{}                 `json:"storage_stats"`
	Networks map[string]dockerTraffic `json:"networks,omitempty"`
}

type dockerCPU struct {
	Usage      dockerCPUUsage   `json:"cpu_usage"`
	System     uint64           `json:"system_cpu_usage,omitempty"`
	Online     uint32           `json:"online_cpus,omitempty"`
	Throttling dockerThrottling `json:"throttling_data"`
}

type dockerCPUUsage struct {
	Total  uint64 `json:"total_usage"`
	Kernel uint64 `json:"usage_in_kernelmode"`
	User   uint64 `json:"usage_in_usermode"`
}

type dockerThrottling struct {
	Periods   uint64 `json:"periods"`
	Throttled uint64 `json:"throttled_periods"`
	Time      uint64 `json:"throttled_time"`
}

type dockerMemory struct {
	Usage uint64            `json:"usage,omitempty"`
	Stats map[string]uint64 `json:"stats,omitempty"`
	Limit uint64            `json:"limit,omitempty"`
}

type dockerPids struct {
	Current uint64 `json:"current,omitempty"`
	Limit   uint64 `json:"limit,omitempty"`
}

type dockerBlkio struct {
	Bytes []dockerBlkioEntry `json:"io_service_bytes_recursive"`
}

type dockerBlkioEntry struct {
	Major uint64 `json:"major"`
	Minor uint64 `json:"minor"`
	Op    string `json:"op"`
	Value uint64 `json:"value"`
}

type dockerTraffic struct {
	RxBytes uint64 `json:"rx_bytes"`
	TxBytes uint64 `json:"tx_bytes"`
}

const engineCPUs = 8

// stats samples a container. One that does not run has zeros and the zero time,
// as the engine answers. before is the earlier sample of a two-sample answer;
// without it there is none.
func (w world) stats(b *box, before moment) dockerStats {
	s := w.box(b)
	out := dockerStats{Read: w.zoned(moment{}), PreRead: w.zoned(moment{}), Name: "/" + b.name, ID: b.id}
	if !s.up() {
		return out
	}
	out.Read = w.zoned(known(w.t))
	out.CPU = w.cpu(b, s, w.t)
	if before.known {
		out.PreRead, out.PreCPU = w.zoned(before), w.cpu(b, s, max(before.at, s.started.at))
	}
	h := w.dice.roll(saltStats, int(b.phase/time.Microsecond), 0)
	out.Memory = dockerMemory{Usage: w.memory(b, s, h), Limit: memoryLimit, Stats: map[string]uint64{"inactive_file": 4 << 20}}
	out.Pids = dockerPids{Current: 2 + h%14, Limit: 256}
	out.Blkio.Bytes = []dockerBlkioEntry{
		{Major: 259, Op: "read", Value: 12<<20 + h&0xfffff}, {Major: 259, Op: "write", Value: uint64((w.t - s.started.at).Seconds()) * (h >> 32 & 0xfff)},
	}
	return out
}

// cpu is the time used since the start: a few percent of a core, in waves.
func (w world) cpu(b *box, s boxState, t time.Duration) dockerCPU {
	h := w.dice.roll(saltStats, int(b.phase/time.Microsecond), 1)
	share := 0.002 + float64(h%97)/1600
	seconds := max(0, (t - s.started.at).Seconds())
	// The derivative share·(1 - 0.8·cos) is never negative, so the counter never falls.
	used := share * (seconds - 0.8*10*math.Sin(seconds/10))
	ns := uint64(max(0, used) * 1e9)
	up := (t + 30*24*time.Hour).Nanoseconds()
	return dockerCPU{
		Usage:  dockerCPUUsage{Total: ns, Kernel: ns / 5, User: ns - ns/5},
		System: uint64(up) * engineCPUs, Online: engineCPUs,
	}
}

// memory is level with a slow wave, and climbs to the limit in a container that
// will be killed for it.
func (w world) memory(b *box, s boxState, h uint64) uint64 {
	base := 18<<20 + h>>20%(90<<20)
	if b.kind == boxOOMLoop {
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
func (w world) written(b *box) *int64 {
	h := w.dice.roll(saltStats, int(b.phase/time.Microsecond), 3)
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
		answerJSON(w, http.StatusBadRequest, dockerMessage{"cannot have stream=true and one-shot=true"})
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

func (s dockerServer) streamStats(w http.ResponseWriter, r *http.Request, b *box) {
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
