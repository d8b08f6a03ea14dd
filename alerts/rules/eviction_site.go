package rules

import (
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// siteID is where a storm happens: one provider of one source. The provider is empty where no reading names it.
type siteID struct{ home, provider string }

// site is what is known of evictions there.
type site struct {
	evictions, retries, exhausted []backend.Series
	lines                         []backend.Series // about single evictions
	evicted                       alerts.Notes
	// may are the sites of which lines that name no provider can speak, where they are several; unplaced are such lines,
	// seen from one of these sites.
	may      []siteID
	unplaced []backend.Series
}

// storm is what was measured.
type storm struct {
	evictions, retries, exhausted, lines alerts.Measure
	total, lost, seen                    int       // workspaces in use, evicted ones of these, those that were seen to become so
	churned                              int       // of seen, within the window
	since                                time.Time // after which the others of seen became so
	least                                bool      // the polls show it
}

// recovered is the share of evictions that retries recovered; a retry counter that does not exist yet has counted none.
func (m *storm) recovered() float64 {
	if m.evictions.N <= 0 {
		return 1
	}
	return min(m.retries.N/m.evictions.N, 1)
}

// told are the log lines about evictions there.
func (s *site) told() []backend.Series { return slices.Concat(s.exhausted, s.lines) }

// key identifies the finding; it is about a part of a source.
func (s *site) key(id siteID) backend.Key {
	raw := id.home
	if id.provider != "" {
		raw += "/" + backend.Clean(id.provider, 200).String()
	}
	return backend.Key{Kind: backend.KindSource, Source: id.home, ID: backend.MustID(raw)}
}

// Bucket is the site of an evicted workspace's note.
func (r *evictionStorm) Bucket(k backend.Key, n alerts.Note) string {
	if k.Kind != backend.KindWorkspace {
		return ""
	}
	return k.Source + "\x00" + alerts.NoteAs[evictedNote](n).Provider.String()
}

// siteOf turns a finding's key back into its site.
func siteOf(k backend.Key) siteID {
	id := siteID{home: k.Source}
	if p, ok := strings.CutPrefix(k.ID.Raw(), k.Source+"/"); ok {
		id.provider = p
	}
	return id
}

// via is the source that counts, when it is another than the one that is judged.
func (s *site) via(home string) string {
	for _, list := range [][]backend.Series{s.evictions, s.exhausted, s.lines} {
		if len(list) > 0 && list[0].Source != home {
			return list[0].Source
		}
	}
	return ""
}

// count is the number of workspaces there. Those that name no provider count only where none names it.
func (id siteID) count(env *alerts.Env) int {
	if id.provider == "" {
		return ofSource(env, id.home)
	}
	if n := env.State.OfProvider(id.home, backend.Clean(id.provider, backend.MaxTextRunes)); n > 0 {
		return n
	}
	return env.State.OfProvider(id.home, backend.Safe{})
}

// ofSource is the number of workspaces of a source, which are neighbours.
func ofSource(env *alerts.Env, source string) int {
	all := env.State.Workspaces
	first := sort.Search(all.Len(), func(i int) bool { return all.At(i).Key.Source >= source })
	return sort.Search(all.Len()-first, func(i int) bool { return all.At(first+i).Key.Source > source })
}

// watchedOf is the span that a count is really of: the window, or the part of it that was watched.
func watchedOf(m alerts.Measure, window time.Duration) string {
	if m.Whole || m.Covered < time.Second {
		return text(window)
	}
	return text(m.Covered.Round(time.Second))
}

// ofProvider names whose workspaces a count is of, where the provider is known.
func ofProvider(p string) backend.Safe {
	if p == "" {
		return backend.Safe{}
	}
	return backend.Textf(" of %s", backend.Clean(p, 60))
}

// tell fills in cause, subjects and evidence of a storm.
func (r *evictionStorm) tell(env *alerts.Env, id siteID, s *site, m *storm, v *alerts.Verdict) {
	now := env.Display(env.Now)
	v.Runbook = "7"
	v.Fingerprint = alerts.Fingerprint("eviction storm of provider " + id.provider)
	what := s.dominant()
	v.Cause = what
	if id.provider != "" {
		v.Cause = backend.Textf("%s: %s", backend.Clean(id.provider, 60), what)
	}
	v.Detail = v.Cause
	v.Provider = backend.Clean(id.provider, 60)
	v.Listing = s.listing(env, id)
	v.Confirmed = latestOf(env.Ours(m.evictions.Last), latestOf(env.Ours(m.exhausted.Last), env.Ours(m.lines.Last)))
	if s.evicted.Len() > 0 && m.total == 0 {
		m.total, m.lost = id.count(env), s.evicted.Len()
	}
	switch {
	case len(s.evictions) > 0 && m.evictions.N == 0:
		v.Evidence = append(v.Evidence, alerts.Evidence{
			Text:   backend.Textf("%s counted no eviction in %s; that disproves nothing", backend.Clean(s.evictions[0].Source, 80), text(r.over)),
			Source: s.evictions[0].Source, At: m.evictions.Last,
		})
	case len(s.evictions) > 0:
		v.Evidence = append(v.Evidence, alerts.Evidence{
			Text: backend.Textf("%s in %s (%s/s), %s %% recovered by retry (storm from %s/s and below %s %%)", plural(int(m.evictions.N+0.5), "eviction"),
				watchedOf(m.evictions, r.over), number(m.evictions.PerSecond), number(100*m.recovered()), number(r.rate), number(100*r.recovery)),
			Value: backend.Known(m.evictions.PerSecond), Unit: "1/s", Source: s.evictions[0].Source, At: m.evictions.Last,
		})
	}
	r.tellNameless(env, id, s, v)
	if m.exhausted.N > 0 {
		v.Evidence = append(v.Evidence, alerts.Evidence{
			Text:  backend.Textf("%s × \"eviction retry exhausted\" in %s", number(m.exhausted.N), text(r.over)),
			Value: backend.Known(m.exhausted.N), Unit: "lines", Source: s.exhausted[0].Source, At: m.exhausted.Last,
		})
	}
	if m.lines.N > 0 && uncounted(m.evictions.N, m.lines.N) {
		v.Evidence = append(v.Evidence, alerts.Evidence{
			Text:  backend.Textf("%s × WorkspaceEvictedError in the log in %s (alert from %s); no counter says how many of them were recovered", number(m.lines.N), text(r.over), number(r.rate*r.over.Seconds())),
			Value: backend.Known(m.lines.N), Unit: "lines", Source: s.lines[0].Source, At: m.lines.Last,
		})
	}
	if n := m.lost; n > 0 {
		v.Confirmed = latestOf(v.Confirmed, env.Now)
		v.Evidence = append(v.Evidence, alerts.Evidence{
			Text:  backend.Textf("%d of %s%s are evicted now, in %s", n, plural(m.total, "workspace"), ofProvider(id.provider), plural(v.Listing.Sessions, "session")),
			Value: backend.Known(float64(n)), Unit: "workspaces", Source: id.home, At: now,
		})
	}
	switch {
	case m.least && m.seen > m.churned:
		v.Evidence = append(v.Evidence, alerts.Evidence{
			Text:  backend.Textf("at least %s since %s, seen between readings: a lower bound", plural(m.seen, "eviction"), env.Clock(m.since)),
			Value: backend.Known(float64(m.seen)), Unit: "evictions", Source: id.home, At: now,
		})
	case m.least && m.churned > 0:
		v.Evidence = append(v.Evidence, alerts.Evidence{
			Text:  backend.Textf("at least %s in %s, seen between polls: a lower bound", plural(m.churned, "eviction"), text(r.over)),
			Value: backend.Known(float64(m.churned) / r.over.Seconds()), Unit: "1/s", Source: id.home, At: now,
		})
	}
	v.Trend, v.TrendSpan = trend(env, s)
}

// trendSpan and trendParts say how far back a storm's sparkline reaches.
const (
	trendSpan  = 15 * time.Minute
	trendParts = 30
)

func trend(env *alerts.Env, s *site) ([]float64, time.Duration) {
	series := s.evictions
	if len(series) == 0 {
		series = slices.Concat(s.exhausted, s.lines)
	}
	if len(series) == 0 {
		return nil, 0
	}
	sum := make([]float64, trendParts)
	for _, x := range series {
		for i, n := range env.State.Windows.Buckets(x, env.State.Wall, trendSpan, trendParts) {
			sum[i] += n / (trendSpan / trendParts).Seconds()
		}
	}
	return sum, trendSpan
}

// dominant is the cause that most of the evicted workspaces give.
func (s *site) dominant() backend.Safe {
	counts := map[string]*int{}
	var best *evictedNote
	var most, count *int // of the best, and of the last one: neighbours mostly have it in common
	last := ""
	for _, n := range each[evictedNote](s.evicted) {
		if n.Cause.IsEmpty() {
			continue
		}
		if count == nil || n.Fingerprint != last {
			if last = n.Fingerprint; counts[last] == nil {
				counts[last] = new(int)
			}
			count = counts[last]
		}
		if *count++; best == nil || *count > *most {
			best, most = n, count
		}
	}
	if best == nil {
		return backend.Text("workspaces are evicted faster than they recover")
	}
	return best.Cause
}

// listing names the evicted workspaces, or the source when none is known.
func (s *site) listing(env *alerts.Env, id siteID) *alerts.Listing {
	l := listingOf[evictedNote](env, s.evicted, id.home)
	if id.provider != "" {
		l.Providers = max(l.Providers, 1)
	}
	return l
}

func sourceKey(st *fleet.State, id string) backend.Key {
	if h := st.Source(id); h != nil {
		return h.Key
	}
	return backend.Key{Kind: backend.KindSource, Source: id, ID: backend.MustID(id)}
}

func latestOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// number writes a rate or count for people: no more digits than matter.
func number(f float64) string {
	switch {
	case f >= 100 || f == float64(int64(f)):
		return backend.Grouped(int64(math.Round(f)))
	case f >= 1:
		return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0")
	}
	if f > 0 && f < 0.001 {
		return "less than 0.001"
	}
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(f, 'f', max(2, 1-int(math.Floor(math.Log10(f)))), 64), "0"), ".")
}
