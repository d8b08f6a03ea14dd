package promapi

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"sandglass/backend"
	"sandglass/backend/exporter"
	"sandglass/backend/wire"
)

// Options are the keys of a source of kind "prometheus-api".
type Options struct {
	URL string `toml:"url" doc:"address of a Prometheus server or of what speaks its query API, up to but without /api/v1"`
	exporter.Metrics
	Matchers  map[string]string `toml:"matchers" doc:"labels that a series must carry, where the server knows other environments too, for example { job = \"agents\" }"`
	Lookback  backend.Duration  `toml:"lookback" doc:"how much of the past is read at the start, at most 1h; 0s = nothing"`
	Headers   map[string]string `toml:"headers" doc:"plain headers sent with every query, for example a tenant; not for credentials"`
	MaxBody   backend.Size      `toml:"max_body" doc:"largest answer that is read, decoded"`
	MaxSeries int               `toml:"max_series" doc:"most label sets per metric that are asked for and followed"`
	Read      wire.Credential   `toml:"read" doc:"credential for reading, when the server needs one"`
}

// firstSource are the lines of a first source.
const firstSource = `url = "http://127.0.0.1:9090"
#matchers = { job = "agents" }  # where the server knows other environments too
`

// Kind is the source kind "prometheus-api".
func Kind() backend.SourceKind {
	return backend.NewSourceKind("prometheus-api", "eviction and retry counters from a Prometheus server's query API, the past hour included", defaults, open).
		WithSample(firstSource).Delivering(backend.InputEvictions)
}

func defaults() Options {
	return Options{
		URL:       "http://127.0.0.1:9090",
		Metrics:   exporter.Defaults(),
		Matchers:  map[string]string{},
		Lookback:  backend.Duration(time.Hour),
		Headers:   map[string]string{},
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
	u, err := wire.ParseURL(opts.URL)
	switch {
	case err != nil:
		return o.Refuse("url", "%v", err)
	case u.RawQuery != "":
		return o.Refuse("url", "give the server's address without a query")
	case strings.Contains(u.Path, "/api/v1"):
		return o.Refuse("url", "leave /api/v1 and what follows it out")
	case strings.HasSuffix(u.Path, "/metrics"):
		return o.Refuse("url", "this is a metrics page, which the kind prometheus reads; here goes the address of a Prometheus server")
	}
	if err := opts.Metrics.Check(o); err != nil {
		return err
	}
	switch {
	case opts.Lookback.Std() > time.Hour:
		return o.Refuse("lookback", "at most 1h: counts are kept no longer")
	case opts.MaxBody < 1000:
		return o.Refuse("max_body", "no answer fits into %d bytes; give at least 1kB", opts.MaxBody)
	case opts.MaxSeries < 1:
		return o.Refuse("max_series", "at least 1")
	}
	for name := range opts.Matchers {
		if !model.UTF8Validation.IsValidLabelName(name) || name == model.MetricNameLabel {
			return o.Refuse("matchers", "%q is not a label name", name)
		}
	}
	for name, value := range opts.Headers {
		switch {
		case !wire.HeaderName(name) || !wire.HeaderText(value):
			return o.Refuse("headers", "%q cannot be sent as a header", name)
		case http.CanonicalHeaderKey(name) == "Authorization":
			return o.Refuse("headers", "put the credential into [source.read], where it is never shown")
		}
	}
	return opts.Read.Check(o)
}

// selector writes the PromQL selector of one metric with the configured matchers, in a stable order.
func (opts *Options) selector(metric string) string {
	parts := []string{"__name__=" + strconv.Quote(metric)}
	for name, value := range opts.Matchers {
		if !model.LegacyValidation.IsValidLabelName(name) {
			name = strconv.Quote(name)
		}
		parts = append(parts, fmt.Sprintf("%s=%s", name, strconv.Quote(value)))
	}
	slices.Sort(parts[1:])
	return "{" + strings.Join(parts, ",") + "}"
}

// ours selects the series of both metrics.
func (opts *Options) ours() string {
	if opts.Retries == "" {
		return opts.selector(opts.Evictions)
	}
	return "(" + opts.selector(opts.Evictions) + " or " + opts.selector(opts.Retries) + ")"
}

// starts selects when the processes started that export our metrics.
func (opts *Options) starts() string {
	return `{__name__="process_start_time_seconds"} and on (job, instance) ` + opts.ours()
}

// scraped selects the targets of our metrics whose scrapes worked some time before the moment of the query.
func (opts *Options) scraped(before time.Duration) string {
	return fmt.Sprintf("(up offset %dms == 1) and on (job, instance) %s", max(before.Milliseconds(), 1), opts.ours())
}
