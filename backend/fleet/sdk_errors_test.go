package fleet

import (
	"strings"
	"testing"

	"sandglass/backend"
)

// TestAnErrorOfAnAddressIsToldByItsKind: in words, each in its own; another text is not explained.
func TestAnErrorOfAnAddressIsToldByItsKind(t *testing.T) {
	for kind, want := range map[string]string{"preview_creation_failed": "did not make the address", "invalid_preview_url": "no address of use", "preview_token_creation_failed": "no token was made",
		"url_parse_failed": "cannot be read", "other": ""} {
		got := sdkMeans(backend.MetricPreviewFailed, backend.Clean("port 3000: detail: "+kind, 200), nil).String()
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
}
