package alerts

import (
	"time"

	"sandglass/backend"
)

// UsedAfter reports whether a platform saw a sandbox in use after its session ended: something may work in it still. A use that may be a
// probe's own does not count; a minute is allowed for the clocks.
func UsedAfter(b *backend.Sandbox, end time.Time) bool {
	if end.IsZero() || !b.LastUsedAt.After(end.Add(time.Minute)) {
		return false
	}
	x, read := b.Inside()
	return !read || x.At.Before(end)
}
