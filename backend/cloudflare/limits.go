package cloudflare

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	fewLeft     = 20              // requests that are left to other programs of the token
	longestRest = 5 * time.Minute // the window of the limit
)

// limits are what the header Ratelimit said last: how many requests are left, and until when.
type limits struct {
	mu    sync.Mutex
	left  int
	until time.Time
}

// note reads `Ratelimit: "default";r=50;t=30`. What cannot be read says nothing.
func (l *limits) note(h http.Header, now time.Time) {
	left, reset := -1, -1
	for part := range strings.FieldsFuncSeq(h.Get("Ratelimit"), func(r rune) bool { return r == ';' || r == ',' || r == ' ' }) {
		name, value, _ := strings.Cut(part, "=")
		n, err := strconv.Atoi(value)
		switch {
		case err != nil || n < 0:
		case name == "r" || name == "remaining":
			left = n
		case name == "t" || name == "reset":
			reset = n
		}
	}
	if left < 0 || reset < 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left, l.until = left, time.Time{}
	if left < fewLeft {
		l.until = now.Add(min(time.Duration(min(reset, 3600))*time.Second, longestRest))
	}
}

// rest is how long nothing should be asked, and how many requests are left.
func (l *limits) rest(now time.Time) (time.Duration, int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(l.until.Sub(now), 0), l.left
}
