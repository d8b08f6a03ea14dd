package runbook

import "sandglass/backend"

// writeGuard asks whether the provider refuses writes that are too large: filestore and sandbox do, since rounds 2 to 4.
func (s *subjectView) writeGuard(r Release) Check {
	q := question{"write-guard", "Are writes size-guarded?", "the provider, and schemaVersion in a stored reference or lastAttemptAt in a snapshot for the release"}
	p := s.provider()
	o := origin{r.From, r.At}
	switch {
	case p == "":
		return q.unsure("the provider is not named; only cloudflare-filestore and cloudflare-sandbox guard writes, since rounds 2 to 4")
	case p != "cloudflare-filestore" && p != "cloudflare-sandbox":
		return q.no(s.newest(), "the provider is %s; only cloudflare-filestore and cloudflare-sandbox guard writes", backend.Clean(p, 60))
	case r.AtLeast >= 4 && r.partly.IsEmpty() && !o.at.IsZero():
		return q.yes(o, "%s guards writes since rounds 2 to 4, and the release is of round %d or later", backend.Clean(p, 60), r.AtLeast)
	case r.Below > 0 && r.Below <= 2:
		return q.no(o, "the release is older than round 2, which began to guard writes")
	}
	return q.unsure("%s guards writes since rounds 2 to 4; the release is not known", backend.Clean(p, 60))
}
