package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
)

// Host is a machine with scratch directories. The series hold one number a step, and the last one stays. A missing
// sample is a value that could not be read.
type Host struct {
	ID     string `toml:"id"`
	Source string `toml:"source"`
	// States are words: ok, full (no space left), inodes-full, read-only, unwritable and absent say what its root is like.
	States    Words            `toml:"states"`
	Root      string           `toml:"root"`      // default /tmp
	FSType    string           `toml:"fs_type"`   // of the root, default ext4
	Available string           `toml:"available"` // percent of its memory that is available; default 50
	Free      string           `toml:"free"`      // percent of the root's bytes that are free while it is not full; default 50
	OOMKills  string           `toml:"oom_kills"` // since it booted; default 0
	Booted    backend.Duration `toml:"booted"`    // how long before the first step it booted, default 10 days
	Reboot    backend.Duration `toml:"reboot"`    // when it boots again; zero: never
}

// Tmpdir is one scratch directory, or as many as Count says.
type Tmpdir struct {
	ID     string `toml:"id"` // its path
	Source string `toml:"source"`
	Host   string `toml:"host"` // default: the first host of its source
	// States are words: held (a process uses it), free (no process uses it), unreadable (some process could not be
	// read), stale (it is removed).
	States  Words            `toml:"states"`
	Size    backend.Size     `toml:"size"`
	Changed backend.Duration `toml:"changed"` // time from its last change to the first step
	Count   string           `toml:"count"`   // how many such directories there are at each step; default 1
}

// Ref is a saved reference to a workspace.
type Ref struct {
	ID       string `toml:"id"` // session/name
	Source   string `toml:"source"`
	Provider string `toml:"provider"`
	// Sandboxes are the ids that it names, one a step, the last one stays; - names none; stale: the reference is removed.
	Sandboxes string           `toml:"sandboxes"`
	Namespace string           `toml:"namespace"`
	Version   int              `toml:"schema_version"` // zero: it carries none
	Saved     backend.Duration `toml:"saved"`          // how long before the first step it was saved; each further sandbox saves it again
}

// Event is an event that a source reports at a step.
type Event struct {
	At     backend.Duration  `toml:"at"`
	Source string            `toml:"source"`
	Kind   backend.EventKind `toml:"kind"` // platform (default) or change
	Name   string            `toml:"name"` // oom, die, destroy; start, rollout
	About  string            `toml:"about"`
	Text   string            `toml:"text"`
}

type hostPlan struct {
	Host
	key                       backend.Key
	states                    []string
	available, free, oomKills []sample
	reboot                    int
}

type tmpdirPlan struct {
	Tmpdir
	host   backend.Key
	states []string
	count  []sample
}

type refPlan struct {
	Ref
	key       backend.Key
	sandboxes []string
}

type eventPlan struct {
	Event
	step    int
	subject backend.Key
}

// hostWords are what the root of a host can be like, tmpdirWords how a scratch directory is used.
func hostWords() []string {
	return []string{"ok", "full", "inodes-full", "read-only", "unwritable", "absent"}
}

func tmpdirWords() []string { return []string{"held", "free", "unreadable"} }

// maxDirectories bounds the directories of one entry.
const maxDirectories = 10_000

// readResources checks hosts, scratch directories, references and events.
func (p *plan) readResources(f *errorList) {
	for _, h := range p.Hosts {
		what := "host " + h.ID
		x := hostPlan{Host: h, states: h.States.or("ok"), reboot: p.step(f, what+": reboot", h.Reboot)}
		x.key = backend.Key{Kind: backend.KindHost, Source: p.home(f, what, h.Source), ID: p.id(f, what, h.ID)}
		p.named(f, "host", h.ID)
		p.oneOf(f, what, x.states, hostWords())
		x.available, x.free, x.oomKills = p.series(f, what+": available", h.Available, 50), p.series(f, what+": free", h.Free, 50), p.series(f, what+": oom_kills", h.OOMKills, 0)
		p.host = append(p.host, x)
	}
	for _, t := range p.Tmpdirs {
		what := "tmpdir " + t.ID
		x := tmpdirPlan{Tmpdir: t, states: t.States.or("free"), count: p.series(f, what+": count", t.Count, 1)}
		source := p.home(f, what, t.Source)
		i := slices.IndexFunc(p.host, func(h hostPlan) bool { return h.key.Source == source && (t.Host == "" || h.ID == t.Host) })
		if i < 0 {
			f.add("%s: its source has no [[scenario.host]] %q; every directory lies on a host", what, t.Host)
			continue
		}
		x.host = p.host[i].key
		p.oneOf(f, what, x.states, tmpdirWords())
		p.named(f, "tmpdir", t.ID)
		most := 1
		for _, s := range x.count {
			if s.n > maxDirectories {
				f.add("%s: count: more than %d directories", what, maxDirectories)
			} else {
				most = max(most, int(s.n))
			}
		}
		for n := range most {
			p.id(f, what, x.path(n))
			p.subjects[x.path(n)] = true
		}
		p.tmpdir = append(p.tmpdir, x)
	}
	for _, r := range p.Refs {
		what := "ref " + r.ID
		session, name, ok := strings.Cut(r.ID, "/")
		if !ok {
			f.add("%s: its id is session/name", what)
			continue
		}
		x := refPlan{Ref: r, sandboxes: p.ids(f, what, r.Sandboxes)}
		x.key = backend.Key{Kind: backend.KindRef, Source: p.home(f, what, r.Source), Parent: p.id(f, what, session), ID: p.id(f, what, name)}
		if r.Namespace != "" {
			p.id(f, what, r.Namespace)
		}
		p.subjects[r.ID] = true // a workspace of this name usually exists too
		p.ref = append(p.ref, x)
	}
	p.readEvents(f)
}

// ids reads the sandboxes of a reference; any word is an id.
func (p *plan) ids(f *errorList, what, text string) []string {
	ids, err := parseWords(text, func(string) error { return nil })
	if err != nil {
		f.add("%s: %v", what, err)
	}
	if len(ids) == 0 {
		ids = []string{"-"}
	}
	for _, w := range ids {
		p.id(f, what, w)
	}
	return ids
}

// path is that of the n-th directory of an entry.
func (x *tmpdirPlan) path(n int) string {
	if n == 0 {
		return x.ID
	}
	return fmt.Sprintf("%s-%d", x.ID, n)
}

// readEvents checks the events. It runs last, because an event may name any other subject.
func (p *plan) readEvents(f *errorList) {
	for _, e := range p.Events {
		what := "event " + e.Name
		x := eventPlan{Event: e, step: p.step(f, what+": at", e.At)}
		x.Source = p.home(f, what, e.Source)
		if e.Kind == "" {
			x.Kind = backend.EventPlatform
		}
		if x.Kind != backend.EventPlatform && x.Kind != backend.EventChange {
			f.add("%s: %q is no kind of event that a source reports; write platform or change", what, e.Kind)
		}
		if e.Name == "" {
			f.add("%s: it has no name", what)
		}
		if e.About != "" {
			var known bool
			if x.subject, known = p.subject(e.About); !known {
				f.add("%s: about: there is no %q", what, e.About)
			}
		}
		p.event = append(p.event, x)
	}
}

// subject finds what an event is about.
func (p *plan) subject(id string) (backend.Key, bool) {
	for i := range p.sandbox {
		if p.sandbox[i].ID == id {
			return p.sandbox[i].key, true
		}
	}
	for i := range p.session {
		if p.session[i].ID == id {
			return p.session[i].key, true
		}
	}
	for i := range p.work {
		if p.work[i].ID == id {
			return p.work[i].key, true
		}
	}
	for i := range p.host {
		if p.host[i].ID == id {
			return p.host[i].key, true
		}
	}
	return backend.Key{}, false
}

func (p *plan) oneOf(f *errorList, what string, words, allowed []string) {
	for _, w := range words {
		if w != wordMissing && w != wordStale && !slices.Contains(allowed, w) {
			f.add("%s: %q is none of %s", what, w, strings.Join(allowed, ", "))
		}
	}
}

func (p *plan) series(f *errorList, what, text string, fallback float64) []sample {
	out, err := parseSeries(text)
	if err != nil {
		f.add("%s: %v", what, err)
	}
	for _, s := range out {
		if s.n < 0 {
			f.add("%s: it is never below 0", what)
			break
		}
	}
	if len(out) == 0 {
		out = []sample{{fallback, true}}
	}
	return out
}

// sampleAt is the sample of a step; the last one stays.
func sampleAt(s []sample, step int) sample { return s[min(step, len(s)-1)] }

func (s sample) of(whole int64) backend.Value[int64] {
	if !s.there {
		return backend.Unknown[int64]()
	}
	return backend.Known(int64(s.n / 100 * float64(whole)))
}

// eventsAt returns the events that a source reports at a step.
func (p *player) eventsAt(source string, step int) (events []backend.Event) {
	for i := range p.plan.event {
		e := &p.plan.event[i]
		if e.Source == source && e.step == step {
			events = append(events, backend.Event{Kind: e.Kind, At: p.now, Source: source, Subject: e.subject, Name: e.Name, Text: backend.Clean(e.Text, 200)})
		}
	}
	return events
}

// bootedAt is when a host booted last.
func (x *hostPlan) bootedAt(start time.Time, interval time.Duration, step int) time.Time {
	if x.reboot > 0 && step >= x.reboot {
		return start.Add(time.Duration(x.reboot) * interval)
	}
	before := x.Booted.Std()
	if before == 0 {
		before = 10 * 24 * time.Hour
	}
	return start.Add(-before)
}
