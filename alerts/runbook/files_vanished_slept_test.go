package runbook

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestWhatIsKnownOfASleepIsTold: the state of the container and since when, and how long it may rest, also where its operator routes alone
// say that; only what neither tells is not known.
func TestWhatIsKnownOfASleepIsTold(t *testing.T) {
	t.Parallel()
	label := backend.Field{Name: backend.Text(backend.SleepAfterLabel), Value: backend.Text("10m")}
	for name, c := range map[string]struct {
		labels   []backend.Field
		reported backend.Literal
		fresh    bool
		has      []string
	}{
		"its state":                   {nil, "running", false, []string{"b is running since ", "Its sleepAfter is not known"}},
		"its state and sleepAfter":    {[]backend.Field{label}, "running", false, []string{"b is running since ", "It sleeps after 10m; when it was last used is not known"}},
		"nothing":                     {nil, "", false, []string{"neither the container's state nor its sleepAfter is known"}},
		"a start on an empty disk":    {[]backend.Field{label}, "running", true, []string{"19m passed between its last success and the start of its new container, and it sleeps after 10m: it may have slept"}},
		"a label that is no duration": {[]backend.Field{{Name: label.Name, Value: backend.Text("soon")}}, "running", false, []string{"Its sleepAfter is not known"}},
	} {
		w := world{sessions: []*backend.Session{session("s1", true, func(s *backend.Session) { s.StartedAt = at(3 * time.Hour) })},
			workspaces: []*backend.Workspace{healthy("s1", "box", provider("cloudflare-sandbox"), func(w *backend.Workspace) {
				w.LastAttemptAt, w.LastSuccessAt, w.SleepAfter = backend.Unknown[time.Time](), backend.Unknown[time.Time](), backend.Unknown[time.Duration]()
				if c.fresh {
					w.LostSuccess = before(20 * time.Minute)
				}
			})},
			sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) {
				b.Provider, b.CreatedAt, b.StartedAt = backend.Text("cloudflare"), backend.NotApplicable[time.Time](), at(time.Minute)
				b.Reported, b.Labels = backend.Text(c.reported), c.labels
				if c.fresh {
					b.FreshAt = before(time.Minute)
				}
			})}}
		d := w.diagnose("2", wsKey("s1", "box"))
		said := factOf(t, d, "asleep")
		for _, x := range c.has {
			if !strings.Contains(said, x) {
				t.Errorf("%s: %q is missing in: %s", name, x, said)
			}
		}
		want(t, d, map[string]Mark{"asleep": CannotTell})
	}
}

// TestWhatAStoppedContainerTookAlong is told by the page as by its alert, also where the container is kept alive, which rules a sleep out;
// what may have kept the files is told too, and a filestore lost nothing.
func TestWhatAStoppedContainerTookAlong(t *testing.T) {
	t.Parallel()
	kept := []backend.Field{{Name: backend.Text("keepAlive"), Value: backend.Text("true")}}
	for name, c := range map[string]struct {
		provider backend.Literal
		extra    []backend.Field
		labels   []backend.Field
		success  time.Duration
		stopped  Mark
		asleep   Mark
		ending   Ending
		has      string
	}{
		"asleep or stopped":   {"cloudflare-sandbox", nil, nil, 20 * time.Minute, Confirmed, CannotTell, EndAsleep, "its files are gone with its disk"},
		"kept alive":          {"cloudflare-sandbox", kept, nil, 20 * time.Minute, Confirmed, RuledOut, EndAsleep, "its files are gone with its disk"},
		"the routes differ":   {"cloudflare-sandbox", nil, []backend.Field{{Name: backend.Text(backend.RoutesSayLabel), Value: backend.Text("healthy")}}, 20 * time.Minute, CannotTell, CannotTell, EndCannotTell, ""},
		"it was used since":   {"cloudflare-sandbox", nil, nil, time.Minute, CannotTell, CannotTell, EndCannotTell, ""},
		"a filestore's files": {"cloudflare-filestore", nil, nil, 20 * time.Minute, "", RuledOut, EndCannotTell, ""},
	} {
		w := world{sessions: []*backend.Session{session("s1", true, func(s *backend.Session) { s.StartedAt = at(3 * time.Hour) })},
			workspaces: []*backend.Workspace{healthy("s1", "box", provider(c.provider), func(w *backend.Workspace) {
				w.LastAttemptAt, w.LastSuccessAt, w.SleepAfter, w.Extra = at(c.success), at(c.success), backend.Known(10*time.Minute), c.extra
			})},
			sandboxes: []*backend.Sandbox{box("b", "s1", func(b *backend.Sandbox) {
				b.Provider, b.CreatedAt, b.StartedAt, b.FinishedAt = backend.Text("cloudflare"), backend.NotApplicable[time.Time](), at(time.Hour), at(10*time.Minute)
				b.Class, b.Reported, b.ExitCode, b.Labels = backend.SandboxExited, backend.Text("stopped"), backend.Known(0), c.labels
			})}}
		d := w.diagnose("2", wsKey("s1", "box"))
		marks := map[string]Mark{"asleep": c.asleep}
		if c.stopped != "" {
			marks["stopped"] = c.stopped
		}
		want(t, d, marks)
		if d.Ending != c.ending || !strings.Contains(d.Conclusion.String(), c.has) {
			t.Errorf("%s: ends in %q: %s", name, d.Ending, d.Conclusion)
		}
	}
}
