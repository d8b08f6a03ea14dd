package demo

import (
	"strconv"
	"time"
)

// completedFor is how long an operator's list still shows a run that is over.
const completedFor = 2 * time.Minute

// statusCompleted is that of a run that is over.
const statusCompleted = "completed"

// branchOf returns the session a session was branched from, or -1.
func (f *fleet) branchOf(slot int) int {
	h := f.random.value(saltSession, slot, 3)
	if h%20 != 0 || slot < 2 || f.sessions[slot].kind == turning {
		return -1
	}
	for back := 1; back < 20 && back <= slot; back++ {
		p := slot - back
		if f.sessions[p].where == f.sessions[slot].where && f.sessions[p].kind == resting {
			return p
		}
	}
	return -1
}

// status of a session, as the run states of the framework spell it.
func (w world) status(slot int) string {
	if w.sessions[slot].kind != resting {
		return "running"
	}
	words := [...]string{"paused", "interrupted", "suspended_client_tool", "suspended_awaiting_children", "hibernated", statusCompleted}
	word := words[below(w.random.value(saltSession, slot, 4), uint64(len(words)))]
	if word == "hibernated" && w.sessions[slot].runtime == jsRuntime { // only Durable Objects do
		return statusCompleted
	}
	return word
}

// bareSession is a session as the list route reports it.
func (w world) bareSession(slot int) wireSession {
	s := &w.sessions[slot]
	h := w.random.value(saltSession, slot, 5)
	tenants := [...]string{"acme", "globex", "initech", "umbrella", "hooli", "stark"}
	out := wireSession{
		SessionID: w.sessionID(slot), Status: w.status(slot),
		Tenant: tenants[below(h, uint64(len(tenants)))], Runtime: s.runtime.String(), FrameworkVersion: "6.4.1",
		StartedAt: stamp{at: w.when(w.startOf(slot)), iso: s.where == us},
	}
	if s.where == us {
		out.FrameworkVersion = "6.3.0"
	}
	if p := w.branchOf(slot); p >= 0 {
		out.BranchedFrom = w.sessionID(p)
	}
	if s.kind == resting {
		out.WorkspaceRefs = w.refs(slot)
	}
	if w.works(slot) {
		out.Executions, out.Jobs = w.executions(slot), w.jobs(slot)
	}
	return out
}

// refs of a resting session: what its workspaces can be restored from.
func (w world) refs(slot int) []wireRef {
	h := w.random.value(saltSession, slot, 6)
	ref := wireRef{
		Name: "box", ProviderID: filestore.String(), Ref: "wsr_" + strconv.FormatUint(h&0xffffffff, 16),
		Capabilities: []string{"fs"}, SchemaVersion: 2,
	}
	if s := &w.sessions[slot]; s.runtime == jsRuntime {
		ref.ProviderID, ref.Capabilities = localBash.String(), []string{"fs", "shell"}
		if s.where == eu {
			ref.ProviderID = dockerHost.String()
		}
	}
	return []wireRef{ref}
}

// fullSession adds the registry.
func (w world) fullSession(slot int) wireSession {
	out := w.bareSession(slot)
	s := &w.sessions[slot]
	for k := range s.count {
		out.Workspaces = append(out.Workspaces, w.wireOperatorEntry(s.first+k))
	}
	return out
}

// finished is the run before the present one in a slot, as long as the list
// still shows it.
func (w world) finished(slot int) (wireSession, bool) {
	s := &w.sessions[slot]
	begin := w.startOf(slot)
	if s.kind != turning || w.t >= begin+completedFor {
		return wireSession{}, false
	}
	out := w.At(begin - time.Millisecond).bareSession(slot)
	out.Status = statusCompleted
	return out, true
}

// findSession returns the slot of a session that exists now.
func (w world) findSession(id string) (int, bool) {
	if slot, ok := w.alias[id]; ok {
		return int(slot), true
	}
	slot, cycle, ok := w.names.parse(id)
	if !ok || slot >= len(w.sessions) || w.sessions[slot].alias != "" || cycle != w.cycle(slot) {
		return 0, false
	}
	return slot, true
}
