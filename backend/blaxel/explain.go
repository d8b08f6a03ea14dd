package blaxel

import (
	"math"
	"strings"
	"time"

	"sandglass/backend"
)

// documentedFields are the members that the API description and the vendor's client name (sdk-go 0.27.0).
const documentedFields = `data meta hasMore nextCursor total metadata spec status state archive errors events expiresIn lastUsedAt nodeGeneration
name displayName externalId labels workspace url plan createdAt updatedAt createdBy updatedBy resourceName resourceType previewName id
enabled lifecycle network region runtime volumes vpc envs value secret expires extraArgs image memory ports terminationGracePeriodSeconds ttl generation
target protocol expirationPolicies action type terminatedRetention mountPath readOnly sizeMb code fatal instance message time revision key restore
restoreStartedAt size startedAt files restoredBytes totalBytes allowedDomains egress firewall forbiddenDomains proxy subnet gateway mode policies destinations
rulesets bypass routing body headers secrets customDomain port prefixUrl public requestHeaders responseHeaders token expired expiresAt sandboxName source kind
deleted error status_code sandbox_name step timestamp details retryable origin do_not docs_url`

// KnownFields are the documented members, and those whose own members are data of users.
func (s *Source) KnownFields() (known, data []string) {
	return strings.Fields(documentedFields), []string{"metadata.labels", "runtime.extraArgs", "spec.requestHeaders", "spec.responseHeaders", "routing.headers", "routing.secrets", "routing.body"}
}

// load is what the last poll had to read; a negative number of sandboxes: nothing was read yet.
type load struct{ sandboxes, live int }

// EstimateLoad says how many requests a minute polling sends at the number of sandboxes that the last poll saw, and in words
// how that comes about. The tokens of private previews are left out: how many there are is read with them.
func (s *Source) EstimateLoad() (requestsPerMinute float64, text backend.Safe) {
	s.mu.Lock()
	x := s.load
	s.mu.Unlock()
	allowed := s.opt.RequestsPerSec * 60
	count := func(n float64) backend.Safe {
		return backend.Clean(backend.Counted(int(math.Round(n)), "request", "requests"), 40)
	}
	if x.sandboxes < 0 {
		return allowed, backend.Textf("at most %s a minute, as requests_per_second says; how many sandboxes there are is not known yet", count(allowed))
	}
	pages := math.Ceil(float64(max(x.sandboxes, 1)) / pageSize)
	every := max(s.opt.Inventory.Std(), s.deps.Interval)
	lists := pages*float64(time.Minute)/float64(every) + float64(time.Minute)/float64(snapshotsEvery)
	parts := 2 * float64(x.live) * float64(time.Minute) / float64(s.opt.Sweep.Std())
	requestsPerMinute = min(lists+parts, allowed)
	return requestsPerMinute, backend.Textf("about %s a minute: %.0f for lists, %.0f for own records and previews of %s; more for what alerts, is on a screen or has private previews. The budget allows %.0f",
		count(requestsPerMinute), lists, parts, backend.Counted(x.live, "live sandbox", "live sandboxes"), allowed)
}

// noteLoad notes for EstimateLoad what there was to read.
func (p *poll) noteLoad() {
	x := load{sandboxes: len(p.s.boxes)}
	for _, b := range p.s.boxes {
		if b.entity.Class != backend.SandboxExited {
			x.live++
		}
	}
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.s.load = x
}
