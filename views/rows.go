package views

import (
	"iter"
	"strconv"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// The kinds in the keys of rows that are no entities of the fleet.
const (
	KindAlert         backend.Kind = "alert"
	KindEvent         backend.Kind = "event"
	KindSharedStorage backend.Kind = "place" // what several sessions or workspaces share
	KindRejection     backend.Kind = "rejection"
	KindEviction      backend.Kind = "eviction"
)

// AlertKey is the key of an alert's row.
func AlertKey(a *alerts.Alert) backend.Key {
	id, err := backend.NewID(a.ID)
	if err != nil { // an alert without an id: told apart by what its id is made of
		id = backend.MustID(a.Rule + "/" + a.Source + "/" + a.Fingerprint + " ")
	}
	return backend.Key{Kind: KindAlert, Source: a.Source, ID: id}
}

// FindAlert returns the alert with that key, nil when the Board has none.
func FindAlert(b *alerts.Board, key backend.Key) *alerts.Alert {
	if key.Kind != KindAlert {
		return nil
	}
	for _, a := range b.Alerts {
		if AlertKey(a) == key {
			return a
		}
	}
	return nil
}

// SharedStorageKey is the key of a shared place's row.
func SharedStorageKey(p *fleet.SharedStorage) backend.Key {
	return backend.Key{Kind: KindSharedStorage, Source: p.Home, Parent: backend.MustID(string(p.What)), ID: p.ID}
}

// Event is one line of the timeline with a key of its own.
type Event struct {
	*backend.Event
	Key backend.Key
}

// EventRows gives every event a key: its time, what happened, and a number where that is not enough.
func EventRows(events []backend.Event) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		seen := make(map[string]int, len(events))
		for i := range events {
			e := &events[i]
			id := strconv.FormatInt(e.At.UnixNano(), 36) + "-" + string(e.Kind) + "-" + e.Name + "-" + e.Source
			n := seen[id]
			if seen[id]++; n > 0 {
				id += "-" + strconv.Itoa(n)
			}
			if len(id) > backend.MaxIDBytes {
				id = id[:backend.MaxIDBytes]
			}
			if !yield(Event{e, backend.Key{Kind: KindEvent, Source: e.Source, ID: backend.MustID(id)}}) {
				return
			}
		}
	}
}
