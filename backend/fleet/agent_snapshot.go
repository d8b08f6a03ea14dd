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
