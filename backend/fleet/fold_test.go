package fleet

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

// Folding Answers that were written as JSON and read again gives the States that the Answers themselves gave, to the last
// private field.
func TestDecodedAnswersGiveTheSameStates(t *testing.T) {
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(seed, 8))
		live, again := NewFolder(time.Minute), NewFolder(time.Minute)
		var written []backend.Answer
		live.Before(func(a *backend.Answer) {
			raw, err := json.Marshal(a)
			if err != nil {
				t.Fatal(err)
			}
			var b backend.Answer
			if err := json.Unmarshal(raw, &b); err != nil {
				t.Fatal(err)
			}
			written = append(written, b)
		})
		w := &randomWorld{t: t, r: r, known: map[backend.Key]backend.Entity{}}
		var changed, gone, stale int
		for n := range 60 {
			at := backend.Instant{Wall: t0.Add(time.Duration(n) * 250 * time.Millisecond), Mono: time.Duration(n) * 250 * time.Millisecond}
			written = nil
			got := live.Fold(w.answers(n, at), at)
			backendtest.Same(t, fmt.Sprintf("seed %d, State %d", seed, n+1), again.Fold(written, at), got)
			changed, gone = changed+len(got.Delta.Changed), gone+len(got.Delta.Gone)
			for k := range w.known {
				if e := got.Entity(k); e != nil && e.EntityMeta().Stale {
					stale++
				}
			}
		}
		if changed < 150 || gone < 15 || stale < 100 {
			t.Errorf("seed %d: %d changes, %d departures, %d stale: too little happens to prove anything", seed, changed, gone, stale)
		}
	}
}

// randomWorld makes Answers of which many are about the same few entities.
type randomWorld struct {
	t     *testing.T
	r     *rand.Rand
	known map[backend.Key]backend.Entity // what an adapter handed over before
}

func (w *randomWorld) answers(n int, at backend.Instant) []backend.Answer {
	if n == 0 {
		return []backend.Answer{{Source: "a", Config: &backend.SourceConfig{Kind: "x", Interval: time.Second}}, {Source: "b", Config: &backend.SourceConfig{About: []string{"a"}}}}
	}
	out := make([]backend.Answer, w.r.IntN(4))
	for i := range out {
		a := &out[i]
		backendtest.Fill(w.t, w.r, a)
		a.Config, a.Source, a.Ended = nil, []string{"a", "b"}[w.r.IntN(2)], at
		if a.Proved != nil {
			a.Proved.Sandbox = w.key(backend.KindSandbox, a.Source)
		}
		if a.Reading == nil == (a.Failure == nil) {
			a.Failure, a.Reading = nil, &backend.Reading{}
			backendtest.Fill(w.t, w.r, a.Reading)
		}
		if a.Reading != nil {
			w.settle(a.Reading, a.Source, at.Wall)
		}
	}
	return out
}

func (w *randomWorld) key(kind backend.Kind, source string) backend.Key {
	k := backend.Key{Kind: kind, Source: source, ID: backend.MustID([]string{"x", "y\xff", "z\u202e"}[w.r.IntN(3)])}
	if len(kind.Spec().Parents) > 0 {
		k.Parent = backend.MustID([]string{"x", "y\xff"}[w.r.IntN(2)])
	}
	return k
}

// settle gives what a reading names keys of the few, and hands some entities over again as adapters do.
func (w *randomWorld) settle(r *backend.Reading, source string, at time.Time) {
	r.Source, r.At = source, at
	var kinds []backend.Kind
	v := reflect.ValueOf(r).Elem()
	for i := range v.NumField() {
		list := v.Field(i)
		if list.Kind() != reflect.Slice || !list.Type().Elem().Implements(reflect.TypeFor[backend.Entity]()) {
			continue
		}
		kind := kindOfList(list.Type().Elem())
		kinds = append(kinds, kind)
		for j := range list.Len() {
			e := list.Index(j).Interface().(backend.Entity)
			m := e.EntityMeta()
			*m = backend.Meta{Key: w.key(kind, source), Raw: m.Raw}
			if w.r.IntN(2) == 0 {
				m.ReadAt = at
			}
			if old := w.known[m.Key]; old != nil && w.r.IntN(2) == 0 {
				list.Index(j).Set(reflect.ValueOf(old))
			} else {
				w.known[m.Key] = e
			}
		}
	}
	for i := range r.Ended {
		r.Ended[i] = w.key(kinds[w.r.IntN(len(kinds))], source)
	}
	for i := range r.Stale {
		r.Stale[i].Key = w.key(kinds[w.r.IntN(len(kinds))], source)
	}
	for _, scopes := range [][]backend.Scope{r.Scopes, r.Confirmed} {
		for i := range scopes {
			scopes[i] = backend.Scope{Kind: kinds[w.r.IntN(len(kinds))], Complete: w.r.IntN(3) > 0}
		}
	}
	for i := range r.Counts {
		r.Counts[i].At, r.Counts[i].Series = at.Add(-time.Duration(w.r.IntN(100))*time.Second), backend.Series{Source: source, Name: backend.MetricEvictions, Provider: []string{"p", "\xff"}[w.r.IntN(2)]}
	}
	for i := range r.Memory {
		r.Memory[i].At, r.Memory[i].Bytes = at, w.r.Int64N(1e9)
	}
}

// kindOfList is the kind of the entities of a list.
func kindOfList(entity reflect.Type) backend.Kind {
	return backend.Kind(strings.ToLower(entity.Elem().Name()))
}

// What is not in the poller reads no clock, starts nothing and waits for nothing.
func TestFoldingIsPure(t *testing.T) {
	live := []string{"fleet.go", "poller.go"}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	pure := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || slices.Contains(live, name) {
			continue
		}
		pure++
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if slices.Contains([]string{`"sync"`, `"sync/atomic"`, `"context"`, `"math/rand"`, `"math/rand/v2"`, `"os"`}, i.Path.Value) {
				t.Errorf("%s imports %s", name, i.Path.Value)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
				t.Errorf("%s has a %T", name, n)
			case *ast.SelectorExpr:
				x, ok := n.X.(*ast.Ident)
				if clocks := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}; ok && x.Name == "time" && slices.Contains(clocks, n.Sel.Name) {
					t.Errorf("%s calls time.%s", name, n.Sel.Name)
				}
			}
			return true
		})
	}
	if pure < 10 {
		t.Errorf("only %d files were looked at", pure)
	}
}
