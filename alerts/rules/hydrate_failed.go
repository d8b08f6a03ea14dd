package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// HydrateOptions are the keys of `[rules.hydrate-failed]`.
type HydrateOptions struct{ LineOptions }

func hydrateDefaults() *HydrateOptions {
	return &HydrateOptions{LineOptions{Common: common(alerts.SeverityCritical), Lines: 1, Over: backend.Duration(30 * time.Minute)}}
}

func (o *HydrateOptions) build() (alerts.Rule, error) {
	r, err := o.lineRule("hydrate-failed", backend.MetricHydrateFailed, "the snapshot was not restored", "2")
	if err != nil {
		return nil, err
	}
	return r, nil
}
