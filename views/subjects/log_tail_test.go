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

// A line at the end of a log has its time once and short, so that what it says is in sight; a time without a zone stays as it is.
func TestALogsEndHasShortTimes(t *testing.T) {
	b := &backend.Sandbox{Log: backend.Known(backend.LogTail{Lines: []backend.Safe{backend.Text("2026-11-29T00:35:14.460Z ERROR exit 1"),
		backend.Text("2026-11-29 01:02:03 no zone"), backend.Text("plain")}})}
	w := &writer{Doc: &kit.Doc{}, f: &views.Frame{Snapshot: views.NewSnapshot(time.Date(2026, 11, 29, 1, 0, 0, 0, time.UTC), &fleet.State{}, &alerts.Board{}), Theme: theme.New(theme.NoColours, theme.ASCII)}}
	w.logTail(b)
	text := plainText(w.Doc)
	for _, want := range []string{"its log ends  00:35:14Z  ERROR exit 1  ", " 2026-11-29 01:02:03 no zone  ", " plain  "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not written:\n%s", want, text)
		}
	}
}
