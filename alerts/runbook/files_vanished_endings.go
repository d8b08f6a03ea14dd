package runbook

import (
	"slices"
	"strings"

	"sandglass/backend"
)

// filesVanishedEndings are what incident 2 can come to: what was proved to have happened before what the design would explain.
func (s *subjectView) filesVanishedEndings() []ending {
	branch := backend.Literal("Copy what it needs into the branch by a tool; the provider has no snapshots.")
	switch p := s.provider(); {
	case backend.CanSnapshot(p):
		branch = "Snapshot the parent's workspace and restore it into the branch; it comes as a new reference."
	case p == "":
		branch = "Copy what it needs into the branch; a provider with snapshots can restore the parent's there."
	}
	shares := backend.Literal("Stop one of the two sessions and copy what is left. Upgrade to round 4 or later if the release is older (runbook 8).")
	if s.session != nil && s.allShow(4, s.sessionID, s.session.BranchedFrom) {
		shares = "Stop one of the two sessions and copy what is left. Find out which declaration or copy gave the branch this id (runbook 8)."
	}
	cleaned := backend.Literal("Find the job that removed it and stop it. Then restore the files from a checkpoint of the same session.")
	if slices.ContainsFunc(s.sandboxes, func(b *backend.Sandbox) bool { return !b.LostHere().IsEmpty() }) {
		cleaned = "Restore its files in the new container from a checkpoint of the same session, or begin a new session."
	}
	replaced := backend.Literal("Go back to one of the session's own checkpoints. Find out why the old one went (runbook 7, or memory).")
	if !s.lostHere().IsEmpty() {
		replaced = "Go back to one of the session's own checkpoints. It was ended on purpose: ask who did it."
	}
	return []ending{
		{any: []string{"branch-shares"}, word: EndShared, conclude: "Not by design", quotes: true,
			do: shares, dont: "Don't let both go on: each overwrites the other's files.",
			noReset: "the branch and its parent use one sandbox"},
		{any: []string{"cleaned"}, word: EndCleaned, conclude: "Cleaned", quotes: true,
			do: cleaned},
		{any: []string{"boot"}, word: EndCleaned, conclude: "Cleaned by a boot of the host", quotes: true, do: "Put tmpdirRoot on a disk if files must outlive a boot."},
		{any: []string{"emptied"}, word: EndCleaned, conclude: "Cleaned from inside", quotes: true,
			do: "Copy what is left in the container. Then make the directory again (repair) and restore a checkpoint of the session."},
		{any: []string{"branch"}, word: EndByDesign, conclude: "By design", quotes: true,
			do: branch},
		{any: []string{"durability"}, word: EndByDesign, conclude: "By design", quotes: true, do: s.durableChoice()},
		{any: []string{"replaced"}, word: EndReplaced, conclude: "Replaced", quotes: true,
			do: replaced},
		{any: []string{"stopped"}, word: EndAsleep, conclude: "Asleep or stopped", quotes: true,
			do: "Restore one of the session's own checkpoints. Its next start is empty; take a snapshot before idle times."},
		{any: []string{"closed"}, word: EndClosed, conclude: "Closed", quotes: true,
			do: s.outliveClose()},
		{any: []string{"asleep"}, word: EndAsleep, conclude: "Asleep", quotes: true, do: "Wake it on purpose and look. Take a snapshot before idle times if the files matter."},
		{word: EndCannotTell, denies: true, conclude: "It is not known what happened to the files.", do: "Add what the open checks name, then ask again."},
	}
}

// durableChoice names the provider that keeps files where the session runs.
func (s *subjectView) durableChoice() backend.Literal {
	runtime := ""
	if s.session != nil {
		runtime = strings.ToLower(s.session.Runtime.String())
	}
	p := s.provider()
	switch {
	case strings.Contains(runtime, "durable") || strings.Contains(runtime, "cloudflare") || strings.HasPrefix(p, "cloudflare-"):
		return "Choose cloudflare-filestore, which keeps files in the Durable Object."
	case s.platform() == ownHosts || strings.Contains(runtime, "js") || strings.Contains(runtime, "node"):
		return "Choose local-bash with tmpdirRoot on a disk, on a POSIX host."
	}
	return "Choose a provider that keeps files: cloudflare-filestore in a Durable Object, local-bash on a POSIX host."
}

// outliveClose says how files outlive a close at the subject's provider.
func (s *subjectView) outliveClose() backend.Literal {
	if s.provider() == "cloudflare-sandbox" {
		return "Go back to one of the session's own checkpoints; where files must outlive a session, leave destroyOnClose off or take a snapshot before."
	}
	return "Go back to one of the session's own checkpoints; copy what must outlive a session to a durable place before it closes."
}
