package config

import (
	"reflect"
	"slices"
	"strings"

	"sandglass/backend"
)

// Part is one [[source]] of a starter.
type Part struct {
	Kind string
	ID   string
	Off  bool   // it is commented out
	Why  string // what was found; empty: nothing is said
	// Set are values of keys that the kind's sample shows as comments, such as the address that was found.
	Set map[string]string
	On  []string // keys whose line in the sample is no comment
}

// verbsKind is the kind of source whose sessions and workspaces the example verbs are for.
const verbsKind = "helix"

// Starter is a short configuration with these sources: what each of them needs, and the rest as comments. With samples it
// has the operator's verbs too, as comments.
func Starter(known Catalog, parts []Part, samples bool) string {
	w := &writer{}
	w.comment("Sandglass configuration. Check it with: sandglass config check --config FILE")
	w.comment("Every key with its default: sandglass config init --full -")
	w.line("environment = %s", quoteKey(generalDefaults().Environment))
	w.line("#production = true")
	for _, p := range parts {
		at := slices.IndexFunc(known.Kinds, func(k backend.SourceKind) bool { return k.Name == p.Kind })
		if at < 0 {
			continue
		}
		k := known.Kinds[at]
		w.blankLine()
		w.comment("%s: %s", k.Name, k.Summary)
		if p.Why != "" {
			w.comment("%s", p.Why)
		}
		w.off = p.Off
		w.line("[[source]]")
		w.line("id = %s", quoteKey(p.ID))
		w.line("kind = %s", quoteKey(p.Kind))
		for line := range strings.Lines(k.Sample) {
			line = strings.TrimSuffix(line, "\n")
			key, _, is := strings.Cut(strings.TrimPrefix(line, "#"), " = ")
			switch {
			case is && p.Set[key] != "":
				line = key + " = " + quoteKey(p.Set[key])
			case is && slices.Contains(p.On, key):
				line = strings.TrimPrefix(line, "#")
			}
			if strings.HasPrefix(line, "#") {
				w.b.WriteString(line + "\n")
			} else {
				w.line("%s", line)
			}
		}
		w.off = false
	}
	if samples && slices.ContainsFunc(parts, func(p Part) bool { return p.Kind == verbsKind }) {
		w.off = true
		for _, e := range known.Operator.Examples {
			w.base = structOf(known.Operator.defaults())
			w.blankLine()
			w.comment("%s", e.Summary)
			w.line("[[action]]")
			w.table("action", nil, valueOf(&actionCommon{Name: e.Name}), structOf(e.Options))
		}
		w.off, w.base = false, reflect.Value{}
	}
	return w.b.String()
}
