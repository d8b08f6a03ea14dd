package rules

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// sites sorts everything that speaks about evictions by source and provider.
func (r *evictionStorm) sites(env *alerts.Env, known alerts.Known) map[siteID]*site {
	out := map[siteID]*site{}
	at := func(id siteID) *site {
		s := out[id]
		if s == nil {
			s = &site{}
			out[id] = s
		}
		return s
	}
	kept := keptSites(known)
	for _, m := range []backend.Metric{backend.MetricEvictions, backend.MetricEvictionRetries, backend.MetricEvictionExhausted, backend.MetricWorkspaceEvicted} {
		for x := range env.State.Windows.All(m) {
			id, ok := siteOfSeries(env, x, kept)
			if !ok {
				continue
			}
			s := at(id)
			switch m {
			case backend.MetricEvictions:
				s.evictions = append(s.evictions, x)
			case backend.MetricEvictionRetries:
				s.retries = append(s.retries, x)
			case backend.MetricWorkspaceEvicted:
				s.lines = append(s.lines, x)
			default:
				s.exhausted = append(s.exhausted, x)
			}
		}
	}
	for bucket, notes := range known.Buckets {
		home, provider, _ := strings.Cut(bucket, "\x00")
		at(siteID{home, provider}).evicted = notes
	}
	return out
}

// siteOfSeries is where a series belongs. Log lines name a session and mostly a workspace, and no provider: that is the
// workspace's own. Once the session is gone its lines stay where they were counted.
func siteOfSeries(env *alerts.Env, x backend.Series, kept map[backend.Series]siteID) (siteID, bool) {
	home := env.HomeOf(x)
	if home == "" {
		return siteID{}, false
	}
	id := siteID{home, x.Provider}
	if id.provider != "" || x.Session.IsZero() {
		return id, true
	}
	if id.provider = providerOf(env, home, x); id.provider == "" {
		if was, ok := kept[x]; ok {
			return was, true
		}
	}
	return id, true
}

// providerOf is the provider of the workspace that a series names, or else the one that all workspaces of its session
// have; empty when that is not known.
func providerOf(env *alerts.Env, home string, x backend.Series) string {
	if !x.Workspace.IsZero() {
		w := env.State.Workspace(backend.Key{Kind: backend.KindWorkspace, Source: home, Parent: x.Session, ID: x.Workspace})
		if w != nil && !w.Provider.IsEmpty() {
			return w.Provider.String()
		}
	}
	only := ""
	for w := range env.State.Workspaces.Of(backend.KindWorkspace, home, x.Session) {
		p := w.Provider.String()
		if p == "" || only != "" && p != only {
			return ""
		}
		only = p
	}
	return only
}

// maxKept bounds the series whose site a storm remembers.
const maxKept = 500

// remember is the note of a storm: the lines of sessions that were counted there.
func (s *site) remember(was *stormNote, by stormInput) *stormNote {
	var keep []backend.Series
	for _, x := range slices.Concat(s.exhausted, s.lines) {
		if x.Provider == "" && !x.Session.IsZero() && len(keep) < maxKept {
			keep = append(keep, x)
		}
	}
	n := stormNote{}
	if was != nil {
		if n = *was; slices.Equal(was.Series, keep) && was.By == by {
			return was
		}
	}
	n.Series, n.By = keep, by
	return &n
}

func keptSites(known alerts.Known) map[backend.Series]siteID {
	kept := map[backend.Series]siteID{}
	for key, state := range known.Findings {
		n := alerts.NoteAs[stormNote](known.Note(key))
		if n == nil || state == alerts.StateEnded {
			continue
		}
		for _, x := range n.Series {
			kept[x] = siteOf(key)
		}
	}
	return kept
}

func (s *site) take(from *site) {
	s.evictions = append(s.evictions, from.evictions...)
	s.retries = append(s.retries, from.retries...)
	s.exhausted = append(s.exhausted, from.exhausted...)
	s.lines = append(s.lines, from.lines...)
	s.evicted = s.evicted.With(from.evicted)
}

func sorted(sites map[siteID]*site) []siteID {
	return stable.Sorted(maps.Keys(sites), compareSites)
}

func compareSites(a, b siteID) int {
	return cmp.Or(cmp.Compare(a.home, b.home), cmp.Compare(a.provider, b.provider))
}

// shows reports whether something at a site shows that workspaces there are evicted: their states, or lines about
// exhausted retries.
func (r *evictionStorm) shows(env *alerts.Env, s *site) bool {
	return s != nil && (s.evicted.Len() > 0 || env.Rate(s.exhausted, r.over).N > 0)
}

// attribute moves a storm that a source counts for several registries to the only one of them in which workspaces of that
// provider are evicted. It stays there as long as its alert, so that a storm that fades does not change its site.
func (r *evictionStorm) attribute(env *alerts.Env, known alerts.Known, sites map[siteID]*site) {
	for _, id := range sorted(sites) {
		from := sites[id]
		if id.provider == "" || len(from.evictions) == 0 || from.evicted.Len() > 0 {
			continue
		}
		to, ok := r.rages(env, known, sites, id)
		if !ok {
			continue
		}
		if sites[to] == nil {
			sites[to] = &site{}
		}
		sites[to].take(from)
		delete(sites, id)
	}
}

// rages finds the registry in which the storm is that another source counts.
func (r *evictionStorm) rages(env *alerts.Env, known alerts.Known, sites map[siteID]*site, id siteID) (to siteID, ok bool) {
	homes := env.HomesOf(id.home)
	var named, nameless, stays []siteID // where it shows, with the provider's name and without; where its alert is
	for _, h := range homes {
		at := siteID{h.Key.Source, id.provider}
		if at.home == id.home {
			return siteID{}, false // it has workspaces itself
		}
		if live(known, at) && known.Via((&site{}).key(at)) == id.home {
			stays = append(stays, at)
		}
		switch {
		case r.shows(env, sites[at]):
			named = append(named, at)
		case r.shows(env, sites[siteID{home: at.home}]) && !r.otherShows(env, sites, at):
			nameless = append(nameless, at)
		}
	}
	if at, is := staysAt(known, stays, slices.Concat(named, nameless)); is {
		return at, true
	}
	if len(named) == 0 {
		named = nameless
	}
	storms, _ := env.Rate(sites[id].evictions, r.over).Reaches(r.rate)
	if len(named) != 1 || len(homes) < 2 || storms != alerts.True {
		return siteID{}, false
	}
	return named[0], true
}

// staysAt is the site of the alerts that a storm stays with: one that shows evictions; where none shows any, one that fires.
func staysAt(known alerts.Known, stays, showing []siteID) (siteID, bool) {
	for _, at := range stays {
		if slices.Contains(showing, at) {
			return at, true
		}
	}
	if len(stays) == 0 || len(showing) > 0 {
		return siteID{}, false
	}
	for _, at := range stays {
		if known.Finding((&site{}).key(at)) != alerts.StatePending {
			return at, true
		}
	}
	return stays[0], true
}

// otherShows reports whether workspaces of another provider than at's are evicted at its source.
func (r *evictionStorm) otherShows(env *alerts.Env, sites map[siteID]*site, at siteID) bool {
	for id, s := range sites {
		if id.home == at.home && id.provider != "" && id.provider != at.provider && r.shows(env, s) {
			return true
		}
	}
	return false
}

func live(known alerts.Known, id siteID) bool {
	switch known.Finding((&site{}).key(id)) {
	case alerts.StatePending, alerts.StateFiring, alerts.StateHeld:
		return true
	case alerts.StateEnded, alerts.StateResolved:
	}
	return false
}

// joinNameless gives what names no provider to the one site that it can be about. Where there are several, it stays where
// it is and both know of it.
func (r *evictionStorm) joinNameless(env *alerts.Env, known alerts.Known, sites map[siteID]*site) {
	for _, id := range sorted(sites) {
		if id.provider != "" {
			continue
		}
		from := sites[id]
		switch may := r.meant(env, known, sites, id); len(may) {
		case 0:
		case 1:
			sites[may[0]].take(from)
			delete(sites, id)
		default:
			from.may = may
			for _, to := range may {
				sites[to].unplaced = append(sites[to].unplaced, from.exhausted...)
			}
		}
	}
}

// meant lists the sites that something nameless can be about: of those with a provider the ones in which workspaces are
// evicted; where none shows that, the only one of the source.
func (r *evictionStorm) meant(env *alerts.Env, known alerts.Known, sites map[siteID]*site, id siteID) []siteID {
	lines := len(sites[id].evictions) == 0 && sites[id].evicted.Len() == 0
	var own, showing []siteID
	for _, to := range sorted(sites) {
		s := sites[to]
		if to.provider == "" {
			continue
		}
		if to.home == id.home {
			own = append(own, to)
		} else if !lines || !speaksOf(env, id.home, to.home) && !speaksOf(env, to.home, id.home) {
			continue
		}
		if lines && (r.shows(env, s) || live(known, to) || env.Rate(s.evictions, r.over).N > 0) {
			showing = append(showing, to)
		}
	}
	if len(showing) > 0 {
		return showing
	}
	if len(own) == 1 {
		return own
	}
	return nil
}

// speaksOf reports whether a source that lists no workspaces itself counts those of a home.
func speaksOf(env *alerts.Env, source, home string) bool {
	return slices.ContainsFunc(env.HomesOf(source), func(h *fleet.SourceHealth) bool { return h.Key.Source == home })
}

// tellNameless says what is not known of lines without a provider.
func (r *evictionStorm) tellNameless(env *alerts.Env, id siteID, s *site, v *alerts.Verdict) {
	add := func(series []backend.Series, format backend.Literal, args ...any) {
		if m := env.Rate(series, r.over); m.N > 0 {
			v.Evidence = append(v.Evidence, alerts.Evidence{Text: backend.Textf(format, append([]any{number(m.N)}, args...)...), Source: series[0].Source, At: m.Last})
		}
	}
	add(s.unplaced, "%s × \"eviction retry exhausted\" name no provider: they can be about this one or another that is evicted from")
	if id.provider != "" || len(s.exhausted) == 0 {
		return
	}
	var may []backend.Safe
	for _, to := range s.may {
		may = append(may, backend.Textf("%s on %s", backend.Clean(to.provider, 60), backend.Clean(to.home, 60)))
	}
	if len(may) > 0 {
		add(s.exhausted, "%s lines name no provider; they can be about %s", backend.Join(may, " or "))
		return
	}
	add(s.exhausted, "%s lines name no provider, and nothing else tells which one it is")
}
