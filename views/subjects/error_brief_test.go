package subjects

import (
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Errors that the diagnosis recognises have short words of their own; others have none, and lose their middle.
func TestRecognisedErrorsHaveShortWords(t *testing.T) {
	for text, want := range map[string]string{
		"WorkspaceFailedError: ref schemaVersion 4 is outside the supported range 1-3":                 "ref v4, reads 1-3",
		"WorkspaceFailedError: ref schemaVersion # is outside the supported range #-#":                 "ref version not read",
		"r2 bucket unreachable: GET https://r2.demo.invalid/ws-6ab12393: connect timeout after 3092ms": "R2 unreachable",
		"r2 bucket unreachable: GET https://r2.demo.invalid/ws-4034012f: connect timeout after 3401ms": "R2 unreachable",
		"R2 request failed: status 403":                                    "bucket access denied",
		"R2: AccessDenied":                                                 "bucket access denied",
		"NoSuchBucket: the bucket does not exist":                          "bucket not found",
		"tmpdirRoot /srv/agents/tmp does not exist":                        "tmpdirRoot missing",
		"image registry.demo.invalid/box:1: manifest unknown":              "image not found",
		"sandbox did not answer in time: no reply within 24945ms":          "no answer in 24s",
		"sandbox did not answer within 300ms":                              "",
		"setup command OPENAI_API_KEY=‹masked› make failed: exit status 1": "setup command failed",
		"ENOTEMPTY: directory not empty, rmdir '/tmp/helix-ws-n080ap'":     "directory not empty",
		"container d55a exited with code 137":                              "killed: exit 137",
		"D1_ERROR: Network connection lost":                                "D1 connection lost",
		"max_instances reached (60/60 in use)":                             "no instance left",
		"sandbox instance is gone":                                         "sandbox is gone",
		"connection refused at http://127.0.0.1:1":                         "connection refused",
		"tar: Unexpected EOF in archive (phase: unpack)":                   "archive cut short",
		"ExposedPortUnavailableError: exposed port 3000 is unavailable: port 3000: exposed ports 3000: reason: backend_unavailable: detail: preview_creation_failed": "no address was made",
		"ExposedPortUnavailableError: exposed port 3000 is unavailable: reason: backend_unavailable: detail: preview_token_creation_failed":                          "no token was made",
		"ExposedPortUnavailableError: exposed port 3000 is unavailable: detail: invalid_preview_url":                                                                 "no address in answer",
		"ExposedPortUnavailableError: exposed port 3000 is unavailable: detail: url_parse_failed":                                                                    "address unreadable",
		"WorkspaceArchiveWriteError: failed to write archive for path: /workspace: reason: unsafe_or_invalid_tar (phase: archive refused)":                           "archive refused",
		"the flux capacitor hums in a minor key": "",
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

// The scope counts the subjects of all sources with the same cause and state, and the impact counts as many; an alert in another
// state is named, not counted.
func TestAnOutageOnTwoSourcesNamesBoth(t *testing.T) {
	of := func(source string, n int, late time.Duration) *alerts.Alert {
		return &alerts.Alert{ID: source, Rule: "capacity", Source: source, Fingerprint: "v3:1", State: alerts.StateFiring, SubjectCount: n,
			Bounds:   alerts.Bounds{Latest: noon.Add(-late)},
			Subjects: []alerts.Subject{{Key: backend.Key{Kind: backend.KindWorkspace, Source: source, ID: backend.MustID("w")}}}}
	}
	a, b := of("helix-us", 33, 2*time.Minute), of("helix-eu", 22, 3*time.Minute)
	c := views.NewSnapshot(noon, &fleet.State{}, &alerts.Board{Alerts: []*alerts.Alert{a, b}})
	if got := scope(a, c) + others(a, c); got != "55 workspaces: 33 on helix-us, 22 on helix-eu" {
		t.Errorf("%q", got)
	}
	if got := impact(a, c); !strings.HasPrefix(got, "55 workspaces get no sandbox") {
		t.Errorf("%q", got)
	}
	b.State = alerts.StatePending
	if got := scope(a, c) + others(a, c); got != "33 workspaces on helix-us; same cause: helix-eu 22 pending" {
		t.Errorf("%q", got)
	}
	b.State = alerts.StateFiring
	c = views.NewSnapshot(noon, &fleet.State{}, c.Board)
	if top, under := Onset(first(b, c), noon), Onset(first(a, c), noon); !c.Follows(a) || top != "≥ 3m" || under != "≥ 2m" {
		t.Errorf("the line above began %s ago, the other one %s", top, under)
	}
}

// The onset of many is that of the first one; the last one is named where it differs. A range is about one moment.
func TestSinceTellsFirstAndLast(t *testing.T) {
	at := func(d time.Duration) alerts.Bounds {
		return alerts.Bounds{Earliest: noon.Add(-d), Latest: noon.Add(-d)}
	}
	many := &alerts.Alert{State: alerts.StateFiring, SubjectCount: 2, Bounds: at(42 * time.Minute), Subjects: []alerts.Subject{{Bounds: at(42 * time.Minute)}, {Bounds: at(16 * time.Minute)}}}
	one := &alerts.Alert{State: alerts.StateFiring, SubjectCount: 1, Bounds: alerts.Bounds{Earliest: noon.Add(-45 * time.Minute), Latest: noon.Add(-6 * time.Minute)}, Subjects: []alerts.Subject{{}}}
	for a, want := range map[*alerts.Alert]string{
		many: "first 42m ago (11:18:00Z), newest 16m ago",
		one:  "6m to 45m ago (between 11:15:00Z and 11:54:00Z)",
	} {
		c := views.NewSnapshot(noon, &fleet.State{}, &alerts.Board{Alerts: []*alerts.Alert{a}})
		w := &writer{Doc: &kit.Doc{}, f: &views.Frame{Snapshot: c}}
		w.since(a)
		if got := strings.Join(w.Print(theme.New(theme.NoColours, theme.Unicode), 200), "\n"); !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// What tells the subjects of two rows apart is in the shortest form of their names.
func TestShortNamesTellApart(t *testing.T) {
	for name, want := range map[string]string{
		"agents-1": "agents-1", "s-64d9bd686bd3": "s-64d9bd686bd3", "helix-scratch-ac0596": "helix-…-ac0596",
		"e0000000-0023-4000-8000-000000000000": "e0000000-0023…", "s-61f17647cf98/scratch": "s-61f…/scratch", "/tmp/helix-ws-n080ap": "/tmp/h…-n080ap", "s-61f17647cf98/box": "s-61f1764…/box",
	} {
		if got := shortName(name, affectedWidth); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
