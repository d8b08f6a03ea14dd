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
	page  string // whose own advice already goes by the rule
	verbs []string
	why   backend.Literal
	wide  bool // it concerns all of the source
}

func refusals() []refusal {
	return []refusal{
		{"eviction-storm", "7", []string{"reset", "redeploy", "restart", "upgrade", "roll forward"}, "eviction-storm fires, and this adds opens to the queue (runbook 7)", true},
		{"possible-leak", "8", []string{"reset", "destroy", "remove", "recreate"}, "possible-leak fires, and this destroys evidence (runbook 8)", false},
		{"files-vanished", "2", []string{"reset", "destroy", "recreate"}, "files-vanished fires, and this deletes the files that are left; copy them first (runbook 2)", false},
		{"capacity", "7", []string{"reset", "redeploy", "restart"}, "capacity fires, and this asks for more instances (runbook 7)", true},
		{"ref-mismatch", "6", []string{"reset"}, "ref-mismatch fires, and a reset reads the same reference again (runbook 6)", false},
	}
}

// sameProvider reports whether an alert about a provider can be about the subject's: unless both are known and differ.
func (s *subjectView) sameProvider(a *alerts.Alert) bool {
	own := s.provider()
	if own == "" {
		return true
	}
	other := false
	for i := range a.Subjects[:min(len(a.Subjects), 20)] {
		p := ""
		if w := s.State.Workspace(a.Subjects[i].Key); w != nil {
			p = w.Provider.String()
		}
		if p == "" || p == own {
			return true
		}
		other = true
	}
	return !other
}

// refuse puts the reason of another page beside each line of advice that this page's neighbours refuse.
func (s *subjectView) refuse(d *Diagnosis) {
	if s.Board == nil {
		return
	}
	for _, r := range refusals() {
		fires := slices.ContainsFunc(s.Board.Alerts, func(a *alerts.Alert) bool {
			return a.Rule == r.rule && a.State == alerts.StateFiring && (s.isAbout(a) || r.wide && s.here(a.Source) && s.sameProvider(a))
		})
		if !fires {
			continue
		}
		if r.wide && d.Incident != "7" {
			d.dont("Don't reset or restart yet: %s.", backend.Text(r.why))
		}
		for i, line := range d.Do {
			if d.Incident == r.page {
				break // the remedy of the alert itself
			}
			text := strings.ToLower(line.String())
			advised := slices.ContainsFunc(r.verbs, func(v string) bool { return backend.HoldsWord(text, v) })
			if advised && !strings.Contains(text, "not yet: ") {
				d.Do[i] = backend.Textf("%s. Not yet: %s.", sentence(line), backend.Text(r.why))
			}
		}
		if slices.Contains(r.verbs, "reset") && d.NoReset.IsEmpty() {
			d.NoReset = backend.Text(r.why)
		}
		if slices.Contains(r.verbs, "destroy") && d.NoDestroy.IsEmpty() {
			d.NoDestroy = backend.Text(r.why)
		}
	}
}
