package alerts

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestAnEndOfOursIsNoGuessOnTheTimeline: the end of a container is read before the destroy that ended it is verified.
func TestAnEndOfOursIsNoGuessOnTheTimeline(t *testing.T) {
	l := newLamp(t, Meta{})
	svc := NewService(l.engine, ServiceOptions{})
	k := backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID("box")}
	f := fleet.NewFolder(time.Minute)
	see := func(r *backend.Reading, vs []backend.Verdict) {
		at := backend.Instant{Wall: l.now}
		a := []backend.Answer{{Source: "cf", Started: at, Ended: at, Reading: r}}
		if vs != nil {
			a[0] = backend.Answer{Source: "cf", Started: at, Ended: at, Proved: &backend.Proof{Sandbox: k, Verdicts: vs}}
		}
		svc.Observe(f.Fold(a, at))
	}
	end := backend.Event{Kind: backend.EventPlatform, Name: backend.EventExit, At: l.now.Add(time.Second), Source: "cf", Subject: k, Leaves: backend.SandboxExited,
		Text: backend.Textf("box: its container ended with exit code %s", backend.ExitText(137))}
	see(&backend.Reading{Source: "cf", At: l.now, Sandboxes: []*backend.Sandbox{{Meta: backend.Meta{Key: k, ReadAt: l.now}, Class: backend.SandboxExited}}, Events: []backend.Event{end}}, nil)
	text := func() string {
		for _, e := range svc.Timeline(100) {
			if e.Name == backend.EventExit {
				return e.Text.String()
			}
		}
		return "no end"
	}
	if got := text(); !strings.HasSuffix(got, "(killed, perhaps for memory)") {
		t.Errorf("before it is verified: %q", got)
	}
	see(nil, []backend.Verdict{backend.DestroyedVerdict(l.now, backend.Text("destroyed by eve"))})
	if got := text(); strings.Contains(got, "memory") || !strings.Contains(got, "exit code 137: destroyed by eve through Sandglass at ") {
		t.Errorf("after it: %q", got)
	}
}
