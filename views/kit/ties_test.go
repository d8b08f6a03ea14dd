package kit

import (
	"cmp"
	"slices"
	"testing"
)

// Rows that are equal in the column stand in the natural order, also those that came or got another name later, and the other way
// round where that is wanted.
func TestEqualsStandByTheirNames(t *testing.T) {
	rules := rulesByRank(false)
	rules.Compare = func(a, b thing) int { return cmp.Or(CompareNames(a.name, b.name), cmp.Compare(a.id, b.id)) }
	rules.Order = func(x thing) Order { return Order{Num: float64(x.rank)} }
	tab := NewTable(rules)
	fill(tab, thing{"f", 1, "box-1"}, thing{"b", 1, "box-2"}, thing{"a", 1, "box-9"}, thing{"e", 0, "box-10"})
	check := func(when, want string) {
		t.Helper()
		if got := shownIDs(tab); got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
		if !slices.IsSortedFunc(tab.all, tab.compare) {
			t.Errorf("%s: not in order", when)
		}
	}
	check("at first", "e f b a")
	tab.Apply([]Change[string, thing]{{Key: "c", Row: thing{"c", 1, "box-3"}}})
	check("one that came", "e f b c a")
	tab.Apply([]Change[string, thing]{{Key: "f", Row: thing{"f", 1, "box-7"}}})
	check("one with another name", "e b c f a")
	tab.SetOrder(rules.Order, true, false)
	check("the column turned round", "b c f a e")
	tab.SetOrder(nil, true, true)
	check("the natural order turned round", "e a f c b")
	tab.SetOrder(nil, false, false)
	check("the natural order", "b c f a e")
}
