package text_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/text"
)

const ours = "hunter2-hunter2"

// leak is a fleet in which two workspaces share a sandbox that mounts a directory, beside a session that is none of it.
func leak() (*views.Snapshot, *alerts.Alert) {
	workspace := func(session, name string) *backend.Workspace {
		w := &backend.Workspace{Named: true, Reported: backend.Text("failed"), Class: backend.ClassFailed,
			LastError:     backend.Text("open failed (request 2fa97290), trace_id=4bf92f3577b34da6 ![x](http://evil.example/`)"),
			LastAttemptAt: backend.Known(noon.Add(-time.Minute)), LastSuccessAt: backend.Known(noon.Add(-time.Hour))}
		w.Key = backend.Key{Kind: backend.KindWorkspace, Source: "a", Parent: backend.MustID(session), ID: backend.MustID(name)}
		w.ReadAt, w.Raw = noon, backend.Text("{␊  \"state\": \"failed\", \"note\": \"```\"␊}")
		w.History = []backend.StatusChange{{Status: backend.Text("ready"), At: noon.Add(-time.Hour)}, {Status: backend.Text("failed"), At: noon.Add(-40 * time.Minute)}}
		return w
	}
	odd := "w|1\x1b[31m\u202e @team"
	w1, w2 := workspace("s1", odd), workspace("other", "w2")
	session := &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: "a", ID: backend.MustID("s1")}, ReadAt: noon},
		AnswerText: backend.Text("HTTP 500 x-session-id: sess_01HZZZZZZZZ")}
	box := &backend.Sandbox{Name: backend.Text("box"), Provider: backend.Text("docker"), Reported: backend.Text("running"), IsSandbox: true,
		Image: backend.Text("agent:1.2"), Session: backend.MustID("s1"),
		Mounts: []backend.Mount{{Type: backend.Text("bind"), Source: backend.Text("/tmp/helix-ws-1"), RawSource: backend.MustID("/tmp/helix-ws-1"), Destination: backend.Text("/work")}}}
	box.Key, box.ReadAt = backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("4e5f60718293")}, noon
	dir := &backend.Tmpdir{Path: backend.Text("/tmp/helix-ws-1"), RawPath: backend.MustID("/tmp/helix-ws-1")}
	dir.Key, dir.ReadAt = backend.Key{Kind: backend.KindTmpdir, Source: "t", Parent: backend.MustID("h"), ID: backend.MustID("1:2:/tmp/helix-ws-1")}, noon
	st := state(fleet.StatusOK)
	st.Workspaces, st.Sessions = fleet.NewTable(w1, w2), fleet.NewTable(session)
	st.Sandboxes, st.Tmpdirs = fleet.NewTable(box), fleet.NewTable(dir)
	a := alert("possible-leak", alerts.StateFiring, alerts.SeverityCritical)
	a.Runbook, a.SubjectCount, a.Sessions, a.Subjects = "8", 1, 1, []alerts.Subject{{Key: w1.Key, State: alerts.StateFiring, Since: noon, Detail: backend.Text("shares box")}}
	a.Evidence = []alerts.Evidence{{Text: backend.Text("two sessions use 4e5f60718293"), Source: "docker", At: noon}}
	a.Bounds = alerts.Bounds{Earliest: noon.Add(-time.Hour), Latest: noon.Add(-40 * time.Minute)}
	return views.NewSnapshot(noon, st, &alerts.Board{Alerts: []*alerts.Alert{a}, Blind: []alerts.Blindness{{Rule: "eviction-storm", Source: "a", Why: backend.Text("no metrics")}}}), a
}

func bundleOf(ctx *views.Snapshot, k backend.Key) text.Bundle {
	b := text.Bundle{Key: k, Snapshot: ctx, Environment: "prod-eu", Version: "v1", Cleaner: backend.NewCleaner(ours), Events: []backend.Event{
		{Kind: backend.EventChange, At: noon.Add(-50 * time.Minute), Source: "a", Name: "deploy", Text: backend.Text("v2 | with " + ours)},
		{Kind: backend.EventPlatform, At: noon.Add(-30 * time.Minute), SourceAt: noon.Add(-30*time.Minute - time.Second), Source: "docker", Name: "oom",
			Subject: backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("4e5f60718293")}, Text: backend.Text("killed")},
		{Kind: backend.EventTransition, At: noon.Add(-20 * time.Minute), Source: "a", Name: "firing", Text: backend.Text("possible-leak firing: why (2 subjects)")},
		{Kind: backend.EventTransition, At: noon.Add(-20 * time.Minute), Source: "a", Name: "firing", Text: backend.Text("unrelated firing: something else")},
		{Kind: backend.EventPlatform, At: noon, Source: "docker", Name: "die", Subject: backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("unrelated")}}}}
	if q, ok := b.Question(); ok {
		d := runbook.Case{State: ctx.State, Board: ctx.Board, Subject: q.Subject, Alert: q.Alert, Events: b.Events}.Diagnose(q.Incident)
		b.Diagnosis = &d
	}
	return b
}

func TestBundle(t *testing.T) {
	ctx, a := leak()
	golden.RequireEqual(t, []byte(bundleOf(ctx, a.Subjects[0].Key).Markdown()))
}

func TestABundleCoversWhatIsJoined(t *testing.T) {
	ctx, a := leak()
	for name, k := range map[string]backend.Key{"the workspace": a.Subjects[0].Key, "the alert": views.AlertKey(a),
		"the sandbox":   {Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("4e5f60718293")},
		"the directory": {Kind: backend.KindTmpdir, Source: "t", Parent: backend.MustID("h"), ID: backend.MustID("1:2:/tmp/helix-ws-1")},
		"the session":   {Kind: backend.KindSession, Source: "a", ID: backend.MustID("s1")}} {
		b := bundleOf(ctx, k)
		var kinds []string
		for _, c := range b.Subjects() {
			kinds = append(kinds, string(c.Kind))
		}
		got := strings.Join(kinds, " ")
		for _, want := range []string{"workspace", "sandbox", "tmpdir", "session"} {
			if strings.Count(got, want) != 1 {
				t.Errorf("%s: covers %s", name, got)
			}
		}
		md := b.Markdown()
		for _, want := range []string{`s1/w|1\u001b[31m\u202e @team`, "4e5f60718293", "- `trace_id=4bf92f3577b34da6` in", "- `request 2fa97290` in", "possible-leak firing: why", "two sessions use 4e5f60718293", "**possible-leak**", "‹masked›"} {
			if !strings.Contains(md, want) {
				t.Errorf("%s: no %q in the bundle", name, want)
			}
		}
		for _, never := range []string{"\x1b", "\u202e", ours, "unrelated", "other/w2"} {
			if strings.Contains(md, never) {
				t.Errorf("%s: %q is in the bundle", name, never)
			}
		}
	}
}

// Once an alert about several is over, a bundle about one of them still has what became of the alert.
func TestABundleHasTheAlertsOfOnesThatAreOver(t *testing.T) {
	ctx, a := leak()
	ctx = views.NewSnapshot(ctx.Now, ctx.State, &alerts.Board{})
	b := bundleOf(ctx, a.Subjects[0].Key)
	other := backend.Key{Kind: backend.KindWorkspace, Source: "a", Parent: backend.MustID("s9"), ID: backend.MustID("x")}
	b.Events = append(b.Events,
		backend.Event{Kind: backend.EventTransition, At: noon.Add(-10 * time.Minute), Source: "a", Name: "resolved", About: []backend.Key{other, a.Subjects[0].Key},
			Text: backend.Text("registry-contention resolved: it (2 subjects)")},
		backend.Event{Kind: backend.EventTransition, At: noon.Add(-10 * time.Minute), Source: "a", Name: "resolved", About: []backend.Key{other},
			Text: backend.Text("failed-too-long resolved: not here (1 subject)")})
	md := b.Markdown()
	if !strings.Contains(md, "registry-contention resolved") || strings.Contains(md, "not here") {
		t.Errorf("the timeline of the bundle:\n%s", md)
	}
}

// TestABundleNamesTheOtherSide: who has the evidence about one subject of an alert knows which the others are.
func TestABundleNamesTheOtherSide(t *testing.T) {
	ctx, a := leak()
	for i := range 23 {
		a.Subjects = append(a.Subjects, alerts.Subject{Key: backend.Key{Kind: backend.KindWorkspace, Source: "a",
			Parent: backend.MustID("other"), ID: backend.MustID(fmt.Sprintf("side%02d", i))}})
	}
	a.SubjectCount = len(a.Subjects)
	md := bundleOf(ctx, a.Subjects[0].Key).Markdown()
	if !strings.Contains(md, "it is also about `other/side00`, `other/side01`") || !strings.Contains(md, "`other/side19` and 3 more\n") {
		t.Errorf("the other subjects are not named in\n%s", md)
	}
	a.Subjects, a.SubjectCount = a.Subjects[:len(a.Subjects)-20], 100 // not all of them are listed
	if md := bundleOf(ctx, a.Subjects[0].Key).Markdown(); !strings.Contains(md, fmt.Sprintf("`other/side02` and %d more\n", 100-len(a.Subjects))) {
		t.Errorf("the subjects that the alert does not list are not counted in\n%s", md)
	}
}

// TestNothingForeignIsMarkdown drops code spans and blocks; what foreign text is then left acts where it is pasted.
func TestNothingForeignIsMarkdown(t *testing.T) {
	ctx, a := leak()
	fence := ""
	for line := range strings.SplitSeq(bundleOf(ctx, a.Subjects[0].Key).Markdown(), "\n") {
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			fence = ticks
			continue
		case fence != "":
			if line == fence {
				fence = ""
			}
			continue
		}
		if rest := withoutCode(line); strings.Contains(rest, "evil") || strings.Contains(rest, "@team") || strings.Contains(rest, "agent:1.2") {
			t.Errorf("%q", line)
		}
	}
	if fence != "" {
		t.Error("a block does not end")
	}
}

// withoutCode removes code spans as CommonMark finds them: from a run of backticks to the next run of the same length.
func withoutCode(s string) string {
	out := ""
	for {
		i := strings.IndexByte(s, '`')
		if i < 0 {
			return out + s
		}
		run := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		rest := s[i+run:]
		end := -1
		for j := 0; j < len(rest); j++ {
			if rest[j] != '`' {
				continue
			}
			n := len(rest[j:]) - len(strings.TrimLeft(rest[j:], "`"))
			if n == run {
				end = j + n
				break
			}
			j += n - 1
		}
		if end < 0 {
			return out + s
		}
		out, s = out+s[:i], rest[end:]
	}
}

func TestABundleAboutAnIdThatNobodyShows(t *testing.T) {
	ctx, _ := leak()
	b := bundleOf(ctx, backend.Key{Kind: backend.KindSession, ID: backend.MustID("gone")})
	if md := b.Markdown(); !strings.Contains(md, "Not listed any more, or never read") || len(b.Subjects()) != 1 {
		t.Errorf("%v\n%s", b.Subjects(), md)
	}
}

func TestAVeryLargeBundleSaysWhatItLeavesOut(t *testing.T) {
	_, ctx := workspaces(1000)
	b := bundleOf(ctx, backend.Key{Kind: backend.KindSession, Source: "a", ID: backend.MustID("session")})
	if md := b.Markdown(); !strings.Contains(md, "and 801 more that are not in this bundle") || len(b.Subjects()) != 200 {
		t.Errorf("%d subjects\n%s", len(b.Subjects()), md[:2000])
	}
}
