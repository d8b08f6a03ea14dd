package rules

import (
	"fmt"
	"reflect"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
)

// Document writes docs/alerts.md from the rules' own metadata.
func Document() string {
	var b strings.Builder
	b.WriteString(`# Alerts

<!-- Generated from the rules in alerts/rules by "go test ./alerts/rules -run TestDocument -update". Do not edit. -->

Every rule gives one of five outcomes for a subject: true, false, no-data, source-error, not-applicable. Only *false* resolves an
alert. One that fired and whose data is missing is **held**: it keeps its line, with the reason and the time it was last confirmed. An alert whose
subjects are no more is **ended**, stays listed for 15 minutes and then lives on in the timeline only. What facts suggest without
proving it is **suspected** (` + "`pending`" + ` in JSON), and says what would decide it.

Findings with the same rule, source and cause are one alert. The cause is the error text with identifiers, numbers, paths, durations and
quoted values left out; its fingerprint carries the version of that algorithm. Durations are measured on a clock that never jumps. While a source is
down, the alerts that rest on it are held and fold under its ` + "`source-down`" + ` line. A rule whose inputs nobody delivers is **blind** and
listed as such; it is never just quiet.

`)
	b.WriteString("| Rule | Severity | Runbook | In short |\n|---|---|---|---|\n")
	for _, k := range Kinds() {
		m := metaOf(k)
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | %s |\n", k.Name, k.Name, m.Severity, m.Explain.Runbook, k.Summary)
	}
	for _, k := range Kinds() {
		section(&b, k, metaOf(k))
	}
	return b.String()
}

func metaOf(k Kind) *alerts.Meta {
	r, err := k.New(k.Defaults())
	if err != nil || r == nil {
		panic("the defaults of " + k.Name + " do not build") // a test builds them all
	}
	return r.Meta()
}

func section(b *strings.Builder, k Kind, m *alerts.Meta) {
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", k.Name, m.Explain.Means)
	fmt.Fprintf(b, "**Reads.** %s\n\n", m.Explain.Inputs)
	if len(m.Needs) > 0 {
		var groups []string
		for _, g := range m.Needs {
			var inputs []string
			for _, in := range g {
				inputs = append(inputs, string(in))
			}
			groups = append(groups, strings.Join(inputs, " or "))
		}
		fmt.Fprintf(b, "Blind without: %s.\n\n", strings.Join(groups, "; and "))
	}
	fmt.Fprintf(b, "**When data is missing.** %s\n\n", m.Explain.Missing)
	fmt.Fprintf(b, "**Limits.** %s\n\n", m.Explain.Limits)
	fmt.Fprintf(b, "**Runbook.** %s\n\n", m.Explain.Runbook)
	b.WriteString("**What to do first.**\n\n")
	for i, f := range m.Explain.First {
		fmt.Fprintf(b, "%d. %s\n", i+1, f)
	}
	fmt.Fprintf(b, "\n| Key of `[rules.%s]` | Default | Meaning |\n|---|---|---|\n", k.Name)
	for _, o := range OptionList(k.Defaults()) {
		fmt.Fprintf(b, "| `%s` | `%s` | %s |\n", o.Key, o.Default, o.Doc)
	}
}

// Option is one key of a rule's table.
type Option struct{ Key, Default, Doc string }

// OptionList lists the keys of an option struct, the common ones last.
func OptionList(o Options) []Option {
	return fields(reflect.ValueOf(o).Elem())
}

func fields(v reflect.Value) []Option {
	var own, shared []Option
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous {
			shared = append(shared, fields(v.Field(i))...)
			continue
		}
		own = append(own, Option{Key: f.Tag.Get("toml"), Default: value(v.Field(i)), Doc: f.Tag.Get("doc")})
	}
	return append(own, shared...)
}

// value writes a default as the configuration file would.
func value(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case backend.Duration:
		return quoted(x)
	case backend.Size:
		return quoted(x)
	case alerts.Severity:
		return `"` + string(x) + `"`
	case alerts.GapPolicy:
		return `"` + string(x) + `"`
	case string:
		return `"` + x + `"`
	}
	return fmt.Sprint(v.Interface())
}

func quoted(x interface{ MarshalText() ([]byte, error) }) string {
	b, err := x.MarshalText()
	if err != nil {
		return err.Error()
	}
	return `"` + string(b) + `"`
}
