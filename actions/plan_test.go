package actions

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

func TestAPlanIsConfirmedInTimeAndUsedOnce(t *testing.T) {
	bubble(t, []string{"notes"}, func(t *testing.T, w *world) {
		c := w.armed()
		p := plan(t, c, w.intent("notes"))
		ok := confirmed(t, p)
		r, err := c.start(t.Context(), ok)
		if err != nil {
			t.Fatal(err)
		}
		<-r.Done()
		if _, err := c.start(t.Context(), ok); !errors.Is(err, ErrUsed) {
			t.Errorf("the second use: %v", err)
		}
		again := operator(w.options()) // after a restart
		if _, err := again.Arm(t.Context(), time.Hour, backend.Safe{}, backend.Text("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := again.start(t.Context(), ok); !errors.Is(err, ErrUsed) {
			t.Errorf("the use after a restart: %v", err)
		}
		if err := again.Keep(p); err != nil {
			t.Fatal(err)
		}
		if _, err := again.Kept(p.Digest); !errors.Is(err, ErrUsed) {
			t.Errorf("a used plan is kept: %v", err)
		}
		p = plan(t, c, w.intent("notes"))
		time.Sleep(61 * time.Second)
		if _, err := ConfirmDigest(p, p.Digest, time.Now()); !errors.Is(err, ErrExpired) {
			t.Errorf("after 61 s: %v", err)
		}
	})
}

// What the configuration allowed when the plan was made counts for nothing.
func TestAVerbThatIsNotAllowedAnyMoreDoesNotStart(t *testing.T) {
	bubble(t, []string{"notes"}, func(t *testing.T, w *world) {
		in := w.intent("notes")
		in.Headless = true
		p := plan(t, operator(w.options()), in)
		o := w.options()
		o.Abilities[0].Denied = backend.Text("the configuration does not allow it")
		ok := confirmed(t, p)
		var denied *DeniedError
		if _, err := operator(o).start(t.Context(), ok); !errors.As(err, &denied) || len(w.acted()) != 0 {
			t.Errorf("%v, acted on %v", err, w.acted())
		}
	})
}

func TestOnePlanAtATime(t *testing.T) {
	bubble(t, names(4), func(t *testing.T, w *world) {
		w.onDo = func(e *entry) error { e.state = "opening"; return nil }
		c := w.armed()
		first := w.start(c, w.intent(names(4)[:2]...))
		time.Sleep(5 * time.Second)
		p := plan(t, c, w.intent("ws-003"))
		ok := confirmed(t, p)
		if _, err := c.start(t.Context(), ok); err == nil || !strings.Contains(err.Error(), "another plan is being carried out") {
			t.Errorf("a second plan beside the first: %v", err)
		}
		first.Stop(backend.Text("operator"))
		<-first.Done()
		second, err := c.start(t.Context(), ok) // the refusal did not use it up
		if err != nil {
			t.Fatal(err)
		}
		second.Stop(backend.Text("operator"))
		<-second.Done()
	})
}

func TestAConfirmedPlanThatWaitedTooLongDoesNotStart(t *testing.T) {
	bubble(t, []string{"notes"}, func(t *testing.T, w *world) {
		c := w.armed()
		p := plan(t, c, w.intent("notes"))
		ok := confirmed(t, p)
		time.Sleep(61 * time.Second)
		if _, err := c.start(t.Context(), ok); !errors.Is(err, ErrExpired) || len(w.acted()) != 0 {
			t.Errorf("%v, acted on %v", err, w.acted())
		}
	})
}

func TestThreeGates(t *testing.T) {
	bubble(t, []string{"notes"}, func(t *testing.T, w *world) {
		o := w.options()
		o.Abilities[0].Denied = backend.Text(`add actions = ["reset"]`)
		var denied *DeniedError
		if _, err := operator(o).Plan(t.Context(), w.intent("notes")); !errors.As(err, &denied) || !strings.Contains(err.Error(), "add actions") {
			t.Errorf("not allowed: %v", err)
		}
		o = w.options()
		o.ReadOnly = true
		c := operator(o)
		if _, err := c.Plan(t.Context(), w.intent("notes")); !errors.As(err, &denied) {
			t.Errorf("read-only: %v", err)
		}
		if _, err := c.Arm(t.Context(), time.Minute, backend.Safe{}, backend.Text("x")); err == nil {
			t.Error("a read-only console was armed")
		}
		o = w.options()
		o.Journal = nil
		if _, err := operator(o).Plan(t.Context(), w.intent("notes")); !errors.As(err, &denied) {
			t.Errorf("without a journal: %v", err)
		}
		c = operator(w.options())
		p := plan(t, c, w.intent("notes"))
		ok := confirmed(t, p)
		if _, err := c.start(t.Context(), ok); !errors.Is(err, ErrNotArmed) {
			t.Errorf("not armed: %v", err)
		}
		if _, err := c.start(t.Context(), Confirmed{}); err == nil {
			t.Error("nothing was confirmed, and it started")
		}
		for _, bad := range []time.Duration{0, -time.Minute, LongestArming + 1} {
			if _, err := c.Arm(t.Context(), bad, backend.Safe{}, backend.Text("x")); err == nil {
				t.Errorf("armed for %s", bad)
			}
		}
		if _, err := c.Arm(t.Context(), time.Minute, backend.Safe{}, backend.Safe{}); err == nil {
			t.Error("armed without a reason")
		}
		if _, err := c.Arm(t.Context(), 30*time.Second, backend.Safe{}, backend.Text("x")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(31 * time.Second)
		if _, armed := c.Armed(); armed {
			t.Error("the arming did not end by itself")
		}
		if _, err := c.start(t.Context(), ok); !errors.Is(err, ErrNotArmed) {
			t.Errorf("after the arming: %v", err)
		}
		if len(w.acted()) != 0 {
			t.Errorf("acted on %v", w.acted())
		}
	})
}

func TestWhatIsLeftOutSaysWhy(t *testing.T) {
	bubble(t, names(4), func(t *testing.T, w *world) {
		w.change(func() { cure(w.entries["ws-001"]) })
		time.Sleep(3 * time.Second)
		in := w.intent("ws-000", "ws-000", "ws-001", "gone")
		in.Hidden = []backend.Key{key("ws-002"), key("ws-000")}
		in.Keys = append(in.Keys, backend.Key{Kind: backend.KindSandbox, Source: home, ID: backend.MustID("box")},
			backend.Key{Kind: backend.KindWorkspace, Source: "other", Parent: backend.MustID("s"), ID: backend.MustID("x")})
		p := plan(t, operator(w.options()), in)
		if len(p.Targets) != 1 || p.Targets[0].Key != key("ws-000") {
			t.Errorf("targets %v", p.Targets)
		}
		for _, want := range []string{"hidden by the filter", "acts on workspace", "acts on one source", "not failed", "not listed"} {
			found := false
			for _, x := range p.Excluded {
				found = found || strings.Contains(x.Why.String(), want)
			}
			if !found {
				t.Errorf("nothing was left out because %q: %v", want, p.Excluded)
			}
		}
	})
}

func TestRefusals(t *testing.T) {
	about := func(rule string, keys ...backend.Key) Concern {
		return Concern{ID: rule, Rule: rule, Source: home, Firing: true, Subjects: keys, Cause: backend.Text("cause")}
	}
	for name, c := range map[string]struct {
		concern Concern
		word    string // empty: it cannot be set aside
		refused bool
	}{
		"configuration":          {about("capability-mismatch", key("notes")), WordCauseFixed, true},
		"configuration, another": {about("capability-mismatch", key("other")), "", false},
		"refs":                   {about("ref-mismatch", key("notes")), WordCauseFixed, true},
		"storm":                  {about("eviction-storm"), WordAddsOpens, true},
		"restarts":               {about("restart-storm"), WordAddsOpens, true},
		"capacity":               {about("capacity"), WordAddsOpens, true},
		"leak":                   {about("possible-leak", key("notes")), "", true},
		"leak of its session":    {about("possible-leak", backend.Key{Kind: backend.KindSession, Source: home, ID: backend.MustID("s1")}), "", true},
		"over":                   {Concern{Rule: "eviction-storm", Source: home}, "", false},
		"elsewhere":              {Concern{Rule: "eviction-storm", Source: "helix-us", Firing: true}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, []string{"notes", "other"}, func(t *testing.T, w *world) {
				w.concerns = []Concern{c.concern}
				saved := false
				o := w.options()
				o.EvidenceSaved = func(context.Context, time.Time, []backend.Key) bool { return saved }
				control := operator(o)
				p := plan(t, control, w.intent("notes"))
				_, err := ConfirmDigest(p, p.Digest, time.Now())
				var refused *RefusedError
				if errors.As(err, &refused) != c.refused {
					t.Fatalf("refused: %v", err)
				}
				if !c.refused {
					return
				}
				if c.word == "" {
					if p.Refusals[0].Word != "" {
						t.Errorf("it can be set aside by %q without a bundle", p.Refusals[0].Word)
					}
					saved, c.word = true, WordEvidenceSaved
				}
				in := w.intent("notes")
				in.Overrides = []string{c.word}
				p = plan(t, control, in)
				if _, err := ConfirmDigest(p, p.Digest, time.Now()); err != nil {
					t.Errorf("with %q: %v", c.word, err)
				}
				in.Overrides = []string{"something else"}
				p = plan(t, control, in)
				if _, err := ConfirmDigest(p, p.Digest, time.Now()); err == nil {
					t.Error("another word set it aside")
				}
			})
		})
	}
}

// TestAnOutageOfAnotherProvider: a storm or a shortage refuses a reset where it may be of the target's provider.
func TestAnOutageOfAnotherProvider(t *testing.T) {
	for name, c := range map[string]struct {
		rule, theirs, its string
		cut, refused      bool
	}{
		"the same":             {"capacity", "cloudflare-sandbox", "cloudflare-sandbox", false, true},
		"another":              {"capacity", "cloudflare-sandbox", "docker", false, false},
		"a storm of another":   {"eviction-storm", "cloudflare-sandbox", "docker", false, false},
		"restarts of all":      {"restart-storm", "cloudflare-sandbox", "docker", false, true},
		"not all are named":    {"capacity", "cloudflare-sandbox", "docker", true, true},
		"its own is not known": {"capacity", "cloudflare-sandbox", "", false, true},
		"theirs is not known":  {"capacity", "", "docker", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, []string{"notes", "other"}, func(t *testing.T, w *world) {
				w.change(func() { w.entries["other"].provider, w.entries["notes"].provider = c.theirs, c.its })
				time.Sleep(3 * time.Second)
				w.concerns = []Concern{{ID: "a", Rule: c.rule, Source: home, Firing: true, Subjects: []backend.Key{key("other")}, Cut: c.cut}}
				if p := plan(t, operator(w.options()), w.intent("notes")); len(p.Refusals) > 0 != c.refused {
					t.Errorf("refusals %v", p.Refusals)
				}
			})
		})
	}
}

func TestTheShareCapCountsWhatMayBeInUse(t *testing.T) {
	for _, c := range []struct{ all, chosen, want int }{{1, 1, 0}, {2, 1, 0}, {2, 2, 1}, {8, 2, 0}, {8, 3, 1}, {40, 10, 0}, {40, 11, 1}} {
		bubble(t, names(c.all), func(t *testing.T, w *world) {
			w.change(func() {
				for i, n := range names(c.all) { // of every second nothing is known
					w.entries[n].state = []string{"open", "strange"}[i%2]
				}
			})
			time.Sleep(3 * time.Second)
			spec := Spec{Verb: Destroy, Of: backend.KindWorkspace, Cap: CapShare}
			p := &Plan{Verb: Destroy, Of: backend.KindWorkspace, Source: home}
			for _, n := range names(c.chosen) {
				p.Targets = append(p.Targets, Target{Key: key(n)})
			}
			got := capRefusals(p, spec, w.Snapshot().State)
			if len(got) != c.want {
				t.Errorf("%d of %d: %v", c.chosen, c.all, got)
			}
			for i := range p.Targets {
				p.Targets[i].Useless = true
			}
			if got := capRefusals(p, spec, w.Snapshot().State); len(got) != 0 {
				t.Errorf("%d useless ones of %d: %v", c.chosen, c.all, got)
			}
		})
	}
}

// The absolute cap holds to the target.
func TestTheAbsoluteCap(t *testing.T) {
	bubble(t, names(4), func(t *testing.T, w *world) {
		o := w.options()
		o.Abilities[0].Spec.Most = 3
		c := operator(o)
		if open := plan(t, c, w.intent(names(4)[:3]...)).Open(); len(open) != 0 {
			t.Errorf("3 of 3: %v", open)
		}
		if open := plan(t, c, w.intent(names(4)...)).Open(); len(open) != 1 || open[0].Word != "" || open[0].Why.String() != "4 targets are more than one plan may have (3)" {
			t.Errorf("4 of 3: %v", open)
		}
	})
}

// A single directory that is to be removed asks for the count; one that gets its name back does not.
func TestRemovingADirectoryAsksForTheCount(t *testing.T) {
	for verb, want := range map[Verb]Gesture{Clean: GestureCount, Purge: GestureCount, Undo: GestureYes} {
		p := &Plan{Verb: verb, Of: backend.KindTmpdir, Targets: make([]Target, 1)}
		if got := gestureOf(p, Spec{Verb: verb, Of: backend.KindTmpdir, Gesture: GestureYes}); got != want {
			t.Errorf("%s asks for gesture %d", verb, got)
		}
	}
}

func TestGestures(t *testing.T) {
	bubble(t, []string{"notes", "notebook-7", "notebook-71", "quarterly-report"}, func(t *testing.T, w *world) {
		for name, x := range map[string]struct {
			names      []string
			gesture    Gesture
			production bool
			want       string
		}{
			"one reset":              {[]string{"notes"}, GestureYes, false, "yes"},
			"one by name":            {[]string{"notes"}, GestureName, false, "s1/notes"},
			"one by 8 characters":    {[]string{"quarterly-report"}, GestureName, false, "s1/quart"},
			"one by a longer prefix": {[]string{"notebook-71"}, GestureName, false, "s1/notebook-71"},
			"two":                    {[]string{"notes", "notebook-7"}, GestureYes, false, "2 "},
			"production":             {[]string{"notes"}, GestureTwice, true, "1 "},
		} {
			o := w.options()
			o.Production = x.production
			o.Abilities[0].Spec.Gesture = x.gesture
			c := operator(o)
			p := plan(t, c, w.intent(x.names...))
			want := x.want
			if strings.HasSuffix(want, " ") {
				want += p.Digest[len(p.Digest)-4:]
			}
			if got := p.Wants(); got != want {
				t.Errorf("%s wants %q, not %q", name, want, got)
			}
		}
	})
}

func TestAStoredPlanIsExactlyThatPlan(t *testing.T) {
	bubble(t, names(3), func(t *testing.T, w *world) {
		c := operator(w.options())
		p := plan(t, c, w.intent(names(3)...))
		if err := c.Keep(p); err != nil {
			t.Fatal(err)
		}
		got, err := operator(w.options()).Kept(p.Digest)
		if err != nil || got.Digest != p.Digest || len(got.Targets) != 3 || !got.intact() {
			t.Fatalf("%v %+v", err, got)
		}
		var missing *NoPlanError
		if _, err := c.Kept("0123456789abcdef"); !errors.As(err, &missing) {
			t.Errorf("no such plan: %v", err)
		}
		for _, bad := range []string{"", "../../etc/passwd", "zz", strings.Repeat("0", 17)} {
			if _, err := c.Kept(bad); err == nil || errors.As(err, &missing) {
				t.Errorf("%q: %v", bad, err)
			}
		}
		file := filepath.Join(w.dir, plansDir, p.Digest+planSuffix)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range [][2]string{{`"ws-001"`, `"ws-009"`}, {`"per_minute":60`, `"per_minute":90`}, {`"reset"`, `"destroy"`}} {
			if !strings.Contains(string(b), change[0]) {
				t.Fatalf("the stored plan has no %s", change[0])
			}
			if err := os.WriteFile(file, []byte(strings.Replace(string(b), change[0], change[1], 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Kept(p.Digest); err == nil {
				t.Errorf("a plan with %s changed to %s was taken", change[0], change[1])
			}
		}
	})
}

func TestAnExpiredPlanSaysWhatIsDifferent(t *testing.T) {
	bubble(t, names(4), func(t *testing.T, w *world) {
		c := operator(w.options())
		in := w.intent(names(4)...)
		old := plan(t, c, in)
		w.change(func() {
			cure(w.entries["ws-000"])
			w.entries["ws-001"].success = time.Now().Add(-time.Minute)
		})
		time.Sleep(61 * time.Second)
		p, diff, err := c.Again(t.Context(), old, in)
		if err != nil || len(p.Targets) != 3 {
			t.Fatal(err, p)
		}
		if got := backend.Join(diff, "; ").String(); got != "1 are left out now; 1 changed meanwhile" {
			t.Error(got)
		}
	})
}

// A damaged journal is said at the top of every plan, also of a rehearsal, and forbids none.
func TestAPlanSaysThatTheJournalIsDamaged(t *testing.T) {
	bubble(t, []string{"notes"}, func(t *testing.T, w *world) {
		if p := plan(t, w.armed(), w.intent("notes")); len(p.Advice) != 0 {
			t.Errorf("advice of a sound journal: %v", p.Advice)
		}
		w.journal.damage = errors.New("the audit journal is damaged in line 2")
		for _, dry := range []bool{false, true} {
			in := w.intent("notes")
			in.DryRun = dry
			p := plan(t, w.armed(), in)
			if len(p.Advice) != 1 || p.Advice[0].String() != w.journal.damage.Error() || len(p.Open()) != 0 {
				t.Errorf("advice %v, refusals %v", p.Advice, p.Open())
			}
		}
	})
}

// A container is known by its name, which the journal keeps beside its id.
func TestOnlyContainersHaveANameBesideTheirID(t *testing.T) {
	id := backend.MustID("88901a208890")
	for _, c := range []struct {
		kind  backend.Kind
		label string
		want  int
	}{{backend.KindSandbox, "web", 1}, {backend.KindSandbox, "88901a208890", 0}, {backend.KindWorkspace, "web", 0}} {
		x := Target{Key: backend.Key{Kind: c.kind, Source: "d", ID: id}, Label: backend.Clean(c.label, 40)}
		if got := x.nameFact(); len(got) != c.want || c.want > 0 && got[0].Value.String() != c.label {
			t.Errorf("%s %q has the facts %v", c.kind, c.label, got)
		}
	}
}

// A plan says first what the list of verbs says of its verb.
func TestAPlanSaysWhyNotNow(t *testing.T) {
	bubble(t, []string{"notes"}, func(t *testing.T, w *world) {
		in := w.intent("notes")
		in.NotNow = backend.Text("object storage does not answer yet")
		p := plan(t, w.armed(), in)
		if len(p.Advice) != 1 || p.Advice[0].String() != "not now: object storage does not answer yet" {
			t.Errorf("advice %v", p.Advice)
		}
	})
}
