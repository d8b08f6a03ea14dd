package backend

import "testing"

func TestDurabilityByProvider(t *testing.T) {
	for _, c := range []struct {
		provider Literal
		destroys Value[bool]
		want     Durability
	}{
		{"in-memory", Unknown[bool](), Durability{FateLost, FateLost, FateLost, FateNone}},
		{"local-bash", Unknown[bool](), Durability{FateLost, FateKept, FateOnDisk, FateNone}},
		{"cloudflare-filestore", Unknown[bool](), Durability{FateKept, FateKept, FateNone, FateKept}},
		{"cloudflare-sandbox", Unknown[bool](), Durability{FateUnknown, FateKept, FateNone, FateDispute}},
		{"cloudflare-sandbox", Known(true), Durability{FateLost, FateKept, FateNone, FateDispute}},
		{"cloudflare-sandbox", Known(false), Durability{FateKept, FateKept, FateNone, FateDispute}},
		{"docker", Unknown[bool](), Durability{FateUnknown, FateUnknown, FateUnknown, FateNone}},
		{"of our own", Known(true), Durability{FateUnknown, FateUnknown, FateUnknown, FateUnknown}},
		{"", Unknown[bool](), Durability{FateUnknown, FateUnknown, FateUnknown, FateUnknown}},
	} {
		f := WorkspaceFacts{Provider: Text(c.provider), DestroyOnClose: c.destroys}
		if got := f.Durability(); got != c.want {
			t.Errorf("%q, destroyOnClose %v: %+v, want %+v", c.provider, c.destroys, got, c.want)
		}
	}
}
