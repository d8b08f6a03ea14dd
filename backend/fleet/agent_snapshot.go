package fleet

import (
	"slices"

	"sandglass/backend"
)

// ArchiveLeft reports whether an archive in a sandbox was older, when a probe read it, than one can be that is in use: the agent's
// SDK gives up within its timeouts for tar and for the removal. False too where its age is not told.
func (s *State) ArchiveLeft(b *backend.Sandbox, x *backend.Inside, a *backend.SandboxArchive) bool {
	state := s.agentOn(b)
	return !a.ChangedAt.IsZero() && x.At.Sub(a.ChangedAt) > state.Timeout(backend.AgentTar)+state.Timeout(backend.AgentCleanup)
}

// Saving says by what a save or restore of the files of a session was, or may have been, under way in a sandbox when a probe read it;
// empty: nothing told of one. The agent's SDK detaches mounts for it, and attaches them again once the archive is removed: until then a
// missing one is no trouble. A tar that runs past its timeout tells of none: the SDK gave it up.
func (s *State) Saving(b *backend.Sandbox, x *backend.Inside) backend.Safe {
	const says = "a save or restore of its files %s under way then (%s): mounts may be absent until it ends"
	state, given := s.agentOn(b), ""
	for i := range x.Processes {
		p := &x.Processes[i]
		command, limit, since, word := p.Command.String(), backend.AgentTar, p.StartedAt, "was"
		tar := archiveMade.FindStringSubmatch(command)
		if tar == nil && !archiveGone.MatchString(command) {
			continue
		}
		if tar == nil || !p.MayRun() {
			limit = backend.AgentCleanup
		}
		if !p.MayRun() {
			if since, word = p.EndedAt, "may have been"; since.IsZero() {
				continue
			}
		}
		if since.IsZero() || x.At.Sub(since) <= state.Timeout(limit) {
			return backend.Textf(says, word, "process "+p.PID.String())
		}
		if tar != nil && p.MayRun() {
			given = tar[2]
		}
	}
	for i := range x.Archives {
		if a := &x.Archives[i]; a.Session.String() != given && !s.ArchiveLeft(b, x, a) {
			return backend.Textf(says, "may have been", a.Path)
		}
	}
	return backend.Safe{}
}

// LeftOut is what the snapshots of a sandbox's session leave out, by the manifest of its saved state and by the newest save that a probe
// found. Nothing where they keep nothing.
func (s *State) LeftOut(b *backend.Sandbox) *backend.LeftOut {
	var out backend.LeftOut
	if r := s.StateNaming(b); r != nil {
		if r.Agent.KeepsNothing() {
			return &out
		}
		out = r.Agent.LeftOut
	}
	if x, read := b.Inside(); read {
		out.With(&x.LeftOut)
	}
	return &out
}

// DrivesLost are the drives that the saved state of a sandbox's session declares, and that a probe did not find. There are none where
// the drives were not read in full.
func (s *State) DrivesLost(b *backend.Sandbox, x *backend.Inside) (out []backend.Safe) {
	state := s.agentOn(b)
	if state == nil || !x.Read(backend.PartMounts) || len(x.Mounts) == backend.MaxMountsKept {
		return nil
	}
	for _, d := range state.Drives {
		if !slices.Contains(x.Mounts, d) {
			out = append(out, d)
		}
	}
	return out
}

// agentOn is what the SDK saved of the session on a sandbox; nil: nothing is known.
func (s *State) agentOn(b *backend.Sandbox) *backend.AgentState {
	if r := s.StateOn(b); r != nil {
		return r.Agent
	}
	return nil
}
