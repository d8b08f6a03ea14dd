package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// PersistOptions are the keys of `[rules.persist-failed]`.
type PersistOptions struct{ LineOptions }

func persistDefaults() *PersistOptions {
	return &PersistOptions{LineOptions{Common: common(alerts.SeverityCritical), Lines: 1, Over: backend.Duration(30 * time.Minute)}}
}

func (o *PersistOptions) build() (alerts.Rule, error) {
	r, err := o.lineRule("persist-failed", backend.MetricPersistFailed, "the snapshot was not saved", "2")
	if err != nil {
		return nil, err
	}
	return r, nil
}
