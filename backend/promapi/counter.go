package promapi

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"sandglass/backend"
)

// restartJump is by how many seconds a process's start time must move to be another start: some libraries compute it
// from the present time and the uptime, which wobbles.
const restartJump = 1.5

// target is one scraped process, by the two labels that Prometheus itself puts on everything.
type target struct{ job, instance model.LabelValue }

func targetOf(m model.Metric) target { return target{m[model.JobLabel], m[model.InstanceLabel]} }

// counter follows the values of one label set.
type counter struct {
	last   float64
	seenAt time.Time // our time
	at     time.Time // of the value, by the server's clock
	target target
}

// proof is what is known about the process behind a value.
type proof struct {
	restarted bool // it started since the value before
	same      bool // it certainly did not
}

// advance takes the next value. lower says that more may have happened; back that the value fell although its process
// runs on, as when two replicas of a server answer in turn: then nothing is counted and the higher value stands.
func (c *counter) advance(v float64, p proof) (n float64, lower, back bool) {
	switch {
	case p.restarted:
		n, lower = v, true
	case v < c.last && p.same:
		return 0, false, true
	case v < c.last:
		n, lower = v, true
	default:
		n = v - c.last
	}
	c.last = v
	return n, lower, false
}

func countable(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) && v >= 0 }

// identity is a label set without ambiguity.
func identity(m model.Metric) model.Fingerprint { return m.Fingerprint() }

// series says what a label set counts for.
func (s *source) series(m model.Metric, name backend.Metric) backend.Series {
	out := backend.Series{Source: s.deps.ID, Name: name}
	label := func(l string) string {
		if l == "" {
			return ""
		}
		return string(m[model.LabelName(l)])
	}
	out.Provider = label(s.opts.Labels.Provider)
	out.Session, _ = backend.NewID(label(s.opts.Labels.Session)) // empty or absurdly long: no session
	out.Workspace, _ = backend.NewID(label(s.opts.Labels.Workspace))
	return out
}

// sample writes one value as a metrics page would have it, for evidence.
func (s *source) sample(m model.Metric, v float64) backend.Safe {
	return s.client.Cleaner().Clean(m.String()+" "+strconv.FormatFloat(v, 'g', -1, 64), 300)
}

// process is the start of one target.
type process struct {
	start float64 // epoch seconds by the target's clock
	many  bool    // several processes stand behind the target: nothing follows from their starts
}

// processes reads start times, one per target.
func processes(v model.Vector) map[target]process {
	out := make(map[target]process, len(v))
	for _, x := range v {
		t, start := targetOf(x.Metric), float64(x.Value)
		old, known := out[t]
		out[t] = process{start: start, many: known && (old.many || math.Abs(old.start-start) > restartJump) || x.Histogram != nil || !countable(start)}
	}
	return out
}

// since compares a process with what was known of its target.
func (p process) since(old process, known bool) proof {
	if !known || p.many || old.many {
		return proof{}
	}
	return proof{restarted: p.start > old.start+restartJump, same: math.Abs(p.start-old.start) <= restartJump}
}

// short names a target for people.
func (t target) short() string {
	return strings.Trim(string(t.job)+" "+string(t.instance), " ")
}
