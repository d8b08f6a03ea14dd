package subjects

import (
	"fmt"
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

// Where there is little room, the reason of a source is told in few whole words.
func TestWhyASourceFailsFits(t *testing.T) {
	for text, want := range map[string]string{
		"connection refused (10.2.0.7:8080)":                                     "connection refused",
		"above its byte budget: every line is searched, 1 in 20 is decoded":      "above its byte budget",
		"the answer is no JSON: invalid character '<' looking for the beginning": "the answer is no JSON",
	} {
		h := &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: "s", ID: backend.MustID("s")}, Status: fleet.StatusDown, Error: backend.Clean(text, 200)}
		c := views.NewSnapshot(time.Unix(1, 0), &fleet.State{Sources: []*fleet.SourceHealth{h}}, &alerts.Board{})
		cell := sourceError(h, c)
		if got := cell.Fitting(21); got != want || cell.Text.String() != text {
			t.Errorf("%q, want %q; in full %q", got, want, cell.Text)
		}
	}
}

// TestAlertsThatTellTheSameAreOneLine: of one subject each, with their names; others stand by themselves.
func TestAlertsThatTellTheSameAreOneLine(t *testing.T) {
	t.Parallel()
	h := &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: "cf", ID: backend.MustID("cf")}, Status: fleet.StatusOK}
	for n, want := range map[int]int{2: 2, 40: 1} {
		board := &alerts.Board{}
		for i := range n {
			k := backend.Key{Kind: backend.KindSandbox, Source: "cf", ID: backend.MustID(fmt.Sprintf("box%02d", i))}
			board.Alerts = append(board.Alerts, &alerts.Alert{ID: fmt.Sprint(i), Rule: "contradiction", Source: "cf", State: alerts.StatePending, Cause: backend.Text("no command begins in it"), SubjectCount: 1, Subjects: []alerts.Subject{{Key: k}}})
		}
		w := &writer{Doc: &kit.Doc{}, f: &views.Frame{Snapshot: views.NewSnapshot(time.Unix(1, 0), &fleet.State{Sources: []*fleet.SourceHealth{h}}, board), Theme: theme.New(theme.NoColours, theme.ASCII)}}
		w.dependent(h)
		text := plainText(w.Doc)
		if got := strings.Count(text, "no command begins in it"); got != want {
			t.Errorf("%d alerts: %d lines\n%s", n, got, text)
		}
		if folds := strings.Contains(text, "40 such alerts, of one each, tell this: box00, box01, box02, box03, box04, box05 and 34 more"); folds != (n == 40) {
			t.Errorf("%d alerts:\n%s", n, text)
		}
	}
}
