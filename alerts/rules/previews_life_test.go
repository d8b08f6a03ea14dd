package rules

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestAPublicAddressTellsItsLife: its end, its ttl, or that it has neither, and nothing where nothing is told.
func TestAPublicAddressTellsItsLife(t *testing.T) {
	for want, edit := range map[string]func(*story, *backend.Preview){
		"preview port-3000, until 13:00:00Z":          func(*story, *backend.Preview) {},
		"preview port-3000, ttl 24h, until 13:00:00Z": func(_ *story, p *backend.Preview) { p.TTL = backend.Text("24h") },
		"preview port-3000, ttl 24h from its making: when it ends is not known": func(_ *story, p *backend.Preview) {
			p.TTL, p.Expires = backend.Text("24h"), backend.Unknown[time.Time]()
		},
		"preview port-3000, without an end": func(_ *story, p *backend.Preview) { p.Expires = backend.NotApplicable[time.Time]() },
		"preview port-3000":                 func(_ *story, p *backend.Preview) { p.Expires = backend.Unknown[time.Time]() },
	} {
		s := beginExpiring(t, func(s *story, b *backend.Sandbox) {
			public(false)(s, b)
			edit(s, &b.Previews[0])
		})
		a := s.want(publicRule, alerts.StateFiring)
		if got, _, _ := strings.Cut(a.Subjects[0].Detail.String(), ";"); !strings.HasSuffix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
