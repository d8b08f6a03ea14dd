package tmpdir

import (
	"os"
	"strings"
	"testing"
)

// missing skips with one line, and fails instead when SANDGLASS_REQUIRE names what is missing.
func missing(t *testing.T, what, why string) {
	t.Helper()
	if strings.Contains(os.Getenv("SANDGLASS_REQUIRE"), what) {
		t.Fatalf("SANDGLASS_REQUIRE demands %s: %s", what, why)
	}
	t.Skipf("no %s here: %s", what, why)
}
