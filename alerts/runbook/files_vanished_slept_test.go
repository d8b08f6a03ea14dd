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
