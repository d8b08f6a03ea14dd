package runbook

import (
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestTheStepNamesWhatCannotBeRead: one sandbox or session is asked by hand; a list, a region or a hub is mended as its problem says.
func TestTheStepNamesWhatCannotBeRead(t *testing.T) {
	box := backend.Key{Kind: backend.KindSandbox, Source: "helix-eu", ID: backend.MustID("sbx-1")}
	for name, x := range map[string]struct {
		subject backend.Key
		unread  []backend.Unread
		want    string
	}{
		"a sandbox":         {box, nil, "Ask one of those sandboxes by hand."},
		"a session":         {sessionKey("s1"), nil, "Ask one of those sessions by hand."},
		"sessions":          {backend.Key{}, []backend.Unread{{Kind: backend.ErrTimeout, Sessions: 3}}, "Ask one of those sessions by hand."},
		"a list or a hub":   {backend.Key{}, nil, "Mend what they name."},
		"the source itself": {backend.Key{Kind: backend.KindSource, Source: "helix-eu", ID: backend.MustID("helix-eu")}, nil, "Mend what they name."},
	} {
		st := world{}.state()
		h := st.Source("helix-eu")
		h.Status, h.LastTry, h.Error, h.Unread = fleet.StatusDegraded, now, backend.Text("the Coder Hub does not answer"), x.unread
		h.Problems = []backend.Problem{{Kind: backend.ErrGone, What: backend.Text("answered 404"), Subject: x.subject}}
		d := Diagnose("source", st, &alerts.Board{}, h.Key)
		if want := "Read its problems: 9, or sandglass get sources. " + x.want; len(d.Do) == 0 || d.Do[0].String() != want {
			t.Errorf("%s: %v, want %q", name, d.Do, want)
		}
	}
}
