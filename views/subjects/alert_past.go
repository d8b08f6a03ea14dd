package subjects

import (
	"regexp"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// PastAlert is what the timeline tells of an alert that is on the Board no more.
type PastAlert struct {
	Rule     string
	Cause    string
	Why      string        // why it ended, where that was said
	End      string        // the name of its newest event: resolved, ended, cleared, moved
	At       time.Time     // of that event
	Fired    time.Time     // when it last began to fire; zero where no event tells
	Subjects []backend.Key // of its newest event that names any
}

// transitionText is an alert's line on the timeline: "RULE WHAT: CAUSE (3 subjects)", then why it is held or ended.
var transitionText = regexp.MustCompile(`(?s)^(\S+) .+?: (.*) \(\d+ subjects?\)(?:: (.*))?$`)

// PastAlertOf finds an alert among events, newest first; false where they do not name it.
func PastAlertOf(id string, events []backend.Event) (p PastAlert, found bool) {
	for i := range events {
		e := &events[i]
		if id == "" || e.Alert != id || e.Kind != backend.EventTransition {
			continue
		}
		if m := transitionText.FindStringSubmatch(e.Text.String()); m != nil && p.Rule == "" {
			p.Rule, p.Cause, p.Why = m[1], m[2], m[3]
		}
		if !found {
			found, p.End, p.At = true, e.Name, e.At
		}
		if len(p.Subjects) == 0 {
			if p.Subjects = e.About; e.Subject != (backend.Key{}) {
				p.Subjects = []backend.Key{e.Subject}
			}
		}
		if e.Name == string(alerts.StateFiring) && p.Fired.IsZero() {
			p.Fired = e.At
		}
	}
	return p, found && p.Rule != ""
}

// ends are how the newest events of alerts that are over are said.
var ends = map[string]string{
	string(alerts.StateResolved): "Resolved since", string(alerts.StateEnded): "Ended since",
	"cleared": "No longer pending since", "moved": "Its subjects have another cause since",
}

func (p *PastAlert) said() string {
	if s := ends[p.End]; s != "" {
		return s
	}
	return "It is on no list of alerts; its newest event is of"
}

// pastAlert writes what is remembered of an alert that is over, false where that is nothing.
func (w *writer) pastAlert(k backend.Key) bool {
	p, ok := PastAlertOf(k.ID.Raw(), w.f.Events)
	if !ok {
		return false
	}
	w.Line(kit.Span{Tone: theme.Strong, Text: GoneSince(k, w.f.Snapshot)})
	w.Blank()
	w.Field("rule", normal(p.Rule))
	w.Field("cause", normal(p.Cause))
	if p.Why != "" {
		w.Field("why", normal(p.Why))
	}
	if !p.Fired.IsZero() && p.Fired.Before(p.At) {
		w.Field("fired", normal("since "+Clock(p.Fired, w.f.Now)), dim("  "+backend.Age(w.f.Now.Sub(p.Fired))+" ago"))
	}
	w.Field("source", normal(k.Source))
	for i, s := range p.Subjects {
		label := ""
		if i == 0 {
			label = "subjects"
		}
		if i == mostPastSubjects {
			w.Field("", dim("and "+kit.Number(len(p.Subjects)-i)+" more"))
			break
		}
		w.Field(label, normal(noun(s.Kind)+" "+NameOf(s, w.f.Snapshot).String()))
	}
	w.Field("alert", normal(k.ID.Safe().String()))
	return true
}

// mostPastSubjects bounds the subjects that are named of an alert that is over.
const mostPastSubjects = 5

// pastTitle is the heading over an alert that is over.
func pastTitle(k backend.Key, s *views.Snapshot) string {
	if p, ok := PastAlertOf(k.ID.Raw(), s.Events); ok {
		return "alert " + p.Rule
	}
	return "alert"
}
