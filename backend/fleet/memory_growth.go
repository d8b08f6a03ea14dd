package fleet

import (
	"time"
)

const (
	// growthSpan is how far back a MemoryGrowth reaches.
	growthSpan = 30 * time.Minute
	// justEnded is how long after a restart a question is still about the process before it.
	justEnded = 5 * time.Minute
)

// MemoryGrowth is the memory growth of one process, from its lowest use to its newest.
type MemoryGrowth struct {
	*ProcessMemory
	// From is the lowest use in the half hour before Last, which is the newest of that life.
	From, Last MemoryPoint
	// Before is the use at most a minute before Last; growth between the two is sudden.
	Before MemoryPoint
	// Ended says that the process restarted afterwards.
	Ended  bool
	points []MemoryPoint // from From to Last
}

// GrowthBefore is the memory growth before a time. A fall to less than half is a restart. After a restart within the five
// minutes before that time, it describes the process before the restart. False when no point was read.
func (x *ProcessMemory) GrowthBefore(at time.Time) (MemoryGrowth, bool) {
	end := len(x.points)
	for end > 0 && x.points[end-1].at > at.UnixMilli() {
		end--
	}
	if end == 0 {
		return MemoryGrowth{}, false
	}
	begin := x.lifeBefore(end)
	c := MemoryGrowth{ProcessMemory: x}
	if begin > 0 && at.Sub(x.points[begin].At()) <= justEnded {
		begin, end = x.lifeBefore(begin), begin
		c.Ended = true
	} else {
		c.Ended = end < len(x.points) && x.points[end].Bytes < x.points[end-1].Bytes/2
	}
	life := x.points[begin:end]
	c.Last = life[len(life)-1]
	c.Before = c.Last
	low := len(life) - 1
	for i := len(life) - 1; i >= 0 && c.Last.at-life[i].at <= growthSpan.Milliseconds(); i-- {
		if life[i].Bytes <= life[low].Bytes {
			low = i
		}
		if c.Last.at-life[i].at <= time.Minute.Milliseconds() || i == len(life)-2 {
			c.Before = life[i]
		}
	}
	c.From, c.points = life[low], life[low:]
	return c, true
}

// lifeBefore is the index of the first point of the process whose last point is the one before end.
func (x *ProcessMemory) lifeBefore(end int) int {
	i := end - 1
	for i > 0 && x.points[i].Bytes >= x.points[i-1].Bytes/2 {
		i--
	}
	return i
}

// Grew is by how many bytes it grew, and within which time.
func (c MemoryGrowth) Grew() (bytes int64, in time.Duration) {
	return c.Last.Bytes - c.From.Bytes, c.Last.At().Sub(c.From.At())
}

// Grows reports whether it grew by a tenth of itself at least.
func (c MemoryGrowth) Grows() bool {
	grew, _ := c.Grew()
	return grew > 0 && grew >= c.Last.Bytes/10
}

// Rises reports whether it grew by a tenth of itself, or steadily by a third of the room that it had below its limit.
func (c MemoryGrowth) Rises() bool {
	limit, known := c.Limit.Get()
	if c.Grows() || !known {
		return c.Grows()
	}
	grew, _ := c.Grew()
	fell := int64(0)
	for i := 1; i < len(c.points); i++ {
		fell += max(c.points[i-1].Bytes-c.points[i].Bytes, 0)
	}
	return grew >= limit/50 && grew*3 >= limit-c.From.Bytes && fell <= grew/2
}

// At is the use that its newest rise leads to at a time soon after the last reading: as far as that rise goes on.
func (c MemoryGrowth) At(at time.Time) int64 {
	in, since := c.Last.at-c.Before.at, min(at.UnixMilli()-c.Last.at, c.Last.at-c.Before.at)
	if in <= 0 || since <= 0 || c.Last.Bytes <= c.Before.Bytes {
		return c.Last.Bytes
	}
	return c.Last.Bytes + (c.Last.Bytes-c.Before.Bytes)*since/in
}

// Sudden reports whether most of the growth came at once, in the last minute or between the last two readings.
func (c MemoryGrowth) Sudden() bool {
	grew, in := c.Grew()
	return c.Grows() && in > 2*time.Minute && c.Last.Bytes-c.Before.Bytes > grew/2
}

// Share is how much of the limit was used in the end; false without a limit.
func (c MemoryGrowth) Share() (float64, bool) {
	limit, known := c.Limit.Get()
	if !known || limit <= 0 {
		return 0, false
	}
	return float64(c.Last.Bytes) / float64(limit), true
}

// Parts splits the growth into at most n parts of equal length, oldest first, each with its highest use. A part without
// points repeats the part before it.
func (c MemoryGrowth) Parts(n int) []float64 {
	if n = min(n, len(c.points)); n < 2 {
		return nil
	}
	out := make([]float64, n)
	span := c.Last.at - c.From.at + 1
	for _, p := range c.points {
		i := (p.at - c.From.at) * int64(n) / span
		out[i] = max(out[i], float64(p.Bytes))
	}
	for i := range out {
		if out[i] == 0 && i > 0 {
			out[i] = out[i-1]
		}
	}
	return out
}
