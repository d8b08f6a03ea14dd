package prometheus

import (
	"sandglass/backend"
	"sandglass/backend/exporter"
	"sandglass/backend/wire"
)

// Options are the keys of a source of kind "prometheus".
type Options struct {
	URL string `toml:"url" doc:"the metrics page of an agent server, not the API of a Prometheus server"`
	exporter.Metrics
	MaxBody   backend.Size    `toml:"max_body" doc:"largest page that is read, decoded"`
	MaxSeries int             `toml:"max_series" doc:"most label sets that are followed"`
	Read      wire.Credential `toml:"read" doc:"credential for reading, when the page needs one"`
}

// firstSource are the lines of a first source.
const firstSource = `url = "http://127.0.0.1:9464/metrics"
`

// Kind is the source kind "prometheus".
func Kind() backend.SourceKind {
	return backend.NewSourceKind("prometheus", "eviction and retry counters from a /metrics page", defaults, open).
		WithSample(firstSource).Delivering(backend.InputEvictions)
}

func defaults() Options {
	return Options{
		URL:       "http://127.0.0.1:9464/metrics",
		Metrics:   exporter.Defaults(),
		MaxBody:   32_000_000,
		MaxSeries: 20_000,
	}
}

func open(opts *Options, o backend.Options, deps backend.Deps) (backend.Source, error) {
	if err := opts.check(o); err != nil {
		return nil, err
	}
	return newSource(*opts, deps)
}

func (opts *Options) check(o backend.Options) error {
	if _, err := wire.ParseURL(opts.URL); err != nil {
		return o.Refuse("url", "%v", err)
	}
	if err := opts.Metrics.Check(o); err != nil {
		return err
	}
	switch {
	case opts.MaxBody < 1000:
		return o.Refuse("max_body", "no metrics page fits into %d bytes; give at least 1kB", opts.MaxBody)
	case opts.MaxSeries < 1:
		return o.Refuse("max_series", "at least 1")
	}
	return opts.Read.Check(o)
}
