package views

import (
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Summary counts what the header shows. It is worked out once per State.
type Summary struct {
	Sources, SourcesUp  int // without absent ones
	Starting            int // sources that have not answered yet
	Workspaces, Failing int
	WorkspacesUnknown   int
	Sandboxes, Broken   int  // without machines that are merely listed
	Listed              int  // those
	Framework           bool // some source reads an agent framework
	Containers          bool // some of them are no sandboxes
	Tmpdirs, Sessions   int
	Work                int // executions and jobs
	Critical, Warning   int // firing and held, neither silenced nor behind another line
	Info                int // likewise
	Held                int // behind the line of a source that is not read, and not silenced
	Pending, BlindRule  int
}

// Machines is the noun for what Sandboxes counts.
func (s *Summary) Machines() (one, many string) {
	if s.Containers {
		return "container", "containers"
	}
	return "sandbox", "sandboxes"
}

// Summarise counts a State and a Board.
func Summarise(c *Snapshot) *Summary {
	s := &Summary{Workspaces: c.State.Workspaces.Len(), Tmpdirs: c.State.Tmpdirs.Len(), Sessions: c.State.Sessions.Len(),
		Work: c.State.Executions.Len() + c.State.Jobs.Len(), Framework: c.State.WatchesFramework()}
	for _, h := range c.State.Sources {
		switch h.Status {
		case fleet.StatusAbsent:
			continue
		case fleet.StatusOK, fleet.StatusDegraded:
			s.SourcesUp++
		case fleet.StatusStarting:
			s.Starting++
		case fleet.StatusDown:
		}
		s.Sources++
	}
	for w := range c.State.Workspaces.All() {
		switch c.Condition(w) {
		case backend.CondFailing:
			if !w.RunsLong(c.Now, c.State.LongestOperation) {
				s.Failing++
			}
		case backend.CondUnknown:
			s.WorkspacesUnknown++
		case backend.CondWorking, backend.CondBusy, backend.CondUnused:
		}
	}
	for b := range c.State.Sandboxes.All() {
		if b.Judged() {
			s.Sandboxes++
			s.Containers = s.Containers || b.Watched
			if b.Broken() {
				s.Broken++
			}
		} else {
			s.Listed++
		}
	}
	s.countAlerts(c.Board)
	return s
}

func (s *Summary) countAlerts(b *alerts.Board) {
	for _, a := range b.Alerts {
		switch {
		case a.FoldedUnder != "" && a.InhibitedBy == "" && a.Silenced == nil:
			s.Held++
		case a.Silenced != nil || a.Hidden(): // hidden ones stand behind the line of their source or outage
		case a.State == alerts.StatePending:
			s.Pending++
		case a.State != alerts.StateFiring && a.State != alerts.StateHeld:
		case a.Severity == alerts.SeverityCritical:
			s.Critical++
		case a.Severity == alerts.SeverityWarning:
			s.Warning++
		default:
			s.Info++
		}
	}
	s.BlindRule = b.NotEvaluated()
}

// Lagging returns the source whose newest data is most overdue, once that exceeds two of its intervals; nil when all
// are in time. Sources that never answered do not count: they are listed as starting or down.
func Lagging(c *Snapshot) *fleet.SourceHealth {
	var worst *fleet.SourceHealth
	for _, h := range c.State.Sources {
		if h.LastOK.IsZero() || h.Interval <= 0 || h.Status == fleet.StatusAbsent || c.Now.Sub(h.DataAt()) <= 2*h.Interval {
			continue
		}
		if worst == nil || h.DataAt().Before(worst.DataAt()) {
			worst = h
		}
	}
	return worst
}
