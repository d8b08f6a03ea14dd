package actions

import (
	"slices"
	"strconv"
	"strings"

	"sandglass/backend"
)

// Refused are verbs that cannot be done, for one reason.
type Refused struct {
	Verbs []Verb
	Why   backend.Safe
}

// RefusedTogether groups those of the verbs that cannot be done by their reason. A reason that quotes its verb quotes all verbs of
// its group.
func RefusedTogether(list []Ability) []Refused {
	const gap = "\u2026"
	var out []Refused
	var whys []string
	for i := range list {
		if list[i].Denied.IsEmpty() {
			continue
		}
		verb := list[i].Spec.Verb
		why := strings.ReplaceAll(list[i].Denied.String(), strconv.Quote(string(verb)), gap)
		n := slices.Index(whys, why)
		if n < 0 {
			n, whys, out = len(out), append(whys, why), append(out, Refused{})
		}
		out[n].Verbs = append(out[n].Verbs, verb)
	}
	for i := range out {
		quoted := make([]string, len(out[i].Verbs))
		for j, v := range out[i].Verbs {
			quoted[j] = strconv.Quote(string(v))
		}
		out[i].Why = backend.Clean(strings.ReplaceAll(whys[i], gap, strings.Join(quoted, ", ")), backend.MaxTextRunes)
	}
	return out
}

// Names lists the verbs.
func (r *Refused) Names() string {
	var names []string
	for _, v := range r.Verbs {
		names = append(names, string(v))
	}
	return strings.Join(names, ", ")
}
