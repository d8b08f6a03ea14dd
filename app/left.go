package app

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/config"
)

// leftWithin bounds how long a source is asked about what a former process made on it.
const leftWithin = 15 * time.Second

// RemoveLeft removes the sandboxes that plans of former processes made for themselves and did not remove, and says what came
// of it. It costs one directory listing when there are none.
func (s *Station) RemoveLeft(ctx context.Context) []backend.Safe {
	if s.StateDir == "" || s.Forgets != nil {
		return nil
	}
	left, err := actions.ReadMade(s.StateDir)
	var said []backend.Safe
	if err != nil {
		said = append(said, backend.Clean(err.Error(), 300))
	}
	if len(left) == 0 {
		return said
	}
	ctx, cancel := context.WithTimeout(ctx, leftWithin)
	defer cancel()
	o := s.controlOptions()
	if s.Journal != nil && s.NoJournal == nil {
		s.journalOptions(&o)
	}
	o.Feed = noFeed{}
	for _, m := range left {
		if slices.ContainsFunc(o.Abilities, func(a actions.Ability) bool { return a.Source == m.Source && a.Spec.Verb == m.Verb }) {
			continue
		}
		able, closes, known := s.removing(ctx, m)
		defer closes()
		if known {
			o.Abilities = append(o.Abilities, able)
		}
	}
	c := actions.NewControl(o)
	for _, m := range left {
		if text := c.RemoveLeft(ctx, m, s.app.Who); !text.IsEmpty() {
			said = append(said, text)
		}
	}
	return said
}

// removesLeft removes what was left, now and every minute, until ctx ends. The timeline has what came of it.
func (s *Station) removesLeft(ctx context.Context) {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		s.RemoveLeft(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// removing is the verb that made something, on a source of its own that is read once: the fleet's may be polled meanwhile.
func (s *Station) removing(ctx context.Context, m actions.Made) (able actions.Ability, closes func(), known bool) {
	closes = func() {}
	at := slices.IndexFunc(s.Config.Sources, func(x config.Source) bool { return x.ID == m.Source })
	if at < 0 {
		return able, closes, false
	}
	c := s.Config.Sources[at]
	able = actions.Ability{Source: c.ID, SourceKind: c.Kind, Spec: actions.Spec{Verb: m.Verb}}
	x := &sites{App: s.app, config: s.Config, sources: s.Sources, stateDir: s.StateDir}
	own := Source{Config: c}
	own.Config.Actions = []string{string(m.Verb)}
	switch {
	case !s.Config.Local && !slices.Contains(c.Actions, string(m.Verb)):
		able.Denied = backend.Textf("the configuration allows no %s there any more", backend.Clean(string(m.Verb), 40))
		return able, closes, true
	case !x.unsafe(own, m.Verb, x.distrust(s.Config)).IsEmpty():
		able.Denied = x.unsafe(own, m.Verb, x.distrust(s.Config))
		return able, closes, true
	}
	fail := func(err error) (actions.Ability, func(), bool) {
		able.Denied = backend.Clean(err.Error(), 300)
		return able, closes, true
	}
	for _, k := range s.app.Kinds {
		if k.Name != c.Kind {
			continue
		}
		src, err := k.New(c.Options, s.app.deps(c))
		if err != nil {
			return fail(err)
		}
		if x, ok := src.(backend.Closer); ok {
			closes = func() { _ = x.Close() } // it read once; nothing is lost
		}
		if _, err := src.Poll(ctx); err != nil {
			return fail(err)
		}
		own.Source = src
	}
	for _, k := range s.app.Effects {
		if k.Name != c.Kind {
			continue
		}
		parts, missing, err := k.Build(x.site(own))
		if err != nil {
			return fail(err)
		}
		able.Part, able.Denied = parts[m.Verb], missing[m.Verb]
	}
	return able, closes, true
}

// noFeed is the feed of a plan that needs no reading.
type noFeed struct{}

func (noFeed) Snapshot() actions.Snapshot           { return actions.Snapshot{State: &fleet.State{}} }
func (noFeed) Subscribe() (<-chan struct{}, func()) { return nil, func() {} }
func (noFeed) Wake(string)                          {}
func (noFeed) Attend([]backend.Key)                 {}
func (noFeed) Reread(backend.Key)                   {}

// self is this process.
func (m *Machine) self() actions.Process {
	pid := os.Getpid()
	return actions.Process{PID: pid, Start: startOf(pid), Boot: m.ReadClock().Boot}
}

// alive reports whether a process still runs. Where the system does not tell when a process started, the lock of its plan
// decides alone.
func (m *Machine) alive(p actions.Process) bool {
	return p.Start != "" && p.Boot == m.ReadClock().Boot && startOf(p.PID) == p.Start
}

// startOf is when a process started, in the kernel's ticks since boot; empty: not known.
func startOf(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	const field = 22 - 3 // man 5 proc, counted from the state
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(f) <= field || f[0] == "Z" || f[0] == "X" { // it ended, and its parent has not looked yet
		return ""
	}
	return f[field]
}

// newID makes 16 random hexadecimal digits.
func newID() string {
	b := make([]byte, 8)
	_, _ = rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}
