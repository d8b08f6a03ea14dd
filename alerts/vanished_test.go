package alerts

import (
	"slices"
	"strings"
	"testing"
)

// A session that leaves its list while it is in trouble did not prove its end: its finding is held for a while.
func TestFindingsOfASessionWhoseEndWasNotSeen(t *testing.T) {
	for _, c := range []struct{ words, want string }{
		{"on gone away", "firing ended ended"},
		{"on vanished away on", "firing held held firing"},
		{"on vanished away off", "firing held held -"},
		{"on vanished" + strings.Repeat(" away", 10), "firing held" + strings.Repeat(" held", 9) + " ended"},
		{"on vanished" + strings.Repeat(" silent", 25) + strings.Repeat(" away", 11), "firing held" + strings.Repeat(" held", 25) + strings.Repeat(" held", 6) + strings.Repeat(" ended", 5)},
		{"off vanished away", "- - -"},
	} {
		l := newLamp(t, Meta{})
		l.minutes(c.words)
		if !slices.Equal(l.seen, strings.Fields(c.want)) {
			t.Errorf("%s: %v", c.words, l.seen)
		}
	}
}
