package subjects

import (
	"time"

	"sandglass/backend"
)

func createdAt(b *backend.Sandbox) backend.Value[time.Time] { return b.CreatedAt }

// known turns a time that is zero when there is none into a value.
func known(t time.Time) backend.Value[time.Time] {
	if t.IsZero() {
		return backend.NotApplicable[time.Time]()
	}
	return backend.Known(t)
}
