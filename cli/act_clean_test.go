package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/actions"
	"sandglass/actions/audit"
	"sandglass/alerts"
	"sandglass/app"
	"sandglass/backend"
	"sandglass/views/text"
)

// scratch is a source of directories that are in their place, set aside, or gone.
type scratch struct {
	mu   sync.Mutex
	dirs map[string]string // path to place, aside or nothing
}

func dirKey(path string) backend.Key {
	return backend.Key{Kind: backend.KindTmpdir, Source: "scratch", Parent: backend.MustID("bastion"), ID: backend.MustID("8:1:" + path)}
}

func (s *scratch) ID() string { return "scratch" }

func (s *scratch) Poll(context.Context) (backend.Reading, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	r := backend.Reading{Started: now, At: now, Scopes: []backend.Scope{{Kind: backend.KindTmpdir, Complete: true}}}
	for path, where := range s.dirs {
		if where == "place" {
			r.Tmpdirs = append(r.Tmpdirs, &backend.Tmpdir{Meta: backend.Meta{Key: dirKey(path), ReadAt: now}, Path: backend.Clean(path, 200), RawPath: backend.MustID(path)})
		}
	}
	return r, nil
}

// handler is one verb: what it needs and what it makes of it.
type handler struct {
	*scratch
	from, to string
}

func (h handler) Look(_ context.Context, q actions.Question) []actions.Candidate {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []actions.Candidate
	for _, k := range q.Keys {
		path := strings.TrimPrefix(k.ID.Raw(), "8:1:")
		c := actions.Candidate{Key: k, Label: backend.Clean(path, 200), Useless: true, Bytes: backend.Known(int64(4096))}
		switch {
		case h.dirs[path] != h.from:
			c.Why = backend.Textf("it is not in its %s", backend.Clean(h.from, 20))
		case strings.Contains(path, "hidden"):
			c.Why, c.Undecided, c.Advice = backend.Text("1 of 9 processes unreadable, any of which may use it"), true, backend.Text("run it on the host")
		case strings.Contains(path, "used"):
			c.Why = backend.Text("a process uses it")
		default:
			c.Identity = []actions.Fact{{Name: "path", Value: path}}
		}
		out = append(out, c)
	}
	return out
}

func (h handler) Do(_ context.Context, t actions.Target, _ actions.Params) (actions.Done, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dirs[t.Identity[0].Value] = h.to
	return actions.Done{Text: backend.Text("done"), Moved: 4096, Proved: true}, nil
}

func (h handler) Close() error { return nil }

// cleanSite is an installation with that source.
type cleanSite struct {
	*actSite
	dirs *scratch
}

// effects move the directories of the source about.
func (s *cleanSite) effects() []actions.Kind {
	k := actions.Kind{Name: "tmpdir"}
	parts := map[actions.Verb]actions.Part{}
	for verb, h := range map[actions.Verb]handler{actions.Clean: {s.dirs, "place", "aside"}, actions.Purge: {s.dirs, "aside", ""}, actions.Undo: {s.dirs, "aside", "place"}} {
		k.Specs = append(k.Specs, actions.Spec{Verb: verb, Of: backend.KindTmpdir, Title: string(verb), Effect: "moves it", Undo: "put it back",
			Cap: actions.CapAbsolute, Gesture: actions.GestureCount})
		parts[verb] = actions.Part{Targets: h, ReadsItself: true, Open: func(context.Context) (actions.Effect, error) { return h, nil }}
	}
	k.Build = func(actions.Site) (map[actions.Verb]actions.Part, map[actions.Verb]backend.Safe, error) {
		return parts, nil, nil
	}
	return []actions.Kind{k}
}

func (s *cleanSite) cleaning() *app.Cleaning {
	return &app.Cleaning{
		Waiting: func(context.Context, *app.Station) ([]text.Waiting, error) {
			var out []text.Waiting
			for _, path := range slices.Sorted(maps.Keys(s.dirs.dirs)) {
				if s.dirs.dirs[path] == "aside" {
					plan := "0123456789abcdef"
					out = append(out, text.Waiting{Key: dirKey(path), ID: dirKey(path).ID, Path: backend.MustID(path), Name: backend.MustID(".aside-" + filepath.Base(path)),
						Moved: text.Time{Time: time.Now().Add(-time.Minute)}, Due: text.Time{Time: time.Now().Add(14 * time.Minute)}, Plan: &plan})
				}
			}
			return out, nil
		},
		PurgeDue: func(context.Context, *app.Station) ([]backend.Safe, error) {
			return []backend.Safe{backend.Text("/tmp/old: its grace period is over: 4 KiB freed")}, nil
		},
		Policy: func(file string) (app.Policy, error) {
			if file != "policy.toml" {
				return app.Policy{}, errors.New("others can write it")
			}
			return app.Policy{Params: actions.Params{OlderThan: 48 * time.Hour, Most: 5}, Reason: backend.Text("policy policy.toml, sha256 00"),
				Covers: func(k backend.Key) bool { return !strings.Contains(k.ID.Raw(), "other") }}, nil
		},
		Units: func(_ *app.Station, u app.Units) (string, error) {
			return "units for " + u.Params.OlderThan.String() + "\n", nil
		},
	}
}

// run is one command line.
func (s *cleanSite) run(code int, want string, args ...string) string {
	s.t.Helper()
	var out, errs bytes.Buffer
	p := program(&out, &errs, func(string) string { return "" })
	began := time.Now()
	p.Now, p.Mono = time.Now, func() time.Duration { return time.Since(began) }
	p.ReadClock = func() alerts.ClockReading { return alerts.ClockReading{Wall: time.Now()} }
	p.Effects, p.Cleaning, p.SharedAccount = s.effects(), s.cleaning(), true
	p.Who = audit.Who{User: backend.Text("root"), Host: backend.Text("bastion")}
	k := fakeKind("tmpdir")
	k.New = func(backend.Options, backend.Deps) (backend.Source, error) { return s.dirs, nil }
	p.Kinds = []backend.SourceKind{k}
	got := p.Run(s.ctx, append(append([]string{"clean"}, args...), "--config", s.file, "--state-dir", s.dir+"/state"))
	all := out.String() + errs.String()
	if got != code || !regexp.MustCompile(want).MatchString(all) {
		s.t.Errorf("clean %v: exit code %d, want %d; want %q in\n%s", args, got, code, want, all)
	}
	return out.String()
}

func newCleanSite(t *testing.T) *cleanSite {
	s := &cleanSite{newActSite(t, "environment = \"night\"\n[[source]]\nid = \"scratch\"\nkind = \"tmpdir\"\nactions = [\"clean\"]\n"), &scratch{dirs: map[string]string{}}}
	for _, name := range []string{"a", "b", "used", "other"} {
		s.dirs.dirs["/tmp/helix-ws-"+name] = "place"
	}
	return s
}

func (s *cleanSite) yes(code int, want string, args ...string) {
	s.t.Helper()
	m := planLine.FindStringSubmatch(s.run(0, `(?m)^plan `, append(args, "--by", "ann")...))
	if m == nil {
		s.t.FailNow()
	}
	s.run(code, want, "--yes-plan", m[1], "--reason", "the disk is full")
}

func TestCleanUndoAndPurge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCleanSite(t)
		s.run(0, "^nothing waits\n$", "--list")
		s.run(4, "nothing to act on", "--undo", "--by", "ann")
		plan := s.run(0, `(?s)clean 3 scratch directories.*left alone: 1\n  a process uses it\n      /tmp/helix-ws-used`, "--by", "ann") // no selector: all
		if strings.Contains(plan, "8:1:/tmp/helix-ws-a") {
			t.Errorf("people know directories by their paths:\n%s", plan)
		}
		s.run(0, `effect: moves it\n  undo: put it back`, "/tmp/helix-ws-a", "--by", "ann")
		s.run(0, "(?s)effect: [^\n]*for good, at once\n  undo: it cannot be undone\n.*warning: this cannot be undone", "/tmp/helix-ws-a", "--purge-now", "--by", "ann")
		s.yes(0, "2 of 2 done: 2 verified", "/tmp/helix-ws-a", "8:1:/tmp/helix-ws-b")
		s.run(0, `/tmp/helix-ws-a\n +quarantined 1m ago as \.aside-helix-ws-a, removed in 14m, plan 0123456789abcdef`, "--list")
		s.yes(0, "1 verified", "--undo", "/tmp/helix-ws-a")
		s.run(64, "no source lists", "--undo", "/tmp/helix-ws-a", "--by", "ann")
		s.yes(0, "1 verified", "--purge")
		if s.dirs.dirs["/tmp/helix-ws-a"] != "place" || s.dirs.dirs["/tmp/helix-ws-b"] != "" {
			t.Errorf("%v", s.dirs.dirs)
		}
	})
}

func TestCleanByPolicy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newCleanSite(t)
		s.run(4, "others can write it", "--policy", "loose.toml")
		s.run(64, "says itself how old", "--policy", "policy.toml", "--older-than", "1h")
		s.run(64, "take no selector", "--policy", "policy.toml", "/tmp/helix-ws-a")
		s.run(64, "exclude each other", "--policy", "policy.toml", "--undo")
		s.run(0, "dry run: 2 of 2", "--policy", "policy.toml", "--dry-run")
		s.run(0, "(?s)2 of 2 done: 2 verified.*its grace period is over", "--policy", "policy.toml") // on a shared account, without a name
		s.run(0, "^there is nothing to clean\n", "--policy", "policy.toml")
		s.dirs.dirs["/tmp/helix-ws-hidden"] = "place"
		if out := s.run(4, "(?s)nothing was cleaned: whether 1 directory is in use cannot be read.*run it on the host", "--policy", "policy.toml"); out != "" {
			t.Errorf("a policy that cannot decide prints %q", out)
		}
		if s.dirs.dirs["/tmp/helix-ws-other"] != "place" {
			t.Error("a directory that the policy does not cover was cleaned")
		}
		if first := s.records()[0]; first.Reason.String() != "policy policy.toml, sha256 00" {
			t.Errorf("the journal begins with %+v", first)
		}
		s.run(0, "^units for 168h0m0s\n$", "--timer", "--older-than", "7d")
	})
}

func TestWaitingJSON(t *testing.T) {
	waiting := object(map[string]shape{"schema": is("number"), "time": is("time"), "environment": is("string"),
		"waiting": listOf(object(map[string]shape{"id": is("string"), "path": is("string"), "name": is("string"), "moved": is("time"), "due": is("time"),
			"begun": is("bool"), "plan": is("string|null")}))})
	synctest.Test(t, func(t *testing.T) {
		s := newCleanSite(t)
		s.dirs.dirs["/tmp/helix-ws-a"] = "aside"
		var document any
		if err := json.Unmarshal([]byte(s.run(0, "helix-ws-a", "--list", "-o", "json")), &document); err != nil {
			t.Fatal(err)
		}
		for _, bad := range walk("", document, waiting) {
			t.Error(bad)
		}
	})
	documentsFields(t, "Document of actions", waiting)
}
