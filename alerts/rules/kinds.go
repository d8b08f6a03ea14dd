// Package rules holds the conditions that Sandglass alerts on, one file each.
package rules

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// Common are the keys that every rule has.
type Common struct {
	Enabled       bool             `toml:"enabled" doc:"false switches the rule off"`
	Severity      alerts.Severity  `toml:"severity" doc:"info, warning or critical"`
	For           backend.Duration `toml:"for" doc:"how long the condition must hold before the alert fires"`
	KeepFiringFor backend.Duration `toml:"keep_firing_for" doc:"how long the alert continues after the condition ended"`
	Gap           alerts.GapPolicy `toml:"gap" doc:"the pending clock while data is missing: pause, reset or count"`
	Only          []string         `toml:"only" doc:"matchers such as 'source=~\"helix-.*\", tenant=\"acme\"' (also provider, session); one must match; empty: everything"`
	Except        []string         `toml:"except" doc:"the same; what one matches is not judged"`
	RunbookText   string           `toml:"runbook_text" doc:"Markdown that this site adds to the rule's runbook page"`
	RunbookLinks  []string         `toml:"runbook_links" doc:"links for that page, with or without a title: \"Escalation https://wiki.example/escalation\""`
}

// check refuses unknown words. TOML decoders assign any string to a string type, so decoding does not refuse them.
func (c *Common) check() error {
	switch c.Severity {
	case alerts.SeverityInfo, alerts.SeverityWarning, alerts.SeverityCritical:
	default:
		return &KeyError{"severity", fmt.Sprintf("%q is not a severity; write info, warning or critical", c.Severity)}
	}
	switch c.Gap {
	case alerts.GapPause, alerts.GapReset, alerts.GapCount:
	default:
		return &KeyError{"gap", fmt.Sprintf("%q is not a gap policy; write pause, reset or count", c.Gap)}
	}
	if _, key, err := alerts.ParseScope(c.Only, c.Except); err != nil {
		return &KeyError{key, err.Error()}
	}
	for i, link := range c.RunbookLinks {
		if _, _, err := alerts.SplitLink(link); err != nil {
			return &KeyError{fmt.Sprintf("runbook_links[%d]", i), err.Error()}
		}
	}
	return nil
}

func common(s alerts.Severity) Common {
	return Common{Enabled: true, Severity: s, Gap: alerts.GapPause}
}

// meta is the part of a rule's Meta that the common keys decide; check has passed.
func (c *Common) meta(name string) alerts.Meta {
	scope, _, _ := alerts.ParseScope(c.Only, c.Except)
	return alerts.Meta{Scope: scope,
		Name: name, Severity: c.Severity, For: c.For.Std(), KeepFiringFor: c.KeepFiringFor.Std(), Gap: c.Gap,
		RunbookText: c.RunbookText, RunbookLinks: c.RunbookLinks,
	}
}

// base is what all rules have in common. A rule about one entity at a time says of which kind; its evidence is empty where
// all of its findings are a fleet rule's and carry their own.
type base struct {
	meta    alerts.Meta
	subject backend.Kind
}

// Meta is what the rule declares about itself.
func (b *base) Meta() *alerts.Meta { return &b.meta }

// Kind is the kind of entity that the rule judges.
func (b *base) Kind() backend.Kind { return b.subject }

// Evidence of a rule whose alerts are all about findings that carry their own.
func (b *base) Evidence(*alerts.Env, *alerts.Alert, backend.Entity) []alerts.Evidence { return nil }

// base is a rule that judges the sources of one input, and is blind where none of what it needs is delivered.
func (c *Common) base(name string, subject backend.Kind, watches backend.Input, needs ...backend.Input) base {
	b := base{meta: c.meta(name), subject: subject}
	b.meta.Watches = watches
	if len(needs) > 0 {
		b.meta.Needs = [][]backend.Input{needs}
	}
	return b
}

// common lets Kinds read the common part of any option struct.
func (c *Common) common() *Common { return c }

// Options is a pointer to the option struct of one rule.
type Options interface {
	common() *Common
	build() (alerts.Rule, error)
}

// Kind is how one rule is configured and built.
type Kind struct {
	Name    string
	Summary string
	// Defaults returns a pointer to the rule's option struct with its defaults, to decode `[rules.NAME]` into.
	Defaults func() Options
}

// New builds the rule from its options, nil when they switch it off. An error names the key that is wrong as
// "key: why".
func (k Kind) New(o Options) (alerts.Rule, error) {
	if !o.common().Enabled {
		return nil, nil
	}
	if err := o.common().check(); err != nil {
		return nil, fmt.Errorf("rule %s: %w", k.Name, err)
	}
	r, err := o.build()
	if err != nil {
		return nil, fmt.Errorf("rule %s: %w", k.Name, err)
	}
	m := r.Meta()
	_, m.Explain = page(k.Name)
	if m.Thresholds == nil {
		m.Thresholds = alerts.Thresholds{}
	}
	thresholds(reflect.ValueOf(o).Elem(), m.Thresholds)
	return r, nil
}

// thresholds publishes the figures among a rule's options by their keys.
func thresholds(options reflect.Value, into alerts.Thresholds) {
	for i := range options.NumField() {
		field := options.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		f, key := options.Field(i), field.Tag.Get("toml")
		d, span := f.Interface().(backend.Duration)
		switch {
		case span:
			into[key] = d.Std().Seconds()
		case f.Kind() == reflect.Struct:
			thresholds(f, into)
		case f.CanInt():
			into[key] = float64(f.Int())
		case f.CanFloat():
			into[key] = f.Float()
		}
	}
}

// Configure decodes `[rules.NAME]` and builds the rule, nil when it is switched off. Errors carry the position in the
// file.
func (k Kind) Configure(from backend.Options) (alerts.Rule, error) {
	o := k.Defaults()
	if err := from.Decode(o); err != nil {
		return nil, err
	}
	r, err := k.New(o)
	var key *KeyError
	if errors.As(err, &key) {
		return nil, from.Refuse(key.Key, "%s", key.Why)
	}
	return r, err
}

// KeyError is a wrong value of one key of a rule.
type KeyError struct {
	Key string
	Why string
}

// Error names the key first.
func (e *KeyError) Error() string { return e.Key + ": " + e.Why }

// Kinds lists every rule, in the order of the documentation.
func Kinds() []Kind {
	return []Kind{
		kind("failed-too-long", failedDefaults),
		kind("hammered-and-failing", hammeredDefaults),
		kind("eviction-storm", stormDefaults),
		kind("audit-saturation", auditDefaults),
		kind("source-down", sourceDownDefaults),
		kind("registry-not-published", registryDefaults),
		kind("intermittent-failure", intermittentDefaults),
		kind("evicted-sustained", sustainedDefaults),
		kind("reset-loop", loopDefaults),
		kind("error-burst", burstDefaults),
		kind("error-chaos", chaosDefaults),
		kind("files-vanished", vanishedDefaults),
		kind("ref-mismatch", refDefaults),
		kind("capability-mismatch", capabilityDefaults),
		kind("possible-leak", leakDefaults),
		kind("misclassified-transient", transientDefaults),
		kind("capacity", capacityDefaults),
		kind("restart-storm", restartDefaults),
		kind("contradiction", contradictionDefaults),
		kind("no-checkpoint", noCheckpointDefaults),
		kind("wake-failed", wakeDefaults),
		kind("stuck-in-transit", transitDefaults),
		kind("reaped-soon", reapedDefaults),
		kind("sandbox-expiring", expiringDefaults),
		kind("public-preview", publicDefaults),
		kind("preview-token-expiring", tokenDefaults),
		kind("snapshot-interrupted", interruptedDefaults),
		kind("runaway-process", runawayDefaults),
		kind("sandbox-oom", sandboxOOMDefaults),
		kind("sandbox-start-failed", startFailedDefaults),
		kind("sandbox-crash-loop", crashLoopDefaults),
		kind("sandbox-unhealthy", unhealthyDefaults),
		kind("sandbox-exited", exitedDefaults),
		kind("agent-oom", agentOOMDefaults),
		kind("wont-terminate", terminateDefaults),
		kind("tmpdir-pileup", pileupDefaults),
		kind("tmpdir-orphaned", orphanDefaults),
		counting("tmpdir-close-failed", alerts.SeverityWarning, backend.MetricTmpdirCloseFailed, "the log gives no cause", "5"),
		kind("tmpdir-root-unusable", rootDefaults),
		kind("host-oom", hostOOMDefaults),
		kind("host-restarted", hostRestartedDefaults),
		kind("persist-failed", persistDefaults),
		kind("hydrate-failed", hydrateDefaults),
		counting("preview-failed", alerts.SeverityWarning, backend.MetricPreviewFailed, "the log gives no kind", "contradiction"),
		counting("package-missing", alerts.SeverityWarning, backend.MetricPackageMissing, "the log does not say which", "contradiction"),
		kind("pty-pressure", ptyDefaults),
		kind("pty-failed", ptyFailedDefaults),
		kind("source-stale", staleDefaults),
		kind("source-degraded", degradedDefaults),
		kind("source-open", openDefaults),
		kind("clock-skew", skewDefaults),
	}
}

// kind is a rule whose documentation is the page of its name. It is called for each rule: inlined, Kinds is twice as long.
//
//go:noinline
func kind[O Options](name string, defaults func() O) Kind {
	summary, _ := page(name)
	return Kind{Name: name, Summary: summary, Defaults: func() Options { return defaults() }}
}

// Defaults builds every rule with its defaults.
func Defaults() []alerts.Rule {
	var out []alerts.Rule
	for _, k := range Kinds() {
		r, err := k.New(k.Defaults())
		if err != nil {
			panic("the defaults of " + k.Name + " are wrong: " + err.Error()) // a test builds them all
		}
		if r != nil {
			out = append(out, r)
		}
	}
	return out
}

// refuse is the error of a key whose value is wrong, nil where it is right.
func refuse(wrong bool, key, why string) error {
	if wrong {
		return &KeyError{key, why}
	}
	return nil
}

func positive(key string, d backend.Duration) error {
	if d <= 0 {
		return &KeyError{key, "must be longer than 0s"}
	}
	return nil
}

// text writes a duration without needless zero parts.
func text(d time.Duration) string {
	b, err := backend.Duration(d).MarshalText()
	if err != nil {
		return d.String()
	}
	return string(b)
}

// plural writes a number with its noun.
func plural(n int, noun string) string {
	return backend.Counted(n, noun, backend.Plural(noun))
}
