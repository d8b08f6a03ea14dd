// Package rules holds the conditions that Sandglass alerts on, one file each.
package rules

import (
	"fmt"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// Common are the keys that every rule has.
type Common struct {
	Enabled       bool             `toml:"enabled" doc:"false switches the rule off"`
	Severity      Severity         `toml:"severity" doc:"info, warning or critical"`
	For           backend.Duration `toml:"for" doc:"how long the condition must hold before the alert fires"`
	KeepFiringFor backend.Duration `toml:"keep_firing_for" doc:"how long the alert goes on after the condition ended"`
	Gap           GapPolicy        `toml:"gap" doc:"what the clock of a suspicion does while data is missing: pause, reset or count"`
}

// Severity is an alerts.Severity that refuses other words when it is decoded.
type Severity alerts.Severity

// UnmarshalText accepts info, warning and critical.
func (s *Severity) UnmarshalText(b []byte) error {
	switch alerts.Severity(b) {
	case alerts.SeverityInfo, alerts.SeverityWarning, alerts.SeverityCritical:
		*s = Severity(b)
		return nil
	}
	return fmt.Errorf("%q is no severity; write info, warning or critical", b)
}

// MarshalText writes the word.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s), nil }

// GapPolicy is an alerts.GapPolicy that refuses other words when it is decoded.
type GapPolicy alerts.GapPolicy

// UnmarshalText accepts pause, reset and count.
func (g *GapPolicy) UnmarshalText(b []byte) error {
	switch alerts.GapPolicy(b) {
	case alerts.GapPause, alerts.GapReset, alerts.GapCount:
		*g = GapPolicy(b)
		return nil
	}
	return fmt.Errorf("%q is no gap policy; write pause, reset or count", b)
}

// MarshalText writes the word.
func (g GapPolicy) MarshalText() ([]byte, error) { return []byte(g), nil }

func common(s alerts.Severity) Common {
	return Common{Enabled: true, Severity: Severity(s), Gap: GapPolicy(alerts.GapPause)}
}

// meta is the part of a rule's Meta that the common keys decide.
func (c *Common) meta(name string) alerts.Meta {
	return alerts.Meta{
		Name: name, Severity: alerts.Severity(c.Severity), For: c.For.Std(), KeepFiringFor: c.KeepFiringFor.Std(), Gap: alerts.GapPolicy(c.Gap),
	}
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
	r, err := o.build()
	if err != nil {
		return nil, fmt.Errorf("rule %s: %w", k.Name, err)
	}
	return r, nil
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
		{"failed-too-long", "a workspace has failed and does not recover", func() Options { return failedDefaults() }},
		{"hammered-and-failing", "a workspace is used and every use fails", func() Options { return hammeredDefaults() }},
		{"eviction-storm", "workspaces are evicted faster than they recover", func() Options { return stormDefaults() }},
		{"audit-saturation", "a session floods the audit log with rejected commands", func() Options { return auditDefaults() }},
		{"source-down", "a source does not answer: what it reports is not known", func() Options { return sourceDownDefaults() }},
		{"registry-not-published", "sessions run, and no health route knows any of them", func() Options { return registryDefaults() }},
	}
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
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
