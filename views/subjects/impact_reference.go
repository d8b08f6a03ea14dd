package subjects

import (
	"sandglass/alerts"
	"sandglass/views"
)

// anotherSandbox says what it means that references lead to sandboxes that were made after them: what the snapshots of their
// sessions keep is not lost.
func anotherSandbox(a *alerts.Alert, c *views.Snapshot) string {
	empty, kept := 0, 0
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
	const to = "%s lead to a new sandbox: files of the one before are "
	switch {
	case empty > 0 && empty == a.SubjectCount:
		return to + "lost, except in mounts"
	case kept > 0 && kept == a.SubjectCount:
		return to + "lost, except in mounts and in the last snapshot"
	case empty+kept > 0:
		return to + "lost, except in mounts and in the last snapshot where one was taken"
	}
	return to + "not in it, except in mounts"
}
