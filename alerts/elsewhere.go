package alerts

import (
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// elsewhereFor is how long what was found on an engine that is not read any more is held: it may have been left for good.
const elsewhereFor = 24 * time.Hour

// engineOf is the container engine that a source reads, empty where that is not known or the source reads none.
func engineOf(st *fleet.State, source string) string {
	if h := st.Source(source); h != nil {
		return h.Engine.String()
	}
	return ""
}

// otherEngine is why nothing is known of what a source read from one engine: it reads another one now.
func otherEngine(st *fleet.State, source, was string) (backend.Safe, bool) {
	is := engineOf(st, source)
	if was == "" || is == "" || was == is {
		return backend.Safe{}, false
	}
	return backend.Textf("%s reads another engine now, %s; this was read from %s", backend.Clean(source, 80), backend.Clean(is, 200), backend.Clean(was, 200)), true
}

// elsewhere reports whether the subject of a finding is on an engine that its source does not read now, and why nothing is
// known of it.
func (re *ruleEvaluation) elsewhere(r *record) (backend.Safe, bool) {
	if r == nil || r.finding == nil || !r.Listed || re.st.Entity(r.Key) != nil {
		return backend.Safe{}, false
	}
	return otherEngine(re.st, r.Key.Source, r.Engine)
}

// isElsewhere holds such a finding, or ends it.
func (re *ruleEvaluation) isElsewhere(r *record) bool {
	why, is := re.elsewhere(r)
	if !is || r.State == StateEnded {
		return false
	}
	if until := r.Confirmed.Add(elsewhereFor); !re.env.Now.Before(until) {
		re.end(r, backend.Textf("not read for a day: %s", why))
	} else {
		re.put(r, step(re.meta, r.Key, r, &Verdict{Outcome: SourceError, Why: why, Recheck: until}, re.env.Now, false))
	}
	return true
}

// Elsewhere is why an entity is in no reading though nothing says that it ended: its source reads another engine now.
func (p *Past) Elsewhere(st *fleet.State) (backend.Safe, bool) {
	return otherEngine(st, p.Entity.EntityMeta().Key.Source, p.Engine)
}
