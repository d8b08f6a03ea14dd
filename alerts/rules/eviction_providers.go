package rules

import (
	"sandglass/alerts"
	"sandglass/backend"
)

// maxNamed bounds the providers that an alert names.
const maxNamed = 5

// byProvider names the providers of a source that evictions are seen of, with how many of each.
func (r *evictionStorm) byProvider(env *alerts.Env, sites map[siteID]*site, home string) []alerts.Evidence {
	type measured struct {
		named []backend.Safe
		more  int
	}
	add := func(m *measured, provider string, n float64) {
		switch {
		case n <= 0:
		case len(m.named) == maxNamed:
			m.more++
		case provider == "":
			m.named = append(m.named, backend.Textf("of no named one %s", number(n)))
		default:
			m.named = append(m.named, backend.Textf("%s %s", backend.Clean(provider, 60), number(n)))
		}
	}
	var evicted, counted measured
	var via backend.Series
	for _, id := range sorted(sites) {
		if id.home != home {
			continue
		}
		s := sites[id]
		add(&evicted, id.provider, float64(s.evicted.Len()))
		if len(s.evictions) > 0 {
			via = s.evictions[0]
			add(&counted, id.provider, env.Rate(s.evictions, r.over).N)
		}
	}
	var out []alerts.Evidence
	tell := func(m measured, source string, text backend.Safe) {
		if m.more > 0 {
			m.named = append(m.named, backend.Textf("%d more providers", m.more))
		}
		if len(m.named) > 0 {
			out = append(out, alerts.Evidence{Text: backend.Textf("%s: %s", text, backend.Join(m.named, ", ")), Source: source, At: env.Display(env.Now)})
		}
	}
	tell(evicted, home, backend.Text("evicted now by provider"))
	tell(counted, via.Source, backend.Textf("evictions counted by provider in %s", text(r.over)))
	return out
}
