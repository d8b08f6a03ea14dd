package promapi

import (
	"math"
	"strings"

	"github.com/prometheus/common/model"

	"sandglass/backend/exporter"
)

type (
	target = exporter.Target
	proof  = exporter.Proof
)

// process is the start of one target.
type process struct {
	start float64 // epoch seconds by the target's clock
	many  bool    // several processes stand behind the target: nothing follows from their starts
}

// processes reads start times, one per target.
func processes(v model.Vector) map[target]process {
	out := make(map[target]process, len(v))
	for _, x := range v {
		t, start := exporter.TargetOf(x.Metric), float64(x.Value)
		old, known := out[t]
		out[t] = process{start: start, many: known && (old.many || math.Abs(old.start-start) > exporter.RestartJump) || x.Histogram != nil || !exporter.Countable(start)}
	}
	return out
}

// since compares a process with what was known of its target.
func (p process) since(old process, known bool) proof {
	if !known || p.many || old.many {
		return proof{}
	}
	return proof{Restarted: p.start > old.start+exporter.RestartJump, Same: math.Abs(p.start-old.start) <= exporter.RestartJump}
}

// short names a target for people.
func short(t target) string {
	return strings.Trim(string(t.Job)+" "+string(t.Instance), " ")
}
