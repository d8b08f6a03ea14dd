package subjects

import (
	"testing"

	"sandglass/alerts"
	"sandglass/backend"
)

// TestTheHeadlineOfAContradictionAgreesWithItsCause: what no platform lists is not told as reported well.
func TestTheHeadlineOfAContradictionAgreesWithItsCause(t *testing.T) {
	for cause, want := range map[backend.Literal]string{
		"reported running, but exec fails":                                       "reported well, observed otherwise",
		"not reported, but its working directory is missing":                     "not reported, observed to fail",
		"many sandboxes at once are not reported, but no command begins in them": "not reported, observed to fail",
		"many sandboxes at once are reported well, but exec fails":               "reported well, observed otherwise",
		"many sandboxes at once are reported well or not at all, but exec fails": "reported well or not at all, observed otherwise",
	} {
		if got := meaning(&alerts.Alert{Rule: "contradiction", Cause: backend.Text(cause)}); got != want {
			t.Errorf("%s: %q, want %q", cause, got, want)
		}
	}
}
