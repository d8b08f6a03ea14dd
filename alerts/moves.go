package alerts

import (
	"maps"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
)

// Move is a change of the place in which a workspace's files are kept, as a registry or a stored reference names it.
type Move struct {
	Key    backend.Key `json:"key"` // of the workspace or the reference
	Before backend.ID  `json:"before"`
	Now    backend.ID  `json:"now"`
	// Sandbox says that the ids are of sandboxes; else they are of namespaces.
	Sandbox bool      `json:"sandbox,omitempty"`
	At      time.Time `json:"at"` // when the new place was read
}

// movesSpan is how long a move is remembered: files are missed days later.
const movesSpan = 7 * 24 * time.Hour

// MovesOf lists the moves of one workspace of a session, from whatever source, the newest first.
func (b *Board) MovesOf(session, workspace backend.ID) []Move {
	if b == nil || b.memory == nil {
		return nil
	}
	var out []Move
	for k, m := range b.memory.moves {
		if k.Parent == session && k.ID == workspace {
			out = append(out, m)
		}
	}
	stable.Sort(out, newestMove)
	return out
}

func newestMove(a, b Move) int {
	if c := b.At.Compare(a.At); c != 0 {
		return c
	}
	return a.Key.Compare(b.Key)
}

// storagePlace is where an entity says that its files are kept.
type storagePlace struct{ namespace, sandbox backend.ID }

func placeOf(e backend.Entity) storagePlace {
	switch x := e.(type) {
	case *backend.Workspace:
		return storagePlace{x.Namespace, x.ProviderID}
	case *backend.Ref:
		return storagePlace{x.Namespace, x.Sandbox}
	}
	return storagePlace{}
}

// moved compares the places of an entity before and now.
func moved(k backend.Key, before, now storagePlace, at time.Time) (Move, bool) {
	differ := func(a, b backend.ID) bool { return !a.IsZero() && !b.IsZero() && a != b }
	switch {
	case differ(before.namespace, now.namespace):
		return Move{Key: k, Before: before.namespace, Now: now.namespace, At: at}, true
	case differ(before.sandbox, now.sandbox):
		return Move{Key: k, Before: before.sandbox, Now: now.sandbox, Sandbox: true, At: at}, true
	}
	return Move{}, false
}

// rememberMoves carries on the moves that are known and adds those of this State, also against what a former process read.
func (ev *evaluation) rememberMoves(deltas []fleet.Delta) {
	ev.next.moves = ev.old.moves
	own := false
	var told []backend.Event
	for _, d := range deltas {
		for _, k := range d.Changed {
			if k.Kind != backend.KindWorkspace && k.Kind != backend.KindRef {
				continue
			}
			now, was := ev.st.Entity(k), backend.Entity(nil)
			if ev.prev != nil && ev.prev.state != nil {
				was = ev.prev.state.Entity(k)
			}
			if p, left := ev.old.past[k]; was == nil && left {
				was = p.Entity
			}
			if now == nil || was == nil {
				continue
			}
			m, is := moved(k, placeOf(was), placeOf(now), ev.st.Wall)
			if !is {
				continue
			}
			if !own {
				if ev.next.moves, own = maps.Clone(ev.old.moves), true; ev.next.moves == nil {
					ev.next.moves = map[backend.Key]Move{}
				}
			}
			ev.next.moves[k] = m
			if text := m.told(now); !text.IsEmpty() {
				told = append(told, backend.Event{Kind: backend.EventPlatform, At: ev.st.Wall, Source: k.Source, Subject: k, Name: EventStorage, Text: text})
			}
		}
	}
	if own {
		ev.next.moves = boundedMoves(ev.next.moves, ev.st.Wall)
	}
	if more := len(told) - maxMoveEvents; more > 0 {
		told = told[:maxMoveEvents]
		told[maxMoveEvents-1].Text = backend.Textf("%s; and %d more workspaces at this moment", told[maxMoveEvents-1].Text, more)
	}
	ev.events = append(ev.events, told...)
}

// EventStorage is the name of the event that a workspace keeps its files in another place than before.
const EventStorage = "storage-changed"

// maxMoveEvents bounds the moves of one State that are events.
const maxMoveEvents = 50

// filestore is the provider that keeps files without a machine: another object is another place, not a new machine.
const filestore = "cloudflare-filestore"

// told is the line of a move on the timeline. A new sandbox of a provider with machines is daily life and has none.
func (m *Move) told(e backend.Entity) backend.Safe {
	what, provider := "namespace", backend.Safe{}
	switch x := e.(type) {
	case *backend.Workspace:
		provider = x.Provider
	case *backend.Ref:
		provider = x.Provider
	}
	switch {
	case m.Sandbox && provider.String() == filestore:
		what = "object"
	case m.Sandbox:
		return backend.Safe{}
	}
	return backend.Textf("workspace %s/%s keeps its files in %s %s; before it was %s", m.Key.Parent.Safe(), m.Key.ID.Safe(), backend.Clean(what, 20), m.Now.Safe(), m.Before.Safe())
}

// boundedMoves drops what is too old, and the oldest of too many.
func boundedMoves(all map[backend.Key]Move, now time.Time) map[backend.Key]Move {
	maps.DeleteFunc(all, func(_ backend.Key, m Move) bool { return now.Sub(m.At) > movesSpan })
	if len(all) > maxPast {
		list := stable.Sorted(maps.Values(all), newestMove)
		for _, m := range list[maxPast:] {
			delete(all, m.Key)
		}
	}
	return all
}

// savedMoves are the moves as the state file holds them, sorted.
func (b *Board) savedMoves() []Move {
	return stable.Sorted(maps.Values(b.memory.moves), newestMove)
}

func restoreMoves(all []Move, now time.Time) map[backend.Key]Move {
	out := make(map[backend.Key]Move, len(all))
	for _, m := range all {
		out[m.Key] = m
	}
	return boundedMoves(out, now)
}
