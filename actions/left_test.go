package actions

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// announcingJournal says that every plan announced what it makes.
type announcingJournal struct{ *memoryJournal }

func (announcingJournal) Held(string) bool                                        { return false }
func (announcingJournal) Announced(context.Context, string, string) (bool, error) { return true, nil }

// noFeed is a feed without readings.
type noFeed struct{}

func (noFeed) Snapshot() Snapshot                   { return Snapshot{State: &fleet.State{}} }
func (noFeed) Subscribe() (<-chan struct{}, func()) { return nil, func() {} }
func (noFeed) Wake(string)                          {}
func (noFeed) Attend([]backend.Key)                 {}
func (noFeed) Reread(backend.Key)                   {}

// left is what a former process made, as each look after the other sees it: the last one stays.
type left struct {
	looks []Candidate
	did   error
	acts  int
}

func (l *left) Look(_ context.Context, q Question) []Candidate {
	c := l.looks[0]
	if len(l.looks) > 1 {
		l.looks = l.looks[1:]
	}
	c.Key, c.Label, c.Name = q.Keys[0], q.Keys[0].ID.Safe(), q.Keys[0].ID.Raw()
	return []Candidate{c}
}

func (l *left) Do(context.Context, Target, Params) (Done, error) {
	l.acts++
	return Done{Proved: l.did == nil}, l.did
}

func (*left) Close() error { return nil }

// TestLeftIsGoneWhenAnotherProcessRemovedIt lets two processes remove the same sandbox: the slower one finds that it is gone.
func TestLeftIsGoneWhenAnotherProcessRemovedIt(t *testing.T) {
	there := Candidate{Identity: []Fact{{Name: "id", Value: "1"}}}
	gone := Candidate{Why: backend.Text("the engine has no such container any more"), Ended: true}
	odd := Candidate{Why: backend.Text("the engine answers 500")}
	for name, c := range map[string]struct {
		looks []Candidate
		did   error
		says  string
		stays bool
	}{
		"removed":                                  {[]Candidate{there}, nil, "removed the sandbox", false},
		"gone at the first look":                   {[]Candidate{gone}, nil, "", false},
		"gone while it was looked at":              {[]Candidate{odd, gone}, nil, "", false},
		"gone at the check before the removal":     {[]Candidate{there, gone}, nil, "", false},
		"gone while it was being removed":          {[]Candidate{there, there, gone}, errors.New("removal is already in progress"), "", false},
		"there, and the engine tells no more":      {[]Candidate{odd}, nil, "may still be there: the engine answers 500", true},
		"there, and the engine does not remove it": {[]Candidate{there}, errors.New("disk on fire"), "may still be there: disk on fire", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			l := &left{looks: c.looks, did: c.did}
			able := w.ability()
			able.Spec = Spec{Verb: Prove, Of: backend.KindSource, Makes: true}
			able.Part = Part{Left: func(Made) Part {
				return Part{Targets: l, ReadsItself: true, Open: func(context.Context) (Effect, error) { return l, nil }}
			}}
			o := w.options()
			o.Abilities, o.Journal, o.Feed = []Ability{able}, announcingJournal{w.journal}, noFeed{}
			ctl := NewControl(o)
			m := Made{Verb: Prove, Source: home, Digest: "00112233445566ff", Name: "sandglass-prove-00112233445566ff", At: time.Now().Add(-time.Hour)}
			if err := ctl.store.making(&m); err != nil {
				t.Fatal(err)
			}
			said := ctl.RemoveLeft(t.Context(), m, me).String()
			if !strings.Contains(said, c.says) || c.says == "" && said != "" {
				t.Errorf("says %q, want %q", said, c.says)
			}
			kept, err := ReadMade(w.dir)
			if err != nil || (len(kept) == 1) != c.stays {
				t.Errorf("%d are still written down, %v", len(kept), err)
			}
		})
	}
}
