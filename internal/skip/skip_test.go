package skip

import "testing"

// outcome takes what Without decides in the place of a test.
type outcome struct {
	testing.TB
	failed, skipped bool
}

func (*outcome) Helper()                 {}
func (o *outcome) Fatalf(string, ...any) { o.failed = true }
func (o *outcome) Skipf(string, ...any)  { o.skipped = true }

func TestWhatIsDemandedFails(t *testing.T) {
	for demanded, fails := range map[string]bool{"": false, "docker": true, "root,docker": true, "root, docker": true, "root docker": true, "dockers,root": false} {
		t.Setenv("SANDGLASS_REQUIRE", demanded)
		var o outcome
		if Without(&o, "docker", "no engine answers"); o.failed != fails || !fails && !o.skipped {
			t.Errorf("%q: failed %t, skipped %t", demanded, o.failed, o.skipped)
		}
	}
}
