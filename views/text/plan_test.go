package text_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/exp/golden"

	"sandglass/actions"
	"sandglass/actions/audit"
	"sandglass/backend"
	"sandglass/views/text"
)

// richPlan has something of everything, and names that attack whoever prints them.
func richPlan() *actions.Plan {
	key := func(name string) backend.Key {
		return backend.Key{Kind: backend.KindWorkspace, Source: "helix-eu", Parent: backend.MustID("s-1"), ID: backend.MustID(name)}
	}
	made := time.Date(2026, 11, 21, 3, 4, 5, 0, time.UTC)
	hostile := "\x1b]0;pwned\x07\u202e"
	p := &actions.Plan{Schema: actions.PlanSchema, Digest: "5f0c9a1e77d2b364", Verb: actions.Reset, Of: backend.KindWorkspace, Title: "reset", Effect: "opens it anew",
		Source: "helix-eu", SourceKind: "helix", Environment: "prod-eu", Production: true, Made: made, Headless: true,
		Who: audit.Who{User: backend.Text("mara"), Host: backend.Text("bastion")}, Reason: backend.Text("quota's raised"),
		Targets: []actions.Target{
			{Key: key("notes"), Label: backend.Text("s-1/notes"), Identity: []actions.Fact{{Name: "state", Value: "failed"}, {Name: "cause", Value: hostile}},
				Loses: []backend.Safe{backend.Text("its files")}, Owner: backend.Text("session s-1 of acme"), Notes: []backend.Safe{backend.Text("it was reset before")}, Bytes: backend.Known(int64(3 << 30))},
			{Key: key(hostile), Label: key(hostile).Safe()}},
		Advice: []backend.Safe{backend.Text("raise the quota first")}, Warnings: []backend.Safe{backend.Text("the cause was seen 20s ago")},
		Refusals: []actions.Refusal{
			{Why: backend.Text("capacity fires on helix-eu"), Next: backend.Text("wait until it is over"), Word: actions.WordAddsOpens},
			{Why: backend.Text("the cause is in the configuration"), Word: actions.WordCauseFixed},
			{Why: backend.Text("31 targets are more than one plan may have"), Next: backend.Text("choose fewer")}},
		Overrides: []string{actions.WordCauseFixed}}
	for i := range 25 {
		p.Excluded = append(p.Excluded, actions.Exclusion{Key: key(fmt.Sprintf("w%02d", i)), Label: key(fmt.Sprintf("w%02d", i)).Safe(), Why: backend.Text("it is reported ready")})
	}
	return p
}

func TestPlanForPeople(t *testing.T) {
	p := richPlan()
	now := p.Made.Add(time.Second)
	var b bytes.Buffer
	if err := text.WritePlan(&b, text.MakePlan(p, []backend.ID{backend.MustID("s-9/gone")}, now)); err != nil {
		t.Fatal(err)
	}
	p.Refusals, p.Excluded = p.Refusals[1:2], nil
	d := text.MakePlan(p, nil, now)
	d.Next = []string{"sandglass", "reset", "--yes-plan", *d.Digest, "--reason", p.Reason.String()}
	if err := text.WritePlan(&b, d); err != nil {
		t.Fatal(err)
	}
	d.Ran(actions.Progress{Plan: p, Phase: actions.PhaseStopped, Why: backend.Text("3 failures in a row"), Lines: []actions.Line{
		{Target: p.Targets[0], Wave: 1, Result: actions.ResultVerified, Text: backend.Text("it succeeded since"), Issued: now, Done: actions.Done{Notes: []backend.Safe{backend.Text("slow")}}},
		{Target: p.Targets[1], Wave: 2}}})
	if err := text.WriteRun(&b, d); err != nil {
		t.Fatal(err)
	}
	for _, r := range b.String() {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			t.Errorf("printed %U", r)
		}
	}
	golden.RequireEqual(t, b.Bytes())
}

// What sets several refusals aside is said once, behind the last of them.
func TestOneWayOutIsSaidOnce(t *testing.T) {
	p := richPlan()
	p.Overrides = nil
	same := actions.Refusal{Next: backend.Text("wait until it is over"), Word: actions.WordAddsOpens}
	p.Refusals = nil
	for _, why := range []backend.Literal{"capacity fires", "eviction-storm fires"} {
		r := same
		r.Why = backend.Text(why)
		p.Refusals = append(p.Refusals, r)
	}
	var b bytes.Buffer
	if err := text.WritePlan(&b, text.MakePlan(p, nil, p.Made)); err != nil {
		t.Fatal(err)
	}
	if s := b.String(); strings.Count(s, "next: wait until it is over") != 1 || strings.Count(s, "--override") != 1 ||
		!strings.Contains(s, "refused: capacity fires\n\nrefused: eviction-storm fires\n  next: wait") {
		t.Errorf("the refusals:\n%s", s)
	}
}

func TestPlanJSONKeepsRawIDs(t *testing.T) {
	p := richPlan()
	var b bytes.Buffer
	if err := text.WriteJSON(&b, text.MakePlan(p, nil, p.Made)); err != nil {
		t.Fatal(err)
	}
	for _, r := range b.String() {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			t.Errorf("printed %U", r)
		}
	}
	var d struct {
		Digest  *string
		Targets []struct{ ID string }
	}
	if err := json.Unmarshal(b.Bytes(), &d); err != nil || d.Digest != nil || !strings.HasSuffix(d.Targets[1].ID, "\x07\u202e") {
		t.Errorf("%+v, %v", d, err)
	}
}

// The JSON of a plan has which process or token was named, and what can be named.
func TestPlanJSONHasWhatWasChosen(t *testing.T) {
	p := richPlan()
	p.Params = actions.Params{Process: "312\x1b[2J", Token: "port-3000/token-1"}
	p.Choices = []actions.Choice{{Name: "312", Text: backend.Text("312 loop: sleep 900")}}
	var b bytes.Buffer
	if err := text.WriteJSON(&b, text.MakePlan(p, nil, p.Made)); err != nil {
		t.Fatal(err)
	}
	var d struct {
		Params  struct{ Process, Token string }
		Choices []struct{ Name, Text string }
	}
	if err := json.Unmarshal(b.Bytes(), &d); err != nil || !strings.HasPrefix(d.Params.Process, "312") || strings.Contains(d.Params.Process, "\x1b") || d.Params.Token != "port-3000/token-1" ||
		len(d.Choices) != 1 || d.Choices[0].Name != "312" || d.Choices[0].Text != "312 loop: sleep 900" {
		t.Errorf("%+v, %v", d, err)
	}
}
