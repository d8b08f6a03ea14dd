package wire

import (
	"net/http"
	"time"

	"sandglass/backend"
)

// clockStep is how far a new measurement must lie from the applied offset before it replaces it. The Date header has
// whole seconds and answers take time; without this step every poll would shift every foreign time a little, and an
// unchanged entry would look changed.
const clockStep = 5 * time.Second

// maxDatedLatency is the slowest answer whose Date still says something.
const maxDatedLatency = 8 * time.Second

// Clock measures how far a server's clock is from ours by the Date headers of its answers. The zero Clock is ready.
type Clock struct {
	applied backend.Value[time.Duration]
}

// Observe takes one answer: sent and received are our times around it. Answers from a cache (Age above zero) and very
// slow ones say nothing.
func (c *Clock) Observe(h http.Header, sent, received time.Time) {
	date, err := http.ParseTime(h.Get("Date"))
	took := received.Sub(sent)
	if age := h.Get("Age"); err != nil || took > maxDatedLatency || age != "" && age != "0" {
		return
	}
	// The header drops the fraction of the second, half of one on average; the server wrote it about halfway.
	offset := date.Add(500 * time.Millisecond).Sub(sent.Add(took / 2).Round(0))
	tolerance := clockStep + took/2
	old, known := c.applied.Get()
	switch {
	case offset.Abs() <= tolerance && (!known || old.Abs() <= tolerance):
		c.applied = backend.Known(time.Duration(0))
	case !known || (offset-old).Abs() > tolerance:
		c.applied = backend.Known(offset.Round(time.Second))
	}
}

// Offset is the server's clock minus ours; exactly 0 when the difference is within what can be measured.
func (c *Clock) Offset() backend.Value[time.Duration] { return c.applied }
