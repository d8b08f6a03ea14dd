package subjects

import (
	"strings"

	"sandglass/alerts"
	"sandglass/views"
)

// anotherSandbox says what it means that references lead to sandboxes that were made after them.
func anotherSandbox(a *alerts.Alert, c *views.Snapshot) string {
	const to = "%s lead to a new sandbox: files of the one before are "
	if empty, kept := snapshotsOf(a, c); empty+kept == 0 {
		return to + "not in it, except in mounts"
	}
	return to + "lost, except in mounts" + strings.Replace(exceptKept(a, c), ", except", " and", 1)
}

// exceptKept says that the snapshots of saved states keep files of sandboxes that are gone; empty: none is known to.
func exceptKept(a *alerts.Alert, c *views.Snapshot) string {
	switch _, kept := snapshotsOf(a, c); {
	case kept > 0 && kept == a.SubjectCount:
		return ", except in the last snapshot"
	case kept > 0:
		return ", except in the last snapshot where one was taken"
	}
	return ""
}

// snapshotsOf counts the saved states behind an alert whose snapshots keep nothing, and those whose do keep files.
func snapshotsOf(a *alerts.Alert, c *views.Snapshot) (empty, kept int) {
	for i := range a.Subjects {
		x := c.State.Refs.Get(a.Subjects[i].Key)
		switch {
		case x == nil || x.Agent == nil || x.Agent.Snapshot.IsEmpty():
		case x.Agent.KeepsNothing():
			empty++
		default:
			kept++
		}
	}
	return empty, kept
}
