package subjects

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
)

// Errors that the diagnosis recognises have short words of their own; others have none, and lose their middle.
func TestRecognisedErrorsHaveShortWords(t *testing.T) {
	for text, want := range map[string]string{
		"WorkspaceFailedError: ref schemaVersion 4 is outside the supported range 1-3":                 "ref v4, reads 1-3",
		"WorkspaceFailedError: ref schemaVersion # is outside the supported range #-#":                 "ref version not read",
		"r2 bucket unreachable: GET https://r2.demo.invalid/ws-6ab12393: connect timeout after 3092ms": "R2 unreachable",
		"R2: AccessDenied":                                                 "bucket access denied",
		"NoSuchBucket: the bucket does not exist":                          "bucket not found",
		"tmpdirRoot /srv/agents/tmp does not exist":                        "tmpdirRoot missing",
		"image registry.demo.invalid/box:1: manifest unknown":              "image not found",
		"sandbox did not answer in time: no reply within 24945ms":          "no answer in 24s",
		"sandbox did not answer within 300ms":                              "",
		"setup command OPENAI_API_KEY=‹masked› make failed: exit status 1": "setup command failed",
		"ENOTEMPTY: directory not empty, rmdir '/tmp/helix-ws-n080ap'":     "directory not empty",
		"container d55a exited with code 137":                              "killed: exit code 137",
		"D1_ERROR: Network connection lost":                                "D1 connection lost",
		"max_instances reached (60/60 in use)":                             "no instance left",
		"sandbox instance is gone":                                         "sandbox is gone",
		"connection refused at http://127.0.0.1:1":                         "connection refused",
		"the flux capacitor hums in a minor key":                           "",
	} {
		if got := errorBrief(text).String(); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for i := range errorBriefs {
		if b := string(errorBriefs[i].brief); kit.Width(b) > briefest+1 {
			t.Errorf("%q is wider than a narrow column", b)
		}
	}
}

// A workspace that is tried again while an alert says that its attempts fail is counted as failing, not as busy.
func TestAWorkspaceOfAFiringAlertIsNotBusy(t *testing.T) {
	w := &backend.Workspace{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindWorkspace, Source: "s", ID: backend.MustID("w")}},
		LastAttemptAt: backend.Known(noon.Add(-time.Second)), LastSuccessAt: backend.Known(noon.Add(-12 * time.Minute))}
	state := &fleet.State{Workspaces: fleet.NewTable(w), LongestOperation: 5 * time.Minute}
	a := &alerts.Alert{Rule: "hammered-and-failing", State: alerts.StateFiring, Subjects: []alerts.Subject{{Key: w.Key, State: alerts.StateFiring}}}
	for _, c := range []struct {
		board *alerts.Board
		want  backend.Condition
		n     int
	}{{&alerts.Board{}, backend.CondBusy, 0}, {&alerts.Board{Alerts: []*alerts.Alert{a}}, backend.CondFailing, 1}} {
		s := views.NewSnapshot(noon, state, c.board)
		if got := s.Condition(w); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		if got := views.Summarise(s).Failing; got != c.n {
			t.Errorf("%d failing, want %d", got, c.n)
		}
	}
}

// The line of one source names the others with the same cause, and the sum.
func TestAnOutageOnTwoSourcesIsSummed(t *testing.T) {
	of := func(source string, n int) *alerts.Alert {
		return &alerts.Alert{ID: source, Rule: "capacity", Source: source, Fingerprint: "v3:1", State: alerts.StateFiring, SubjectCount: n,
			Subjects: []alerts.Subject{{Key: backend.Key{Kind: backend.KindWorkspace, Source: source, ID: backend.MustID("w")}}}}
	}
	a, b := of("helix-us", 33), of("helix-eu", 22)
	if got := summed(a, views.NewSnapshot(noon, &fleet.State{}, &alerts.Board{Alerts: []*alerts.Alert{a, b}})); got != "55 workspaces: helix-us 33, helix-eu 22" {
		t.Errorf("%q", got)
	}
}
