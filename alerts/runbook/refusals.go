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
	wide  bool // it concerns all of a provider
}

func refusals() []refusal {
	return []refusal{
		{"eviction-storm", "7", []string{"reset", "redeploy", "deploy", "restart", "upgrade", "roll forward"}, "eviction-storm fires, and this adds opens to the queue (runbook 7)", true},
		{"possible-leak", "8", []string{"reset", "destroy", "remove", "recreate"}, "possible-leak fires, and this destroys evidence (runbook 8)", false},
		{"files-vanished", "2", []string{"reset", "destroy", "recreate"}, "files-vanished fires, and this deletes the files that are left; copy them first (runbook 2)", false},
		{"capacity", "7", []string{"reset", "redeploy", "restart"}, "capacity fires, and this asks for more instances (runbook 7)", true},
		{"ref-mismatch", "6", []string{"reset"}, "ref-mismatch fires, and a reset reads the same reference again (runbook 6)", false},
	}
}

// sharesProvider reports whether an alert is about the provider that the subject is known to use. Providers that are not known
// share nothing.
func (s *subjectView) sharesProvider(a *alerts.Alert) bool {
	own := s.provider()
	return own != "" && s.here(a.Source) && slices.ContainsFunc(a.Subjects[:min(len(a.Subjects), 20)], func(x alerts.Subject) bool {
		w := s.State.Workspace(x.Key)
		return w != nil && w.Provider.String() == own
	})
}

// refusedBy reports whether what an alert warns of concerns the subject of the page. A page of a whole source that starts from
// alerts is about their subjects, not about everything of the source.
func (s *subjectView) refusedBy(r *refusal, a *alerts.Alert) bool {
	storm := a.Rule == "eviction-storm" && a.State == alerts.StatePending // page 7 refuses a reset from then on
	if a.Rule != r.rule || a.State != alerts.StateFiring && !storm {
		return false
	}
	if a.Rule == "files-vanished" && s.emptiedHere(a) {
		return false // nothing of them is left
	}
	if !s.wide || len(s.ledOn) == 0 {
		return s.isAbout(a) || r.wide && s.sharesProvider(a)
	}
	return s.isAbout(a) && (slices.Contains(s.led, a) || slices.ContainsFunc(a.Subjects, func(x alerts.Subject) bool {
		return x.State != alerts.StateEnded && (s.ledOn[x.Key] || x.Key.Kind == backend.KindSource && s.ledUses(x.Key))
	}))
}

// namedBy reports whether an alert names a workspace or session of the page, or a whole source: its warning is then the page's
// own.
func (s *subjectView) namedBy(a *alerts.Alert) bool {
	own := map[backend.Key]bool{}
	for k := range s.ledOn {
		k.Source = ""
		own[k] = true
	}
	if !s.wide {
		for _, w := range s.workspaces {
			own[backend.Key{Kind: backend.KindWorkspace, Parent: w.Key.Parent, ID: w.Key.ID}] = true
		}
	}
	return slices.ContainsFunc(a.Subjects, func(x alerts.Subject) bool {
		k := x.Key
		k.Source = ""
		return x.State != alerts.StateEnded && (k.Kind == backend.KindSource || own[k] || own[backend.Key{Kind: backend.KindSession, ID: k.Parent}])
	})
}

// ledUses reports whether a subject of the page's alerts is of the source, and of its provider where the key names one.
func (s *subjectView) ledUses(k backend.Key) bool {
	_, provider, part := strings.Cut(k.ID.Raw(), "/")
	for of := range s.ledOn {
		w, b := s.State.Workspace(of), s.State.Sandbox(of)
		switch {
		case of.Kind == backend.KindSource || of.Kind == backend.KindHost:
			return true
		case !part && of.Source == k.Source, w != nil && w.Key.Source == k.Source && s.mayUse(w.Provider.String(), k.Source, provider), b != nil && b.Provider.String() == provider:
			return true
		}
	}
	return false
}

// refuse puts the reason of another page beside each line of advice that this page's neighbours refuse.
func (s *subjectView) refuse(d *Diagnosis) {
	if s.Board == nil {
		return
	}
	for _, r := range refusals() {
		i := slices.IndexFunc(s.Board.Alerts, func(a *alerts.Alert) bool { return s.refusedBy(&r, a) })
		if i < 0 {
			continue
		}
		why := backend.Text(r.why)
		if s.Board.Alerts[i].State == alerts.StatePending {
			why = backend.Clean(strings.Replace(string(r.why), " fires, and", " is pending, and", 1), 200)
		}
		said := slices.ContainsFunc(d.Dont, func(l backend.Safe) bool { return strings.Contains(l.String(), " yet: ") })
		if r.wide && d.Incident != "7" && !said && s.namedBy(s.Board.Alerts[i]) { // one line of one outage is enough
			verbs := backend.Literal("reset or restart")
			if slices.ContainsFunc(d.Dont, func(l backend.Safe) bool { return strings.HasPrefix(l.String(), "Don't reset") }) {
				verbs = "restart" // one line against a reset is enough
			}
			d.dont("Don't %s yet: %s.", backend.Text(verbs), why)
		}
		for i, line := range d.Do {
			if d.Incident == r.page {
				break // the remedy of the alert itself
			}
			text := strings.ToLower(line.String())
			advised := slices.ContainsFunc(r.verbs, func(v string) bool { return backend.HoldsWord(text, v) })
			cure := strings.Contains(text, "max_instances") // it makes the room that is missing
			if advised && !cure && !strings.Contains(text, "not yet: ") {
				d.Do[i] = backend.Textf("%s. Not yet: %s.", sentence(line), why)
			}
		}
		if slices.Contains(r.verbs, "reset") && d.NoReset.IsEmpty() && !s.ofAgentSDK() { // whose sessions have no reset
			d.NoReset = why
		}
		if slices.Contains(r.verbs, "destroy") && d.NoDestroy.IsEmpty() {
			d.NoDestroy = why
		}
	}
}
