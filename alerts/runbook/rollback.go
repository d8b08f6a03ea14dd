package runbook

import (
	"cmp"
	"slices"
	"strings"

	"sandglass/backend"
	"sandglass/backend/fleet"
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
	// Unversioned are references without a schemaVersion, which releases before round 4 wrote; Unreadable are those whose
	// version is no number. What a release makes of them is not known.
	Unversioned int `json:"unversioned"`
	Unreadable  int `json:"unreadable"`
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
}

// storedVersions are the versions of all references: those that a refs source reads, else those that the list route gives.
func storedVersions(st *fleet.State) []storedVersion {
	var all []storedVersion
	read := map[backend.ID]bool{}
	for r := range st.Refs.All() {
		read[r.Session] = true
		all = append(all, storedVersion{r.Key.Source, r.Session, r.Key.ID, r.SchemaVersion})
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
	return all
}

// CheckRollback asks which stored references a release could not open that reads the versions from low to high.
func CheckRollback(st *fleet.State, low, high int) Rollback {
	out := Rollback{Low: low, High: high, Versions: []VersionCount{}, Refused: []RefusedSession{}, Tenants: []TenantCount{}}
	type owner struct {
		source  string
		session backend.ID
	}
	sessions, refused, versions := map[owner]bool{}, map[owner]int{}, map[int]int{}
	for _, v := range storedVersions(st) {
		out.Refs++
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
	slices.SortFunc(out.Versions, func(a, b VersionCount) int { return cmp.Compare(a.Version, b.Version) })
	slices.SortStableFunc(out.Refused, func(a, b RefusedSession) int {
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
