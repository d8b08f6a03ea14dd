package cause

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestTemplatesOfTextsWithoutListedWords(t *testing.T) {
	names := []string{"atlas", "hermes", "wendy", "bruno", "iris", "milo"}
	var texts []string
	for _, n := range names {
		texts = append(texts, "verbindung zu "+n+" wurde abgelehnt", "datei "+n+" fehlt leider", n)
	}
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	name := func(s string) string { return "id of " + s }
	var none *Templates
	all, ids := none.Mine(texts, now, name)
	causes := map[string]int{}
	for _, id := range ids {
		causes[id]++
	}
	if len(causes) != 2+len(names) {
		t.Errorf("%d causes: %v", len(causes), causes)
	}
	if got := all.Find("verbindung zu olga wurde abgelehnt"); got != ids["verbindung zu wendy wurde abgelehnt"] {
		t.Errorf("a further name has %q", got)
	}
	if got := all.Find("verbindung zu olga wurde server"); got != "" { // a listed word is another cause
		t.Errorf("another cause has %q", got)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		random.Shuffle(len(texts), func(i, k int) { texts[i], texts[k] = texts[k], texts[i] })
		other, again := none.Mine(texts, now, name)
		if !slices.Equal(other.List(), all.List()) {
			t.Fatalf("in another order: %v, want %v", other.List(), all.List())
		}
		for _, x := range texts {
			if again[x] != ids[x] {
				t.Fatalf("in another order %q has %q, want %q", x, again[x], ids[x])
			}
		}
	}
	// what comes later joins what is kept, and changes no identity
	kept := NewTemplates(all.List())
	_, later := kept.Mine([]string{"verbindung zu aaron wurde abgelehnt", "neues problem"}, now.Add(time.Hour), name)
	if later["verbindung zu aaron wurde abgelehnt"] != ids["verbindung zu wendy wurde abgelehnt"] || later["neues problem"] != "id of neues problem" {
		t.Errorf("later %v", later)
	}
}

func TestTemplatesAreBounded(t *testing.T) {
	var texts []string
	for i := range 5000 {
		texts = append(texts, string([]rune{'a' + rune(i%26), 'k' + rune(i/26%26), 'q' + rune(i/676)})+" xqzw")
	}
	var none *Templates
	all, _ := none.Mine(texts, time.Time{}, func(s string) string { return s })
	if len(all.List()) > maxTemplates {
		t.Errorf("%d templates", len(all.List()))
	}
}
