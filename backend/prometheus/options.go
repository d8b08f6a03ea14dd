package prometheus

import (
	"github.com/prometheus/common/model"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// Options are the keys of a source of kind "prometheus".
type Options struct {
	URL         string          `toml:"url" doc:"the metrics page of an agent server, not the API of a Prometheus server"`
	Evictions   string          `toml:"evictions" doc:"counter of evictions; the framework names none, so use the name your exporter gives it"`
	Retries     string          `toml:"retries" doc:"counter of recoveries after an eviction; empty = there is none"`
	Memory      []string        `toml:"memory" doc:"gauges of the bytes of memory that a process uses; empty = none is read"`
	MemoryLimit backend.Size    `toml:"memory_limit" doc:"how much memory a process may use, where you know it; 0B = not known"`
	Labels      Labels          `toml:"labels" doc:"which of your labels carry the provider, the session and the workspace; empty = none does"`
	MaxBody     backend.Size    `toml:"max_body" doc:"largest page that is read, decoded"`
	MaxSeries   int             `toml:"max_series" doc:"most label sets that are followed"`
	Read        wire.Credential `toml:"read" doc:"credential for reading, when the page needs one"`
}

// Labels maps our words to the exporter's label names.
type Labels struct {
	Provider  string `toml:"provider" doc:"label of the workspace provider"`
	Session   string `toml:"session" doc:"label of the session id"`
	Workspace string `toml:"workspace" doc:"label of the workspace name"`
}

// Kind is the source kind "prometheus".
func Kind() backend.SourceKind {
	return backend.SourceKind{
		Name:     "prometheus",
		Summary:  "eviction and retry counters from a /metrics page",
		Defaults: func() any { o := defaults(); return &o },
		New:      newFromOptions,
	}
}

// The metric names are Sandglass's own: the framework leaves exporting to operators and names none.
func defaults() Options {
	return Options{
		URL:       "http://127.0.0.1:9464/metrics",
		Evictions: "helix_workspace_evictions_total",
		Retries:   "helix_workspace_eviction_retries_total",
		Memory:    []string{"process_resident_memory_bytes"},
		Labels:    Labels{Provider: "provider", Session: "session", Workspace: "workspace"},
		MaxBody:   32_000_000,
		MaxSeries: 20_000,
	}
}

func newFromOptions(o backend.Options, deps backend.Deps) (backend.Source, error) {
	opts := defaults()
	if err := o.Decode(&opts); err != nil {
		return nil, err
	}
	if err := opts.check(o); err != nil {
		return nil, err
	}
	return newSource(opts, deps)
}

func (opts *Options) check(o backend.Options) error {
	if _, err := wire.ParseURL(opts.URL); err != nil {
		return o.Refuse("url", "%v", err)
	}
	switch {
	case !model.UTF8Validation.IsValidMetricName(opts.Evictions):
		return o.Refuse("evictions", "%q is not a metric name", opts.Evictions)
	case opts.Retries != "" && !model.UTF8Validation.IsValidMetricName(opts.Retries):
		return o.Refuse("retries", "%q is not a metric name", opts.Retries)
	case opts.Retries == opts.Evictions:
		return o.Refuse("retries", "the same metric cannot count evictions and recoveries")
	case len(opts.Memory) > maxGauges:
		return o.Refuse("memory", "at most %d gauges", maxGauges)
	case opts.MaxBody < 1000:
		return o.Refuse("max_body", "no metrics page fits into %d bytes; give at least 1kB", opts.MaxBody)
	case opts.MaxSeries < 1:
		return o.Refuse("max_series", "at least 1")
	}
	for _, name := range opts.Memory {
		if !model.UTF8Validation.IsValidMetricName(name) {
			return o.Refuse("memory", "%q is not a metric name", name)
		}
	}
	return opts.Read.Check(o)
}
