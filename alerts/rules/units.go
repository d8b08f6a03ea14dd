package rules

import (
	"fmt"
	"math"
	"strings"
	"time"

	"sandglass/backend"
)

// share refuses what is no share.
func share(key string, f float64) error {
	if f <= 0 || f > 1 {
		return &KeyError{key, "is a share: more than 0 and at most 1"}
	}
	return nil
}

// atShare reports whether a part is at least a share of the whole. It divides: the quotient of two whole numbers is the share as
// it was written, while 0.07 × 100 is more than 7.
func atShare(part, share, whole float64) bool { return whole <= 0 || part/whole >= share }

// within reports whether a part is at most a share of the whole.
func within(part, share, whole float64) bool { return whole > 0 && part/whole <= share }

// ofShare is the least count that is a share of a whole.
func ofShare(share float64, whole int) int {
	n := int(math.Ceil(share * float64(whole)))
	if n > 0 && atShare(float64(n-1), share, float64(whole)) {
		n--
	}
	return n
}

// atLeast refuses a number below a minimum.
func atLeast(key string, n, least int) error {
	if n < least {
		return &KeyError{key, fmt.Sprintf("must be at least %d", least)}
	}
	return nil
}

// bytesText writes a number of bytes for people.
func bytesText(n int64) string {
	f, unit := float64(n), "B"
	for _, u := range []string{"kB", "MB", "GB", "TB"} {
		if f < 1000 {
			break
		}
		f, unit = f/1000, u
	}
	return number(f) + " " + unit
}

// span writes a duration for people: two parts at most, no fractions.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < 2*time.Minute:
		return text(d.Round(time.Second))
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return text(d.Truncate(time.Minute))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// names reports whether an identifier holds another one, whole: a path inside a document, say, but not the beginning of
// a longer path.
func names(in, what backend.ID) bool {
	if in.IsZero() || what.IsZero() {
		return false
	}
	text, part := in.Raw(), what.Raw()
	for {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
		if text == "" || !isNameByte(text[0]) {
			return true
		}
	}
}

func isNameByte(c byte) bool {
	return c == '-' || c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
