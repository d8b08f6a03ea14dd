package runbook

import (
	"slices"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
)

// refusal is what must not be done while a rule fires, on whatever page it is advised.
type refusal struct {
	rule  string
	verbs []string
	why   backend.Literal
	wide  bool // it concerns all of the source
}

func refusals() []refusal {
	return []refusal{
		{"eviction-storm", []string{"reset", "redeploy", "restart", "upgrade", "roll forward"}, "eviction-storm fires, and each of these adds opens (runbook 7)", true},
		{"possible-leak", []string{"reset", "destroy", "remove", "recreate"}, "possible-leak fires, and what is shared is evidence (runbook 8)", false},
		{"files-vanished", []string{"reset", "destroy", "recreate"}, "files-vanished fires: copy what is left first (runbook 2)", false},
		{"capacity", []string{"reset", "redeploy", "restart"}, "capacity fires, and each of these asks for more instances (runbook 7)", true},
		{"ref-mismatch", []string{"reset"}, "ref-mismatch fires, and the stored reference is still the same (runbook 6)", false},
	}
}

// refuse puts the reason of another page beside each line of advice that this page's neighbours refuse.
func (s *subjectView) refuse(d *Diagnosis) {
	if s.Board == nil {
		return
	}
	for _, r := range refusals() {
		fires := slices.ContainsFunc(s.Board.Alerts, func(a *alerts.Alert) bool {
			return a.Rule == r.rule && a.State == alerts.StateFiring && (s.isAbout(a) || r.wide && s.here(a.Source))
		})
		if !fires {
			continue
		}
		if r.wide && d.Incident != "7" {
			d.dont("Don't reset or restart yet: %s.", backend.Text(r.why))
		}
		for i, line := range d.Do {
			text := strings.ToLower(line.String())
			advised := slices.ContainsFunc(r.verbs, func(v string) bool { return backend.HoldsWord(text, v) })
			if advised && !strings.Contains(text, "not yet: ") {
				d.Do[i] = backend.Textf("%s. Not yet: %s.", sentence(line), backend.Text(r.why))
			}
		}
		if slices.Contains(r.verbs, "reset") && d.NoReset.IsEmpty() {
			d.NoReset = backend.Text(r.why)
		}
	}
}
