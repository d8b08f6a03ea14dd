package rules

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// CloseFailedOptions are the keys of `[rules.tmpdir-close-failed]`.
type CloseFailedOptions struct{ LineOptions }

func closeFailedDefaults() *CloseFailedOptions {
	return &CloseFailedOptions{LineOptions{Common: common(alerts.SeverityWarning), Lines: 1, Over: backend.Duration(30 * time.Minute)}}
}

func (o *CloseFailedOptions) build() (alerts.Rule, error) {
	r, err := o.lineRule("tmpdir-close-failed", backend.MetricTmpdirCloseFailed, "the log gives no cause", "5")
	if err != nil {
		return nil, err
	}
	return r, nil
}
