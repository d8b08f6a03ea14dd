package wire

import (
	"slices"
	"testing"
)

// TestConfiguredSecrets: what a server may echo of a configured request is a secret where its name or its look says so.
func TestConfiguredSecrets(t *testing.T) {
	for name, c := range map[string]struct {
		headers map[string]string
		address string
		want    []string
	}{
		"a header named like a secret": {headers: map[string]string{"X-Api-Key": "ApiK-44"}, want: []string{"ApiK-44"}},
		"a value that looks like one":  {headers: map[string]string{"X-Internal": "Hd-Val%9/xY+zz77"}, want: []string{"Hd-Val%9/xY+zz77"}},
		"a tenant":                     {headers: map[string]string{"X-Tenant": "0f3a9b77-acme"}},
		"a word":                       {headers: map[string]string{"X-Cluster": "acme-prod-2", "X-Kind": "application/json"}},
		"one of each session":          {headers: map[string]string{"X-Session": "id-{session}-99"}},
		"a parameter":                  {address: "http://h/sessions?api_key=LSecret66xx&page=2", want: []string{"LSecret66xx"}},
		"a placeholder":                {address: "http://h/s?key={session}"},
	} {
		if got := ConfiguredSecrets(c.headers, c.address); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}
