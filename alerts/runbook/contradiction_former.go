package runbook

import (
	"slices"
	"time"

	"sandglass/backend"
)

// former is the first sandbox behind a Worker that failed in a former life and was not tried since, with what failed then; nil: none did.
func (s *subjectView) former() (*backend.Sandbox, *backend.Verdict) {
	for _, b := range s.sandboxes {
		if v := formerFailure(b); v != nil {
			return b, v
		}
	}
	return nil, nil
}

// sinceTurn says since when what was found before tells nothing of a sandbox.
func sinceTurn(b *backend.Sandbox) backend.Safe {
	if b.Turn() == "end" {
		return backend.Textf("since its end at %s", secondOf(b.FinishedAt.Or(time.Time{})))
	}
	return backend.Textf("since its restart at %s", secondOf(b.StartedAt.Or(time.Time{})))
}

// ofFormerLife says why nothing tells of the present container what was found in the former one.
func (s *subjectView) ofFormerLife(told []Check) {
	b, v := s.former()
	if b == nil {
		return
	}
	for i := range told {
		if c := &told[i]; c.Mark == CannotTell && c.Fact.String() == nothingTells {
			c.Fact = backend.Textf("not tried %s; before it: %s", sinceTurn(b), v.Said())
		}
	}
}

// formerOnly reports whether nothing is known to fail but what failed before the newest start.
func (s *subjectView) formerOnly(d *Diagnosis) bool {
	b, _ := s.former()
	return b != nil && s.ledBy("contradiction") != nil && !slices.ContainsFunc([]string{"server-dir", "dangling", "missing", "occupied", "frozen", "commands", "planes"}, d.is)
}

// endFormer concludes about a fresh container: the fault of the former one ended its files too, and only a probe tells of this one.
func (s *subjectView) endFormer(d *Diagnosis, name backend.Safe) {
	b, v := s.former()
	d.conclude("What failed before was not tried %s. Then %s: %s.", sinceTurn(b), v.Plane, v.Said())
	d.dont("Don't take its restart for a repair. Don't call it broken either.")
	d.do("Probe it: sandglass probe %s", name)
	d.do("Its files from before are gone, but for those on a mount. Restore a checkpoint, or tell its user.")
}

// notRepaired is when a repair of a fault failed that is there still; zero: none did.
func (s *subjectView) notRepaired() (at time.Time) {
	for _, b := range s.sandboxes {
		if x := b.NotRepaired(); x.After(at) {
			at = x
		}
	}
	return at
}

// endNotRepaired concludes where a repair did not help: another one would not either, before what stands against it is found.
func (s *subjectView) endNotRepaired(d *Diagnosis, name backend.Safe) {
	fact := d.fact("missing")
	if d.is("dangling") {
		fact = d.fact("dangling")
	}
	d.conclude("A repair at %s did not help. %s.", secondOf(s.notRepaired()), fact)
	d.dont("Don't repair it again at once: that changed nothing.")
	d.do("See in a new session what prevents it. Run df, and ls -ld / /workspace. See its disk, user and mounts.")
	d.do("When that is mended, repair it once more. Then probe it: sandglass probe %s", name)
	d.do("Else copy out what is needed.")
}
