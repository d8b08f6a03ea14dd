package kit

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

type thing struct {
	id   string
	rank int
	name string
}

func rulesByRank(reverse bool) Rules[string, thing] {
	return Rules[string, thing]{Key: func(x thing) string { return x.id }, Compare: func(a, b thing) int { return strings.Compare(a.id, b.id) }, Reverse: reverse,
		Order: func(x thing) Order { return Order{Num: float64(x.rank), Text: x.name, Unknown: x.rank < 0} }}
}

func fill(t *Table[string, thing], things ...thing) {
	t.Replace(len(things), slices.Values(things))
}

func shownIDs(t *Table[string, thing]) string {
	var ids []string
	for _, it := range t.shown {
		ids = append(ids, t.rules.Key(it.row))
	}
	return strings.Join(ids, " ")
}

func TestVanishedRowLeavesTheCursorOnNothing(t *testing.T) {
	tab := NewTable(rulesByRank(false))
	fill(tab, thing{"a", 1, ""}, thing{"b", 2, ""}, thing{"c", 3, ""}, thing{"d", 4, ""})
	tab.Window(4)
	tab.Move(1)
	tab.Apply([]Change[string, thing]{{Key: "b", Gone: true}})
	if _, k, ok := tab.Cursor(); ok {
		t.Fatalf("cursor moved to %s", k)
	}
	rows, _, _ := tab.Window(4)
	for _, r := range rows {
		if r.OnCursor {
			t.Fatalf("cursor drawn on %s", r.Row.id)
		}
	}
	tab.Move(1)
	if _, k, _ := tab.Cursor(); k != "c" {
		t.Errorf("down from the gap went to %q, want c", k)
	}
	// The same through a filter, and upwards.
	tab.SetMatch(func(x thing) bool { return x.id != "c" })
	if _, _, ok := tab.Cursor(); ok {
		t.Fatal("cursor on a filtered row")
	}
	tab.Move(-1)
	if _, k, _ := tab.Cursor(); k != "a" {
		t.Errorf("up from the gap went to %q, want a", k)
	}
}

func TestCursorFollowsItsRow(t *testing.T) {
	tab := NewTable(rulesByRank(false))
	fill(tab, thing{"a", 1, ""}, thing{"b", 2, ""}, thing{"c", 3, ""})
	tab.Window(2)
	tab.Move(1)
	tab.Apply([]Change[string, thing]{{Key: "b", Row: thing{"b", 9, ""}}, {Key: "z", Row: thing{"z", 0, ""}}})
	if _, k, ok := tab.Cursor(); !ok || k != "b" {
		t.Fatalf("cursor on %q", k)
	}
	if got := shownIDs(tab); got != "z a c b" {
		t.Errorf("order %q", got)
	}
	if tab.Index() != 3 {
		t.Errorf("index %d", tab.Index())
	}
}

func TestUnknownLastBothWays(t *testing.T) {
	for _, reverse := range []bool{false, true} {
		tab := NewTable(rulesByRank(reverse))
		fill(tab, thing{"a", -1, ""}, thing{"b", 1, "x"}, thing{"c", 1, "y"}, thing{"d", 2, ""}, thing{"e", 1, "x"})
		want := "b e c d a"
		if reverse {
			want = "d c b e a"
		}
		if got := shownIDs(tab); got != want {
			t.Errorf("reverse %v: %q, want %q", reverse, got, want)
		}
	}
}

// Whatever happens in whatever order, the table shows what a full sort and filter of the same rows shows, and the
// cursor's key never changes by itself.
func TestIncrementalEqualsFull(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		rules := rulesByRank(round%2 == 0)
		limit := rng.IntN(60)
		rules.Match = func(x thing) bool { return x.rank < limit }
		tab := NewTable(rules)
		rows := map[string]thing{}
		var start []thing
		for i := range rng.IntN(80) {
			x := thing{fmt.Sprintf("k%03d", i), rng.IntN(50) - 2, fmt.Sprint(rng.IntN(3), "-long-name")}
			rows[x.id] = x
			start = append(start, x)
		}
		fill(tab, start...)
		for range 30 {
			tab.Window(1 + rng.IntN(10))
			_, before, had := tab.Cursor() // its row, before others change
			var changes []Change[string, thing]
			for range rng.IntN(12) {
				id := fmt.Sprintf("k%03d", rng.IntN(120))
				if rng.IntN(3) == 0 {
					delete(rows, id)
					changes = append(changes, Change[string, thing]{Key: id, Gone: true})
				} else {
					rows[id] = thing{id, rng.IntN(50) - 2, fmt.Sprint(rng.IntN(3), "-long-name")}
					changes = append(changes, Change[string, thing]{Key: id, Row: rows[id]})
				}
			}
			tab.Apply(changes)
			if got, want := shownIDs(tab), strings.Join(fullSort(rows, rules), " "); got != want {
				t.Fatalf("round %d\n got %s\nwant %s", round, got, want)
			}
			if _, after, has := tab.Cursor(); had && has && before != after {
				t.Fatalf("cursor went from %s to %s by itself", before, after)
			}
			switch rng.IntN(6) {
			case 3:
				limit = rng.IntN(60)
				tab.SetMatch(rules.Match)
			case 4:
				rules.Reverse = !rules.Reverse
				tab.SetOrder(rules.Order, rules.Reverse, false)
			case 0:
				tab.Move(rng.IntN(7) - 3)
			case 1:
				tab.Page(1)
			case 2:
				tab.ToggleMark()
			}
		}
	}
}

func fullSort(rows map[string]thing, r Rules[string, thing]) []string {
	var xs []thing
	for _, x := range rows {
		if r.Match(x) {
			xs = append(xs, x)
		}
	}
	slices.SortFunc(xs, func(a, b thing) int {
		oa, ob := r.Order(a), r.Order(b)
		if oa.Unknown != ob.Unknown {
			if oa.Unknown {
				return 1
			}
			return -1
		}
		c := 0
		if !oa.Unknown {
			c = cmp.Or(cmp.Compare(oa.Num, ob.Num), strings.Compare(oa.Text, ob.Text))
			if r.Reverse {
				c = -c
			}
		}
		return cmp.Or(c, strings.Compare(a.id, b.id))
	})
	ids := make([]string, len(xs))
	for i, x := range xs {
		ids[i] = x.id
	}
	return ids
}

func TestMarksStayWithTheirRows(t *testing.T) {
	tab := NewTable(rulesByRank(false))
	fill(tab, thing{"a", 1, ""}, thing{"b", 2, ""}, thing{"c", 3, ""})
	tab.ToggleMark()
	tab.Last()
	tab.ToggleMark()
	tab.SetMatch(func(x thing) bool { return x.id != "a" })
	rows, hidden := tab.Marked()
	if len(rows) != 1 || rows[0].id != "c" || hidden != 1 {
		t.Errorf("marked %v, hidden %d", rows, hidden)
	}
}

func TestLayOutFits(t *testing.T) {
	columns := []Column{{Title: "A", Min: 4, Ideal: 10}, {Title: "B", Min: 8, Ideal: 20, Flex: 1, Priority: 2}, {Title: "C", Min: 6, Ideal: 6, Priority: 5}}
	for w := 4; w < 100; w++ {
		slots := LayOut(columns, 0, w)
		end := 0
		for _, s := range slots {
			end = s.X + s.Width
		}
		if end > w {
			t.Fatalf("width %d: ends at %d", w, end)
		}
		if w >= 22 && end != w && end < 40 {
			t.Errorf("width %d: ends at %d", w, end)
		}
	}
	if n := len(LayOut(columns, 0, 15)); n != 2 {
		t.Errorf("%d columns at 15 cells, want 2", n)
	}
}

func BenchmarkTable(b *testing.B) {
	const n = 100_000
	things := make([]thing, n)
	for i := range things {
		things[i] = thing{fmt.Sprintf("session-%05d/workspace", i), i * 7919 % 5, fmt.Sprint(i * 31 % 1000)}
	}
	tab := NewTable(rulesByRank(true))
	tab.Replace(n, slices.Values(things))
	tab.Window(50)
	b.Run("cursor", func(b *testing.B) {
		for range b.N {
			tab.Move(1)
			tab.Window(50)
		}
	})
	b.Run("apply 1 percent", func(b *testing.B) {
		changes := make([]Change[string, thing], n/100)
		for i := range b.N {
			for j := range changes {
				x := things[(j*97+i)%n]
				x.rank = (x.rank + i) % 5
				changes[j] = Change[string, thing]{Key: x.id, Row: x}
			}
			tab.Apply(changes)
		}
	})
	b.Run("sort", func(b *testing.B) {
		for i := range b.N {
			tab.SetOrder(rulesByRank(false).Order, i%2 == 0, false)
		}
	})
	b.Run("filter", func(b *testing.B) {
		for i := range b.N {
			want := fmt.Sprint(i % 10)
			tab.SetMatch(func(x thing) bool { return strings.Contains(x.id, want) })
			for tab.Pending() {
				tab.Step()
			}
		}
	})
	b.Run("replace", func(b *testing.B) {
		for range b.N {
			tab.Replace(n, slices.Values(things))
		}
	})
}

// What is new above the cursor is seen by who looks at the beginning; elsewhere the cursor's row stays at its height.
func TestNewRowsAtTheBeginningAreSeen(t *testing.T) {
	tab := NewTable(rulesByRank(false))
	fill(tab, thing{"b", 2, ""}, thing{"c", 3, ""}, thing{"d", 4, ""}, thing{"e", 5, ""}, thing{"f", 6, ""})
	tab.Window(3)
	tab.Apply([]Change[string, thing]{{Key: "a", Row: thing{"a", 1, ""}}})
	if rows, above, _ := tab.Window(3); above != 0 || rows[0].Row.id != "a" || !rows[1].OnCursor {
		t.Errorf("%d rows above, first %s: the new one is out of sight", above, rows[0].Row.id)
	}
	tab.Last()
	tab.Window(3)
	tab.Apply([]Change[string, thing]{{Key: "0", Row: thing{"0", 0, ""}}})
	if rows, above, _ := tab.Window(3); above != 4 || !rows[2].OnCursor {
		t.Errorf("%d rows above, want 4 and the cursor's row where it was", above)
	}
}
