package rules

import (
	_ "embed"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
)

// figures are what a simulated day of a healthy fleet with incidents in it measured; the test that plays it writes them.
//
//go:embed figures.md
var figures string

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

**When it began** lies between two moments, taken from what is read and not from when the console was started: last success and first failed attempt, by
the registry or by log lines; the counts of the last hour, which a log's look back and a Prometheus server's range query fill at the start; the end, the memory
kill and the health checks of a container; the start of sessions and processes. What the later moment proves fires at once (` + "`40m+`" + `); what only the
earlier one suggests is suspected.

**Acknowledging** says that somebody has an alert: for 30 minutes unless said otherwise, until it resolves, and only as long as it does not become more
severe; what lapses is shown as such and does not come back by itself. **Silencing** mutes what matchers match, now and later: ` + "`rule=\"failed-too-long\", source=~\"helix-.*\", severity!=\"info\"`" + `
in Alertmanager's syntax, anchored, with a reason and an end (one hour unless said otherwise). A label that an alert does not have never matches,
whatever the operator; provider, tenant and session are labels where all subjects share one. Both are known on this host only.

A rule can be limited to a **part of the fleet**: ` + "`only`" + ` and ` + "`except`" + ` are lists of matchers of the same form over source, provider, tenant and session. What is
outside is not judged, not counted by rules that count, and no alert; a label that is not known never matches, so ` + "`only`" + ` leaves out what it cannot place and
` + "`except`" + ` keeps it. Counters that carry no tenant or session cannot be limited by these. ` + "`sandglass rules list`" + ` shows the limits.

The console rings the terminal's **bell** once when an alert of the configured severity (` + "`bell`" + `, critical unless said otherwise) begins to fire, or is nobody's again, and
nothing mutes it: no acknowledgement, no silence, no flapping, no outage that stands for it. What is there when the console starts, and what comes back with its
source, does not ring; within 10 seconds it rings once.

An alert that goes on and off is **flapping**: it keeps its line and rings no bell. Of its last 20 results, one a minute and one at every change, those that differ
from the one before weigh 0.80 to 1.18, the newest most; above 30 % it flaps, at 25 % or below it does not any more (the numbers of Icinga). Subjects that are no more are no change.

An alert about an outage hides the lines of other rules that are parts of it and counts them: its rule names those rules, both share the named labels, and
it knows every one of their subjects. What is more severe is never hidden. Where a rule measures a rate, the alert says whether it gets **worse**, is **steady** or is
**ending**, with the time in which it doubles or halves; changes that lie up to 15 minutes before the onset are named with it.

What a rule concludes from a story can be tried with ` + "`sandglass rules test FILE`" + `: [Testing the alert rules](rule-tests.md) has the notation. How quiet and how quick
the rules are on a busy day stands [at the end](#measured-how-quiet-how-quick).

`)
	b.WriteString("| Rule | Severity | Runbook | In short |\n|---|---|---|---|\n")
	for _, k := range Kinds() {
		m := metaOf(k)
		fmt.Fprintf(&b, "| [%s](#%s) | %s | %s | %s |\n", k.Name, k.Name, m.Severity, m.Explain.Runbook, k.Summary)
	}
	for _, k := range Kinds() {
		section(&b, k, metaOf(k))
	}
	b.WriteString("\n## Measured: how quiet, how quick\n\n" + figures)
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
	case []string:
		var parts []string
		for _, t := range x {
			parts = append(parts, strconv.Quote(t))
		}
		return "[" + strings.Join(parts, ", ") + "]"
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
