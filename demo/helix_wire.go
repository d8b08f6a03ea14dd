package demo

import (
	"strconv"
	"time"
)

// stamp is a timestamp as one instance writes it: epoch milliseconds on
// helix-eu, an ISO 8601 string on helix-us.
type stamp struct {
	at  time.Time
	iso bool
}

// MarshalJSON writes a number or a string.
func (s stamp) MarshalJSON() ([]byte, error) {
	if s.iso {
		return s.at.UTC().AppendFormat(nil, `"2006-01-02T15:04:05.000Z"`), nil
	}
	return strconv.AppendInt(nil, s.at.UnixMilli(), 10), nil
}

// wireEntry is one element of registry.describe().
type wireEntry struct {
	Name          string `json:"name,omitempty"`
	State         string `json:"state"`
	LastError     string `json:"lastError,omitempty"`
	LastAttemptAt *stamp `json:"lastAttemptAt,omitempty"`
	LastSuccessAt *stamp `json:"lastSuccessAt,omitempty"`
	LastOpAt      *stamp `json:"lastOpAt,omitempty"`
	*wireFacts
}

// wireFacts is what only the operator routes add to an entry.
type wireFacts struct {
	Provider            string `json:"provider"`
	ID                  string `json:"id,omitempty"`
	Namespace           string `json:"namespace,omitempty"`
	ShareAcrossSessions bool   `json:"shareAcrossSessions,omitempty"`
	InheritWorkspaces   bool   `json:"inheritWorkspaces,omitempty"`
	DestroyOnClose      bool   `json:"destroyOnClose,omitempty"`
	SleepAfter          string `json:"sleepAfter,omitempty"`
	CloseTimeoutMs      int    `json:"closeTimeoutMs,omitempty"`
	Concurrency         int    `json:"concurrency,omitempty"`
}

// wireHealth is the 200 answer of a health route.
type wireHealth struct {
	Workspaces []wireEntry `json:"workspaces"`
}

// wireHealthOne is the same in the edition with one workspace per agent.
type wireHealthOne struct {
	Workspace wireEntry `json:"workspace"`
}

type wireError struct {
	Error string `json:"error"`
}

// wireSession is one session of the operator routes. Workspaces is present on
// the aggregate and describe routes, and there only while the session has a
// live registry.
type wireSession struct {
	SessionID        string      `json:"sessionId"`
	Status           string      `json:"status"`
	BranchedFrom     string      `json:"branchedFrom,omitempty"`
	Tenant           string      `json:"tenant"`
	Runtime          string      `json:"runtime"`
	FrameworkVersion string      `json:"frameworkVersion"`
	WorkspaceRefs    []wireRef   `json:"workspaceRefs,omitempty"`
	StartedAt        stamp       `json:"startedAt"`
	Executions       []wireWork  `json:"executions,omitempty"`
	Jobs             []wireWork  `json:"jobs,omitempty"`
	Workspaces       []wireEntry `json:"workspaces,omitempty"`
}

// wireRef is a persisted WorkspaceRef.
type wireRef struct {
	Name          string   `json:"name"`
	ProviderID    string   `json:"providerId"`
	Ref           string   `json:"ref"`
	Capabilities  []string `json:"capabilities"`
	SchemaVersion int      `json:"schemaVersion"`
}

type wirePage struct {
	Sessions []wireSession `json:"sessions"`
	Next     string        `json:"next,omitempty"`
}

// hostileName tries to set a terminal's title, to clear it by an 8-bit control
// and to turn the writing direction around.
const hostileName = "\u001b]0;pwned\u0007\u009b31m\u202e"

// workspaceName of a registry entry; unique within its session.
func (f *fleet) workspaceName(i int32) string {
	w := &f.workspaces[i]
	if w.marks&markHostile != 0 {
		return hostileName
	}
	names := [...]string{"box", "notes", "build", "scratch", "repo", "data", "web", "docs"}
	base := int(below(f.random.value(saltSession, int(w.session), 2), uint64(len(names))))
	return names[(base+3*int(w.position))%len(names)]
}

// wireEntry writes a registry entry as the health route does.
func (w world) wireEntry(i int32) wireEntry {
	space := &w.workspaces[i]
	where := w.sessions[space.session].where
	e := w.entry(i)
	out := wireEntry{Name: w.workspaceName(i), State: e.state.spell(where)}
	if space.marks&markUnnamed != 0 {
		out.Name = ""
	}
	out.LastError = w.errorText(i, e.cause, e.nonce)
	if space.marks&markLegacy != 0 {
		out.LastOpAt = w.stamp(e.attempt, where)
		return out
	}
	out.LastAttemptAt, out.LastSuccessAt = w.stamp(e.attempt, where), w.stamp(e.success, where)
	return out
}

func (w world) stamp(m moment, where instance) *stamp {
	if !m.known {
		return nil
	}
	return &stamp{at: w.when(m.at), iso: where == us}
}

// wireOperatorEntry adds the facts that only operator routes report.
func (w world) wireOperatorEntry(i int32) wireEntry {
	out := w.wireEntry(i)
	space := &w.workspaces[i]
	h := w.random.value(saltFacts, int(i), 0)
	facts := &wireFacts{Provider: space.provider.String(), CloseTimeoutMs: 30000}
	switch space.provider {
	case cloudSandbox:
		facts.SleepAfter, facts.Concurrency = "10m", 4
		facts.DestroyOnClose = h%3 == 0
		facts.ID = "sbx-" + w.otherSandboxID(h)
		if space.marks&markShared != 0 {
			facts.ID, facts.ShareAcrossSessions = "team-cache", true
		}
	case filestore:
		facts.Namespace = "ws-" + w.otherSandboxID(h)
	case dockerHost:
		if n, ok := w.containerOf[i]; ok {
			facts.ID = w.containers[n].id[:12]
		}
	case inMemory:
		facts.ID = "inmem-" + strconv.Itoa(int(i)) + "-" + w.otherSandboxID(h)
	case localBash, localSandbox, providers:
	}
	facts.InheritWorkspaces = w.branchOf(int(space.session)) >= 0 && h%4 == 0
	out.wireFacts = facts
	return out
}

// otherSandboxID makes a sandbox id that belongs to no container.
func (w world) otherSandboxID(h uint64) string { return strconv.FormatUint(h&0xffffffffff, 16) }
