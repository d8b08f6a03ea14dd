package runbook

import "sandglass/backend"

// pool is the application that the page is about, nil where it is about containers.
func (s *subjectView) pool() *backend.Pool {
	h := s.State.Source(s.Subject.Source)
	if h == nil || s.Subject.Kind != backend.KindSource {
		return nil
	}
	for i := range h.Pools {
		if backend.PlacesKey(h.Key.Source, &h.Pools[i]) == s.Subject {
			return &h.Pools[i]
		}
	}
	return nil
}

// application tells what the platform says of the application that the page is about. It is asked where there is one.
func (s *subjectView) application() []Check {
	x := s.pool()
	if x == nil {
		return nil
	}
	q := question{"application", "Does its platform call the application unhealthy?", "the list of applications"}
	from := origin{s.Subject.Source, x.At}
	switch x.Health.String() {
	case "unhealthy":
		if n, told := x.Failed.Get(); told {
			return []Check{q.yes(from, "%s is called unhealthy; %s failed", x.Name, plural(n, "instance"))}
		}
		return []Check{q.yes(from, "%s is called unhealthy; how many instances failed is not told", x.Name)}
	case "":
		return []Check{q.unsure("the platform says nothing of the health of %s", x.Name)}
	}
	return []Check{q.no(from, "%s is called %s", x.Name, x.Health)}
}
