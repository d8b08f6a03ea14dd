package actions

import (
	"context"
	"strings"
	"testing"
	"time"

	"sandglass/actions/audit"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// TestAPlanToDestroyNamesWhatARescueDidNotSave: what, when, and where the part is; a rescue that saved all takes it back, and so does
// another sandbox of the same name.
func TestAPlanToDestroyNamesWhatARescueDidNotSave(t *testing.T) {
	at := time.Date(2026, 11, 24, 3, 0, 0, 0, time.UTC)
	box := backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("agents-1")}
	_, err := Rescued(Done{Text: backend.Text("3 files, 10 KiB in /state/rescue/agents-1.tar.gz")}, Lost{N: 2, First: []error{context.DeadlineExceeded}}, backend.Clean)
	part, whole, none := backend.Clean(err.Error(), backend.MaxTextRunes), backend.Text("5 files"), backend.Text("nothing was saved: no space left on device")
	type step struct {
		result audit.Result
		detail backend.Safe
	}
	for name, c := range map[string]struct {
		verb  Verb
		steps []step
		born  time.Time
		says  []string // empty: nothing
	}{
		"incomplete":         {Destroy, []step{{audit.ResultFailed, part}}, at.Add(-time.Hour), []string{"its rescue of 2026-11-24 03:00:00Z is incomplete", "3 files, 10 KiB in /state/rescue/agents-1.tar.gz", "2 files and directories are not saved", "NOT-SAVED.txt"}},
		"replaced":           {Replace, []step{{audit.ResultFailed, part}}, at.Add(-time.Hour), []string{"is incomplete"}},
		"failed":             {Destroy, []step{{audit.ResultFailed, none}}, at.Add(-time.Hour), []string{"its rescue of 2026-11-24 03:00:00Z failed", "no space left on device"}},
		"failed after":       {Destroy, []step{{audit.ResultFailed, part}, {audit.ResultFailed, none}}, at.Add(-time.Hour), []string{"its rescue of 2026-11-24 03:00:00Z is incomplete"}},
		"incomplete again":   {Destroy, []step{{audit.ResultVerified, whole}, {audit.ResultFailed, part}}, at.Add(-time.Hour), []string{"its rescue of 2026-11-24 03:01:00Z is incomplete"}},
		"complete then":      {Destroy, []step{{audit.ResultFailed, part}, {audit.ResultVerified, whole}}, at.Add(-time.Hour), nil},
		"complete before":    {Destroy, []step{{audit.ResultVerified, whole}, {audit.ResultFailed, none}}, at.Add(-time.Hour), nil},
		"not begun":          {Destroy, []step{{audit.ResultSkipped, backend.Text("it changed")}}, at.Add(-time.Hour), nil},
		"another since":      {Destroy, []step{{audit.ResultFailed, part}}, at.Add(time.Hour), nil},
		"a probe loses none": {Probe, []step{{audit.ResultFailed, part}}, at.Add(-time.Hour), nil},
	} {
		t.Run(name, func(t *testing.T) {
			j, err := audit.New(audit.Options{Dir: t.TempDir(), Origin: audit.Origin{Host: backend.Text("bastion")}})
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range c.steps {
				e := audit.Entry{At: at.Add(time.Duration(i) * time.Minute), Phase: audit.PhaseOutcome, Who: me, Verb: string(Rescue), Kind: "sandbox", Digest: "d",
					Subjects: []backend.Key{box}, Result: s.result, Detail: s.detail}
				if _, err := j.Append(t.Context(), e, audit.Synced); err != nil {
					t.Fatal(err)
				}
			}
			other := backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("agents-2")}
			st := &fleet.State{Sandboxes: fleet.NewTable(&backend.Sandbox{Meta: backend.Meta{Key: box}})}
			st.Sandbox(box).CreatedAt = backend.Known(c.born)
			o := operator(Options{Journal: j, StateDir: t.TempDir(), Now: func() time.Time { return at.Add(2 * time.Hour) }, Feed: stillFeed{State: st}, Abilities: []Ability{{Source: "bl", SourceKind: "blaxel",
				Spec: Spec{Verb: c.verb, Of: backend.KindSandbox, Title: "destroy", Cap: CapAbsolute}, Part: Part{Targets: noted{}}}}})
			p := plan(t, o, Intent{Verb: c.verb, Source: "bl", Keys: []backend.Key{box, other}})
			notes := p.Targets[0].Notes
			if len(p.Targets[1].Notes) > 1 || (len(notes) > 1) != (len(c.says) > 0) || notes[len(notes)-1].String() != "no snapshot" {
				t.Fatalf("%v, the other: %v", notes, p.Targets[1].Notes)
			}
			for _, want := range c.says {
				if !strings.Contains(notes[0].String(), want) {
					t.Errorf("%q has no %q", notes[0], want)
				}
			}
		})
	}
}

// TestAPlanToDestroySaysThatNothingWasRescued: where a rescue could have been made, and the journal has none.
func TestAPlanToDestroySaysThatNothingWasRescued(t *testing.T) {
	at := time.Date(2026, 11, 24, 3, 0, 0, 0, time.UTC)
	box := backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("agents-1")}
	for name, c := range map[string]struct{ able, before, says bool }{"none": {true, false, true}, "of another before": {true, true, true}, "none can be made": {false, false, false}} {
		j, err := audit.New(audit.Options{Dir: t.TempDir(), Origin: audit.Origin{Host: backend.Text("bastion")}})
		if err != nil {
			t.Fatal(err)
		}
		st := &fleet.State{Sandboxes: fleet.NewTable(&backend.Sandbox{Meta: backend.Meta{Key: box}})}
		if c.before {
			e := audit.Entry{At: at, Phase: audit.PhaseOutcome, Who: me, Verb: string(Rescue), Kind: "sandbox", Digest: "d", Subjects: []backend.Key{box}, Result: audit.ResultVerified}
			if _, err := j.Append(t.Context(), e, audit.Synced); err != nil {
				t.Fatal(err)
			}
			st.Sandbox(box).CreatedAt = backend.Known(at.Add(time.Hour))
		}
		able := []Ability{{Source: "bl", SourceKind: "blaxel", Spec: Spec{Verb: Destroy, Of: backend.KindSandbox, Title: "destroy", Cap: CapAbsolute}, Part: Part{Targets: noted{}}}}
		if c.able {
			able = append(able, Ability{Source: "bl", SourceKind: "blaxel", Spec: Spec{Verb: Rescue, Of: backend.KindSandbox, Title: "rescue", Cap: CapAbsolute}, Part: Part{Targets: noted{}}})
		}
		o := operator(Options{Journal: j, StateDir: t.TempDir(), Now: func() time.Time { return at.Add(2 * time.Hour) }, Feed: stillFeed{State: st}, Abilities: able})
		p := plan(t, o, Intent{Verb: Destroy, Source: "bl", Keys: []backend.Key{box}})
		if says := strings.Contains(p.Targets[0].Notes[0].String(), "nothing of it was rescued"); says != c.says {
			t.Errorf("%s: %v", name, p.Targets[0].Notes)
		}
	}
}

// stillFeed is a State that does not change.
type stillFeed struct {
	Feed
	State *fleet.State
}

func (f stillFeed) Snapshot() Snapshot { return Snapshot{State: f.State} }

// noted finds every target, with a note of its own.
type noted struct{}

func (noted) Look(_ context.Context, q Question) (out []Candidate) {
	for _, k := range q.Keys {
		out = append(out, Candidate{Key: k, Label: k.Safe(), Notes: []backend.Safe{backend.Text("no snapshot")}})
	}
	return out
}
