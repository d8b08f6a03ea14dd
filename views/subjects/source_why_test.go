package subjects

import (
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
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
