package fleet

import "testing"

// A fifth of the sessions, or five of them: exactly so many are too many.
func TestTooManyUnreadAtItsLimits(t *testing.T) {
	for _, x := range []struct {
		unread, of int
		want       bool
	}{
		{0, 0, false}, {0, 3, false}, {1, 6, false}, {1, 5, true}, {3, 16, false}, {3, 15, true}, {4, 3000, false}, {5, 3000, true},
	} {
		if got := TooManyUnread(x.unread, x.of); got != x.want {
			t.Errorf("%d of %d: %v", x.unread, x.of, got)
		}
	}
}
