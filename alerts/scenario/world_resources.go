package scenario

import (
	"time"

	"sandglass/backend"
)

// A host of a scenario has this much memory and disk, in bytes, and so many inodes.
const (
	hostMemory = int64(64_000_000_000)
	rootBytes  = int64(500_000_000_000)
	rootInodes = int64(30_000_000)
)

// addResources adds hosts, scratch directories and references as they are at a step.
func (w *world) addResources(step int) {
	for i := range w.plan.host {
		x := &w.plan.host[i]
		w.addEntity(x.key, at(x.states, step), func(word string) func(backend.Meta) backend.Entity {
			return func(m backend.Meta) backend.Entity { return x.entity(m, word, w.plan, step) }
		})
	}
	for i := range w.plan.tmpdir {
		w.addTmpdirs(&w.plan.tmpdir[i], step)
	}
	for i := range w.plan.ref {
		x := &w.plan.ref[i]
		w.addEntity(x.key, at(x.sandboxes, step), func(word string) func(backend.Meta) backend.Entity {
			return func(m backend.Meta) backend.Entity { return x.entity(m, word, w.plan, step) }
		})
	}
}

// addEntity adds one entity in the state that a word names.
func (w *world) addEntity(k backend.Key, word string, entity func(word string) func(backend.Meta) backend.Entity) {
	t := &observedEntity{key: k}
	switch word {
	case wordStale:
		t.gone = true
	case wordMissing:
	default:
		t.entity = entity(word)
	}
	w.entities = append(w.entities, t)
}

// addTmpdirs adds the directories of an entry at a step; directories beyond the present count are removed.
func (w *world) addTmpdirs(x *tmpdirPlan, step int) {
	there, most := sampleAt(x.count, step), 0
	for _, s := range x.count[:min(step+1, len(x.count))] {
		most = max(most, int(s.n))
	}
	for n := range max(most, 1) {
		path, word := x.path(n), at(x.states, step)
		if !there.there {
			word = wordMissing
		} else if n >= int(there.n) {
			word = wordStale
		}
		k := backend.Key{Kind: backend.KindTmpdir, Source: x.host.Source, Parent: x.host.ID, ID: backend.MustID(path)}
		w.addEntity(k, word, func(word string) func(backend.Meta) backend.Entity {
			return func(m backend.Meta) backend.Entity { return x.entity(m, path, word, w.plan.Start) }
		})
	}
}

func (x *hostPlan) entity(m backend.Meta, word string, p *plan, step int) backend.Entity {
	root := backend.Root{Path: backend.Clean(x.Root, 100), FSType: backend.Clean(x.FSType, 40), Exists: backend.Known(word != "absent"),
		Bytes: backend.Known(rootBytes), Inodes: backend.Known(rootInodes), InodesFree: backend.Known(rootInodes / 2), BytesFree: sampleAt(x.free, step).of(rootBytes)}
	if x.Root == "" {
		root.Path = backend.Text("/tmp")
	}
	if x.FSType == "" {
		root.FSType = backend.Text("ext4")
	}
	if word != "absent" {
		root.ReadOnly, root.Writable = backend.Known(word == "read-only"), backend.Known(word != "read-only" && word != "unwritable")
	}
	switch word {
	case "full":
		root.BytesFree = backend.Known[int64](0)
	case "inodes-full":
		root.InodesFree = backend.Known[int64](0)
	}
	kills := backend.Unknown[int64]()
	if s := sampleAt(x.oomKills, step); s.there {
		kills = backend.Known(int64(s.n))
	}
	return &backend.Host{Meta: m, Name: backend.Clean(x.ID, 60), BootedAt: backend.Known(x.bootedAt(p.Start, p.interval, step)), MemTotal: backend.Known(hostMemory),
		MemAvailable: sampleAt(x.available, step).of(hostMemory), OOMKills: kills, LimitKills: backend.Known[int64](0), Roots: []backend.Root{root}}
}

func (x *tmpdirPlan) entity(m backend.Meta, path, word string, start time.Time) backend.Entity {
	e := &backend.Tmpdir{Meta: m, Path: backend.Clean(path, 200), RawPath: backend.MustID(path), Root: backend.Text("/tmp"), Bytes: backend.Known(int64(x.Size)),
		Newest: backend.Known(start.Add(-x.Changed.Std())), Entries: backend.Known[int64](1)}
	switch word {
	case "held":
		e.Holders = backend.Known([]backend.Holder{{PID: 1, Command: backend.Text("node"), How: backend.Text("cwd")}})
	case "free":
		e.Holders = backend.Known([]backend.Holder(nil))
	case "unreadable":
		e.Unreadable = 1
	}
	return e
}

func (x *refPlan) entity(m backend.Meta, word string, p *plan, step int) backend.Entity {
	e := &backend.Ref{Meta: m, Session: x.key.Parent, Workspace: x.key.ID, Provider: backend.Clean(x.Provider, 60), SchemaVersion: backend.NotApplicable[int]()}
	if x.Version > 0 {
		e.SchemaVersion = backend.Known(x.Version)
	}
	if word != "-" {
		e.Sandbox = backend.MustID(word)
	}
	if x.Namespace != "" {
		e.Namespace = backend.MustID(x.Namespace)
	}
	saved := p.Start.Add(-x.Saved.Std())
	for i := 1; i <= min(step, len(x.sandboxes)-1); i++ {
		if x.sandboxes[i] != x.sandboxes[i-1] && x.sandboxes[i] != wordMissing {
			saved = p.Start.Add(time.Duration(i) * p.interval)
		}
	}
	e.SavedAt = backend.Known(saved)
	return e
}
