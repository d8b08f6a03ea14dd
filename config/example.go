package config

import (
	"reflect"
	"slices"
)

// Example is a configuration file with every key there is, its default and one line of why. The sources that Local has
// are live, so that the file works as it is; the others are commented out until somebody fills them in.
func Example(known Known) string {
	w := &writer{docs: true}
	w.comment("Sandglass configuration. Every key is listed with its default; what starts with # and no space is switched off.")
	w.comment("It is looked for at --config FILE, then $SANDGLASS_CONFIG, then $XDG_CONFIG_HOME/sandglass/config.toml.")
	w.comment("Check it with: sandglass config check")
	w.comment("Durations are written 90s, 10m, 48h or 7d; sizes 100kB, 64MB or 1GiB.")
	w.gap()
	w.table("", valueOf(generalDefaults()), nil)
	local := Local()
	for _, k := range known.Kinds {
		at := slices.IndexFunc(local.Sources, func(s Source) bool { return s.Kind == k.Name })
		id := k.Name + "-1"
		if w.off = at < 0; at >= 0 {
			id = local.Sources[at].ID
		}
		w.gap()
		w.comment("%s: %s", k.Name, k.Summary)
		w.line("[[source]]")
		w.table("source", valueOf(commonDefaults()), map[string]string{"id": quoteKey(id), "kind": quoteKey(k.Name)})
		w.table("source", reflect.ValueOf(k.Defaults()).Elem(), nil)
	}
	w.off = true
	w.gap()
	w.comment("Facts that no route tells. Repeat it as often as needed; later ones win.")
	w.line("[[declare]]")
	w.table("declare", valueOf(declaredDefaults()), nil)
	w.off = false
	for _, r := range known.Rules {
		w.gap()
		if r.Summary != "" {
			w.comment("%s", r.Summary)
		}
		w.line("[rules.%s]", bareKey(r.Name))
		w.table("rules."+bareKey(r.Name), reflect.ValueOf(r.Defaults()).Elem(), nil)
	}
	return w.b.String()
}
