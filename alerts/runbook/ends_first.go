package runbook

import (
	"time"

	"sandglass/backend"
)

// endsFirst says when the platform removes the sandbox of a page, of an alert about several the one that goes first; empty where that is
// not told.
func (s *subjectView) endsFirst() backend.Safe {
	var b *backend.Sandbox
	which := backend.Text("it ends")
	switch a := s.alert; {
	case a != nil && len(a.Subjects) > 0 && a.Rule == "sandbox-expiring":
		b = s.State.Sandbox(a.Subjects[0].Key)
		if a.SubjectCount > 1 {
			which = backend.Text("the first ends")
		}
	case len(s.sandboxes) == 1:
		b = s.sandboxes[0]
	}
	if b == nil {
		return backend.Safe{}
	}
	end, _, _ := b.Removal()
	if end.IsZero() {
		return backend.Safe{}
	}
	left := end.Sub(s.now)
	when := backend.Textf("in %s", backend.Age(left.Truncate(time.Second)))
	if left <= 0 {
		when = backend.Text("which has passed")
	}
	return backend.Textf(": %s at %s, %s", which, secondOf(end), when)
}
