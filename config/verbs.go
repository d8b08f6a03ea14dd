package config

import "slices"

// Verbs are those of all kinds, sorted.
func (k Catalog) Verbs() []string {
	var out []string
	for _, a := range k.Actions {
		out = append(out, a.Verbs...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
