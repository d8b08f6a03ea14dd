// Package skip lets a test go by that needs what this machine does not have.
package skip

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// Without skips the test with one line, or fails it where the environment variable SANDGLASS_REQUIRE, names between
// commas or spaces, demands what is missing: "docker", "root".
func Without(t testing.TB, what, why string) {
	t.Helper()
	if slices.Contains(strings.FieldsFunc(os.Getenv("SANDGLASS_REQUIRE"), func(r rune) bool { return r == ',' || r == ' ' }), what) {
		t.Fatalf("SANDGLASS_REQUIRE demands %s: %s", what, why)
	}
	t.Skipf("no %s here: %s", what, why)
}
