package text_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views/text"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func alert(rule string, state alerts.AlertState, severity alerts.Severity) *alerts.Alert {
	return &alerts.Alert{ID: rule + "-1", Rule: rule, Source: "a", Fingerprint: "v1:x", State: state, Severity: severity,
		Since: noon.Add(-time.Minute), Cause: backend.Text("why")}
}

func subject(id string, state alerts.AlertState) alerts.Subject {
	return alerts.Subject{Key: backend.Key{Kind: backend.KindWorkspace, Source: "a", Parent: backend.MustID("s"), ID: backend.MustID(id)}, State: state, Since: noon}
}

func state(status fleet.SourceStatus) *fleet.State {
	return &fleet.State{Sources: []*fleet.SourceHealth{{Key: backend.Key{Kind: backend.KindSource, Source: "a", ID: backend.MustID("a")},
		Kind: "helix", Status: status, LastOK: noon.Add(-1500 * time.Millisecond)}}}
}

func TestExitCode(t *testing.T) {
	silenced := alert("failed-too-long", alerts.StateFiring, alerts.SeverityCritical)
	silenced.Silenced = &alerts.Silence{Owner: backend.Text("ana")}
	taken := alert("failed-too-long", alerts.StateFiring, alerts.SeverityCritical)
	taken.Acknowledged = &alerts.Acknowledgement{Owner: backend.Text("ana"), At: noon}
	for name, c := range map[string]struct {
		status fleet.SourceStatus
		alerts []*alerts.Alert
		want   int
	}{
		"nothing":          {fleet.StatusOK, nil, 0},
		"critical":         {fleet.StatusOK, []*alerts.Alert{alert("failed-too-long", alerts.StateFiring, alerts.SeverityCritical)}, 2},
		"held critical":    {fleet.StatusDown, []*alerts.Alert{alert("failed-too-long", alerts.StateHeld, alerts.SeverityCritical)}, 2},
		"warning":          {fleet.StatusDown, []*alerts.Alert{alert("audit-saturation", alerts.StateFiring, alerts.SeverityWarning)}, 1},
		"info":             {fleet.StatusOK, []*alerts.Alert{alert("audit-saturation", alerts.StateFiring, alerts.SeverityInfo)}, 0},
		"pending":          {fleet.StatusOK, []*alerts.Alert{alert("failed-too-long", alerts.StatePending, alerts.SeverityCritical)}, 0},
		"ended":            {fleet.StatusOK, []*alerts.Alert{alert("failed-too-long", alerts.StateEnded, alerts.SeverityCritical)}, 0},
		"silenced":         {fleet.StatusOK, []*alerts.Alert{silenced}, 0},
		"acknowledged":     {fleet.StatusOK, []*alerts.Alert{taken}, 2},
		"source-down":      {fleet.StatusDown, []*alerts.Alert{alert("source-down", alerts.StateFiring, alerts.SeverityWarning)}, 3},
		"not published":    {fleet.StatusOK, []*alerts.Alert{alert("registry-not-published", alerts.StateFiring, alerts.SeverityCritical)}, 0},
		"down":             {fleet.StatusDown, nil, 3},
		"has not answered": {fleet.StatusStarting, nil, 3},
		"absent":           {fleet.StatusAbsent, nil, 0},
		"degraded":         {fleet.StatusDegraded, nil, 3},
	} {
		doc := text.MakeCheck("test", state(c.status), &alerts.Board{Alerts: c.alerts}, noon)
		if doc.ExitCode != c.want {
			t.Errorf("%s: exit code %d, want %d", name, doc.ExitCode, c.want)
		}
	}
	unknown := state(fleet.StatusOK)
	unknown.Sources[0].WorkspacesUnknown = true
	if doc := text.MakeCheck("test", unknown, &alerts.Board{}, noon); doc.ExitCode != 3 {
		t.Errorf("workspaces unknown: exit code %d, want 3", doc.ExitCode)
	}
}

// TestCheckHasTheOrderOfTheScreen: what stands first there stands first here, whatever its name.
func TestCheckHasTheOrderOfTheScreen(t *testing.T) {
	storm, leak := alert("z-storm", alerts.StateFiring, alerts.SeverityCritical), alert("a-leak", alerts.StateFiring, alerts.SeverityCritical)
	doc := text.MakeCheck("test", state(fleet.StatusOK), &alerts.Board{Alerts: []*alerts.Alert{storm, leak}}, noon)
	if len(doc.Alerts) != 2 || doc.Alerts[0].Rule != "z-storm" {
		t.Errorf("got %+v", doc.Alerts)
	}
}

// TestOneEntryPerCause holds that two alerts of one rule, source and fingerprint become one entry with the worse state
// and severity, and that entries and subjects keep to their order and bound.
func TestOneEntryPerCause(t *testing.T) {
	held := alert("failed-too-long", alerts.StateHeld, alerts.SeverityCritical)
	held.Subjects, held.SubjectCount = []alerts.Subject{subject("b", alerts.StateHeld)}, 1
	firing := alert("failed-too-long", alerts.StateFiring, alerts.SeverityWarning)
	firing.Subjects, firing.SubjectCount = []alerts.Subject{subject("c", alerts.StatePending), subject("a", alerts.StateFiring)}, 2
	resolved := alert("failed-too-long", alerts.StateResolved, alerts.SeverityCritical)
	many := alert("hammered-and-failing", alerts.StatePending, alerts.SeverityWarning)
	for i := range 1500 {
		many.Subjects = append(many.Subjects, subject(fmt.Sprintf("w%04d", i), alerts.StatePending))
	}
	many.SubjectCount = 1500
	doc := text.MakeCheck("test", state(fleet.StatusOK), &alerts.Board{Alerts: []*alerts.Alert{many, held, firing, resolved}}, noon)
	if len(doc.Alerts) != 2 {
		t.Fatalf("%d entries, want 2", len(doc.Alerts))
	}
	a := doc.Alerts[0]
	if a.State != alerts.StateFiring || a.Severity != alerts.SeverityCritical || a.SubjectCount != 3 || len(a.Subjects) != 3 {
		t.Errorf("got %+v", a)
	}
	var order []string
	for _, s := range a.Subjects {
		order = append(order, s.ID.Raw())
	}
	if got := strings.Join(order, " "); got != "s/a s/b s/c" {
		t.Errorf("subjects in the order %s", got)
	}
	if b := doc.Alerts[1]; b.SubjectCount != 1500 || len(b.Subjects) != alerts.MaxSubjects {
		t.Errorf("%d subjects listed of %d", len(b.Subjects), b.SubjectCount)
	}
	if got := doc.Summary.Alerts; got[alerts.SeverityCritical] != 1 || got[alerts.SeverityWarning] != 0 {
		t.Errorf("summary %v", got)
	}
}

func TestSummaryIsBounded(t *testing.T) {
	var rows []*backend.Workspace
	for i := range 100 {
		w := &backend.Workspace{Reported: backend.Textf("state%d", i)}
		w.Key = backend.Key{Kind: backend.KindWorkspace, Source: "a", Parent: backend.MustID("s"), ID: backend.MustID(fmt.Sprint(i))}
		rows = append(rows, w)
	}
	st := state(fleet.StatusOK)
	st.Workspaces = fleet.NewTable(rows...)
	doc := text.MakeCheck("test", st, &alerts.Board{}, noon)
	total := 0
	for _, n := range doc.Summary.Workspaces {
		total += n
	}
	if len(doc.Summary.Workspaces) > 33 || total != 100 || doc.Summary.Workspaces["other"] == 0 {
		t.Errorf("%d words, %d workspaces, %d others", len(doc.Summary.Workspaces), total, doc.Summary.Workspaces["other"])
	}
}

// TestOptionalPartsOfTheDocument covers what an ordinary run does not have.
func TestOptionalPartsOfTheDocument(t *testing.T) {
	a := alert("failed-too-long", alerts.StateFiring, alerts.SeverityCritical)
	a.Runbook = "7"
	a.Acknowledged = &alerts.Acknowledgement{Owner: backend.Text("ana"), Reason: backend.Text("on it"), At: noon.In(time.FixedZone("x", 3600))}
	a.Silenced = &alerts.Silence{ID: backend.Text("s1"), Owner: backend.Text("bo"), Reason: backend.Text("deploy"), Until: noon.Add(time.Hour)}
	a.Flapping, a.InhibitedBy, a.Direction = true, "9b1c", alerts.Direction{Heading: alerts.HeadingEnding, Time: 2 * time.Minute}
	a.Lapsed = &alerts.Lapse{Acknowledgement: alerts.Acknowledgement{Owner: backend.Text("cy"), At: noon, Until: noon}, Why: backend.Text("it was taken for 30m")}
	suspected, held := alert("wont-terminate", alerts.StatePending, alerts.SeverityWarning), alert("sandbox-oom", alerts.StateHeld, alerts.SeverityWarning)
	suspected.Why, held.Why, held.Confirmed = backend.Text("fires in 2m"), backend.Text("a is down"), noon.Add(-3*time.Minute)
	doc := text.MakeCheck("test", state(fleet.StatusAbsent), &alerts.Board{Alerts: []*alerts.Alert{a, suspected, held}}, noon)
	var out bytes.Buffer
	if err := text.WriteJSONLine(&out, doc); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(out.Bytes()) || strings.Count(out.String(), "\n") != 1 {
		t.Fatalf("not one line of JSON: %s", out.String())
	}
	for _, want := range []string{`"acknowledged":{"owner":"ana","reason":"on it","at":"2026-11-21T12:00:00Z","until":null}`,
		`"silenced":{"id":"s1","owner":"bo","reason":"deploy","until":"2026-11-21T13:00:00Z"}`, `"runbook":"7"`,
		`"lapsed":{"owner":"cy","reason":"","at":"2026-11-21T12:00:00Z","until":"2026-11-21T12:00:00Z","why":"it was taken for 30m"}`,
		`"flapping":true,"inhibited_by":"9b1c","direction":{"heading":"ending","seconds":120}`,
		`"why":"fires in 2m"`, `"why":"a is down","confirmed":"2026-11-21T11:57:00Z"`,
		`"status":"degraded","error":"is not there","age_seconds":1.5,"blind":[]`, `"since_bounds":{"earliest":null,"latest":null}`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is missing in %s", want, out.String())
		}
	}
	out.Reset()
	if err := text.WriteCheck(&out, doc, text.TableOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 of them silenced", "acknowledged by ana: on it", "silenced by bo until 2026-11-21T13:00:00Z: deploy", "runbook 7",
		"not acknowledged any more: cy had it; it was taken for 30m", "flapping", "a part of the outage that alert 9b1c is about", "runbook 7, alert failed-too-long-1\n",
		"  decides: fires in 2m\n", "  last confirmed: 3m ago\n  held: a is down\n", "direction: ending: halves every 2m"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

// TestCheckFoldsWhatAnOutageExplains holds that the text counts and prints only what stands by itself, as the console
// does, while the JSON keeps every alert.
func TestCheckFoldsWhatAnOutageExplains(t *testing.T) {
	part := func(rule, source, by string) *alerts.Alert {
		a := alert(rule, alerts.StateFiring, alerts.SeverityWarning)
		a.ID, a.Source, a.InhibitedBy = rule+"-"+source, source, by
		return a
	}
	storm := part("eviction-storm", "a", "")
	storm.Severity = alerts.SeverityCritical
	low := part("eviction-storm", "a", "") // joined with the storm: what it explains stands behind both
	low.ID = "low"
	list := []*alerts.Alert{storm, low, part("failed-too-long", "a", storm.ID), part("failed-too-long", "b", "low"),
		part("hammered-and-failing", "a", storm.ID), part("audit-saturation", "a", ""), part("sandbox-oom", "a", "not listed")}
	half := part("failed-too-long", "b", "")
	half.Source, half.Fingerprint, half.ID = "c", "v1:y", "half"
	other := part("failed-too-long", "c", storm.ID)
	other.Fingerprint = "v1:y"
	list = append(list, other, half)
	print := func() (*text.Check, string) {
		t.Helper()
		var out bytes.Buffer
		doc := text.MakeCheck("test", state(fleet.StatusOK), &alerts.Board{Alerts: list}, noon)
		if err := text.WriteCheck(&out, doc, text.TableOptions{}); err != nil {
			t.Fatal(err)
		}
		return doc, out.String()
	}
	doc, got := print()
	for _, want := range []string{"CRITICAL: 4 alerts firing, 3 more explained by eviction-storm; ",
		"  explains 3 more alerts, which -o json lists: 2 failed-too-long, 1 hammered-and-failing\n",
		"warning audit-saturation on a", "warning sandbox-oom on a", "warning failed-too-long on c"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("not once %q in\n%s", want, got)
		}
	}
	for _, no := range []string{"failed-too-long on a", "failed-too-long on b", "hammered-and-failing on a"} {
		if strings.Contains(got, no) {
			t.Errorf("%q has lines of its own in\n%s", no, got)
		}
	}
	if len(doc.Alerts) != 7 || doc.ExitCode != alerts.ExitCritical {
		t.Errorf("the JSON has %d alerts, exit code %d", len(doc.Alerts), doc.ExitCode)
	}
	storm.Silenced, low.Silenced = &alerts.Silence{Owner: backend.Text("ana")}, &alerts.Silence{Owner: backend.Text("ana")}
	if _, got = print(); !strings.HasPrefix(got, "WARNING: 7 alerts firing, 1 of them silenced; ") || !strings.Contains(got, "failed-too-long on b") {
		t.Errorf("what counts hides behind a silenced outage:\n%s", got)
	}
}

// TestCheckDetailsTheWorstOfManyAlerts: the others have a line each, and none is left out.
func TestCheckDetailsTheWorstOfManyAlerts(t *testing.T) {
	list := []*alerts.Alert{}
	for i := range 200 {
		a := alert(fmt.Sprint("rule-", i), alerts.StateFiring, alerts.SeverityCritical)
		a.ID, a.Fingerprint, a.Cause, a.Why = fmt.Sprintf("%010d", i), fmt.Sprint("v1:", i), backend.Clean("cause "+strings.Repeat("x", 200), 300), backend.Text("why")
		switch i {
		case 0:
			a.Acknowledged = &alerts.Acknowledgement{Owner: backend.Text("mara")}
		case 1:
			a.Silenced = &alerts.Silence{Owner: backend.Text("ana")}
		case 199:
			a.State = alerts.StatePending
		}
		list = append(list, a)
	}
	print := func(n int) string {
		var out bytes.Buffer
		if err := text.WriteCheck(&out, text.MakeCheck("test", state(fleet.StatusOK), &alerts.Board{Alerts: list[:n]}, noon), text.TableOptions{}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	got := print(200)
	lines := strings.Split(got, "\n")
	if len(lines) > 250 || strings.Count(got, "  now: why\n") != 3 {
		t.Errorf("%d lines, %d alerts in detail", len(lines), strings.Count(got, "  now: why\n"))
	}
	for i, a := range list {
		if strings.Count(got, " "+a.Rule+" on ") != 1 || strings.Count(got, "alert "+a.ID) != 1 {
			t.Errorf("alert %d is not there once:\n%s", i, got)
		}
	}
	for _, want := range []string{"\n197 more alerts, one line each. sandglass why ID shows one in full; sandglass check -o json shows all.\n", "alert 0000000000, acknowledged: cause xxx", "alert 0000000001, silenced: cause xxx", "critical rule-199 on a, pending"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	list[150].SubjectCount, list[150].Subjects = 1, []alerts.Subject{subject("box", alerts.StateFiring)}
	if got := print(200); !strings.Contains(got, ", workspace s/box, alert 0000000150: cause") {
		t.Errorf("the one subject of an alert with a single line is not named:\n%s", got)
	}
	if few := print(8); strings.Contains(few, "one line each") || strings.Count(few, ": why\n") != 8 {
		t.Errorf("eight alerts are not all detailed:\n%s", few)
	}
}

// TestCheckNamesSessionsThatCannotBeRead: also those that are too few to degrade their source.
func TestCheckNamesSessionsThatCannotBeRead(t *testing.T) {
	st := state(fleet.StatusOK)
	st.Sources[0].Asked, st.Sources[0].Unread = 40, []backend.Unread{{Kind: backend.ErrTimeout, Sessions: 2, Example: backend.Text("s-1: no answer")}, {Kind: backend.ErrAbsent, Sessions: 1, Example: backend.Text("s-7: a 404")}}
	var out bytes.Buffer
	if err := text.WriteCheck(&out, text.MakeCheck("test", st, &alerts.Board{}, noon), text.TableOptions{}); err != nil {
		t.Fatal(err)
	}
	if want := "\n            2 sessions did not answer in time (timeout), for example s-1: no answer; 1 session answered a 404 that is not the documented one, for example s-7: a 404\n"; !strings.Contains(out.String(), want) {
		t.Errorf("%q is missing in\n%s", want, out.String())
	}
}

// TestCheckNamesInvalidStates: also beside a file that cannot be read, and how many there are in all.
func TestCheckNamesInvalidStates(t *testing.T) {
	st := state(fleet.StatusDegraded)
	h := st.Sources[0]
	h.Kind, h.Inputs = "refs", []backend.Input{backend.InputRefs}
	for i := range 7 {
		h.Problems = append(h.Problems, backend.Problem{Kind: backend.ErrInvalid, Where: backend.Textf("s%d.json, /timeouts", i), What: backend.Text("below 1 s")})
	}
	var out bytes.Buffer
	if err := text.WriteCheck(&out, text.MakeCheck("test", st, &alerts.Board{}, noon), text.TableOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"            invalid: s4.json, /timeouts: below 1 s\n", "            7 invalid parts in all; sandglass config check names each\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

// TestCheckNamesASandboxThatIsElsewhere: a source that answers names the sandbox to whose address no key may go.
func TestCheckNamesASandboxThatIsElsewhere(t *testing.T) {
	st := state(fleet.StatusOK)
	h := st.Sources[0]
	h.Kind = "blaxel"
	h.Problems = []backend.Problem{{Kind: backend.ErrInvalid, Where: backend.Text("sandbox b"), What: backend.Text("the sandbox is said to be at http://evil.example"), Subject: backend.Key{Kind: backend.KindSandbox, Source: h.Key.Source, ID: backend.MustID("b")}},
		{Kind: backend.ErrInvalid, Where: backend.Text("/snapshots"), What: backend.Text("the list of snapshots")}}
	var out bytes.Buffer
	if err := text.WriteCheck(&out, text.MakeCheck("test", st, &alerts.Board{}, noon), text.TableOptions{}); err != nil {
		t.Fatal(err)
	}
	var doc bytes.Buffer
	if err := json.NewEncoder(&doc).Encode(text.MakeCheck("test", st, &alerts.Board{}, noon)); err != nil || !strings.Contains(doc.String(), `"invalid":[{"kind":"invalid","where":"sandbox b","what":"the sandbox is said to be at`) {
		t.Errorf("%v %s", err, doc.String())
	}
	if want := "            invalid: sandbox b: the sandbox is said to be at http://evil.example\n"; strings.Count(out.String(), "invalid: ") != 1 || !strings.Contains(out.String(), want) {
		t.Errorf("%q is missing in\n%s", want, out.String())
	}
}

// TestCheckSaysWhyNothingIsSeen: what a source says of an empty list stands beside it; machines of a cloud are no containers.
func TestCheckSaysWhyNothingIsSeen(t *testing.T) {
	write := func(inputs ...backend.Input) string {
		st := state(fleet.StatusOK)
		st.Sources[0].Inputs, st.Sources[0].Notes = inputs, []backend.Safe{backend.Text("the organisation org_1 has no sandbox at all")}
		var out bytes.Buffer
		if err := text.WriteCheck(&out, text.MakeCheck("test", st, &alerts.Board{}, noon), text.TableOptions{}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	const note = "\n            the organisation org_1 has no sandbox at all\n"
	if cloud := write(backend.InputContainers, backend.InputPlatform); !strings.Contains(cloud, "; 0 sandboxes, 1 of 1 source ok") || !strings.Contains(cloud, note) {
		t.Errorf("a cloud:\n%s", cloud)
	}
	if account := write(backend.InputContainers, backend.InputCapacity); !strings.Contains(account, "; 0 sandboxes, 1 of 1 source ok") {
		t.Errorf("the applications of an account:\n%s", account)
	}
	if engine := write(backend.InputContainers); !strings.Contains(engine, "; 0 containers, ") {
		t.Errorf("an engine:\n%s", engine)
	}
	if logs := write(backend.InputEvictionLogs); strings.Contains(logs, note) {
		t.Errorf("a log, which lists nothing:\n%s", logs)
	}
}

// TestCheckTellsWhatIsEvaluatedInPart: apart from what is not evaluated, and without its number.
func TestCheckTellsWhatIsEvaluatedInPart(t *testing.T) {
	b := &alerts.Board{Blind: []alerts.Blindness{{Rule: "persist-failed", Source: "a", Why: backend.Text("lines of app are evaluated"), Part: true}}}
	var out bytes.Buffer
	if err := text.WriteCheck(&out, text.MakeCheck("test", state(fleet.StatusOK), b, noon), text.TableOptions{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "evaluated in part: persist-failed (lines of app are evaluated)") || strings.Contains(out.String(), "not evaluated") {
		t.Error(out.String())
	}
}

// TestCheckNamesLinesThatCouldNotBeDated: matching lines without a time are not silently left out.
func TestCheckNamesLinesThatCouldNotBeDated(t *testing.T) {
	st := state(fleet.StatusOK)
	st.Sources[0].Undated = backend.Text("31 matching lines without a time: not counted")
	doc := text.MakeCheck("test", st, &alerts.Board{}, noon)
	var out bytes.Buffer
	if err := text.WriteCheck(&out, doc, text.TableOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 source with log lines that could not be dated", "\n            31 matching lines without a time: not counted\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}

// TestSourcesThatDeliverNothing: beside one that is ok, a log source without a file is never OK, and the verdict names it.
func TestSourcesThatDeliverNothing(t *testing.T) {
	st := state(fleet.StatusOK)
	st.Sources = append(st.Sources, &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: "b", ID: backend.MustID("b")}, Status: fleet.StatusDegraded, LastOK: noon})
	doc := text.MakeCheck("test", st, &alerts.Board{}, noon)
	var out bytes.Buffer
	if err := text.WriteCheck(&out, doc, text.TableOptions{}); err != nil || doc.ExitCode != 3 || !strings.HasPrefix(out.String(), "UNKNOWN: no alert fires, but b is degraded; ") {
		t.Errorf("exit code %d, %v, %s", doc.ExitCode, err, out.String())
	}
}

// TestCheckCountsWhatIsLessSevere: alerts of one cause have one entry, which has the severity of the worst and counts those that are less.
func TestCheckCountsWhatIsLessSevere(t *testing.T) {
	part := func(id string, severity alerts.Severity, n int) *alerts.Alert {
		a := alert("pty-pressure", alerts.StateFiring, severity)
		a.ID, a.SubjectCount, a.Subjects = id, n, nil
		for i := range n {
			a.Subjects = append(a.Subjects, alerts.Subject{Key: backend.Key{Kind: backend.KindSession, Source: "a", ID: backend.MustID(fmt.Sprint(id, i))}, State: alerts.StateFiring})
		}
		return a
	}
	for name, list := range map[string][]*alerts.Alert{
		"the worst first": {part("warn", alerts.SeverityWarning, 2), part("note", alerts.SeverityInfo, 1)},
		"the worst last":  {part("note", alerts.SeverityInfo, 1), part("warn", alerts.SeverityWarning, 2)},
	} {
		var out bytes.Buffer
		doc := text.MakeCheck("test", state(fleet.StatusOK), &alerts.Board{Alerts: list}, noon)
		if err := text.WriteCheck(&out, doc, text.TableOptions{}); err != nil {
			t.Fatal(err)
		}
		if want := ", 3 sessions (1 of them info), "; !strings.Contains(out.String(), want) || len(doc.Alerts) != 1 || doc.Alerts[0].Severity != alerts.SeverityWarning {
			t.Errorf("%s: %q is missing in\n%s", name, want, out.String())
		}
		for _, x := range doc.Alerts[0].Subjects {
			if want := map[bool]alerts.Severity{true: alerts.SeverityInfo}[strings.HasPrefix(x.ID.Raw(), "note")]; x.Severity != want {
				t.Errorf("%s: %s is %q", name, x.ID.Raw(), x.Severity)
			}
		}
	}
}

// TestWhatTheEnvironmentNamesIsNotWatched: it is told beside what no source serves, and a document has it not.
func TestWhatTheEnvironmentNamesIsNotWatched(t *testing.T) {
	doc := text.MakeCheck("test", state(fleet.StatusOK), &alerts.Board{}, noon)
	doc.Unused = []backend.Safe{backend.Text("CLOUD_TOKEN is set")}
	var out bytes.Buffer
	if err := text.WriteCheck(&out, doc, text.TableOptions{}); err != nil || !strings.HasSuffix(out.String(), "\nNot watched\n  CLOUD_TOKEN is set\n") {
		t.Errorf("%v: %s", err, out.String())
	}
	if b, err := json.Marshal(doc); err != nil || bytes.Contains(b, []byte("CLOUD_TOKEN")) {
		t.Errorf("%v: %s", err, b)
	}
}
