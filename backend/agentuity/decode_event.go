package agentuity

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
	"sandglass/internal/stable"
)

// lifecycle reads one event of a sandbox; ok is false when it has neither a type nor an id.
func (d *decoder) lifecycle(n wire.Node, read time.Time) (e backend.LifecycleEvent, ok bool) {
	word, _ := n.Get("type").Text()
	e = backend.LifecycleEvent{ID: id(n.Get("eventId")), Type: d.cut(word, 80), Kind: lifecycleKind(word), At: d.moment(n.Get("createdAt")).Or(read)}
	if word == "" && e.ID.IsZero() {
		return e, false
	}
	for name, v := range n.Get("event").Members() {
		switch key := plainName(string(name)); {
		case key == "deferred":
			if b, is := v.Bool(); is {
				e.Deferred = backend.Known(b)
			}
		case strings.Contains(key, "checkpoint") && e.Checkpoint.IsEmpty():
			e.Checkpoint = cmp.Or(d.text(v, 80), d.text(v.Get("id"), 80))
		case strings.HasPrefix(key, "previous"), strings.HasPrefix(key, "prev"), key == "from", key == "oldstatus":
			e.Previous = d.text(v, 60)
		}
	}
	return e, true
}

// plainName is a key without its spelling: the payloads' keys are not documented.
func plainName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// lifecycleKind is the meaning of a type. Only create, destroy, lifecycle:started, :resumed and :reconcile are documented
// literals; the others are told by what they hold.
func lifecycleKind(word string) backend.LifecycleKind {
	low := strings.ToLower(word)
	for _, k := range []struct {
		part string
		kind backend.LifecycleKind
	}{{"evacuat", backend.LifecycleEvacuated}, {"checkpoint", backend.LifecycleCheckpointed}, {"reconcil", backend.LifecycleReconciled}, {"resum", backend.LifecycleResumed},
		{"suspend", backend.LifecycleSuspended}, {"pause", backend.LifecycleSuspended}, {"destroy", backend.LifecycleDestroyed}, {"delete", backend.LifecycleDestroyed},
		{"terminat", backend.LifecycleDestroyed}, {"start", backend.LifecycleStarted}, {"create", backend.LifecycleCreated}} {
		if strings.Contains(low, k.part) {
			return k.kind
		}
	}
	return backend.LifecycleOther
}

// order sorts events by time and keeps the newest.
func order(all []backend.LifecycleEvent) []backend.LifecycleEvent {
	stable.Sort(all, func(a, b backend.LifecycleEvent) int { return a.At.Compare(b.At) })
	if n := len(all) - backend.MaxLifecycle; n > 0 {
		all = all[n:]
	}
	return slices.Clone(all)
}

// told is a lifecycle event as a line of the timeline.
func told(b *backend.Sandbox, e backend.LifecycleEvent, now time.Time) backend.Event {
	text := backend.Textf("%s: %s", b.Name, e.Type)
	if !e.Checkpoint.IsEmpty() {
		text = backend.Textf("%s, checkpoint %s", text, e.Checkpoint)
	}
	if deferred, known := e.Deferred.Get(); known && deferred {
		text = backend.Textf("%s, deferred", text)
	}
	if !e.Previous.IsEmpty() {
		text = backend.Textf("%s, was %s", text, e.Previous)
	}
	return backend.Event{Kind: backend.EventPlatform, At: now, SourceAt: e.At, Source: b.Key.Source, Subject: b.Key, Name: string(e.Kind), Text: text, Leaves: leaves(e)}
}

// leaves is the class in which an event leaves its sandbox. A resume that is only noted, a move and a corrected record leave it
// in none that they name.
func leaves(e backend.LifecycleEvent) backend.SandboxClass {
	switch e.Kind {
	case backend.LifecycleCreated:
		return backend.SandboxCreated
	case backend.LifecycleStarted:
		return backend.SandboxRunning
	case backend.LifecycleResumed:
		if !e.Deferred.Or(false) {
			return backend.SandboxRunning
		}
	case backend.LifecycleSuspended:
		return backend.SandboxAsleep
	case backend.LifecycleDestroyed:
		return backend.SandboxExited
	case backend.LifecycleEvacuated, backend.LifecycleCheckpointed, backend.LifecycleReconciled, backend.LifecycleOther:
	}
	return ""
}
