package subjects

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/alerts"
	"sandglass/alerts/rules"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
)

// Every rule says what its alerts mean for the users' work.
func TestEveryRuleNamesItsImpact(t *testing.T) {
	known := map[string]string{}
	for _, x := range impacts {
		known[x[0]] = x[1]
	}
	for _, r := range rules.Defaults() {
		name := r.Meta().Name
		if _, is := known[name]; !is {
			t.Errorf("%s has no impact", name)
		}
		delete(known, name)
	}
	for name := range known {
		t.Errorf("%s is no rule", name)
	}
}

// Full capacity does not say that running sandboxes go on where some were evicted, nor where nobody can know it.
func TestCapacityKnowsOfEvictions(t *testing.T) {
	full := &alerts.Alert{Rule: "capacity", Source: "a", State: alerts.StateFiring}
	subject := alerts.Subject{Key: backend.Key{Kind: backend.KindWorkspace, Source: "a"}}
	storm := func(source string) *alerts.Alert {
		return &alerts.Alert{Rule: "eviction-storm", Source: source, State: alerts.StateFiring, SubjectCount: 36, Subjects: []alerts.Subject{subject}}
	}
	for source, want := range map[string]string{"a": "; 36 workspaces lost their sandbox; whether files are lost is not known", "b": "; no eviction is seen"} {
		c := views.NewSnapshot(noon, &fleet.State{}, &alerts.Board{Alerts: []*alerts.Alert{full, storm(source)}})
		if got := impact(full, c); !strings.HasSuffix(got, want) {
			t.Errorf("storm on %s: %q", source, got)
		}
	}
}

// Two counts of one outage say how many workspaces are in both, where all of them are listed.
func TestCapacitySaysWhatIsInBothCounts(t *testing.T) {
	subjects := func(ids ...string) (list []alerts.Subject) {
		for _, id := range ids {
			list = append(list, alerts.Subject{Key: backend.Key{Kind: backend.KindWorkspace, Source: "a", Parent: backend.MustID(id), ID: backend.MustID("box")}})
		}
		return list
	}
	full := &alerts.Alert{Rule: "capacity", Source: "a", State: alerts.StateFiring, SubjectCount: 2, Subjects: subjects("s1", "s2")}
	for _, x := range []struct {
		evicted []alerts.Subject
		count   int
		want    string
	}{
		{subjects("s1", "s3", "s4"), 3, "2 workspaces get no sandbox; 3 workspaces lost theirs: 1 of them and 2 others; whether files are lost is not known"},
		{subjects("s1", "s2", "s3"), 3, "2 workspaces get no sandbox; 3 workspaces lost theirs; all 2 are among them; whether files are lost is not known"},
		{subjects("s1", "s2"), 2, "2 workspaces get no sandbox; 2 workspaces lost theirs; they are the same; whether files are lost is not known"},
		{subjects("s3"), 1, "2 workspaces get no sandbox; 1 workspace lost theirs; none is in both; whether files are lost is not known"},
		{subjects("s1", "s2"), 1200, "2 workspaces get no sandbox; 1,200 workspaces lost theirs; whether files are lost is not known"},
	} {
		storm := &alerts.Alert{Rule: "eviction-storm", Source: "a", State: alerts.StateFiring, SubjectCount: x.count, Subjects: x.evicted}
		if got := impact(full, views.NewSnapshot(noon, &fleet.State{}, &alerts.Board{Alerts: []*alerts.Alert{full, storm}})); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}

// A source is no workspace: an alert that names only the source knows no count of what is affected.
func TestImpactOfAnAlertAboutASource(t *testing.T) {
	a := &alerts.Alert{Rule: "eviction-storm", Source: "us", State: alerts.StateFiring, SubjectCount: 1,
		Subjects: []alerts.Subject{{Key: backend.Key{Kind: backend.KindSource, Source: "us", ID: backend.MustID("us")}}}}
	c := views.NewSnapshot(noon, &fleet.State{}, &alerts.Board{Alerts: []*alerts.Alert{a}})
	if got, want := impact(a, c), "workspaces of us lost their sandbox; their commands wait or fail; how many is not known; whether files are lost is not known"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A cause is shown as no younger than the alerts that it explains.
func TestACauseIsNotYoungerThanItsEffects(t *testing.T) {
	cause := &alerts.Alert{ID: "c", State: alerts.StateFiring, Inhibits: 1, Bounds: alerts.Bounds{Earliest: noon.Add(-40 * time.Second), Latest: noon.Add(-19 * time.Second)}}
	effect := &alerts.Alert{ID: "e", State: alerts.StateFiring, InhibitedBy: "c", Bounds: alerts.Bounds{Latest: noon.Add(-time.Minute)}}
	c := views.NewSnapshot(noon, &fleet.State{}, &alerts.Board{Alerts: []*alerts.Alert{cause, effect}})
	if got := Onset(first(cause, c), noon); got != "≥ 1m" {
		t.Errorf("cause: %q", got)
	}
	if got := Onset(first(effect, c), noon); got != Onset(effect, noon) {
		t.Errorf("effect: %q", got)
	}
}

// What only a running container can do is not offered for one that exited.
func TestVerbsThatNeedARunningContainer(t *testing.T) {
	key := backend.Key{Kind: backend.KindSandbox, Source: "a", ID: backend.MustID("c1")}
	for class, want := range map[backend.SandboxClass]string{backend.SandboxExited: "it does not run", backend.SandboxRunning: ""} {
		st := &fleet.State{Sandboxes: fleet.NewTable(&backend.Sandbox{Meta: backend.Meta{Key: key}, Class: class, IsSandbox: true})}
		c := views.NewSnapshot(noon, st, nil)
		if got := Unfit(actions.Pause, []backend.Key{key}, c).String(); got != want {
			t.Errorf("pause of one that is %s: %q", class, got)
		}
		if got := Unfit(actions.Destroy, []backend.Key{key}, c); !got.IsEmpty() {
			t.Errorf("destroy of one that is %s: %q", class, got)
		}
	}
}

// What is only looked at is no target of any verb, a scratch directory in use is not cleaned, and only a quarantined one is
// put back or purged.
func TestVerbsOfWhatIsNoTarget(t *testing.T) {
	box := backend.Key{Kind: backend.KindSandbox, Source: "a", ID: backend.MustID("c1")}
	used, free := backend.Key{Kind: backend.KindTmpdir, Source: "s", ID: backend.MustID("1:2:/tmp/a")}, backend.Key{Kind: backend.KindTmpdir, Source: "s", ID: backend.MustID("1:3:/tmp/b")}
	st := &fleet.State{Sandboxes: fleet.NewTable(&backend.Sandbox{Meta: backend.Meta{Key: box}, Class: backend.SandboxRunning}),
		Tmpdirs: fleet.NewTable(&backend.Tmpdir{Meta: backend.Meta{Key: used}, Holders: backend.Known([]backend.Holder{{PID: 7}})}, &backend.Tmpdir{Meta: backend.Meta{Key: free}, Holders: backend.Known([]backend.Holder{})})}
	c := views.NewSnapshot(noon, st, nil)
	for _, x := range []struct {
		verb actions.Verb
		of   backend.Key
		want string
	}{
		{actions.Stop, box, "it is not a sandbox: a label or selector decides"},
		{actions.Destroy, box, "it is not a sandbox: a label or selector decides"},
		{actions.Clean, used, "a process uses it"},
		{actions.Clean, free, ""},
		{actions.Undo, free, "it is not quarantined"},
		{actions.Purge, used, "it is not quarantined"},
	} {
		if got := Unfit(x.verb, []backend.Key{x.of}, c).String(); got != x.want {
			t.Errorf("%s of %s: %q, want %q", x.verb, x.of.Safe(), got, x.want)
		}
	}
}

// A verb that cannot fit is not offered: one that runs is not resumed, and nothing is repaired that was not seen missing.
func TestVerbsThatCannotFit(t *testing.T) {
	runs := func(id string, vs ...backend.Verdict) *backend.Sandbox {
		b := &backend.Sandbox{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSandbox, Source: "a", ID: backend.MustID(id)}}, Class: backend.SandboxRunning, IsSandbox: true}
		return b.WithObserved(vs)
	}
	missing := backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing, At: noon}
	one, other, broken := runs("c1"), runs("c2"), runs("c3", missing)
	c := views.NewSnapshot(noon, &fleet.State{Sandboxes: fleet.NewTable(one, other, broken)}, nil)
	for _, x := range []struct {
		verb actions.Verb
		of   []*backend.Sandbox
		want string
	}{
		{actions.Resume, []*backend.Sandbox{one}, "it runs already"},
		{actions.Resume, []*backend.Sandbox{one, other}, "they run already"},
		{actions.Repair, []*backend.Sandbox{one, other}, "no missing working directory was seen; probe them"},
		{actions.Repair, []*backend.Sandbox{one, broken}, ""},
		{actions.Repair, []*backend.Sandbox{broken}, ""},
		{actions.Probe, []*backend.Sandbox{one}, ""},
	} {
		var ks []backend.Key
		for _, b := range x.of {
			ks = append(ks, b.Key)
		}
		if got := Unfit(x.verb, ks, c).String(); got != x.want {
			t.Errorf("%s: %q, want %q", x.verb, got, x.want)
		}
	}
}

// No process is offered to be ended where none was read: the list of verbs and the page say why.
func TestVerbsOfProcessesNeedAProcessThatWasRead(t *testing.T) {
	key := backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("b1")}
	unread := []backend.Safe{backend.Text(backend.PartProcesses)}
	for want, inside := range map[string][]*backend.Inside{
		"which processes run in it is not known: probe it first": {nil, {At: noon, Answered: true, Unread: unread}},
		"nothing ran in it when it was probed":                   {{At: noon, Answered: true}, {At: noon, Answered: true, Processes: []backend.SandboxProcess{{PID: backend.Text("7"), Class: backend.WorkFailed}}}},
		"":                                                       {{At: noon, Answered: true, Processes: []backend.SandboxProcess{{PID: backend.Text("7"), Class: backend.WorkRunning}}}},
	} {
		for _, x := range inside {
			b := (&backend.Sandbox{Meta: backend.Meta{Key: key}, Provider: backend.Text("blaxel"), IsSandbox: true, Class: backend.SandboxRunning, Reported: backend.Text("DEPLOYED")}).
				WithObserved([]backend.Verdict{{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK, At: noon, Inside: x}})
			c := views.NewSnapshot(noon, &fleet.State{Sandboxes: fleet.NewTable(b)}, nil)
			for _, v := range []actions.Verb{actions.StopProcess, actions.KillProcess} {
				if got := Unfit(v, []backend.Key{key}, c).String(); got != want {
					t.Errorf("%s of one with %+v: %q, want %q", v, x, got, want)
				}
			}
			if got := Unfit(actions.Probe, []backend.Key{key}, c); !got.IsEmpty() {
				t.Errorf("its probe: %q", got)
			}
		}
	}
}

// The impact of a contradiction claims no more than what was observed, and names who reports it well.
func TestImpactOfAContradiction(t *testing.T) {
	for _, x := range []struct {
		verdict backend.Verdict
		dir     string
		want    string
	}{
		{backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, Kind: backend.FailWorkDirMissing}, "/workspace", `the files of /workspace are missing, and a repair brings none back; commands there fail; a still says "running"`},
		{backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed}, "", `commands in it fail; a still says "running"`},
		{backend.Verdict{Plane: backend.PlaneRead, Outcome: backend.OutcomeFailed}, "", `files of 1 sandbox cannot be read; a still says "running"`},
		{backend.Verdict{Plane: backend.PlaneExec, Outcome: backend.OutcomeFailed, At: noon.Add(-time.Hour)}, "", "not known: no command was tried since its restart"},
		{backend.Verdict{Plane: backend.PlaneControl, Outcome: backend.OutcomeOK}, "", "not known: nothing in it was seen to fail"},
		{backend.Verdict{Plane: backend.PlaneList, Outcome: backend.OutcomeFailed, Kind: backend.FailGone}, "", `nothing runs in it: it is gone; a still says "running"`},
	} {
		key := backend.Key{Kind: backend.KindSandbox, Source: "a", ID: backend.MustID("c1")}
		if x.verdict.At.IsZero() {
			x.verdict.At = noon
		}
		b := &backend.Sandbox{Meta: backend.Meta{Key: key}, Class: backend.SandboxRunning, StartedAt: backend.Known(noon.Add(-time.Minute)), Reported: backend.Text("running"), WorkDir: backend.Clean(x.dir, 80)}
		c := views.NewSnapshot(noon, &fleet.State{Sandboxes: fleet.NewTable(b.WithObserved([]backend.Verdict{x.verdict}))}, nil)
		a := &alerts.Alert{Rule: "contradiction", Source: "a", State: alerts.StateFiring, SubjectCount: 1, Subjects: []alerts.Subject{{Key: key}}}
		if got := impact(a, c); got != x.want {
			t.Errorf("%s, want %s", got, x.want)
		}
	}
}

// That nothing runs in what ended is the word of the source that lists it, and is told so.
func TestImpactOfWhatRunsNoMoreNamesWhoSaysSo(t *testing.T) {
	box := backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("c1")}
	work := backend.Key{Kind: backend.KindWorkspace, Source: "eu", Parent: backend.MustID("s1"), ID: backend.MustID("web")}
	st := &fleet.State{Sandboxes: fleet.NewTable(&backend.Sandbox{Meta: backend.Meta{Key: box}, Class: backend.SandboxExited, Reported: backend.Text("exited")}),
		Workspaces: fleet.NewTable(&backend.Workspace{Meta: backend.Meta{Key: work}, Reported: backend.Text("open")})}
	for _, x := range []struct {
		key   backend.Key
		count int
		cause backend.Literal
		want  string
	}{
		{box, 1, "its session is reported running, but its container ended with exit code 3", "nothing runs in it, says docker"},
		{box, 4, "many sandboxes at once are reported well, but their containers ended", "nothing runs in 4 sandboxes, says docker"},
		{work, 1, "eu lists it as open, but its container is gone", `nothing runs in it, says engine-2; eu still says "open"`},
		{box, 1, "its agent takes it for running, but its status is exited", "nothing runs in it, says docker: commands of its session would fail"},
		{backend.Key{Kind: backend.KindRef, Source: "states", ID: backend.MustID("r")}, 1, "its agent takes it for running, but it is not listed by cloud", "nothing runs in it, says its platform: commands of its session would fail"},
	} {
		a := &alerts.Alert{Rule: "contradiction", Source: x.key.Source, State: alerts.StateFiring, SubjectCount: x.count, Subjects: []alerts.Subject{{Key: x.key}}, Cause: backend.Text(x.cause),
			Evidence: []alerts.Evidence{{Text: backend.Text("reported: eu lists it"), Source: "eu"}, {Text: backend.Text("observed: engine-2 lists no container c1"), Source: "engine-2"}, {Text: backend.Text("a change"), Source: "ci"}}}
		if got := impact(a, views.NewSnapshot(noon, st, nil)); got != x.want {
			t.Errorf("%s: %s, want %s", x.cause, got, x.want)
		}
	}
}

// What answers after its end is not told to be at rest.
func TestImpactOfASandboxThatAnswersAfterItsEnd(t *testing.T) {
	key := backend.Key{Kind: backend.KindSandbox, Source: "a", ID: backend.MustID("c1")}
	b := &backend.Sandbox{Meta: backend.Meta{Key: key}, Class: backend.SandboxExited, Reported: backend.Text("TERMINATED")}
	c := views.NewSnapshot(noon, &fleet.State{Sandboxes: fleet.NewTable(b)}, nil)
	a := &alerts.Alert{Rule: "contradiction", Source: "a", State: alerts.StateFiring, SubjectCount: 1, Subjects: []alerts.Subject{{Key: key}},
		Cause: backend.Text("reported TERMINATED, but / of it was listed since")}
	if got, want := impact(a, c), `it answers: it may run on, and be billed; a still says "TERMINATED"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Below the limit no terminal is closed.
func TestImpactOfManyTerminals(t *testing.T) {
	for detail, want := range map[backend.Literal]string{
		"60 terminals open, when it last opened one": "none yet; at the limit each new terminal closes another silently",
		"64 terminals open, when it last opened one: each further one closes the one that was least used, and no line says so": "terminals of 1 session are closed silently",
	} {
		a := &alerts.Alert{Rule: "pty-pressure", Source: "a", State: alerts.StateFiring, SubjectCount: 1, Evidence: []alerts.Evidence{{Text: backend.Text(detail)}},
			Subjects: []alerts.Subject{{Key: backend.Key{Kind: backend.KindSession, Source: "a", ID: backend.MustID("s1")}}}}
		if got := impact(a, views.NewSnapshot(noon, &fleet.State{}, nil)); got != want {
			t.Errorf("%s: %s", detail, got)
		}
	}
}

// What only an agent's log says is told as its word.
func TestImpactOfAnAgentsLine(t *testing.T) {
	key := backend.Key{Kind: backend.KindSandbox, Source: "a", ID: backend.MustID("c1")}
	for _, b := range []*backend.Sandbox{{Class: backend.SandboxRunning, Reported: backend.Text("running")}, {Class: backend.SandboxUnknown}} {
		b.Key = key
		c := views.NewSnapshot(noon, &fleet.State{Sandboxes: fleet.NewTable(b)}, nil)
		a := &alerts.Alert{Rule: "contradiction", Source: "a", State: alerts.StatePending, SubjectCount: 1, Subjects: []alerts.Subject{{Key: key}},
			Cause: backend.Text("reported running, but no command begins in it, its agent's log says")}
		if got := impact(a, c); !strings.HasSuffix(got, "no command begins in it, as far as its agent's log tells") {
			t.Errorf("%s: %s", b.Class, got)
		}
		a.SubjectCount, a.Cause = 300, backend.Text("many sandboxes at once are not reported, but no command begins in them, their agents' logs say")
		if got := impact(a, c); !strings.HasSuffix(got, "no command begins in 300 sandboxes, as far as their agents' logs tell") {
			t.Errorf("of many: %s", got)
		}
	}
}

// A contradiction whose source does not answer keeps the impact of what was proved: its sandbox is not known to be down.
func TestImpactOfAHeldContradiction(t *testing.T) {
	for cause, want := range map[string]string{
		"reported running, but its working directory is not a directory": "commands in the working directory of 1 sandbox fail",
		"reported running, but its main process is frozen":               "the main process of 1 sandbox does nothing; commands there may hang",
		"reported running, but exec fails: commands do not run":          "commands in 1 sandbox fail",
		"reported running, but a command in it did not end":              "commands in 1 sandbox do not end or do not begin",
		"its session is reported running, but its container is gone":     "nothing runs in it, says a",
		"reported running, but something else fails":                     "commands in 1 sandbox may fail",
	} {
		key := backend.Key{Kind: backend.KindSandbox, Source: "a", ID: backend.MustID("c1")}
		a := &alerts.Alert{Rule: "contradiction", Source: "a", State: alerts.StateHeld, SubjectCount: 1, Subjects: []alerts.Subject{{Key: key}}, Cause: backend.Clean(cause, 200)}
		for _, b := range []*backend.Sandbox{nil, {Meta: backend.Meta{Key: key}, Class: backend.SandboxUnknown}} {
			table := fleet.NewTable[backend.Sandbox]()
			if b != nil {
				table = fleet.NewTable(b)
			}
			if got := impact(a, views.NewSnapshot(noon, &fleet.State{Sandboxes: table}, nil)); got != want {
				t.Errorf("%s: %s, want %s", cause, got, want)
			}
		}
	}
}

// What is over harms nobody now: its impact is not told in the present tense.
func TestAnAlertThatIsOverHasNoImpactNow(t *testing.T) {
	for _, state := range []alerts.AlertState{alerts.StateEnded, alerts.StateResolved} {
		for _, x := range impacts {
			name := x[0]
			if got := impact(&alerts.Alert{Rule: name, State: state, SubjectCount: 4}, nil); !strings.HasPrefix(got, "none seen now") {
				t.Errorf("%s %s: %s", name, state, got)
			}
		}
	}
}

// TestASandboxThatSleepsCostsNothingByItself: what leaked and sleeps does not run on.
func TestASandboxThatSleepsCostsNothingByItself(t *testing.T) {
	for class, want := range map[backend.SandboxClass]string{backend.SandboxAsleep: "what sleeps is kept", backend.SandboxDead: "what failed does not run", backend.SandboxRunning: "sandboxes run on and cost money"} {
		key := backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID("b")}
		b := &backend.Sandbox{Meta: backend.Meta{Key: key, ReadAt: noon}, IsSandbox: true, Class: class}
		st := fleet.NewFolder(time.Minute).Fold([]backend.Answer{{Source: "bl", Config: &backend.SourceConfig{Kind: "blaxel", Interval: time.Minute}},
			{Source: "bl", Reading: &backend.Reading{Source: "bl", Kind: "blaxel", At: noon, Sandboxes: []*backend.Sandbox{b}, Scopes: []backend.Scope{{Kind: backend.KindSandbox, Complete: true}}}}}, backend.Instant{Wall: noon})
		a := &alerts.Alert{Rule: "wont-terminate", State: alerts.StateFiring, Source: "bl", Subjects: []alerts.Subject{{Key: key}}, SubjectCount: 1}
		if got := Impact(a, views.NewSnapshot(noon, st, nil)); !strings.Contains(got, want) {
			t.Errorf("%s: %s", class, got)
		}
	}
}

// TestSandboxesInSeveralStatesCostByTheirOwn: what sleeps does not run on because others do, and of what is not listed nothing is said.
func TestSandboxesInSeveralStatesCostByTheirOwn(t *testing.T) {
	const run, sleep, dead, other = backend.SandboxRunning, backend.SandboxAsleep, backend.SandboxDead, backend.SandboxUnknown
	for want, x := range map[string]struct {
		classes []backend.SandboxClass
		count   int
	}{
		"no user notices it; sandboxes run on and cost money":                                                                                                            {[]backend.SandboxClass{run, run}, 2},
		"no user notices it; 2 sandboxes run on and cost money; 1 sleeps: it is kept, and each request wakes it and costs money":                                         {[]backend.SandboxClass{run, sleep, run}, 3},
		"no user notices it; 1 sandbox runs on and costs money; 2 sleep: they are kept, and each request wakes one and costs money; 8 are of no state that is told here": {[]backend.SandboxClass{sleep, run, sleep, other}, 11},
		"no user notices it; 1 sandbox runs on and costs money; 2 failed and do not run":                                                                                 {[]backend.SandboxClass{dead, run, dead}, 3},
		"no user notices it; what sleeps is kept, and each request wakes it and costs money":                                                                             {[]backend.SandboxClass{sleep, sleep}, 2},
		"no user notices it; 2 sleep: they are kept, and each request wakes one and costs money; 1 is of no state that is told here":                                     {[]backend.SandboxClass{sleep, sleep}, 3},
	} {
		a := &alerts.Alert{Rule: "wont-terminate", State: alerts.StateFiring, Source: "bl", SubjectCount: x.count}
		r := &backend.Reading{Source: "bl", Kind: "blaxel", At: noon, Scopes: []backend.Scope{{Kind: backend.KindSandbox, Complete: true}}}
		for i, class := range x.classes {
			key := backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID(fmt.Sprint("b", i))}
			r.Sandboxes = append(r.Sandboxes, &backend.Sandbox{Meta: backend.Meta{Key: key, ReadAt: noon}, IsSandbox: true, Class: class})
			a.Subjects = append(a.Subjects, alerts.Subject{Key: key})
		}
		st := fleet.NewFolder(time.Minute).Fold([]backend.Answer{{Source: "bl", Config: &backend.SourceConfig{Kind: "blaxel", Interval: time.Minute}}, {Source: "bl", Reading: r}}, backend.Instant{Wall: noon})
		if got := Impact(a, views.NewSnapshot(noon, st, nil)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestASandboxThatWasUsedSinceIsNoticed: where its platform saw one in use after its session's end, that is said.
func TestASandboxThatWasUsedSinceIsNoticed(t *testing.T) {
	end := noon.Add(-time.Hour)
	for want, used := range map[string][]time.Time{
		"no user notices it; sandboxes run on and cost money":                                                {{}, end},
		"used after its session's end: something may work in it; sandboxes run on and cost money":            {noon},
		"1 of 2 used after their session's end: something may work in them; sandboxes run on and cost money": {noon, end},
	} {
		a, r := &alerts.Alert{Rule: "wont-terminate", State: alerts.StateFiring, Source: "bl", SubjectCount: len(used)}, &backend.Reading{Source: "bl", Kind: "blaxel", At: noon, Scopes: []backend.Scope{{Kind: backend.KindSandbox, Complete: true}}}
		for i, at := range used {
			key := backend.Key{Kind: backend.KindSandbox, Source: "bl", ID: backend.MustID(fmt.Sprint("b", i))}
			r.Sandboxes = append(r.Sandboxes, &backend.Sandbox{Meta: backend.Meta{Key: key, ReadAt: noon}, IsSandbox: true, Class: backend.SandboxRunning, CloudFacts: backend.CloudFacts{LastUsedAt: at}})
			a.Subjects = append(a.Subjects, alerts.Subject{Key: key, Bounds: alerts.Bounds{Latest: end}})
		}
		st := fleet.NewFolder(time.Minute).Fold([]backend.Answer{{Source: "bl", Config: &backend.SourceConfig{Kind: "blaxel", Interval: time.Minute}}, {Source: "bl", Reading: r}}, backend.Instant{Wall: noon})
		if got := Impact(a, views.NewSnapshot(noon, st, nil)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// What an alert about a sandbox that was made anew says of files goes by the snapshots of its sessions.
func TestImpactOfAnotherSandbox(t *testing.T) {
	ref := func(id, snapshot string) *backend.Ref {
		r := &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: "st", Parent: backend.MustID(id), ID: backend.MustID("coder")}}}
		if snapshot != "" {
			r.Agent = &backend.AgentState{Snapshot: backend.Clean(snapshot, 20)}
		}
		return r
	}
	for _, x := range []struct {
		refs []*backend.Ref
		want string
	}{
		{[]*backend.Ref{ref("a", "noop")}, "1 reference leads to a new sandbox: files of the one before are lost, except in mounts"},
		{[]*backend.Ref{ref("a", "remote")}, "1 reference leads to a new sandbox: files of the one before are lost, except in mounts and in the last snapshot"},
		{[]*backend.Ref{ref("a", "remote"), ref("b", "noop")}, "2 references lead to a new sandbox: files of the one before are lost, except in mounts and in the last snapshot where one was taken"},
		{[]*backend.Ref{ref("a", "")}, "1 reference leads to a new sandbox: files of the one before are not in it, except in mounts"},
	} {
		a := &alerts.Alert{Rule: "ref-mismatch", Source: "hx", State: alerts.StateFiring, SubjectCount: len(x.refs),
			Cause: backend.Text("the sandbox of a running session was made after its stored reference was written: it is another sandbox")}
		for _, r := range x.refs {
			a.Subjects = append(a.Subjects, alerts.Subject{Key: r.Key, State: alerts.StateFiring})
		}
		if got := impact(a, views.NewSnapshot(noon, &fleet.State{Refs: fleet.NewTable(x.refs...)}, &alerts.Board{Alerts: []*alerts.Alert{a}})); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
	}
}
