package kit

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestNamesAreComparedAsPeopleCount(t *testing.T) {
	want := strings.Fields("a a01 a1 a01b a1b a2 a10 a10-2 a10-10 a99999999999999999999 a100000000000000000000 aa b")
	for range 50 {
		got := slices.Clone(want)
		rand.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		slices.SortFunc(got, CompareNames)
		if !slices.Equal(got, want) {
			t.Fatalf("got %v", got)
		}
	}
	for _, a := range want {
		for _, b := range want {
			if c := CompareNames(a, b); (c == 0) != (a == b) || c > 0 == (CompareNames(b, a) > 0) && c != 0 {
				t.Errorf("%s and %s: %d", a, b, c)
			}
		}
	}
}
