package subjects

import (
	"time"

	"sandglass/backend"
)

// span is how long ago something began of which two bounds are known, either of them zero: unknown.
func span(early, late, now time.Time) string {
	least, most := now.Sub(late), now.Sub(early)
	switch {
	case late.IsZero():
		return "<" + backend.Age(most)
	case early.IsZero():
		return backend.Age(least) + "+"
	case most-least <= max(30*time.Second, most/10):
		return backend.Age(most)
	case 3*least >= most:
		return backend.Age(least) + "+"
	}
	return "<" + backend.Age(most)
}
