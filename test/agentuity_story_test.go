package test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/demo"
)

// told are the alerts that fire or may soon, but for those that are parts of others.
func told(b *alerts.Board) (out []*alerts.Alert) {
	for _, a := range b.Alerts {
		if (a.State == alerts.StateFiring || a.State == alerts.StatePending) && !a.Hidden() {
			out = append(out, a)
		}
	}
	return out
}

func named(st *fleet.State, name string) *backend.Sandbox {
	for b := range st.Sandboxes.All() {
		if b.Name.String() == name {
			return b
		}
	}
	return nil
}

// evidenceOf is everything that an alert says, in one text.
func evidenceOf(a *alerts.Alert) string {
	var b strings.Builder
	b.WriteString(a.Cause.String() + "\n")
	for _, e := range a.Evidence {
		b.WriteString(e.Text.String() + "\n")
	}
	return b.String()
}

// TestZombieIsOneContradiction plays the seed's story: the first list of its directory proves it within two polls, as one critical
// alert that keeps its id and in the end tells all five facts; the healthy sandboxes beside it raise nothing.
func TestZombieIsOneContradiction(t *testing.T) {
	t.Parallel()
	listed, fired, n := -1, -1, 0
	var first *alerts.Alert
	st, board, _ := watchDemo(t, "zombie", 6*time.Minute, func(st *fleet.State, board *alerts.Board) {
		n++
		b := named(st, "coder-session")
		if o, ok := b.Observed.Get(); ok && listed < 0 {
			if v, is := o.Of(backend.PlaneList); is && v.Outcome == backend.OutcomeFailed {
				listed = n
			}
		}
		for _, a := range told(board) {
			if a.Rule != "contradiction" || first != nil && (a.ID != first.ID || !a.Active.Equal(first.Active)) {
				t.Fatalf("poll %d: %s: %s", n, a.Rule, a.Cause)
			}
			if a.State == alerts.StateFiring && fired < 0 {
				fired, first = n, a
			}
		}
	})
	if listed < 0 || fired < 0 || fired > listed+2 {
		t.Fatalf("the directory was listed in poll %d, the alert fired in poll %d", listed, fired)
	}
	all := told(board)
	if len(all) != 1 || all[0].Severity != alerts.SeverityCritical || all[0].State != alerts.StateFiring {
		t.Fatalf("%d alerts: %+v", len(all), all)
	}
	facts := evidenceOf(all[0])
	for what, words := range map[string]string{"idle": `\) as idle`, "404": `answered 404 .*cow-merged`, "500": "answered 500", "queued": "2 executions are queued, 2 of them nudges",
		"running job": "job job_[0-9a-f]+ is running", "no job since": "no job began since", "no resume since": "no event of a resume since"} {
		if !regexp.MustCompile(words).MatchString(facts) {
			t.Errorf("it does not tell %s:\n%s", what, facts)
		}
	}
	subjects := all[0].Subjects
	if !slices.ContainsFunc(subjects, func(s alerts.Subject) bool { return s.Key == named(st, "coder-session").Key }) || len(subjects) != 1 {
		t.Errorf("it is about %v", subjects)
	}
}

// TestAgentuityStoriesAreToldApart: a queue that is stuck alone stays pending, one signal on many sandboxes of a region is one
// alert about the region, a resume that was too early is none, and a fleet beside them raises nothing.
func TestAgentuityStoriesAreToldApart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scenario string
		causes   []string // of what is told at the end, by regular expression, in this order
		fires    bool
		about    []string // sandboxes, where each alert is about one
	}{
		{"stuck-queue", []string{"reported idle, but its commands stay queued", "reported idle, but job job_.* is pending"}, false, []string{"etl-nightly", "packager"}},
		{"region-incident", []string{"^region use: .*stay queued"}, true, nil},
		{"resume-race", nil, false, nil},
		{"no-checkpoint", []string{"no checkpoint to resume from"}, true, []string{"old-session"}},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			fired := false
			st, board, _ := watchDemo(t, c.scenario, 5*time.Minute, func(_ *fleet.State, b *alerts.Board) {
				for _, a := range told(b) {
					fired = fired || a.State == alerts.StateFiring
				}
			})
			all := told(board)
			slices.SortFunc(all, func(a, b *alerts.Alert) int { return strings.Compare(a.Cause.String(), b.Cause.String()) })
			var causes []string
			for _, a := range all {
				causes = append(causes, string(a.State)+" "+a.Cause.String())
			}
			if len(all) != len(c.causes) || fired != c.fires {
				t.Fatalf("fired %t: %q", fired, causes)
			}
			for i, a := range all {
				if !regexp.MustCompile(c.causes[i]).MatchString(a.Cause.String()) || (a.State == alerts.StateFiring) != c.fires {
					t.Errorf("%s: %s", a.State, a.Cause)
				}
				if c.about != nil && (len(a.Subjects) != 1 || a.Subjects[0].Key != named(st, c.about[i]).Key) {
					t.Errorf("%s is about %v, not %s", a.Cause, a.Subjects, c.about[i])
				}
				if c.about == nil && a.SubjectCount < 6 {
					t.Errorf("%s is about %d sandboxes", a.Cause, a.SubjectCount)
				}
			}
		})
	}
}

// TestWhyOfEachPartNamesTheContradiction asks about the session, the sandbox, the job and an execution of the zombie: each answer,
// as text and in JSON, names the same alert and the full ids of all of them.
func TestWhyOfEachPartNamesTheContradiction(t *testing.T) {
	t.Parallel()
	w := newCommandLines(t, demo.Options{Workspaces: 10, Seed: 1, Scenario: "zombie"}, func(config string) string { return config })
	check := w.run(2, `reported idle, but its mount is gone`, "check")
	alert := regexp.MustCompile(`critical contradiction on agentuity, .*alert ([0-9a-f]{10})`).FindStringSubmatch(check)
	if alert == nil {
		t.Fatalf("no alert in\n%s", check)
	}
	box := regexp.MustCompile(`lists coder-session \((sbx_[0-9a-f]{60})\)`).FindStringSubmatch(check)[1]
	session := regexp.MustCompile(`session (codesess_[0-9a-f]{12}) as error`).FindStringSubmatch(check)[1]
	executions, jobs := w.subjects("executions", "coder-session queued"), w.subjects("jobs", "coder-session running")
	for _, ids := range [][]string{executions, jobs} {
		for i, id := range ids {
			ids[i] = id[strings.IndexByte(id, '/')+1:]
		}
	}
	if len(executions) != 2 || len(jobs) != 1 {
		t.Fatalf("executions %q, jobs %q", executions, jobs)
	}
	all := slices.Concat([]string{alert[1], box, session}, executions, jobs)
	for _, id := range slices.Concat([]string{session, box, "coder-session"}, executions, jobs) {
		for _, format := range []string{"text", "json"} {
			told := strings.Join(strings.Fields(w.run(0, "", "why", id, "-o", format)), "")
			for _, want := range all {
				if !strings.Contains(told, want) {
					t.Errorf("why %s -o %s does not name %s", id, format, want)
				}
			}
		}
	}
}
