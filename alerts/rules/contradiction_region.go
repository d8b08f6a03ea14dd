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

// regionOf is what regionKey was made of.
func regionOf(k backend.Key) (region, signal string) {
	rest := strings.TrimPrefix(k.ID.Raw(), regionPrefix)
	at := strings.LastIndexByte(rest, '/')
	return rest[:at], rest[at+1:]
}

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
// broken for itself has no part in what others only lack: its mount is not gone because drivers are. No region removes a directory.
func (n *contradictionNote) shareable() []failedPlane {
	all := slices.DeleteFunc(n.ranked(), func(f failedPlane) bool { return !isSignal(f.Plane) && alerts.OfItself(f.Kind) })
	if len(all) < len(n.Failed) && len(all) > 0 {
		return slices.DeleteFunc(all, onlyLacks)
	}
	if !slices.ContainsFunc(all, func(f failedPlane) bool { return !isSignal(f.Plane) && slices.Contains(ownFaults, f.Kind) }) {
		return all
	}
	return slices.DeleteFunc(all, onlyLacks)
}

// onlyLacks reports whether a failure tells no more than that something beside a sandbox is not there.
func onlyLacks(f failedPlane) bool {
	return f.Plane == backend.PlaneDriver && f.Kind == "" || f.Plane == backend.PlaneQueue || isSignal(f.Plane)
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
		if len(all) >= r.regionMany && (fires || r.atOnce(all)) && r.besides(env, known, key, all, fires) == 0 {
			subjects := make([]backend.Key, 0, len(all))
			minor := true
			for _, x := range all {
				taken[x.key], minor = true, minor && x.minor
				subjects = append(subjects, x.key)
			}
			region, signal := regionOf(key)
			v := r.incident(env, key, subjects, known, signal)
			v.Cause = backend.Textf("region %s: %s", backend.Clean(region, 40), v.Cause)
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

// othersWell says of an incident's source that others of it were observed well; empty: none was.
func (r *contradiction) othersWell(env *alerts.Env, known alerts.Known, key backend.Key, all []backend.Key) backend.Safe {
	if ofRegion(key) {
		return backend.Safe{}
	}
	members := make([]signalled, 0, len(all))
	for _, k := range all {
		members = append(members, signalled{key: k})
	}
	if n := r.besides(env, known, key, members, false); n > 0 {
		return backend.Textf("%s not, observed the same way: it is not the cause as a whole", backend.Counted(n, "other of it does", "others of it do"))
	}
	return backend.Safe{}
}

// besides counts the others of a region, or of a whole source, that were observed well the way in which some fail. Those that recover
// from an incident which fires disprove nothing: only what was observed well around its beginning does.
func (r *contradiction) besides(env *alerts.Env, known alerts.Known, key backend.Key, all []signalled, fires bool) int {
	q := alerts.Beside{Source: key.Source}
	signal := ""
	if ofRegion(key) {
		region, of := regionOf(key)
		q.Region, signal = backend.Clean(region, backend.MaxTextRunes), of
	}
	for _, x := range all {
		n := alerts.NoteAs[contradictionNote](known.Note(x.key))
		if n == nil {
			continue
		}
		for _, f := range n.Failed {
			if isSignal(f.Plane) || signal != "" && f.fault() != signal || signal == "" && f.fault() != n.Fault {
				continue
			}
			if !slices.Contains(q.Planes, f.Plane) {
				q.Planes = append(q.Planes, f.Plane)
			}
			first := f.At
			if !f.First.IsZero() {
				first = earlierOf(f.At, env.Display(f.First))
			}
			if from := first.Add(-alerts.BesideBefore); q.From.IsZero() || from.Before(q.From) {
				q.From = from
			}
			if to := first.Add(r.regionWithin); fires && to.After(q.To) {
				q.To = to
			}
		}
	}
	if len(q.Planes) == 0 {
		return 0
	}
	return q.Well(env.State, func(k backend.Key) bool {
		n := alerts.NoteAs[contradictionNote](known.Note(k))
		return known.Finding(k) != "" || fires && n != nil && !n.Left.IsZero() && env.Display(n.Left).After(q.From)
	})
}
