package fleet

import (
	"cmp"
	"maps"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

const (
	// settleVersions is how long what a source shows is taken for what was there all along: sessions and sandboxes
	// are found one after the other.
	settleVersions = 2 * time.Minute
	// forgetVersion is how long after it last ran a version is not new when it runs again.
	forgetVersion = time.Hour
	// repeatVersion is the shortest time between two markers about the same version of the same source.
	repeatVersion = 10 * time.Minute
	// maxVersionEvents bounds the markers of one source in an hour: where every session brings an image of its own, a
	// new one is no change.
	maxVersionEvents = 6
	// maxVersions bounds the versions of one source that are counted separately.
	maxVersions = 256
)

// versionTracker follows rollouts: it notices when a version first runs, and when all sessions or sandboxes run it. It
// sees each entity before and after a State was built.
type versionTracker struct {
	fleets  map[versionedKind]*runningVersions
	changed bool // since counted was written
	counted map[versionedKind][]VersionCount
}

// versionedKind is one kind of entities of one source whose version is followed.
type versionedKind struct {
	source string
	kind   backend.Kind
}

// runningVersions counts the entities that run each version.
type runningVersions struct {
	since   time.Time
	running map[backend.Safe]int
	known   map[backend.Safe]time.Time // when it last ran
	// moved are versions to which an entity changed since the last call of events.
	moved map[backend.Safe]bool
	// rollout is a version that appeared beside others and does not run everywhere yet; before names the versions until then.
	rollout, before backend.Safe
	announced       map[backend.Safe]time.Time
}

func newVersionTracker() *versionTracker {
	return &versionTracker{fleets: map[versionedKind]*runningVersions{}}
}

// versionedKinds are the kinds whose entities run a version. word is what the version is called; of returns an
// entity's version, empty when it states none, and whether it runs now.
var versionedKinds = [...]struct {
	kind backend.Kind
	word string
	of   func(backend.Entity) (version backend.Safe, runs bool)
}{
	{backend.KindSession, "version", func(e backend.Entity) (backend.Safe, bool) {
		s := e.(*backend.Session)
		running, known := s.Running.Get()
		return s.Versions(), running || !known
	}},
	{backend.KindSandbox, "image", func(e backend.Entity) (backend.Safe, bool) {
		b := e.(*backend.Sandbox)
		if !b.IsSandbox {
			return backend.Safe{}, false
		}
		return b.Image, b.Class == backend.SandboxRunning
	}},
}

func versionOf(e backend.Entity) (version backend.Safe, runs bool) {
	if e != nil {
		for i := range versionedKinds {
			if v := &versionedKinds[i]; v.kind == e.EntityMeta().Key.Kind {
				return v.of(e)
			}
		}
	}
	return backend.Safe{}, false
}

// update counts the change of one entity; before is nil for a new entity, after for one that is gone.
func (v *versionTracker) update(k backend.Key, before, after backend.Entity, now time.Time) {
	was, ran := versionOf(before)
	is, runs := versionOf(after)
	ran, runs = ran && !was.IsEmpty(), runs && !is.IsEmpty()
	if was == is && ran == runs {
		return
	}
	v.changed = true
	key := versionedKind{k.Source, k.Kind}
	f := v.fleets[key]
	if f == nil {
		f = &runningVersions{since: now, running: map[backend.Safe]int{}, known: map[backend.Safe]time.Time{},
			moved: map[backend.Safe]bool{}, announced: map[backend.Safe]time.Time{}}
		v.fleets[key] = f
	}
	if f.running[was] > 0 && ran {
		if f.running[was]--; f.running[was] == 0 {
			delete(f.running, was)
		}
	}
	if runs && (f.running[is] > 0 || len(f.running) < maxVersions) {
		f.running[is]++
		if !was.IsEmpty() && was != is {
			f.moved[is] = true
		}
	}
}

// events are the markers since the last call.
func (v *versionTracker) events(now time.Time) []backend.Event {
	var out []backend.Event
	for _, key := range stable.Sorted(maps.Keys(v.fleets), func(a, b versionedKind) int {
		return cmp.Or(strings.Compare(a.source, b.source), strings.Compare(string(a.kind), string(b.kind)))
	}) {
		out = append(out, v.fleets[key].events(key, now)...)
	}
	return out
}

func (f *runningVersions) events(key versionedKind, now time.Time) []backend.Event {
	for version, at := range f.known {
		if now.Sub(at) > forgetVersion {
			delete(f.known, version)
		}
	}
	settling := now.Sub(f.since) < settleVersions
	var out []backend.Event
	for _, version := range f.fresh() {
		if settling && !f.moved[version] {
			continue
		}
		f.rollout, f.before = version, f.others(version)
		out = f.announce(out, key, version, now)
	}
	if len(f.running) == 1 && f.running[f.rollout] > 0 {
		if len(out) == 0 {
			delete(f.announced, f.rollout) // a complete rollout is announced although its start was
			out = f.announce(out, key, f.rollout, now)
		}
		f.rollout = backend.Safe{}
	}
	clear(f.moved)
	for version := range f.running {
		f.known[version] = now
	}
	return out
}

// fresh lists, sorted, the running versions that did not run lately, and those to which an entity changed. It leaves
// out the rollout that was announced.
func (f *runningVersions) fresh() []backend.Safe {
	var out []backend.Safe
	for version := range f.running {
		if _, known := f.known[version]; !known || f.moved[version] && version != f.rollout {
			out = append(out, version)
		}
	}
	stable.Sort(out, compareSafe)
	return out
}

func compareSafe(a, b backend.Safe) int { return strings.Compare(a.String(), b.String()) }

// others names the other versions that are known to have run, at most three.
func (f *runningVersions) others(version backend.Safe) backend.Safe {
	var out []backend.Safe
	for other := range f.known {
		if other != version {
			out = append(out, other)
		}
	}
	stable.Sort(out, compareSafe)
	return backend.Join(out[:min(len(out), 3)], ", ")
}

// announce adds a marker, at most maxVersionEvents an hour.
func (f *runningVersions) announce(out []backend.Event, key versionedKind, version backend.Safe, now time.Time) []backend.Event {
	recent := 0
	for v, at := range f.announced {
		if now.Sub(at) >= time.Hour {
			delete(f.announced, v)
		} else {
			recent++
		}
	}
	if last, told := f.announced[version]; told && now.Sub(last) < repeatVersion || recent >= maxVersionEvents {
		return out
	}
	f.announced[version] = now
	all := 0
	for _, n := range f.running {
		all += n
	}
	name := ""
	for i := range versionedKinds {
		if versionedKinds[i].kind == key.kind {
			name = versionedKinds[i].word
		}
	}
	text := backend.Textf("%d of %d %s now run %s", f.running[version], all, backend.Clean(key.kind.Spec().Plural, 40), version)
	if !f.before.IsEmpty() {
		text = backend.Textf("%s (before: %s)", text, f.before)
	}
	return append(out, backend.Event{Kind: backend.EventChange, At: now, Source: key.source, Name: name, Text: text,
		Subject: backend.Key{Kind: backend.KindSource, Source: key.source, ID: backend.MustID(key.source)}})
}

// observeVersions counts the versions of the entities that this State changed, and adds their markers.
func (s *store) observeVersions(touched []backend.Key, now time.Time) {
	for _, k := range touched {
		for i := range versionedKinds {
			if versionedKinds[i].kind == k.Kind {
				t := s.of(k.Kind)
				s.versionTracker.update(k, t.before(k), t.after(k), now)
			}
		}
	}
	s.events = append(s.events, s.versionTracker.events(now)...)
}
