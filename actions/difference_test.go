package actions

import (
	"strings"
	"testing"
)

// A refusal shows both values whole, and says so where what differs is not shown.
func TestADifferenceIsShown(t *testing.T) {
	long := "POST http://127.0.0.1:18990/" + strings.Repeat("zap/", 30)
	at := func(value string) []Fact { return []Fact{{Name: "request", Value: value}} }
	for _, x := range []struct{ was, is, want string }{
		{long + "a, sum 01", long + "b, sum 02", "request was " + long + "a and is " + long + "b"},
		{long + ", sum 01", long + ", sum 02", "request is another one, in a part that is not shown, such as the value of a header"},
		{"stop, sum up, sum 01", "stop, sum up, sum 02", "request is another one, in a part that is not shown, such as the value of a header"},
	} {
		if got := difference(at(x.was), at(x.is)).String(); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}
