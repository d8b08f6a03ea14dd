package alerts

import "sandglass/backend/fleet"

// The exit codes of a check, those of monitoring plug-ins (https://nagios-plugins.org/doc/guidelines.html).
const (
	ExitOK       = 0
	ExitWarning  = 1
	ExitCritical = 2
	ExitUnknown  = 3
)

// Counts reports whether an alert counts towards the exit codes 1 and 2: it fires or is held, nobody silenced it, and
// it is not about the console's own sight. An acknowledged alert counts.
func (a *Alert) Counts() bool {
	switch a.Rule {
	case "source-down", "source-degraded", "source-stale", "registry-not-published":
		return false
	}
	return a.Silenced == nil && (a.State == StateFiring || a.State == StateHeld)
}

// ExitCode is 2 if an alert that counts is critical, else 1 if one is a warning, else 3 if a source is down or does not tell
// how its part of the fleet is, else 0. A source that has not answered yet counts as down; one that is absent does not.
func ExitCode(b *Board, st *fleet.State) int {
	worst, stale := -1, false
	for _, a := range b.Alerts {
		stale = stale || a.Rule == "source-stale" && (a.State == StateFiring || a.State == StateHeld)
		if a.Counts() {
			worst = max(worst, a.Severity.Rank())
		}
	}
	switch {
	case worst == SeverityCritical.Rank():
		return ExitCritical
	case worst == SeverityWarning.Rank():
		return ExitWarning
	}
	if stale {
		return ExitUnknown
	}
	for _, h := range st.Sources {
		if h.Status == fleet.StatusDown || h.Status == fleet.StatusStarting || h.Blurred() {
			return ExitUnknown
		}
		if l := b.lists(h.Key.Source); l.Lost > 0 {
			return ExitUnknown
		}
	}
	return ExitOK
}

func (b *Board) lists(source string) listMemory {
	if b.memory == nil {
		return listMemory{}
	}
	return b.memory.lists[source]
}
