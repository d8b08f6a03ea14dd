package runbook

import (
	"cmp"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// Rollback is what a release that reads a range of schema versions could make of the stored references.
type Rollback struct {
	Low      int              `json:"low"`
	High     int              `json:"high"`
	Refs     int              `json:"refs"`
	Sessions int              `json:"sessions"` // that have references
	Versions []VersionCount   `json:"versions"`
	Refused  []RefusedSession `json:"refused"` // by tenant and session
	Tenants  []TenantCount    `json:"tenants"` // of Refused
	// Named are references of Versions that no source reads: errors of workspaces that fail now name their versions.
	Named int `json:"named"`
	// Silent are running or resting sessions of which neither a reference is read nor an error names a version.
	Silent int `json:"silent"`
	// Unversioned are references without a schemaVersion, which releases before round 4 wrote; Unreadable are those whose
	// version is no number. What a release makes of them is not known.
	Unversioned int `json:"unversioned"`
	Unreadable  int `json:"unreadable"`
	// AgentStates are session states of an agent SDK without a version of that kind: the range does not apply to them.
	AgentStates int `json:"agent_states"`
}

// VersionCount is how many references have one schema version.
type VersionCount struct {
	Version int `json:"version"`
	Refs    int `json:"refs"`
}

// RefusedSession is a session with a reference outside of the range.
type RefusedSession struct {
	Session   backend.ID   `json:"session"`
	Source    string       `json:"source"` // of the reference
	Tenant    backend.Safe `json:"tenant,omitzero"`
	Workspace backend.ID   `json:"workspace,omitzero"`
	Version   int          `json:"version"` // the one farthest from the range
	Refs      int          `json:"refs"`    // outside of the range
}

// TenantCount is how many of a tenant's sessions could not be opened; an empty name: nobody names the tenant.
type TenantCount struct {
	Tenant   backend.Safe `json:"tenant"`
	Sessions int          `json:"sessions"`
}

// storedVersion is one stored reference's version.
type storedVersion struct {
	source             string
	session, workspace backend.ID
	n                  backend.Value[int]
	named              bool // by an error only
	agent              bool // an agent SDK saved it
}

// storedVersions are the versions of all references: those that a refs source reads, else those that the list route gives,
// and those that errors of workspaces name.
func storedVersions(st *fleet.State) []storedVersion {
	var all []storedVersion
	read := map[backend.ID]bool{}
	for r := range st.Refs.All() {
		read[r.Session] = true
		all = append(all, storedVersion{source: r.Key.Source, session: r.Session, workspace: r.Key.ID, n: r.SchemaVersion, agent: r.Agent != nil})
	}
	for x := range st.Sessions.All() {
		if read[x.Key.ID] {
			continue
		}
		for _, text := range x.WorkspaceRefs {
			v := storedVersion{source: x.Key.Source, session: x.Key.ID, n: backend.NotApplicable[int]()}
			if n, ok := refVersion(text.String()); ok {
				v.n = backend.Known(n)
			}
			all = append(all, v)
		}
	}
	return append(all, namedVersions(st, all)...)
}

// namedVersions are versions that the errors of workspaces name which fail now, of sessions without a reference of the version.
func namedVersions(st *fleet.State, read []storedVersion) (all []storedVersion) {
	type version struct {
		session backend.ID
		n       int
	}
	known := map[version]bool{}
	for _, v := range read {
		known[version{v.session, v.n.Or(-1)}] = true
	}
	for w := range st.Workspaces.All() {
		if w.Class != backend.ClassFailed && !w.TriedSince() || alerts.NamesSchema.In(w.LastError.String()) == 0 {
			continue
		}
		if n, _, _, ok := versionGap(w.LastError.String()); ok && !known[version{w.Key.Parent, n}] {
			all = append(all, storedVersion{source: w.Key.Source, session: w.Key.Parent, workspace: w.Key.ID, n: backend.Known(n), named: true})
		}
	}
	return all
}

// silent counts the sessions that have not ended and are not among those with a version.
func silent(st *fleet.State, of []storedVersion) (n int) {
	told := map[backend.ID]bool{}
	for _, v := range of {
		told[v.session] = true
	}
	for x := range st.Sessions.All() {
		if !told[x.Key.ID] && !x.Completed() {
			n++
		}
	}
	return n
}

// CheckRollback asks which stored references a release could not open that reads the versions from low to high. Of asks only
// for those that the sources tell for which it is true; nil asks for all.
func CheckRollback(st *fleet.State, low, high int, of func(source string) bool) Rollback {
	out := Rollback{Low: low, High: high, Versions: []VersionCount{}, Refused: []RefusedSession{}, Tenants: []TenantCount{}}
	type owner struct {
		source  string
		session backend.ID
	}
	sessions, refused, versions := map[owner]bool{}, map[owner]int{}, map[int]int{}
	stored := storedVersions(st)
	out.Silent = silent(st, stored)
	for _, v := range stored {
		if of != nil && !of(v.source) {
			continue
		}
		if v.agent && v.n.IsNotApplicable() {
			out.AgentStates++
			continue
		}
		out.Refs++
		if v.named {
			out.Named++
		}
		k := owner{v.source, v.session}
		sessions[k] = true
		n, known := v.n.Get()
		switch {
		case v.n.IsNotApplicable():
			out.Unversioned++
			continue
		case !known:
			out.Unreadable++
			continue
		}
		versions[n]++
		if n >= low && n <= high {
			continue
		}
		i, had := refused[k]
		if !had {
			i = len(out.Refused)
			refused[k] = i
			out.Refused = append(out.Refused, RefusedSession{Session: v.session, Source: v.source, Workspace: v.workspace, Version: n, Tenant: tenantOf(st, v)})
		}
		x := &out.Refused[i]
		if x.Refs++; beyond(n, low, high) > beyond(x.Version, low, high) {
			x.Version, x.Workspace = n, v.workspace
		}
	}
	out.Sessions = len(sessions)
	for n, refs := range versions {
		out.Versions = append(out.Versions, VersionCount{n, refs})
	}
	stable.Sort(out.Versions, func(a, b VersionCount) int { return cmp.Compare(a.Version, b.Version) })
	stable.Sort(out.Refused, func(a, b RefusedSession) int {
		return cmp.Or(strings.Compare(a.Tenant.String(), b.Tenant.String()), a.Session.Compare(b.Session))
	})
	for _, x := range out.Refused {
		if n := len(out.Tenants); n == 0 || out.Tenants[n-1].Tenant != x.Tenant {
			out.Tenants = append(out.Tenants, TenantCount{Tenant: x.Tenant})
		}
		out.Tenants[len(out.Tenants)-1].Sessions++
	}
	return out
}

// beyond is how far a version lies outside of a range.
func beyond(n, low, high int) int { return max(low-n, n-high, 0) }

func tenantOf(st *fleet.State, v storedVersion) backend.Safe {
	home := st.HomeOf(v.source, v.session)
	if x := st.Session(backend.Key{Kind: backend.KindSession, Source: home, ID: v.session}); x != nil {
		return x.Tenant
	}
	return backend.Safe{}
}
