package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Example is a configuration file with every key there is, its default and one line of why. The sources that Local has
// are live, so that the file works as it is; the others are commented out.
func Example(known Catalog) string {
	w := &writer{docs: true}
	w.comment("Sandglass configuration. Every key is listed with its default; what starts with # and no space is switched off.")
	w.comment("It is looked for at --config FILE, then $SANDGLASS_CONFIG, then $XDG_CONFIG_HOME/sandglass/config.toml.")
	w.comment("To begin: take the # away from a [[source]], its id and kind, and the keys that say where it is; all others can be left out.")
	w.comment("Check it with: sandglass config check")
	w.comment("Durations are written 90s, 10m, 48h or 7d; sizes 100kB, 64MB or 1GiB.")
	w.blankLine()
	w.table("", nil, valueOf(generalDefaults()))
	local := Local()
	for _, k := range known.Kinds {
		at := slices.IndexFunc(local.Sources, func(s Source) bool { return s.Kind == k.Name })
		id := k.Name + "-1"
		if w.off = at < 0; at >= 0 {
			id = local.Sources[at].ID
		}
		w.blankLine()
		acts := known.actionsOf(k.Name)
		structs := []reflect.Value{valueOf(commonDefaults()), structOf(k.Defaults())}
		if acts.Defaults != nil {
			structs = append(structs, structOf(acts.Defaults()))
		}
		w.comment("%s: %s", k.Name, k.Summary)
		if len(acts.Verbs) > 0 {
			w.comment("What can be done to it: %s", strings.Join(acts.Verbs, ", "))
		}
		w.line("[[source]]")
		w.table("source", map[string]string{"id": quoteKey(id), "kind": quoteKey(k.Name)}, structs...)
	}
	w.actions(known.Operator)
	w.off = true
	w.blankLine()
	w.comment("Facts that no route tells. Repeat it as often as needed; later ones win.")
	w.line("[[declare]]")
	w.table("declare", nil, valueOf(declaredDefaults()))
	w.blankLine()
	w.comment("A view of the console: filter, order, columns and screen under a name. Repeat it as often as needed.")
	w.line("[[view]]")
	w.table("view", nil, valueOf(viewDefaults()))
	w.off = false
	w.keys(known.KeyPlaces)
	w.sharedKeys(known.Rules)
	for _, r := range known.Rules {
		w.blankLine()
		if r.Summary != "" {
			w.comment("%s", r.Summary)
		}
		w.line("[rules.%s]", bareKey(r.Name))
		w.table("rules."+bareKey(r.Name), nil, structOf(r.Defaults()))
	}
	return w.b.String()
}

// sharedKeys prints the keys that most rules have, once, with the value that most of them have.
func (w *writer) sharedKeys(rules []RuleKind) {
	values := map[string]map[string]int{}
	docs := map[string]string{}
	var order []string
	for _, r := range rules {
		v := structOf(r.Defaults())
		for _, f := range fieldsOf(v.Type()) {
			if nested(f.typ) {
				continue
			}
			if values[f.key] == nil {
				values[f.key], docs[f.key] = map[string]int{}, f.doc
				order = append(order, f.key)
			}
			values[f.key][w.value(f.key, indirect(v.FieldByIndex(f.index)))]++
		}
	}
	shared := map[string]string{}
	for _, key := range order {
		n, most := 0, ""
		for _, text := range slices.Sorted(maps.Keys(values[key])) {
			if n += values[key][text]; most == "" || values[key][text] > values[key][most] {
				most = text
			}
		}
		if n < 3 || n < len(rules) {
			continue
		}
		if len(shared) == 0 {
			w.blankLine()
			w.comment("Every [rules.NAME] has these keys. Below they are only where their default is another:")
		}
		shared[key] = most
		w.comment("  %s = %s: %s", key, most, docs[key])
	}
	w.shared = shared
}

// actions prints the examples of [[action]]: every key of the first, of the others what they set.
func (w *writer) actions(k OperatorKind) {
	w.off = true
	for i, e := range k.Examples {
		w.blankLine()
		w.comment("%s", e.Summary)
		w.line("[[action]]")
		if i > 0 {
			w.base = structOf(k.defaults())
		}
		w.table("action", nil, valueOf(&actionCommon{Name: e.Name}), structOf(e.Options))
	}
	w.off, w.base = false, reflect.Value{}
}
