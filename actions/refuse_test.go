package actions

import (
	"context"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// Whatever destroys what a possible leak left behind is refused, and so it is when the alert does not list all that it is
// about, or is about the session of a sandbox on another source.
func TestWhatALeakHolds(t *testing.T) {
	box := backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("b1")}
	leak := func(cut bool, source string, about ...backend.Key) Concern {
		return Concern{ID: "l1", Rule: "possible-leak", Source: source, Firing: true, Critical: true, Cut: cut, Subjects: about}
	}
	for name, x := range map[string]struct {
		verb    Verb
		target  backend.Key
		concern Concern
		refused bool
	}{
		"reset":                      {Reset, key("notes"), leak(false, home, key("notes")), true},
		"destroy":                    {Destroy, key("notes"), leak(false, home, key("notes")), true},
		"clean":                      {Clean, key("notes"), leak(false, home, key("notes")), true},
		"purge":                      {Purge, key("notes"), leak(false, home, key("notes")), true},
		"undo":                       {Undo, key("notes"), leak(false, home, key("notes")), false},
		"stop":                       {Stop, key("notes"), leak(false, home, key("notes")), false},
		"another":                    {Destroy, key("notes"), leak(false, home, key("other")), false},
		"one that may be among them": {Destroy, key("notes"), leak(true, home, key("other")), true},
		"not on that source":         {Destroy, key("notes"), leak(true, "helix-us", key("other")), false},
		"a sandbox of its session":   {Destroy, box, leak(false, home, key("other")), true},
		"a sandbox of the session":   {Destroy, box, leak(false, home, backend.Key{Kind: backend.KindSession, Source: home, ID: backend.MustID("s1")}), true},
		"of another session":         {Destroy, box, leak(false, home, backend.Key{Kind: backend.KindSession, Source: home, ID: backend.MustID("s2")}), false},
	} {
		t.Run(name, func(t *testing.T) {
			state := &fleet.State{Sandboxes: fleet.NewTable(&backend.Sandbox{Meta: backend.Meta{Key: box}, IsSandbox: true, Session: backend.MustID("s1")})}
			p := &Plan{Verb: x.verb, Of: x.target.Kind, Source: x.target.Source, Targets: []Target{{Key: x.target, Useless: true}}}
			got := NewControl(Options{}).refusals(t.Context(), p, Spec{Verb: x.verb, Of: x.target.Kind}, Snapshot{State: state, Concerns: []Concern{x.concern}})
			if (len(got) > 0) != x.refused || len(got) > 0 && (got[0].Word != "" || !strings.Contains(got[0].Next.String(), "write a bundle first")) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestWhatALeakHoldsOfASharedSandbox: one that two sessions name, and its platform gives to neither, is held by an alert about either;
// so is one that only references name. Another platform's workspace of the same id holds nothing.
func TestWhatALeakHoldsOfASharedSandbox(t *testing.T) {
	box := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID("b1")}}, IsSandbox: true, Provider: backend.Text("cloudflare")}
	ws := func(session, provider string) *backend.Workspace {
		return &backend.Workspace{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: home, Parent: backend.MustID(session), ID: backend.MustID("box")}},
			WorkspaceFacts: backend.WorkspaceFacts{ProviderID: box.Key.ID, Provider: backend.Clean(provider, 40)}}
	}
	ref := func(session string) *backend.Ref {
		return &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "refs", Parent: backend.MustID(session), ID: backend.MustID("box")}},
			Session: backend.MustID(session), Sandbox: box.Key.ID, Provider: backend.Text("cloudflare-sandbox")}
	}
	about := func(session string) backend.Key {
		return backend.Key{Kind: backend.KindWorkspace, Source: home, Parent: backend.MustID(session), ID: backend.MustID("box")}
	}
	for name, x := range map[string]struct {
		state   fleet.State
		about   backend.Key
		refused bool
	}{
		"workspaces":        {fleet.State{Workspaces: fleet.NewTable(ws("s1", "cloudflare-sandbox"), ws("s2", "cloudflare-sandbox"))}, about("s2"), true},
		"references":        {fleet.State{Refs: fleet.NewTable(ref("s1"), ref("s2"))}, about("s1"), true},
		"both":              {fleet.State{Workspaces: fleet.NewTable(ws("s1", "")), Refs: fleet.NewTable(ref("s2"))}, about("s1"), true},
		"other sessions":    {fleet.State{Workspaces: fleet.NewTable(ws("s1", "cloudflare-sandbox"), ws("s2", "cloudflare-sandbox"))}, about("s3"), false},
		"another platform":  {fleet.State{Workspaces: fleet.NewTable(ws("s1", "docker"), ws("s2", "cloudflare-sandbox"))}, about("s1"), false},
		"named by one only": {fleet.State{Workspaces: fleet.NewTable(ws("s1", "cloudflare-sandbox"))}, about("s1"), false},
	} {
		x.state.Sandboxes = fleet.NewTable(box)
		p := &Plan{Verb: Destroy, Of: backend.KindSandbox, Source: "cf", Targets: []Target{{Key: box.Key, Useless: true}}}
		leak := Concern{ID: "l1", Rule: "possible-leak", Source: home, Firing: true, Critical: true, Subjects: []backend.Key{x.about}}
		got := NewControl(Options{}).refusals(t.Context(), p, Spec{Verb: Destroy, Of: backend.KindSandbox}, Snapshot{State: &x.state, Concerns: []Concern{leak}})
		if (len(got) > 0) != x.refused || len(got) > 0 && !strings.Contains(got[0].Next.String(), "write a bundle first") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A bundle that is about only some of the targets saves the evidence of none.
func TestEvidenceIsAskedForAboutAllThatIsTouched(t *testing.T) {
	bubble(t, names(3), func(t *testing.T, w *world) {
		since := time.Now().Add(-time.Hour)
		w.concerns = []Concern{{ID: "l1", Rule: "possible-leak", Source: home, Firing: true, Since: since, Subjects: []backend.Key{key("ws-000"), key("ws-002")}}}
		o := w.options()
		o.EvidenceSaved = func(_ context.Context, from time.Time, keys []backend.Key) bool {
			if !from.Equal(since) || len(keys) != 2 || keys[0] != key("ws-000") || keys[1] != key("ws-002") {
				t.Errorf("asked for a bundle since %s about %v", from, keys)
			}
			return false
		}
		if open := plan(t, operator(o), w.intent(names(3)...)).Open(); len(open) != 1 || open[0].Word != "" {
			t.Errorf("%+v", open)
		}
	})
}

func TestAPlanSaysWhenItsCauseWasLastSeen(t *testing.T) {
	now := time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	for ago, want := range map[time.Duration]string{
		59 * time.Second: "the cause was still seen 59s ago (1 of 1): a reset now would probably fail again",
		time.Minute:      "the cause was still seen 1m ago (1 of 1): a reset now would probably fail again",
		61 * time.Second: "the cause was last seen 1m ago; whether it is over is not known",
	} {
		got := warnings(&Plan{Verb: Reset, Targets: []Target{{CauseSeen: now.Add(-ago)}}}, now)
		if len(got) != 1 || got[0].String() != want {
			t.Errorf("%s ago: %v", ago, got)
		}
	}
}

// Reasons of one word stand together, in the order in which they came, each once.
func TestReasonsOfOneWordStandTogether(t *testing.T) {
	r := func(why backend.Literal, word string) Refusal { return Refusal{Why: backend.Text(why), Word: word} }
	var got []string
	for _, x := range distinct([]Refusal{r("a", "one"), r("b", "two"), r("c", "one"), r("b", "two"), r("d", ""), r("e", "two")}) {
		got = append(got, x.Why.String())
	}
	if s := strings.Join(got, " "); s != "a c b e d" {
		t.Errorf("%s", s)
	}
}

// An incident of a region switches plans of several targets there off, and leaves single ones and other regions alone.
func TestAnIncidentOfARegionSwitchesBulkOff(t *testing.T) {
	box := func(id, region string) *backend.Sandbox {
		return &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "cloud", ID: backend.MustID(id)}}, IsSandbox: true,
			CloudFacts: backend.CloudFacts{Region: backend.Clean(region, 20)}}
	}
	state := &fleet.State{Sandboxes: fleet.NewTable(box("a", "usc"), box("b", "usc"), box("c", "use"), box("d", "use"))}
	for targets, refused := range map[string]bool{"a": false, "a b": true, "a c": true, "c d": false} {
		p := &Plan{Verb: Pause, Of: backend.KindSandbox, Source: "cloud"}
		for _, id := range strings.Fields(targets) {
			p.Targets = append(p.Targets, Target{Key: box(id, "").Key, Useless: true})
		}
		x := Concern{ID: "i", Rule: "contradiction", Source: "cloud", Firing: true, Cause: backend.Text("region usc: many sandboxes at once are reported well, but their commands stay queued")}
		got := NewControl(Options{}).refusals(t.Context(), p, Spec{Verb: Pause, Of: backend.KindSandbox}, Snapshot{State: state, Concerns: []Concern{x}})
		if (len(got) > 0) != refused || refused && got[0].Word != "" {
			t.Errorf("%s: %+v", targets, got)
		}
		state := *state // a share of server errors is one too
		state.Sources = []*fleet.SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: "cloud", ID: backend.MustID("cloud")}, Status: fleet.StatusDegraded,
			Error: backend.Text("region usc: 30 of 90 answers in 5 minutes are server errors")}}
		if got := NewControl(Options{}).refusals(t.Context(), p, Spec{Verb: Pause, Of: backend.KindSandbox}, Snapshot{State: &state}); (len(got) > 0) != refused {
			t.Errorf("%s with server errors: %+v", targets, got)
		}
	}
}
