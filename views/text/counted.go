package text

import (
	"slices"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// counted is the kind that says how much of the fleet was seen: the first that a source lists, or would list.
func counted(st *fleet.State) backend.Kind {
	for _, k := range []backend.Kind{backend.KindWorkspace, backend.KindSandbox, backend.KindTmpdir} {
		if slices.ContainsFunc(st.Sources, func(h *fleet.SourceHealth) bool {
			return h.Status != fleet.StatusAbsent && h.Watches(k.Spec().Input)
		}) {
			return k
		}
	}
	if st.Workspaces.Len() > 0 {
		return backend.KindWorkspace
	}
	return ""
}

// seen counts what is watched: workspaces, or the containers or scratch directories of a machine without an agent framework.
// Empty: nothing that is read can be counted.
func (c *Check) seen() string {
	total, one, many, apart := 0, "", "", 0
	switch {
	case c.counted == backend.KindWorkspace:
		one, many = "workspace", "workspaces"
		total = c.snapshot.State.Workspaces.Len()
	case c.counted == backend.KindSandbox:
		one, many = "sandbox", "sandboxes" // of cloud platforms, which say in which region each is
		alone := false
		for b := range c.snapshot.State.Sandboxes.All() {
			if b.Judged() {
				total++
			}
			switch {
			case b.Unattributed:
				apart++
			case !b.BridgeID.IsZero() && b.Container.IsZero():
				alone = true
			}
			if b.Region.IsEmpty() && b.BridgeID.IsZero() {
				one, many = "container", "containers"
			}
		}
		if !alone {
			apart = 0
		}
		if c.snapshot.State.Sandboxes.Len() == 0 && !c.clouds() {
			one, many = "container", "containers"
		}
	case c.counted == backend.KindTmpdir:
		one, many = "scratch directory", "scratch directories"
		total = c.snapshot.State.Tmpdirs.Len()
	default:
		return ""
	}
	switch {
	case c.unread && total == 0:
		return many + " unknown"
	case c.unread:
		return backend.Counted(total, one, many) + " known"
	case apart > 0:
		return backend.Counted(total, one, many) + ", " + backend.Counted(apart, "of them an instance", "of them instances") + " that may be one of the others"
	}
	return backend.Counted(total, one, many)
}

// whyNothing are the notes of a source that answers and lists none of what the verdict counts, where no source does.
func (c *Check) whyNothing(source string) []backend.Safe {
	if c.snapshot == nil {
		return nil
	}
	st := c.snapshot.State
	none := c.counted == backend.KindWorkspace && st.Workspaces.Len() == 0 || c.counted == backend.KindSandbox && st.Sandboxes.Len() == 0 ||
		c.counted == backend.KindTmpdir && st.Tmpdirs.Len() == 0
	if h := st.Source(source); none && h != nil && h.Error.IsEmpty() && h.Delivers(c.counted.Spec().Input) {
		return h.Notes
	}
	return nil
}

// clouds reports whether all machines that the sources could list are sandboxes of cloud platforms.
func (c *Check) clouds() bool {
	return !slices.ContainsFunc(c.snapshot.State.Sources, func(h *fleet.SourceHealth) bool {
		return h.Status != fleet.StatusAbsent && h.Watches(backend.InputContainers) && !h.Watches(backend.InputPlatform) && !h.Watches(backend.InputCapacity)
	})
}
