package rules

import (
	"sandglass/alerts"
	"sandglass/backend"
)

// noteFailure takes a note of a workspace that has failed with an error, kept while it is opened anew. An eviction is none,
// since eviction-storm counts those; one that is tried in vain and not failed yet will be within a retry cycle.
func noteFailure(env *alerts.Env, w *backend.Workspace, note *alerts.Note) *alerts.Note {
	f := factsOf(env, w)
	if note != nil && f.advanced(note) {
		note = nil
	}
	if w.Class == backend.ClassHealthy || note == nil && (w.Class != backend.ClassFailed || w.LastError.IsEmpty()) {
		return nil
	}
	if note == nil {
		n := f.noted(nil)
		n.WasFailed, n.Session, n.Provider, n.Raw = true, w.Key.Parent, w.Provider, w.LastError
		n.Cause, n.Fingerprint = env.Cause(w.LastError)
		if s := env.State.SessionOf(w); s != nil {
			n.Tenant = s.Tenant
		}
		return n
	}
	n, _, _ := causeOf(env, w, note, f.noted(note), "")
	return n
}

// few reports whether n is less than a share of a source's workspaces. It looks at as many as it needs to know that.
func few(env *alerts.Env, home string, n int, share float64) bool {
	if share == 0 {
		return false
	}
	enough := int(float64(n) / share)
	return (&site{}).count(env, siteID{home: home}, enough) > enough
}

// causePlace keeps the failures of one cause at one source together.
func causePlace(k backend.Key, n *alerts.Note) string {
	if k.Kind != backend.KindWorkspace {
		return ""
	}
	return k.Source + "\x00" + n.Fingerprint
}

// listingOf names the workspaces behind notes; their source when there are none.
func listingOf(env *alerts.Env, notes alerts.Notes, home string) *alerts.Listing {
	l := &alerts.Listing{Count: notes.Len()}
	providers, tenants := map[backend.Safe]bool{}, map[backend.Safe]bool{}
	var session backend.ID
	var provider, tenant backend.Safe
	for k, n := range notes.All { // in key order, so that those of one session are neighbours
		if n.Session != session {
			session = n.Session
			l.Sessions++
		}
		if n.Provider != provider && !n.Provider.IsEmpty() {
			provider = n.Provider
			providers[provider] = true
		}
		if n.Tenant != tenant && !n.Tenant.IsEmpty() {
			tenant = n.Tenant
			tenants[tenant] = true
		}
		if len(l.Subjects) < alerts.MaxSubjects {
			l.Subjects = append(l.Subjects, alerts.Subject{
				Key: k, Label: k.Safe(), Since: n.Seen, Bounds: alerts.Bounds{Earliest: n.Success, Latest: proved(n)}, Detail: n.Cause,
			})
		}
	}
	l.Providers, l.Tenants = len(providers), len(tenants)
	if l.Count == 0 {
		l.Count = 1
		l.Subjects = []alerts.Subject{{Key: sourceKey(env.State, home), Label: backend.Clean(home, 80), Since: env.Now}}
	}
	return l
}
