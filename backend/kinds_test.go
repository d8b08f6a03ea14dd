package backend

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestEveryKindIsDeclared holds what the table promises about each kind.
func TestEveryKindIsDeclared(t *testing.T) {
	seen := map[string]Kind{}
	for _, s := range SubjectKinds() {
		if s.Kind.Spec() != s {
			t.Errorf("%s is declared twice", s.Kind)
		}
		for _, word := range []string{string(s.Kind), s.List, s.Short} {
			if other, used := seen[word]; word == "" || used && other != s.Kind {
				t.Errorf("%s: the word %q is empty or also that of %q", s.Kind, word, other)
			}
			seen[word] = s.Kind
		}
		if s.Name == "" || s.Plural != Plural(s.Name) {
			t.Errorf("%s: %q and %q", s.Kind, s.Name, s.Plural)
		}
		for _, p := range s.Parents {
			if p.Spec().Kind != p {
				t.Errorf("%s: its parent %q is not declared", s.Kind, p)
			}
		}
		if len(s.Parents) == 0 && (s.PathHasParent || s.PartOfParent) {
			t.Errorf("%s: it has no parent", s.Kind)
		}
	}
	if Kind("alert").Spec().Name != "" {
		t.Error("what is not in the table has a declaration")
	}
}

// TestReadingHasAListPerKind: what has entities is in a Reading, under the kind's word.
func TestReadingHasAListPerKind(t *testing.T) {
	lists := map[string]reflect.Type{}
	of := reflect.TypeFor[Reading]()
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		lists[name] = of.Field(i).Type
	}
	for _, s := range SubjectKinds() {
		if s.Copy == nil {
			continue
		}
		list, ok := lists[s.List]
		if !ok {
			t.Errorf("a Reading has no list %q", s.List)
			continue
		}
		e := reflect.New(list.Elem().Elem()).Interface().(Entity)
		e.EntityMeta().Key = Key{Kind: s.Kind, Source: "a", ID: MustID("x")}
		c := s.Copy(e)
		if reflect.TypeOf(c) != reflect.TypeOf(e) || c == e || c.EntityMeta().Key != e.EntityMeta().Key {
			t.Errorf("%s: the copy of %T is %T", s.Kind, e, c)
		}
	}
}

func TestOwnerAndPath(t *testing.T) {
	id := MustID
	for _, c := range []struct {
		e     Entity
		key   Key
		path  string
		owner Key
	}{
		{&Workspace{}, Key{Kind: KindWorkspace, Source: "a", Parent: id("s1"), ID: id("box")}, "s1/box", Key{Kind: KindSession, Source: "a", ID: id("s1")}},
		{&Ref{}, Key{Kind: KindRef, Source: "a", Parent: id("s1"), ID: id("box")}, "s1/box", Key{Kind: KindSession, Source: "a", ID: id("s1")}},
		{&Tmpdir{}, Key{Kind: KindTmpdir, Source: "a", Parent: id("h"), ID: id("1:2:/tmp/x")}, "1:2:/tmp/x", Key{Kind: KindHost, Source: "a", ID: id("h")}},
		{&Session{}, Key{Kind: KindSession, Source: "a", ID: id("s1")}, "s1", Key{}},
		{&Execution{Work: Work{Within: KindSandbox}}, Key{Kind: KindExecution, Source: "a", Parent: id("b1"), ID: id("e1")}, "b1/e1",
			Key{Kind: KindSandbox, Source: "a", ID: id("b1")}},
		{&Job{Work: Work{Within: KindSession}}, Key{Kind: KindJob, Source: "a", Parent: id("s1"), ID: id("j1")}, "s1/j1", Key{Kind: KindSession, Source: "a", ID: id("s1")}},
	} {
		c.e.EntityMeta().Key = c.key
		if got := c.key.Path().Raw(); got != c.path {
			t.Errorf("path of %s: %q, want %q", c.key.Kind, got, c.path)
		}
		if got, ok := Owner(c.e); got != c.owner || ok != (c.owner.Kind != "") {
			t.Errorf("owner of %s: %v", c.key.Kind, got)
		}
	}
}

func TestWorkTimes(t *testing.T) {
	var w Work
	if err := json.Unmarshal([]byte(`{"queued_at":null,"started_at":"2026-01-02T03:04:05Z","seen":{"queued":{"latest":"2026-01-02T03:04:01Z"}}}`), &w); err != nil {
		t.Fatal(err)
	}
	if q := w.Queued(); !q.Earliest.IsZero() || q.Latest.Second() != 1 {
		t.Errorf("queued %v, want the bounds of the readings", q)
	}
	if s := w.Started(); !s.Earliest.Equal(s.Latest) || s.Latest.Second() != 5 {
		t.Errorf("started %v, want the platform's time", s)
	}
}

// TestWorkIsQueuedBeforeItBegins: a platform that names no time of queueing was first read after the work began.
func TestWorkIsQueuedBeforeItBegins(t *testing.T) {
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	w := Work{StartedAt: Known(at), Seen: WorkSeen{Queued: Bounds{Latest: at.Add(time.Hour)}}}
	if got := w.Queued(); !got.Latest.Equal(at) {
		t.Errorf("queued by %v, although it began at %v", got.Latest, at)
	}
}
