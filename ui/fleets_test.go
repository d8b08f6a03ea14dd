package ui

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

var _ Feed = (*alerts.Service)(nil) // what the wiring hands to New

// big is a generated fleet.
func big(now time.Time, n int) *fleet.State {
	ws := make([]*backend.Workspace, n)
	for i := range ws {
		class, state, errText := backend.ClassHealthy, "open", ""
		attempt := time.Duration(i%300+1) * time.Minute
		success := attempt
		switch {
		case i%97 == 0:
			class, state, errText, success = backend.ClassFailed, "failed", fmt.Sprintf("ref schemaVersion %d unsupported", i%7), attempt+time.Hour
		case i%41 == 0:
			class, state, errText, success = backend.ClassEvicted, "evicted", "sandbox instance is gone", attempt+30*time.Minute
		}
		ws[i] = workspace(now, "helix-eu", fmt.Sprintf("codesess_%06x", i/3*7919%0xffffff), []string{"box", "notes", "build"}[i%3], state, class, attempt, success, errText)
	}
	s, _ := incident(now)
	return &fleet.State{Number: 100, Wall: now, LongestOperation: 5 * time.Minute, Workspaces: fleet.NewTable(ws...), Sources: s.Sources}
}

// touch is the next State, in which every nth workspace was tried again.
func touch(s *fleet.State, now time.Time, nth, round int) *fleet.State {
	ws := make([]*backend.Workspace, 0, s.Workspaces.Len())
	next := *s
	next.Number, next.Wall, next.Delta = s.Number+1, now, fleet.Delta{}
	i := 0
	for w := range s.Workspaces.All() {
		if i++; i%nth == round%nth {
			c := *w
			c.LastAttemptAt, c.Rev = at(now, time.Duration(1+round%5)*time.Minute), next.Number
			if c.Class == backend.ClassHealthy {
				c.LastSuccessAt = c.LastAttemptAt
			}
			w = &c
			next.Delta.Changed = append(next.Delta.Changed, c.Key)
		}
		ws = append(ws, w)
	}
	next.Workspaces = fleet.NewTable(ws...)
	return &next
}

const evil = "\x1b]0;pwned\a\u009b31m\u202e\r\n\tx\u200b\u2066\x7f\x1b[2J"

func hostile(now time.Time) (*fleet.State, *alerts.Board) {
	s, b := incident(now)
	w := workspace(now, "helix-eu", evil, evil, evil, backend.ClassFailed, time.Hour, 2*time.Hour, strings.Repeat(evil, 1000))
	w.Extra = []backend.Field{{Name: safe(evil), Value: safe(evil)}}
	w.Raw = safe(strings.Repeat(evil, 200))
	s.Workspaces = fleet.NewTable(w)
	box := machines(now, "docker-local")[0]
	box.Name, box.Image, box.Reported, box.Raw, box.Session = safe(evil), safe(evil), safe(evil), safe(evil), backend.MustID(evil)
	box.Labels = w.Extra
	s.Sandboxes = fleet.NewTable(box)
	dir := scratch(now, "tmp-build")[0]
	dir.Path, dir.Owner, dir.Mode = safe(evil), safe(evil), safe(evil)
	dir.Holders = backend.Known([]backend.Holder{{PID: 1, Command: safe(evil), How: safe(evil)}})
	s.Tmpdirs = fleet.NewTable(dir)
	s.Hosts.At(0).Name = safe(evil)
	for _, h := range s.Sources {
		h.Error, h.Notes = safe(evil), []backend.Safe{safe(evil)}
	}
	for _, a := range b.Alerts {
		a.Cause, a.Why = safe(evil), safe(evil)
		a.Evidence = append(a.Evidence, alerts.Evidence{Text: safe(evil)})
		for i := range a.Subjects {
			a.Subjects[i].Label, a.Subjects[i].Detail = safe(evil), safe(evil)
		}
	}
	return s, b
}

// shuffle is a State in which some workspaces are missing.
func shuffle(s *fleet.State, rng *rand.Rand) *fleet.State {
	next := *s
	next.Number = s.Number + 2 + rng.Uint64N(1000)
	var ws []*backend.Workspace
	for w := range s.Workspaces.All() {
		if rng.IntN(3) > 0 {
			ws = append(ws, w)
		}
	}
	next.Workspaces = fleet.NewTable(ws...)
	return &next
}
