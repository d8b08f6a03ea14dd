// Package exporter holds what the adapters that read an agent server's metrics have in common, whether from its own page
// or from a Prometheus server: which metrics are read and which labels say whom they are of.
package exporter

import (
	"github.com/prometheus/common/model"

	"sandglass/backend"
)

// Metrics are the keys of a source that name what is read. An options struct embeds it.
type Metrics struct {
	Evictions   string       `toml:"evictions" doc:"counter of evictions; the framework names none, so use the name your exporter gives it"`
	Retries     string       `toml:"retries" doc:"counter of recoveries after an eviction; empty = there is none"`
	Memory      []string     `toml:"memory" doc:"gauges of the bytes of memory that a process uses; empty = none is read"`
	MemoryLimit backend.Size `toml:"memory_limit" doc:"how much memory a process may use, where you know it; 0B = not known"`
	Labels      Labels       `toml:"labels" doc:"which of your labels carry the provider, the session and the workspace; empty = none does"`
}

// Labels maps our words to the exporter's label names.
type Labels struct {
	Provider  string `toml:"provider" doc:"label of the workspace provider"`
	Session   string `toml:"session" doc:"label of the session id"`
	Workspace string `toml:"workspace" doc:"label of the workspace name"`
}

// maxGauges bounds Metrics.Memory.
const maxGauges = 8

// Defaults are the names that are read unless the configuration gives others. Those of the counters are Sandglass's own:
// the framework leaves exporting to operators and names none.
func Defaults() Metrics {
	return Metrics{
		Evictions: "helix_workspace_evictions_total",
		Retries:   "helix_workspace_eviction_retries_total",
		Memory:    []string{"process_resident_memory_bytes"},
		Labels:    Labels{Provider: "provider", Session: "session", Workspace: "workspace"},
	}
}

// Check refuses names that no metric can have, at the key that holds them.
func (m *Metrics) Check(o backend.Options) error {
	switch {
	case !model.UTF8Validation.IsValidMetricName(m.Evictions):
		return o.Refuse("evictions", "%q is not a metric name", m.Evictions)
	case m.Retries != "" && !model.UTF8Validation.IsValidMetricName(m.Retries):
		return o.Refuse("retries", "%q is not a metric name", m.Retries)
	case m.Retries == m.Evictions:
		return o.Refuse("retries", "the same metric cannot count evictions and recoveries")
	case len(m.Memory) > maxGauges:
		return o.Refuse("memory", "at most %d gauges", maxGauges)
	}
	for _, name := range m.Memory {
		if !model.UTF8Validation.IsValidMetricName(name) {
			return o.Refuse("memory", "%q is not a metric name", name)
		}
	}
	return nil
}
