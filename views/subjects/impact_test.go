package subjects

import (
	"testing"

	"sandglass/alerts/rules"
)

// Every rule says what its alerts mean for the users' work.
func TestEveryRuleNamesItsImpact(t *testing.T) {
	known := impacts()
	for _, r := range rules.Defaults() {
		name := r.Meta().Name
		if _, is := known[name]; !is {
			t.Errorf("%s has no impact", name)
		}
		delete(known, name)
	}
	for name := range known {
		t.Errorf("%s is no rule", name)
	}
}
