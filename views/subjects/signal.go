package subjects

import (
	"time"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/theme"
)

// briefStates are words of platforms for what is over soon, as likely as not between two looks at the screen, and ours for it.
var briefStates = map[string]string{"evicted": "evicted", "failed": "failed", "restarting": "restarted", "exited": "exited", "dead": "dead",
	"oomkilled": "oom", "unhealthy": "unhealthy"}

// SignalIn is the newest short-lived thing that an entity's own reading tells of since a moment: a status that it has no more, or a
// restart. ok is false when there is none.
func SignalIn(e backend.Entity, since time.Time) (s views.Signal, ok bool) {
	h := e.EntityMeta().History
	for i := len(h) - 2; i >= 0; i-- { // the last one is the status that it has
		if h[i].At.Before(since) {
			break
		}
		if word := briefStates[h[i].Status.String()]; word != "" && h[i].Status != h[len(h)-1].Status {
			s, ok = views.Signal{Word: plain(word), At: h[i].At}, true
			break
		}
	}
	if b, is := e.(*backend.Sandbox); is && b.Class == backend.SandboxRunning && b.RestartCount.Or(0) > 0 {
		if at, ended := b.FinishedAt.Get(); ended && !at.Before(since) && !at.Before(s.At) {
			return views.Signal{Word: backend.Text("restarted"), At: at}, true
		}
	}
	return s, ok
}

// SignalOf is the short-lived thing that an event tells of; ok is false for other events.
func SignalOf(e *backend.Event) (s views.Signal, ok bool) {
	if e.Kind != backend.EventPlatform || e.Name != "oom" || e.Subject == (backend.Key{}) {
		return views.Signal{}, false
	}
	return views.Signal{Word: backend.Text("oom"), At: e.At}, true
}

// recentColumn shows what happened to a row lately and is over. It is there while some row has such a signal.
//
//go:noinline
func recentColumn[R any](kind backend.Kind, key func(R) backend.Key, priority int) Column[R] {
	return Column[R]{Name: "recent", Title: "RECENT", Help: "what happened in the last minutes and may be over: oom, evicted, restarted ([ui] marked_for)",
		Min: 11, Ideal: 14, Priority: priority, Local: 2, Where: Screens, Descending: true,
		Needed: func(c *views.Snapshot) bool { return c.Signals.Any(kind, c.Now) }, Passing: true,
		Cell: func(r R, c *views.Snapshot) Cell {
			s, marked := c.Signals.Of(key(r), c.Now)
			if !marked {
				return Cell{Text: backend.Text(Nothing), Tone: theme.Dim}
			}
			return Cell{Text: backend.Textf("%s %s", s.Word, backend.Clean(backend.Age(c.Now.Sub(s.At)), 10)), Short: s.Word, Tone: theme.Warn, Mark: theme.MarkWarn}
		},
		Sort: func(r R, c *views.Snapshot) SortKey {
			s, marked := c.Signals.Of(key(r), c.Now)
			return SortKey{Num: float64(s.At.UnixNano()), Unknown: !marked}
		}}
}
