package audit

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sandglass/backend"
)

func target(i int) backend.Key { return entry(i).Subjects[0] }

// plan are the records of a plan with three targets, up to the intent for the second one.
func plan(digest string) []Entry {
	of := func(phase Phase, result Result, targets ...int) Entry {
		e := entry(0)
		e.Phase, e.Result, e.Digest, e.Subjects = phase, result, digest, nil
		for _, i := range targets {
			e.Subjects = append(e.Subjects, target(i))
		}
		return e
	}
	return []Entry{of(PhaseIntent, ResultNone, 1, 2, 3), of(PhaseTargetIntent, ResultNone, 1), of(PhaseOutcome, ResultAccepted, 1),
		of(PhaseTargetIntent, ResultNone, 2)}
}

// beginPlan is a process that is killed between an intent and its outcome.
func beginPlan(dir string) error {
	j, err := New(Options{Dir: dir, Origin: origin()})
	if err != nil {
		return err
	}
	for _, e := range plan("p-killed") {
		if _, err := j.Append(context.Background(), e, Synced); err != nil {
			return err
		}
	}
	fmt.Println("begun")
	select {} // until it is killed
}

func openPlans(t *testing.T, j *Journal) []OpenPlan {
	t.Helper()
	plans, err := j.OpenIntents(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return plans
}

func TestAKilledProcessLeavesAnOpenIntent(t *testing.T) {
	j := newJournal(t)
	dir := filepath.Dir(j.Path())
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir, childCount+"=plan")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "begun\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}

	running := openPlans(t, j)
	if len(running) != 1 || !running[0].Running || running[0].Text().String() != "reset: 1 of 3 done so far; it is being carried out now" {
		t.Fatalf("while it runs: %+v", running)
	}
	if err := j.Settle(t.Context(), running[0], t0, entry(0).Who); err == nil || !strings.Contains(err.Error(), "being carried out now") {
		t.Errorf("a running plan was settled: %v", err)
	}

	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	left := openPlans(t, j)
	if len(left) != 1 {
		t.Fatalf("after the kill: %+v", left)
	}
	o := left[0]
	if o.Running || o.Done != 1 || o.Of != 3 || !slices.Equal(o.Begun, []backend.Key{target(2)}) || !slices.Equal(o.Left, []backend.Key{target(3)}) {
		t.Errorf("after the kill: %+v", o)
	}
	if got := o.Text().String(); got != "reset: 1 of 3 done; the result of s-2/notes is unknown" {
		t.Errorf("it says %q", got)
	}

	if err := j.Settle(t.Context(), o, t0, entry(0).Who); err != nil {
		t.Fatal(err)
	}
	if again := openPlans(t, j); len(again) != 0 {
		t.Errorf("after it was settled: %+v", again)
	}
	if r := verify(t, content(t, j)); !r.Intact() || r.Records != 6 {
		t.Errorf("%d records, %s", r.Records, found(&r))
	}
	if locks, err := filepath.Glob(filepath.Join(dir, "audit-run-*")); err != nil || len(locks) != 0 {
		t.Errorf("left behind: %v, %v", locks, err)
	}
}

func TestWhichPlansAreOpen(t *testing.T) {
	j := newJournal(t)
	ended := func(digest string, phase Phase, result Result) []Entry {
		all := plan(digest)
		end := all[0]
		end.Phase, end.Result, end.Subjects, end.Targets, end.Done = phase, result, nil, 3, 1
		return append(all, end)
	}
	add(t, j, ended("p-done", PhaseDone, ResultVerified)...)
	add(t, j, ended("p-stopped", PhaseStopped, ResultNone)...)
	cut := plan("p-cut")[:1] // of 40 targets only three are named
	cut[0].Targets = 40
	add(t, j, cut...)
	whole := plan("p-whole")
	rest := whole[2]
	rest.Subjects = []backend.Key{target(2), target(3)}
	add(t, j, append(whole, rest)...) // every target has its outcome
	refused := plan("p-refused")[:1]
	no := refused[0]
	no.Phase = PhaseRefused
	add(t, j, append(refused, no)...)
	bare := plan("")[:1] // what is done without a plan has no digest
	bare[0].Verb = "purge"
	add(t, j, bare...)

	plans := openPlans(t, j)
	if len(plans) != 2 || plans[0].Intent.Digest != "p-cut" || plans[0].Of != 40 || plans[1].Intent.Verb != "purge" {
		t.Fatalf("open: %+v", plans)
	}
	if !plans[0].Running { // by this process
		t.Error("the plan of a living process counts as broken off")
	}
	if got := plans[1].Text().String(); got != "purge: 0 of 3 done; it was broken off" {
		t.Errorf("it says %q", got)
	}
	if err := j.Settle(t.Context(), plans[1], t0, entry(0).Who); err != nil {
		t.Fatal(err)
	}
	if plans := openPlans(t, j); len(plans) != 1 {
		t.Errorf("after it was settled: %+v", plans)
	}
}

func TestStopsThatNobodySawAreToldOnce(t *testing.T) {
	j := newJournal(t)
	stopped := func(digest string, unseen bool) {
		all := plan(digest)
		end := all[0]
		end.Phase, end.Subjects, end.Targets, end.Done, end.Unseen, end.Detail = PhaseStopped, nil, 3, 1, unseen, backend.Text("1 of 3 done: 1 verified; stopped: the console ended")
		add(t, j, append(all, end)...)
	}
	stopped("p-seen", false)
	stopped("p-unseen", true)
	stopped("p-later", true)
	unseen := func() []OpenPlan {
		got, err := j.UnseenStops(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	got := unseen()
	if len(got) != 2 || got[0].Intent.Digest != "p-unseen" || got[1].Intent.Digest != "p-later" || len(openPlans(t, j)) != 0 {
		t.Fatalf("%+v", got)
	}
	if text := got[0].Text().String(); text != "reset: 1 of 3 done: 1 verified; stopped: the console ended" {
		t.Errorf("it says %q", text)
	}
	if err := j.Settle(t.Context(), got[0], t0, entry(0).Who); err != nil {
		t.Fatal(err)
	}
	if got := unseen(); len(got) != 1 || got[0].Intent.Digest != "p-later" {
		t.Errorf("after the first was told: %+v", got)
	}
	e := entry(0)
	e.Unseen = true
	if _, err := j.Append(t.Context(), e, Written); err == nil {
		t.Error("an intent is unseen")
	}
}
