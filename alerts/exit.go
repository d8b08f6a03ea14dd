package alerts

import (
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// The exit codes of a check, those of monitoring plug-ins (https://nagios-plugins.org/doc/guidelines.html).
const (
	ExitOK       = 0
	ExitWarning  = 1
	ExitCritical = 2
	ExitUnknown  = 3
)

// RegistriesLost is the cause of registry-not-published where running sessions lost a registry that they had. It is about these
// sessions, while the others see to the console's own sight only.
const RegistriesLost = "running sessions lost their registry: they answer 404"

// Counts reports whether an alert counts towards the exit codes 1 and 2: it fires or is held, nobody silenced it, and
// it is not about the console's own sight. An acknowledged alert counts.
func (a *Alert) Counts() bool {
	switch a.Rule {
	case "source-down", "source-degraded", "source-stale":
		return false
	case "registry-not-published":
		if a.Cause.String() != RegistriesLost {
			return false
		}
	}
	return a.Silenced == nil && (a.State == StateFiring || a.State == StateHeld)
}

// ExitCode is 2 if an alert that counts is critical, else 1 if one is a warning, else 3 if a source is down, degraded or does not
// tell how its part of the fleet is, else 0. One that has not answered yet counts as down; one that is absent does not.
func ExitCode(b *Board, st *fleet.State) int {
	worst := -1
	for _, a := range b.Alerts {
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
	if len(b.Unread(st)) > 0 {
		return ExitUnknown
	}
	return ExitOK
}

// Unread is what is not known of each source that is down, degraded or does not tell how its part of the fleet is: "b is down".
func (b *Board) Unread(st *fleet.State) (out []backend.Safe) {
	for _, h := range st.Sources {
		why, doubted := b.Doubted(h.Key.Source)
		switch {
		case h.Status == fleet.StatusDown || h.Status == fleet.StatusStarting || h.Status == fleet.StatusDegraded:
			out = append(out, backend.Textf("%s is %s", backend.Clean(h.Key.Source, 200), backend.Clean(string(h.Status), 20)))
		case doubted:
			out = append(out, backend.Textf("%s: %s", backend.Clean(h.Key.Source, 200), why))
		case h.Blurred():
			out = append(out, backend.Textf("%s is read in part", backend.Clean(h.Key.Source, 200)))
		}
	}
	return out
}

// Doubted reports whether what a source answers does not tell how its part of the fleet is, by its own answers and by those that
// runs before this one read, and why.
func (b *Board) Doubted(source string) (why backend.Safe, is bool) {
	for _, a := range b.Alerts {
		if a.Source == source && (a.Rule == "source-degraded" || a.Rule == "source-stale") && (a.State == StateFiring || a.State == StateHeld) {
			return a.Cause, true
		}
	}
	if b.memory == nil {
		return why, false
	}
	l := b.memory.lists[source]
	switch {
	case l.Lost > 0:
		return backend.Textf("its list lost %d of %d %s since the last run", l.Lost, l.Running, backend.Clean(l.kind().Spec().Plural, 40)), true
	case len(l.Emptied) > 0:
		return backend.Textf("the registries of %s that run are empty since the last run", backend.Clean(backend.Counted(len(l.Emptied), "session", "sessions"), 40)), true
	}
	return why, false
}
