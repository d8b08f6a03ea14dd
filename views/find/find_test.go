package find

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheBestComesFirst(t *testing.T) {
	names := [][]string{
		{"web-eval-1234"}, {"xeval"}, {"evaluation"}, {"eval"}, {"box", "codesess_eval"}, {"e-v-a-l"}, {"other", "eval"}, {"EVAL-2"}, {"lave"}, {"ü eval"}, {""},
	}
	x := &Index{}
	for _, n := range names {
		x.Add(n...)
	}
	for typed, want := range map[string]string{
		"eval":      "eval other EVAL-2 evaluation box ü eval web-eval-1234 xeval e-v-a-l",
		"EVAL":      "eval other EVAL-2 evaluation box ü eval web-eval-1234 xeval e-v-a-l",
		"web 1234":  "web-eval-1234",
		"w1234":     "web-eval-1234",
		"codesess_": "box",
		"ü":         "ü eval",
		"box other": "",
		"lave":      "lave",
		"zzz":       "",
	} {
		best, total := x.Search(typed, 100)
		var got []string
		for _, i := range best {
			got = append(got, names[i][0])
		}
		if s := strings.Join(got, " "); s != want || total != len(best) {
			t.Errorf("%s: %s, %d in all\nwant %s", typed, s, total, want)
		}
	}
	if best, total := x.Search(" ", 3); fmt.Sprint(best) != "[0 1 2]" || total != len(names) {
		t.Errorf("nothing typed: %v of %d", best, total)
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("a\x00b", "b")
	f.Add("ÄÖ", "ö")
	f.Fuzz(func(t *testing.T, name, typed string) {
		x := &Index{}
		x.Add(name, "other")
		if best, total := x.Search(typed, 5); len(best) != total || total > 2 {
			t.Fatal(best, total)
		}
		if word := strings.Fields(strings.ReplaceAll(name, "\x00", " ")); len(word) > 0 {
			if _, total := x.Search(word[0], 5); total < 1 {
				t.Fatalf("%q does not find %q", word[0], name)
			}
		}
	})
}

// A key in the search over 100,000 subjects; the target is 30 ms.
func BenchmarkSearch100k(b *testing.B) {
	x := &Index{}
	for i := range 100_000 {
		x.Add(fmt.Sprintf("codesess_%06x/%s", i/3*7919%0xffffff, []string{"box", "notes", "build"}[i%3]), "docker-local", fmt.Sprintf("%064x", i*7919),
			fmt.Sprint(i), fmt.Sprintf(" codesess_%06x", i/3*7919%0xffffff), " "+[]string{"box", "notes", "build"}[i%3])
	}
	for _, typed := range []string{"c", "23168", "box", "77c1", "codesess_0 notes", "zebra", "cbx"} {
		b.Run(strings.ReplaceAll(typed, " ", "_"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x.Search(typed, 200)
			}
		})
	}
}

// What matches alike stands by its name, whatever the order in which it was added.
func TestEqualMatchesStandByName(t *testing.T) {
	x := &Index{}
	names := []string{"box-d1", "box-09", "box-aa", "box-10"}
	for _, n := range names {
		x.Add(n)
	}
	best, _ := x.Search("box", 10)
	var got []string
	for _, i := range best {
		got = append(got, names[i])
	}
	if s := strings.Join(got, " "); s != "box-09 box-10 box-aa box-d1" {
		t.Errorf("%s", s)
	}
}
