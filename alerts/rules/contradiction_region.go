package rules

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/internal/stable"
)

// sharedFaults say what sandboxes have in common whose failures have no kind, as the second half of a sentence.
var sharedFaults = map[backend.Plane]backend.Literal{
	backend.PlaneDriver: "no driver leads their sessions",
	signalResume:        "their resumes are not finished",
	signalJob:           "their jobs do not begin",
	signalHub:           "their hub cannot reach the drivers",
	signalViews:         "the platform's routes disagree about them",
	signalAgent:         "no command begins in them, their agents' logs say",
}

const regionPrefix = "contradiction/region/"

// regionKey is the subject of an incident of a region: a signal that sandboxes there share.
func regionKey(source, region, signal string) backend.Key {
	return backend.Key{Kind: backend.KindSource, Source: source, ID: backend.MustID(regionPrefix + region + "/" + signal)}
}

func ofRegion(k backend.Key) bool { return strings.HasPrefix(k.ID.Raw(), regionPrefix) }

// signalled is a sandbox with one signal.
type signalled struct {
	key   backend.Key
	first time.Time
	minor bool
}

// ownFaults are the kinds of failures that are of one sandbox: what serves it may answer with errors or not at all.
var ownFaults = []backend.FailureKind{backend.FailWorkDirMissing, backend.FailWorkDirDangling, backend.FailWorkDirNoDir, backend.FailMountUnlinked, backend.FailMountGone,
	backend.FailServerFrozen, backend.FailServerDir, backend.FailGone}

// shareable are the failures that a sandbox can have in common with others of its region, those first that say most. One that is
// broken for itself has no part in what others only lack: its mount is not gone because drivers are.
func (n *contradictionNote) shareable() []failedPlane {
	all := n.ranked()
	if !slices.ContainsFunc(all, func(f failedPlane) bool { return !isSignal(f.Plane) && slices.Contains(ownFaults, f.Kind) }) {
		return all
	}
	return slices.DeleteFunc(all, func(f failedPlane) bool {
		return f.Plane == backend.PlaneDriver && f.Kind == "" || f.Plane == backend.PlaneQueue || isSignal(f.Plane)
	})
}

// regions are the incidents of regions: the same signal on several sandboxes of one within a short time. Such sandboxes are no
// broken ones each: what serves them is.
func (r *contradiction) regions(env *alerts.Env, known alerts.Known) []alerts.Found {
	by, ranks := map[backend.Key][]signalled{}, map[backend.Key]int{}
	for k, state := range known.Findings {
		if k.Kind == backend.KindSource && ofRegion(k) {
			by[k] = append([]signalled{}, by[k]...)
		}
		n := alerts.NoteAs[contradictionNote](known.Note(k))
		if n == nil || n.Region == "" || state == alerts.StateEnded || state == alerts.StateResolved {
			continue
		}
		for i, f := range n.shareable() {
			key := regionKey(k.Source, n.Region, f.fault())
			by[key], ranks[key] = append(by[key], signalled{k, f.First, n.minor()}), ranks[key]+i
		}
	}
	keys := stable.Sorted(maps.Keys(by), func(x, y backend.Key) int { // what says more comes first, and takes its sandboxes
		return cmp.Or(cmp.Compare(ranks[x]*len(by[y]), ranks[y]*len(by[x])), x.Compare(y))
	})
	var out []alerts.Found
	taken := map[backend.Key]bool{}
	for _, key := range keys {
		all := slices.DeleteFunc(by[key], func(x signalled) bool { return taken[x.key] })
		fires := known.Finding(key) == alerts.StateFiring
		if len(all) >= r.regionMany && (fires || r.atOnce(all)) {
			subjects := make([]backend.Key, 0, len(all))
			minor := true
			for _, x := range all {
				taken[x.key], minor = true, minor && x.minor
				subjects = append(subjects, x.key)
			}
			rest := strings.TrimPrefix(key.ID.Raw(), regionPrefix)
			at := strings.LastIndexByte(rest, '/')
			v := r.incident(env, key, subjects, known, rest[at+1:])
			v.Cause = backend.Textf("region %s: %s", backend.Clean(rest[:at], 40), v.Cause)
			v.Detail = v.Cause
			if minor {
				v.Severity = alerts.SeverityWarning
			}
			out = append(out, alerts.Found{Key: key, Verdict: v})
			continue
		}
		if known.Finding(key) == "" {
			continue
		}
		v := alerts.Verdict{Outcome: alerts.False}
		if o, why, gap := env.Gap(key.Source); gap {
			v = alerts.Verdict{Outcome: o, Why: why}
		}
		out = append(out, alerts.Found{Key: key, Verdict: v})
	}
	return out
}

// atOnce reports whether so many of some signals as make an incident were found within its time.
func (r *contradiction) atOnce(all []signalled) bool {
	stable.Sort(all, func(x, y signalled) int { return cmp.Or(x.first.Compare(y.first), x.key.Compare(y.key)) })
	for i := r.regionMany - 1; i < len(all); i++ {
		if all[i].first.Sub(all[i-r.regionMany+1].first) <= r.regionWithin {
			return true
		}
	}
	return false
}
