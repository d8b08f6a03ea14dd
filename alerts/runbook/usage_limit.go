package runbook

import (
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
)

// limitMet reports whether an alert is about the usage limit of a workspace of a platform, for which every call is refused.
func limitMet(a *alerts.Alert) bool {
	return a.Rule == "capacity" && strings.Contains(a.Cause.String(), backend.CodeUsage)
}

// endUsage ends the page about a workspace whose usage limit is met.
func (s *subjectView) endUsage(d *Diagnosis) {
	d.conclude("The platform refuses every agent's calls in this workspace. The sandboxes themselves may be well.")
	d.do("See the workspace's usage in the vendor's console. Raise its limit. The platform names only its code, %s.", backend.Text(backend.CodeUsage))
	for _, b := range s.sandboxes {
		if b.Class == backend.SandboxRunning || b.Class == backend.SandboxAsleep {
			d.do("When it is raised, probe one: sandglass probe %s. A call that works ends this alert.", called(b))
			break
		}
	}
	d.dont("Don't destroy sandboxes for it: they may be well.")
}
