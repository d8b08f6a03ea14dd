package fleet

import (
	"strings"
	"testing"

	"sandglass/backend"
)

// TestASandboxOutsideTheAllowedHostsIsNotProbed: what goes to its own server is refused, with where to allow it; a destroy is not, nor
// another sandbox.
func TestASandboxOutsideTheAllowedHostsIsNotProbed(t *testing.T) {
	key := func(id string) backend.Key {
		return backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID(id)}
	}
	of := func(id string) *backend.Sandbox {
		return &backend.Sandbox{Meta: backend.Meta{Key: key(id)}, IsSandbox: true, Provider: backend.Text("blaxel"), Class: backend.SandboxRunning, Reported: backend.Text("DEPLOYED RUNNING")}
	}
	problem := func(k backend.Key, what backend.Literal) backend.Problem {
		return backend.Problem{Subject: k, What: backend.Text(what)}
	}
	st := &State{Sources: []*SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: "bl", ID: backend.MustID("bl")}, Kind: "blaxel",
		Problems: []backend.Problem{problem(key("other"), "its previews: answered 500"), problem(key("out"), "the sandbox is said to be at http://evil.example.com, "+backend.OutsideHosts)}}}}
	if why := st.NoProbe(of("out")).String(); !strings.Contains(why, "http://evil.example.com") || !strings.Contains(why, "add it to hosts of the source bl") {
		t.Errorf("%q", why)
	}
	for _, verb := range []string{"rescue", "stop-process", "kill-process"} {
		if why := st.Unfit(verb, of("out")); !strings.Contains(why.String(), backend.OutsideHosts) {
			t.Errorf("%s: %q", verb, why)
		}
	}
	if why := st.Unfit("destroy", of("out")); !why.IsEmpty() {
		t.Errorf("destroy: %s", why)
	}
	for _, id := range []string{"other", "fine"} {
		if why := st.NoProbe(of(id)); !why.IsEmpty() {
			t.Errorf("%s: %s", id, why)
		}
	}
}
