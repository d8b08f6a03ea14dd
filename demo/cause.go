package demo

import "fmt"

// cause is why something fails; its text carries ids and numbers that differ
// from attempt to attempt, as real ones do.
type cause uint8

const (
	causeNone cause = iota
	causeSchema
	causeBackupBucket
	causeImage
	causeNoSpace
	causeR2
	causeDatabase
	causeStuck
	causeMaxInstances
	causeMaxInstancesFailed
	causeInstanceGone
	causeContainerKilled
	causeContainerLoop
	causeColdStart
	causeFirstOpen
	causeSecret
)

// afterGivingUp is the cause once the registry stops retrying.
func (c cause) afterGivingUp() cause {
	if c == causeMaxInstances {
		return causeMaxInstancesFailed
	}
	return c
}

// errorText is the error of a workspace, with its own container where the cause names one.
func (w world) errorText(i int32, c cause, nonce int64) string {
	h := w.random.value(saltText, int(i), nonce)
	if n, ok := w.containerOf[i]; ok && (c == causeContainerKilled || c == causeContainerLoop) {
		return c.textOf(h, w.containers[n].id[:12])
	}
	return c.text(h)
}

// text spells a cause; h makes its ids and numbers.
func (c cause) text(h uint64) string { return c.textOf(h, fmt.Sprintf("%012x", h&0xffffffffffff)) }

func (c cause) textOf(h uint64, container string) string {
	short, ms := h&0xffffffff, 1000+h>>40%4000
	switch c {
	case causeSchema:
		return fmt.Sprintf("WorkspaceFailedError: ref schemaVersion 4 is outside the supported range 1-3 (ref wsr_%08x)", short)
	case causeBackupBucket:
		return fmt.Sprintf("WorkspaceFailedError: capability snapshot is declared but backupR2Binding is not bound (request %08x)", short)
	case causeImage:
		return "WorkspaceFailedError: image registry.demo.invalid/agents/box:2026.11 not found: manifest unknown"
	case causeNoSpace:
		return fmt.Sprintf("WorkspaceFailedError: ENOSPC: no space left on device, mkdtemp '/tmp/helix-ws-%06x'", short&0xffffff)
	case causeR2:
		return fmt.Sprintf("WorkspaceFailedError: r2 bucket unreachable: GET https://r2.demo.invalid/ws-%08x: connect timeout after %dms", short, ms)
	case causeDatabase:
		return fmt.Sprintf("WorkspaceFailedError: D1_ERROR: Network connection lost (request %08x)", short)
	case causeStuck:
		return ""
	case causeMaxInstances:
		return fmt.Sprintf("WorkspaceEvictedError: max_instances reached (60/60 in use, request %08x)", short)
	case causeMaxInstancesFailed:
		return fmt.Sprintf("WorkspaceFailedError: max_instances reached (60/60 in use, request %08x)", short)
	case causeInstanceGone:
		return fmt.Sprintf("WorkspaceEvictedError: sandbox instance i-%08x is gone", short)
	case causeContainerKilled:
		return "WorkspaceEvictedError: container " + container + " exited with code 137"
	case causeContainerLoop:
		return "WorkspaceEvictedError: container " + container + " is restarting, wait until the container is running"
	case causeColdStart:
		return fmt.Sprintf("WorkspaceFailedError: sandbox did not answer its first command within %dms", 20000+ms)
	case causeFirstOpen:
		return "WorkspaceFailedError: tmpdirRoot /srv/agents/tmp does not exist"
	case causeSecret:
		return fmt.Sprintf("WorkspaceFailedError: setup command OPENAI_API_KEY=sk-demo-%016x npm run build failed: exit status 1", h)
	case causeNone:
	}
	return ""
}
