package logs

import (
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestACommandThatCouldNotBegin: whom such a line is about, with the command, which may have several lines, and its secrets masked.
func TestACommandThatCouldNotBegin(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		lines                     []string
		session, sandbox, command string
	}{
		"text":       {[]string{`2026-01-01T12:00:00Z ERROR Failed to execute command 'ls -la' in session 'sandbox-demo': Unknown Error, TODO`}, "sandbox-demo", "demo", "ls -la"},
		"once":       {[]string{`ERROR Failed to execute command 'pwd' in session 'sandbox-sandbox-x': Unknown Error, TODO`}, "sandbox-sandbox-x", "sandbox-x", "pwd"},
		"no sandbox": {[]string{`ERROR Failed to execute command 'pwd' in session 'default': Unknown Error, TODO`}, "default", "", "pwd"},
		"quotes":     {[]string{`ERROR Failed to execute command 'printf '%s' 'eA==' | base64 -d > '/tmp/x.txt'' in session 'sandbox-demo': Unknown Error, TODO`}, "sandbox-demo", "demo", `printf '%s' 'eA==' | base64 -d > '/tmp/x.txt'`},
		"lines": {[]string{`2026-01-01T12:00:00Z ERROR Failed to execute command 'cat <<EOF`, `password=hunter2hunter2`, `EOF' in session 'sandbox-demo': Unknown Error, TODO`},
			"sandbox-demo", "demo", "cat <<EOF password=‹masked› EOF"},
		"undated lines": {[]string{`Error: Failed to execute command 'a`, `b' in session 'sandbox-demo': Unknown Error, TODO`}, "sandbox-demo", "demo", "a b"},
		"after another": {[]string{`Error: Failed to execute command 'a`, `Error: Failed to execute command 'c' in session 'sandbox-demo': Unknown Error, TODO`}, "sandbox-demo", "demo", "c"},
		"an error below its line": {[]string{`2026-01-01T12:00:00Z ERROR tool failed`, `CommandError: Failed to execute command 'set -e`, `make' in session 'sandbox-demo': Unknown Error, TODO`, `    at run (a.js:1:2)`},
			"sandbox-demo", "demo", "set -e make"},
		"stamped lines": {[]string{`2026-01-01T12:00:00Z stderr F Error: Failed to execute command 'cat <<EOF`, `2026-01-01T12:00:00Z stderr F hello`, `2026-01-01T12:00:00Z stderr F EOF' in session 'sandbox-demo': Unknown Error, TODO`},
			"sandbox-demo", "demo", "cat <<EOF hello EOF"},
		"JSON in a command": {[]string{`2026-01-01T12:00:00Z ERROR Failed to execute command 'cat <<EOF`, `{"message": "x"}`, `EOF' in session 'sandbox-demo': Unknown Error, TODO`},
			"sandbox-demo", "demo", `cat <<EOF {"message": "x"} EOF`},
		"JSON": {[]string{`{"level":"error","msg":"failed","err":{"message":"Failed to execute command 'a\nb' in session 'sandbox-demo': Unknown Error, TODO","code":"COMMAND_EXECUTION_ERROR"}}`},
			"sandbox-demo", "demo", "a b"},
		"no session begins": {[]string{`2026-01-01T12:00:00Z ERROR Failed to create session 'sandbox-demo': ENOENT: no such file or directory, posix_spawn 'bash'`}, "sandbox-demo", "demo", ""},
		"without a session": {[]string{`{"level":"error","msg":"tool failed","sessionId":"sandbox-demo","err":{"message":"Failed to execute command 'npm test' in sessionless execution: ENOENT: no such file or directory, posix_spawn '/bin/bash'"}}`},
			"sandbox-demo", "demo", "npm test"},
		"bare": {[]string{`{"level":"error","message":"Unknown Error, TODO","sessionId":"sandbox-demo","command":"make"}`}, "sandbox-demo", "demo", "make"},
	} {
		_, r := lines(t, nil, x.lines...)
		if len(r.Reports) != 1 || len(r.Events) != 1 {
			t.Errorf("%s: %d reports and %d events", name, len(r.Reports), len(r.Events))
			continue
		}
		got := r.Reports[0]
		if got.Kind != backend.ReportNotStarted || got.Session.Raw() != x.session || got.Sandbox.Raw() != x.sandbox {
			t.Errorf("%s: %s of session %q, sandbox %q", name, got.Kind, got.Session.Raw(), got.Sandbox.Raw())
		}
		if is := strings.Join(strings.Fields(strings.ReplaceAll(got.Command.String(), "␊", " ")), " "); is != x.command {
			t.Errorf("%s: command %q, want %q", name, is, x.command)
		}
	}
	for _, line := range []string{`Unknown Error, TODO`, `{"level":"error","sessionId":"sandbox-demo","msg":"cannot start: ENOENT: no such file or directory, posix_spawn 'node'"}`,
		`{"level":"error","sessionId":"sandbox-demo","msg":"Failed to create session 'sandbox-demo': timeout"}`, `{"level":30,"msg":"tool done","sessionId":"sandbox-demo","output":"Failed to execute command 'pwd' in session 'sandbox-demo': Unknown Error, TODO"}`} {
		if _, r := lines(t, nil, line); len(r.Reports)+len(r.Events) > 0 {
			t.Errorf("reported: %s", line)
		}
	}
}

// withoutGood are reports without those of commands that ran.
func withoutGood(all []backend.Report) []backend.Report {
	return slices.DeleteFunc(slices.Clone(all), func(r backend.Report) bool { return r.Kind == backend.ReportCommandGood })
}

// TestTheNewestCommandOfEachSessionIsTold, once, where it ran in the working directory: a probe that finds a fault later tells no other
// time at which the sandbox worked.
func TestTheNewestCommandOfEachSessionIsTold(t *testing.T) {
	t.Parallel()
	ran := func(session, rest string) string {
		return `{"level":"info","msg":"exec","sessionId":"` + session + `","command":"ls","exitCode":0` + rest + `}`
	}
	a, r := allOf(t, nil, ran("sandbox-demo", ""), ran("sandbox-demo", ""), ran("sandbox-other", ""), ran("sandbox-tmp", `,"cwd":"/tmp"`), ran("agent-1", ""))
	var of []string
	for _, x := range r.Reports {
		of = append(of, string(x.Kind)+" "+x.Session.Raw()+" "+x.Sandbox.Raw())
	}
	slices.Sort(of)
	if want := []string{"command-good sandbox-demo demo", "command-good sandbox-other other"}; !slices.Equal(of, want) {
		t.Errorf("%q, want %q", of, want)
	}
	a.begin(0, time.Second)
	var again backend.Reading
	if a.finish(&again, t0); len(again.Reports) > 0 {
		t.Errorf("told again: %+v", again.Reports)
	}
}

// TestTheOnsetOfCommandsThatCannotBegin: it lies after the newest command that ran in the same session; what removed the working
// directory in between is told, and a command of another session tells nothing.
func TestTheOnsetOfCommandsThatCannotBegin(t *testing.T) {
	t.Parallel()
	good := func(at, session, command string) string {
		return `{"time":"` + at + `","level":"info","msg":"exec","sessionId":"` + session + `","command":"` + command + `","exitCode":0}`
	}
	bad := func(at string) string {
		return `{"time":"` + at + `","level":"error","msg":"Failed to execute command 'ls' in session 'sandbox-demo': Unknown Error, TODO"}`
	}
	_, r := lines(t, nil, good("2026-01-01T12:00:00Z", "sandbox-demo", "ls"), good("2026-01-01T12:00:10Z", "sandbox-demo", "rm -rf /workspace"),
		good("2026-01-01T12:00:20Z", "sandbox-other", "ls"), bad("2026-01-01T12:00:30Z"), good("2026-01-01T12:00:40Z", "sandbox-other", "ls"), good("2026-01-01T12:00:50Z", "sandbox-demo", "pwd"))
	if len(r.Reports) != 2 || r.Reports[0].Kind != backend.ReportNotStarted || r.Reports[1].Kind != backend.ReportCommandRan {
		t.Fatalf("%+v", r.Reports)
	}
	onset, ran := r.Reports[0], r.Reports[1]
	if d := onset.At.Sub(onset.GoodAt); onset.GoodAt.IsZero() || d < 0 || d > 20*time.Second {
		t.Errorf("the newest good command is of %v, the failure of %v", onset.GoodAt, onset.At)
	}
	if onset.Changed.String() != "rm -rf /workspace" || onset.ChangedAt.IsZero() {
		t.Errorf("changed by %q at %v", onset.Changed, onset.ChangedAt)
	}
	if ran.Command.String() != "pwd" || ran.Sandbox.Raw() != "demo" {
		t.Errorf("ran: %+v", ran)
	}
}

// TestAChangeThatFailedOrIsOnlySaidIsNone: a removal whose line has another exit code than 0, at once or on a later line, and a command
// that only speaks of one, are not what changed the working directory.
func TestAChangeThatFailedOrIsOnlySaidIsNone(t *testing.T) {
	t.Parallel()
	line := func(at, command, rest string) string {
		return `{"time":"2026-01-01T12:00:` + at + `Z","level":"info","msg":"exec","sessionId":"sandbox-demo","command":"` + command + `"` + rest + `}`
	}
	const bad = `{"time":"2026-01-01T12:00:30Z","level":"error","msg":"Failed to execute command 'ls' in session 'sandbox-demo': Unknown Error, TODO"}`
	for name, x := range map[string]struct {
		lines []string
		want  bool
	}{
		"it failed":                   {[]string{line("10", "rm -rf /workspace", `,"exitCode":1`)}, false},
		"a later part failed":         {[]string{line("10", "rm -rf /workspace && git clone x", `,"exitCode":128`)}, true},
		"which part failed is untold": {[]string{line("10", "rm -rf /workspace && git clone x", `,"exitCode":1`)}, false},
		"it failed later":             {[]string{line("10", "rm -rf /workspace", ``), line("11", "rm -rf /workspace", `,"exitCode":126`)}, false},
		"quoted":                      {[]string{line("10", `echo \"rm -rf /workspace\"`, `,"exitCode":0`)}, false},
		"a commit":                    {[]string{line("10", `git commit -m 'rm -rf /workspace'`, `,"exitCode":0`)}, false},
		"it did not fail":             {[]string{line("10", "cd / && rm -rf workspace", `,"exitCode":0`)}, true},
		"its end is untold":           {[]string{line("10", "rm -rf /workspace", ``)}, true},
		"the second line":             {[]string{line("10", `ls\nrm -rf /workspace`, `,"exitCode":0`)}, true},
	} {
		_, r := lines(t, nil, append(x.lines, bad)...)
		if len(r.Reports) != 1 || r.Reports[0].Changed.IsEmpty() == x.want {
			t.Errorf("%s: %+v", name, r.Reports)
		}
	}
}

// TestACommandThatRanElsewhereEndsNothing: one with another working directory neither ends the failure nor bounds its onset; one
// below the working directory does both.
func TestACommandThatRanElsewhereEndsNothing(t *testing.T) {
	t.Parallel()
	line := func(at, rest string) string {
		return `{"time":"2026-01-01T12:00:` + at + `Z","level":"info","msg":"exec","sessionId":"sandbox-demo","command":"ls","exitCode":0` + rest + `}`
	}
	const bad = `{"time":"2026-01-01T12:00:30Z","level":"error","msg":"Failed to execute command 'ls' in session 'sandbox-demo': Unknown Error, TODO"}`
	for rest, ends := range map[string]bool{`,"cwd":"/tmp"`: false, `,"options":{"cwd": "/"}`: false, `,"cwd":"/workspace2"`: false, `,"cwd":"/workspace/app"`: true, `,"cwd":"/workspace"`: true, ``: true,
		`,"note":"{\"cwd\":\"/tmp\"}"`: true} {
		_, r := lines(t, nil, line("10", rest), bad, line("50", rest))
		if ran := len(r.Reports) == 2 && r.Reports[1].Kind == backend.ReportCommandRan; ran != ends || r.Reports[0].GoodAt.IsZero() == ends {
			t.Errorf("%s: ends it: %v, the newest good command at %v", rest, ran, r.Reports[0].GoodAt)
		}
	}
	text := `2026-01-01T12:00:10Z INFO exec session=sandbox-demo command=ls cwd=/tmp exitCode=0`
	if _, r := lines(t, nil, text, bad); len(r.Reports) != 1 || !r.Reports[0].GoodAt.IsZero() {
		t.Errorf("a line of text: %+v", r.Reports)
	}
}

// TestProtocolsThatDoNotFitAreAChange: the lines of a rollout are one change and no incident, and one again where they come later.
func TestProtocolsThatDoNotFitAreAChange(t *testing.T) {
	t.Parallel()
	const bad = `{"level":"error","msg":"tool failed","sessionId":"sandbox-demo","err":{"name":"SandboxError","message":"CONTROL_PROTOCOL_INCOMPATIBLE: another control protocol"}}`
	opts := defaults()
	a := newAnalyst(&opts, testDeps(t, func() time.Time { return t0 }), t0)
	a.begin(0, time.Second)
	var log lineage
	for _, at := range []time.Duration{0, time.Second, 9 * time.Minute, 15 * time.Minute} {
		a.line([]byte(bad), len(bad)+1, time.Time{}, &placement{lo: t0.Add(at), hi: t0.Add(at)}, &log)
	}
	var r backend.Reading
	a.finish(&r, t0.Add(15*time.Minute))
	if len(r.Events) != 2 || len(r.Reports) != 4 || r.Reports[0].Kind != backend.ReportProtocol || r.Reports[0].Sandbox.Raw() != "demo" {
		t.Fatalf("%d events, %+v", len(r.Events), r.Reports)
	}
	const ran = `{"level":"info","msg":"command done","sessionId":"sandbox-demo","command":"ls","exitCode":0}`
	a.begin(0, time.Second)
	a.line([]byte(ran), len(ran)+1, time.Time{}, &placement{lo: t0.Add(16 * time.Minute), hi: t0.Add(16 * time.Minute)}, &log)
	var later backend.Reading
	if a.finish(&later, t0.Add(16*time.Minute)); !slices.ContainsFunc(later.Reports, func(x backend.Report) bool { return x.Kind == backend.ReportCommandRan }) {
		t.Errorf("the command that ran since is not told: %+v", later.Reports)
	}
	e := r.Events[0]
	if e.Kind != backend.EventChange || e.Name != "control-protocol" || !e.MayRestart() || !strings.Contains(e.Text.String(), "a rollout ends that, and without one both need one version") {
		t.Errorf("%s %s: %v", e.Kind, e.Name, e.Text)
	}
	for _, line := range []string{`{"level":"info","msg":"tool done","sessionId":"s","output":"CONTROL_PROTOCOL_INCOMPATIBLE"}`, `{"level":"info","msg":"CONTROL_PROTOCOL_INCOMPATIBLE"}`} {
		if _, r := lines(t, nil, line); len(r.Events) > 0 {
			t.Errorf("told: %s", line)
		}
	}
}

// TestALaterProcessKnowsWhichSessionsFail: a command that ran is told although its look back does not reach the line that failed; one from
// before that line is no end of it.
func TestALaterProcessKnowsWhichSessionsFail(t *testing.T) {
	t.Parallel()
	const ran = `{"level":"info","msg":"command done","sessionId":"sandbox-demo","command":"ls","exitCode":0}`
	first, _ := lines(t, nil, `Failed to execute command 'pwd' in session 'sandbox-demo': Unknown Error, TODO`)
	marks := first.commands.bookmarks(t0.Add(20 * time.Minute))
	if len(marks) != 1 || len(first.commands.bookmarks(t0.Add(2*time.Hour))) > 0 {
		t.Fatalf("bookmarks %v", marks)
	}
	for at, want := range map[time.Duration]int{20 * time.Minute: 1, -time.Minute: 0} {
		opts := defaults()
		a := newAnalyst(&opts, testDeps(t, func() time.Time { return t0 }), t0)
		if others := a.commands.resume(append(marks, backend.Bookmark{File: "1:2"})); len(others) != 1 || others[0].File != "1:2" {
			t.Errorf("the bookmarks of files are %v", others)
		}
		a.begin(0, time.Second)
		var log lineage
		a.line([]byte(ran), len(ran)+1, time.Time{}, &placement{lo: t0.Add(at), hi: t0.Add(at)}, &log)
		var r backend.Reading
		a.finish(&r, t0.Add(20*time.Minute))
		r.Reports = withoutGood(r.Reports)
		if len(r.Reports) != want || want > 0 && r.Reports[0].Kind != backend.ReportCommandRan {
			t.Errorf("a command that ran %s after it: %+v", at, r.Reports)
		}
		if left := len(a.commands.bookmarks(t0.Add(20 * time.Minute))); left != 1-want {
			t.Errorf("%s after it %d sessions fail", at, left)
		}
	}
}

// TestACommandThatRanBetweenTwoFailuresIsTold: also to a process that knows of the newer failure, and where the file with the newer lines is read first.
func TestACommandThatRanBetweenTwoFailuresIsTold(t *testing.T) {
	t.Parallel()
	const bad, ran = `Failed to execute command 'pwd' in session 'sandbox-demo': Unknown Error, TODO`, `{"level":"info","msg":"command done","sessionId":"sandbox-demo","command":"ls","exitCode":0}`
	type line struct {
		text string
		at   time.Duration
	}
	first := []line{{bad, 0}, {ran, time.Minute}, {bad, 2 * time.Minute}}
	for name, read := range map[string][]line{"known": first, "newer file first": {first[1], first[2], first[0]}} {
		opts := defaults()
		a := newAnalyst(&opts, testDeps(t, func() time.Time { return t0 }), t0)
		if name == "known" {
			a.commands.resume([]backend.Bookmark{{File: markFailing + "sandbox-demo", Sizes: []backend.SizeAt{{At: t0.Add(2 * time.Minute)}}}})
		}
		a.begin(0, time.Second)
		for _, l := range read {
			a.line([]byte(l.text), len(l.text)+1, time.Time{}, &placement{lo: t0.Add(l.at), hi: t0.Add(l.at)}, &lineage{})
		}
		var r backend.Reading
		a.finish(&r, t0.Add(3*time.Minute))
		if !slices.ContainsFunc(r.Reports, func(x backend.Report) bool {
			return x.Kind == backend.ReportCommandRan && x.At.Equal(t0.Add(time.Minute))
		}) {
			t.Errorf("%s: %+v", name, r.Reports)
		}
		if len(a.commands.bookmarks(t0.Add(3*time.Minute))) != 1 {
			t.Errorf("%s: the session fails still", name)
		}
	}
}

// TestACallForAFileIsNoCommand: a line about one is told from a line about a command, in text and in JSON, also where the command quotes one.
func TestACallForAFileIsNoCommand(t *testing.T) {
	t.Parallel()
	for line, file := range map[string]bool{
		`2026-01-01T12:00:00Z ERROR Failed to read file '/workspace/a.txt' in session 'sandbox-demo': Unknown Error, TODO`:                               true,
		`2026-01-01T12:00:00Z ERROR FileError: Failed to write to '/workspace/a.txt' in session 'sandbox-demo': Unknown Error, TODO`:                     true,
		`{"level":"error","msg":"tool failed","sessionId":"sandbox-demo","err":{"message":"Failed to list files in '/workspace': Unknown Error, TODO"}}`: true,
		`2026-01-01T12:00:00Z ERROR Failed to execute command 'ls' in session 'sandbox-demo': Unknown Error, TODO`:                                       false,
		`2026-01-01T12:00:00Z ERROR Failed to execute command 'echo Failed to read file x' in session 'sandbox-demo': Unknown Error, TODO`:               false,
		`{"level":"error","message":"Unknown Error, TODO","sessionId":"sandbox-demo","command":"make"}`:                                                  false,
	} {
		_, r := lines(t, nil, line)
		if len(r.Reports) != 1 || r.Reports[0].FileCall != file || r.Reports[0].Sandbox.Raw() != "demo" {
			t.Errorf("%s: %+v", line, r.Reports)
		}
	}
}
