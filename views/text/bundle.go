package text

import (
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/subjects"
)

// Bundle is the evidence about one thing or one alert, to be written down: for a vendor's issue, or before an action
// destroys what it shows.
type Bundle struct {
	Key         backend.Key // of an entity, or of an alert (views.AlertKey)
	Snapshot    *views.Snapshot
	Environment string
	Version     string          // of Sandglass
	Events      []backend.Event // that are known, oldest first
	// Diagnosis is the runbook's answer about the subject; nil: there is none.
	Diagnosis *runbook.Diagnosis
	// Cleaner masks what the adapters did not know for a secret.
	Cleaner *backend.Cleaner
}

// The bounds of a bundle; what is left out is counted in it.
const (
	maxBundled       = 200 // entities with their readings
	maxBundledEvents = 500
	maxBundledAlerts = 50
	maxBesides       = 20
)

// evidence is a Bundle with everything looked up.
type evidence struct {
	Bundle
	subjects []backend.Key // what was asked for: the thing itself, or the alert's subjects
	covered  []backend.Key // subjects and what is joined to them, as far as they are in the bundle
	left     int           // entities beyond maxBundled
	alerts   []*alerts.Alert
	sources  []string
}

func (b Bundle) gather() *evidence {
	e := &evidence{Bundle: b}
	if a := b.alert(); a != nil {
		for i := range a.Subjects {
			e.subjects = append(e.subjects, a.Subjects[i].Key)
		}
		e.left += a.Left()
	} else {
		e.subjects = []backend.Key{b.Key}
	}
	seen := map[backend.Key]bool{}
	add := func(k backend.Key) {
		switch {
		case seen[k]:
		case len(e.covered) >= maxBundled:
			e.left++
		default:
			e.covered = append(e.covered, k)
		}
		seen[k] = true
	}
	for _, k := range e.subjects {
		add(k)
	}
	for _, k := range slices.Clone(e.covered) {
		subjects.Related(k, b.Snapshot, add)
	}
	for _, k := range e.covered {
		if k.Source != "" && !slices.Contains(e.sources, k.Source) {
			e.sources = append(e.sources, k.Source)
		}
	}
	for _, a := range b.Snapshot.Board.Alerts {
		if views.AlertKey(a) == b.Key || slices.ContainsFunc(a.Subjects, func(s alerts.Subject) bool { return seen[s.Key] }) {
			e.alerts = append(e.alerts, a)
		}
	}
	return e
}

func (b *Bundle) alert() *alerts.Alert { return views.FindAlert(b.Snapshot.Board, b.Key) }

// Subjects are what the bundle is evidence about, what was asked for first.
func (b Bundle) Subjects() []backend.Key { return b.gather().covered }

// Question is what the runbook is to be asked for a bundle about a thing; false when it has no page for it.
func (b Bundle) Question() (views.Question, bool) {
	page, ok := subjects.PageOf(b.Key, frameOf(b.Snapshot))
	return page.Question, ok && page.Incident != ""
}

// Markdown writes the bundle as one page. Foreign text stands in code spans and blocks only, so that nothing in it
// becomes a link, a mention, an image or a heading where the page is pasted.
func (b Bundle) Markdown() string {
	e := b.gather()
	p := &page{}
	e.head(p)
	e.identifiers(p)
	e.evidence(p)
	e.diagnosis(p)
	e.timeline(p)
	e.readings(p)
	e.unread(p)
	e.redaction(p)
	out := strings.Split(p.b.String(), "\n")
	for i, l := range out {
		out[i] = b.Cleaner.Mask(l)
	}
	return strings.Join(out, "\n")
}

func utc(t time.Time) string {
	if t.IsZero() {
		return "unknown"
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}
