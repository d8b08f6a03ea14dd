package app

import (
	"slices"
	"testing"

	"sandglass/backend"
)

// TestLinesOfAnAgentsSDKNameItsSandbox by the session that it makes for it.
func TestLinesOfAnAgentsSDKNameItsSandbox(t *testing.T) {
	key := backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID("aaaa")}
	for _, c := range []struct {
		box  *backend.Sandbox
		want []string
	}{
		{nil, []string{"aaaa"}},
		{&backend.Sandbox{Name: backend.Text("helix-a"), Provider: backend.Text("docker")}, []string{"aaaa", "helix-a"}},
		{&backend.Sandbox{Name: backend.Text("aaaa"), Provider: backend.Text("cloudflare")}, []string{"aaaa", "sandbox-aaaa"}},
		{&backend.Sandbox{Provider: backend.Text("cloudflare")}, []string{"aaaa", "sandbox-aaaa"}},
		{&backend.Sandbox{Name: backend.Text("user-1"), Provider: backend.Text("cloudflare")}, []string{"aaaa", "user-1", "sandbox-aaaa", "sandbox-user-1"}},
	} {
		if got := namesInLogs(c.box, key); !slices.Equal(got, c.want) {
			t.Errorf("%v, not %v", got, c.want)
		}
	}
}
