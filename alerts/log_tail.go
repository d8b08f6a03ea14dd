package alerts

import "sandglass/backend"

// LastLines is how the log of a failing sandbox ends, at most so many lines of it; false where none was read.
func LastLines(b *backend.Sandbox, most int) (backend.Safe, bool) {
	t, read := b.Log.Get()
	if !read || len(t.Lines) == 0 {
		return backend.Safe{}, false
	}
	return backend.Join(t.Lines[max(0, len(t.Lines)-most):], " | "), true
}
