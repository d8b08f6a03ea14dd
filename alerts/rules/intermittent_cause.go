package rules

import (
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

const (
	// failingParts is how many parts of the window the time of one cause is kept in.
	failingParts = 24
	// countGap is the shortest time between two counts of what fails with one cause.
	countGap = 10 * time.Second
	// maxFailingCauses bounds the causes whose time is kept; others are not judged across sessions.
	maxFailingCauses = 500
	// maxFailedSessions bounds the sessions that are told apart, and maxFailedProviders the providers of one cause.
	maxFailedSessions, maxFailedProviders = 16, 8
	// mostOfTheTime is the failed share of workspace time from which the alert is more severe.
	mostOfTheTime = 0.5
	// failedInParts is in how many parts of the window failures must have begun.
	failedInParts = 4
	// failingTimes is the place of the notes about causes, which no workspace's note has.
	failingTimes = "\x00"
)

// failingTimeNote is how much of the workspace time of its providers failed with one cause, across sessions that ended.
type failingTimeNote struct {
	Read      time.Time      `json:"read,omitzero"` // up to when time is counted
	Parts     []failingPart  `json:"parts,omitempty"`
	Sessions  []backend.ID   `json:"sessions,omitempty"` // the newest ones
	Providers []backend.Safe `json:"providers,omitempty"`
	Evicted   bool           `json:"evicted,omitempty"`
	Cause     backend.Safe   `json:"cause,omitzero"`
}

// failingPart is a part of the window.
type failingPart struct {
	At       time.Time `json:"at"`
	Watched  float64   `json:"watched,omitempty"` // seconds
	Failing  float64   `json:"failing,omitempty"` // workspace seconds
	All      float64   `json:"all,omitempty"`     // workspace seconds
	Sessions int32     `json:"sessions,omitempty"`
	Onsets   int32     `json:"onsets,omitempty"`
}

// Bucket keeps the workspaces of one cause at one source together, and what is known of causes.
func (r *intermittent) Bucket(k backend.Key, n alerts.Note) string {
	if k.Kind == backend.KindWorkspace {
		return k.Source + "\x00" + alerts.NoteAs[flakeNote](n).Fingerprint
	}
	return failingTimes
}

func (r *intermittent) JudgeFleet(env *alerts.Env, known alerts.Known) []alerts.Found {
	causes, tracked := map[string]alerts.Notes{}, 0
	for bucket, notes := range known.Buckets {
		if bucket != failingTimes {
			causes[bucket] = notes
			continue
		}
		tracked = notes.Len()
		for key := range notes.All {
			if home, fp, ok := causeOfKey(key); ok && causes[home+"\x00"+fp].Len() == 0 {
				causes[home+"\x00"+fp] = alerts.Notes{}
			}
		}
	}
	seen := map[backend.Key]bool{}
	var out []alerts.Found
	for bucket, notes := range causes {
		home, fp, _ := strings.Cut(bucket, "\x00")
		key := causeKey(home, fp)
		note := alerts.NoteAs[failingTimeNote](known.Note(key))
		n := note
		if note != nil || tracked < maxFailingCauses {
			n = r.add(env, home, note, notes)
		}
		if note == nil && n != nil {
			tracked++
		}
		if n == note && n != nil && known.Finding(key) == "" {
			continue
		}
		seen[key] = true
		out = append(out, alerts.Found{Key: key, Verdict: r.judge(env, home, fp, n, notes)})
	}
	for key, v := range r.evictions(env) {
		seen[key] = true
		if v.Outcome == alerts.True || known.Finding(key) != "" {
			out = append(out, alerts.Found{Key: key, Verdict: v})
		}
	}
	return append(out, unmentioned(env, known, seen)...)
}

// causeKey identifies what is known of one cause at a source.
func causeKey(home, fp string) backend.Key {
	return backend.Key{Kind: backend.KindSource, Source: home, ID: backend.MustID(home + "/cause/" + fp)}
}

func causeOfKey(k backend.Key) (home, fp string, ok bool) {
	fp, ok = strings.CutPrefix(k.ID.Raw(), k.Source+"/cause/")
	return k.Source, fp, ok
}

// add counts what fails with a cause since the last count. It counts up to the source's last answer, so that time in which
// it did not answer does not count. Nil: there is nothing to know any more.
func (r *intermittent) add(env *alerts.Env, home string, note *failingTimeNote, notes alerts.Notes) *failingTimeNote {
	h := env.State.Source(home)
	if h == nil || h.LastOK.IsZero() {
		return note
	}
	read := env.Ours(h.LastOK)
	if note != nil && read.Sub(note.Read) < countGap {
		return note
	}
	n := failingTimeNote{}
	if note != nil {
		n = *note
		n.Parts = slices.DeleteFunc(slices.Clone(n.Parts), func(p failingPart) bool { return read.Sub(p.At) > r.over })
	}
	if k := len(n.Parts); k == 0 || read.Sub(n.Parts[k-1].At) >= r.over/failingParts {
		n.Parts = append(n.Parts, failingPart{At: read})
	}
	part := &n.Parts[len(n.Parts)-1]
	failing := r.onsets(&n, part, notes)
	if d := read.Sub(n.Read); !n.Read.IsZero() && d <= readPatience(env, home) {
		part.Watched += d.Seconds()
		part.Failing += d.Seconds() * float64(failing)
		part.All += d.Seconds() * float64(max(r.among(env, home, n.Providers), failing))
	}
	n.Read = read
	if failing == 0 && !slices.ContainsFunc(n.Parts, func(p failingPart) bool { return p.Onsets > 0 }) {
		return nil
	}
	return &n
}

// onsets counts the failures that began since the last count, and what fails now.
func (r *intermittent) onsets(n *failingTimeNote, part *failingPart, notes alerts.Notes) (failing int) {
	cloned := false
	for _, x := range each[flakeNote](notes) {
		if !x.Failing {
			continue
		}
		failing++
		if !x.Began.After(n.Read) {
			continue
		}
		part.Onsets++
		n.Cause, n.Evicted = x.Cause, x.Evicted
		if !cloned {
			n.Sessions, n.Providers, cloned = slices.Clone(n.Sessions), slices.Clone(n.Providers), true
		}
		if !slices.Contains(n.Sessions, x.Session) {
			part.Sessions++
			n.Sessions = append(n.Sessions, x.Session)
			n.Sessions = n.Sessions[max(len(n.Sessions)-maxFailedSessions, 0):]
		}
		if len(n.Providers) < maxFailedProviders && !slices.Contains(n.Providers, x.Provider) {
			n.Providers = append(n.Providers, x.Provider)
		}
	}
	return failing
}

// among is the number of workspaces of the providers that a cause hits. Those that name no provider count only where one of
// the failures names none, or no workspace names these providers.
func (r *intermittent) among(env *alerts.Env, home string, providers []backend.Safe) int {
	if len(providers) == maxFailedProviders || slices.ContainsFunc(providers, backend.Safe.IsEmpty) {
		return ofSource(env, home)
	}
	n := 0
	for _, p := range providers {
		n += env.State.OfProvider(home, p)
	}
	if n == 0 {
		n = env.State.OfProvider(home, backend.Safe{})
	}
	return n
}

// failingTime is what the parts of the window add up to, since the first failure in it.
type failingTime struct {
	first, newest         time.Time // parts in which failures began
	parts, sessions       int       // parts in which failures began; sessions
	watched, failing, all float64   // seconds
}

func (n *failingTimeNote) sum() failingTime {
	var t failingTime
	for _, p := range n.Parts {
		if t.first.IsZero() && p.Onsets == 0 {
			continue
		}
		if p.Onsets > 0 {
			if t.first.IsZero() {
				t.first = p.At
			}
			t.parts++
			t.newest = p.At
		}
		t.sessions += int(p.Sessions)
		t.watched, t.failing, t.all = t.watched+p.Watched, t.failing+p.Failing, t.all+p.All
	}
	return t
}

func (t *failingTime) share() float64 {
	if t.all == 0 {
		return 0
	}
	return t.failing / t.all
}

// across reports whether a cause hits so many sessions for so long that it is no passing trouble.
func (r *intermittent) across(n *failingTimeNote) (failingTime, bool) {
	t := n.sum()
	least := r.spread()
	return t, t.sessions >= r.episodes && t.parts >= failedInParts && t.newest.Sub(t.first) >= least-r.over/failingParts &&
		n.Read.Sub(t.newest) <= least && t.watched >= least.Seconds()/2 && t.share() >= r.share
}

func (r *intermittent) judge(env *alerts.Env, home, fp string, n *failingTimeNote, notes alerts.Notes) alerts.Verdict {
	if v, gap := gapOf(env, home); gap {
		return v
	}
	v := alerts.Verdict{Outcome: alerts.False, Source: home, Note: alerts.NoteOf(n)}
	again := notes.Where(func(_ backend.Key, x alerts.Note) bool { return r.recurs(env, alerts.NoteAs[flakeNote](x)) })
	var t failingTime
	wide := false
	if n != nil {
		t, wide = r.across(n)
	}
	if !wide && again.Len() == 0 {
		return v
	}
	v.Outcome, v.Fingerprint, v.Confirmed, v.Runbook = alerts.True, fp, env.Now, "1"
	listed := again
	if wide {
		listed = notes
		v.Bounds.Latest = t.first
		if t.share() >= mostOfTheTime {
			v.Severity = worse(r.meta.Severity)
		}
	}
	evicted := n != nil && n.Evicted
	if n != nil {
		v.Cause, v.Confirmed = n.Cause, n.Read
	}
	worst, most := (*flakeNote)(nil), -1.0
	for _, x := range each[flakeNote](again) {
		if v.Cause.IsEmpty() {
			v.Cause, evicted = x.Cause, x.Evicted
		}
		if first := x.first(); v.Bounds.Latest.IsZero() || first.Before(v.Bounds.Latest) {
			v.Bounds.Latest = first
		}
		if watched, failed := x.Again.time(); watched > 0 && failed/watched > most {
			worst, most = x, failed/watched
		}
	}
	if v.Detail = v.Cause; evicted {
		v.Runbook = "7"
	}
	v.Listing = listingOf[flakeNote](env, listed, home)
	r.tell(env, home, t, wide, again, worst, &v)
	return v
}

// tell fills in the evidence.
func (r *intermittent) tell(env *alerts.Env, home string, t failingTime, wide bool, again alerts.Notes, worst *flakeNote, v *alerts.Verdict) {
	at := env.Display(v.Confirmed)
	add := func(value float64, unit string, format backend.Literal, args ...any) {
		v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf(format, args...), Value: backend.Known(value), Unit: unit, Source: home, At: at})
	}
	if wide {
		watched := time.Duration(t.watched * float64(time.Second))
		add(float64(t.sessions), "sessions", "%s failed with this cause since %s, those that have ended included", plural(t.sessions, "session"), env.Clock(t.first))
		add(t.share(), "share", "%s %% of the workspace time of the providers concerned failed, over %s that were watched (alert from %s %%)", number(float64(int(100*t.share()))), span(watched), number(100*r.share))
	}
	if again.Len() > 0 {
		add(float64(again.Len()), "workspaces", "%s failed and worked in turn at least %d times within %s", plural(again.Len(), "workspace"), r.episodes, text(r.over))
	}
	if worst == nil {
		return
	}
	watched, failed := worst.Again.time()
	add(failed/watched, "share", "the worst failed for %s %% of the %s that it was watched since its second failure (alert from %s %%)",
		number(float64(int(100*failed/watched))), span(time.Duration(watched*float64(time.Second))), number(100*r.time))
	if tried, lost := worst.Again.attempts(); tried > 0 {
		add(float64(lost)/float64(tried), "share", "%d of its %s failed, as far as polls saw them", lost, plural(tried, "attempt"))
	}
}
