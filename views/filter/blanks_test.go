package filter

import "testing"

// A filter that was copied from a screen, where it took two lines, means the same.
func TestALineEndPartsTerms(t *testing.T) {
	for _, s := range []string{"works=working attempt>30m", "works=working\n            attempt>30m\r\n"} {
		if f, err := Parse(s); err != nil || len(f.terms) != 2 || f.terms[1].field != "attempt" {
			t.Errorf("%q: %v, %d terms", s, err, len(f.terms))
		}
	}
}
