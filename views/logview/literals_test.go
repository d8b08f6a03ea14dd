package logview

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// An expression chooses the same lines with its literals as without.
func TestLiteralsChooseNoOtherLines(t *testing.T) {
	lines := []string{"", "a", "refused", "REFUSED", "refu\u017fed", "ETIMEDOUT", "etimed", "no answer in 30s", "No Answer", "x=12 y=7", "\u212aelvin", "kelvin", "Straße", "STRASSE",
		"a.b", "axb", "abc abd", "\xffrefused\xff", "tick tock"}
	for expr, known := range map[string]bool{
		"~refused": true, "~Refused|ETIMED": true, "~etimed|refused": true, "~k": false, "~kelvin": true, "~ab[cd]": true, "~a\\.b": true, "~(no|x=).*[0-9]+": true,
		"~^$": false, "~.*": false, "~(tick)+ (?:tock)?": true, "~straße": true, "~a?b": true, "~[0-9]{2}": false, "~(ab){2}": true, "~a|b|c|d|e|f|g|h|ii|jj": false, "~x(?-i)Y|z": true, "~(refused)?": false,
	} {
		f, err := NewFilter(expr)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.parts[0].literals != nil; got != known {
			t.Errorf("%s: literals %v", expr, f.parts[0].literals)
		}
		plain := strings.TrimPrefix(expr, "~")
		if expr == strings.ToLower(expr) {
			plain = "(?i)" + plain
		}
		re := regexp.MustCompile(plain)
		for _, line := range lines {
			if got, want := f.Matches([]byte(line)), re.MatchString(line); got != want {
				t.Errorf("%s of %q: %t, want %t", expr, line, got, want)
			}
		}
	}
	f, err := NewFilter("~etimed|refused")
	if err != nil || !slices.ContainsFunc(f.parts[0].literals, func(l literal) bool { return string(l.need.word) == "refu" && string(l.is.word) == "refused" }) {
		t.Errorf("%v, %v", f.parts, err)
	}
}
