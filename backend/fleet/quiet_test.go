package fleet

import (
	"context"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// counting is a source that counts how often it is asked, and goes on from bookmarks.
type counting struct {
	backend.Source
	asked int
	marks []backend.Bookmark
	until time.Time
}

func (c *counting) ID() string                  { return "ag" }
func (c *counting) Resume(m []backend.Bookmark) { c.marks = m }
func (c *counting) Poll(context.Context) (backend.Reading, error) {
	c.asked++
	return backend.Reading{}, nil
}

// parted is one that keeps to that time by itself.
type parted struct{ counting }

func (p *parted) Quiet(until time.Time) { p.until = until }

// TestALaterProcessKeepsToRetryAfter: it does not ask before that time, says so, and asks afterwards. A source that keeps to it by
// itself is told, and polled.
func TestALaterProcessKeepsToRetryAfter(t *testing.T) {
	t.Parallel()
	now := t0
	opt := Options{Now: func() time.Time { return now }, Mono: func() time.Duration { return now.Sub(t0) }, Spawn: backend.NewSpawner(nil)}
	rec := newSourceRecord("ag", backend.SourceConfig{})
	own := backend.Bookmark{File: "own", Sizes: []backend.SizeAt{{At: t0}}}
	rec.h.Bookmarks = []backend.Bookmark{own, backend.QuietBookmark(t0.Add(time.Second))}
	rec.note(&backend.Answer{Ended: backend.Instant{Wall: t0}, Failure: &backend.Failure{Kind: backend.ErrThrottled, RetryAfter: 5 * time.Minute}})
	if len(rec.h.Bookmarks) != 2 {
		t.Fatalf("%+v", rec.h.Bookmarks)
	}
	ask := func(src backend.Source, after time.Duration) *backend.Answer {
		now = t0.Add(after)
		p := newPoller(src, backend.SourceConfig{Interval: time.Second, Deadline: time.Second}, opt)
		(&Fleet{pollers: []*poller{p}}).Resume(map[string][]backend.Bookmark{"ag": rec.h.Bookmarks})
		var got *backend.Answer
		p.poll(t.Context(), func(a backend.Answer) { got = &a }, false)
		return got
	}
	src := &counting{}
	if a := ask(src, time.Minute); a.Failure == nil || a.Failure.Kind != backend.ErrThrottled || a.Failure.RetryAfter != 4*time.Minute || !a.Next.Equal(t0.Add(5*time.Minute)) ||
		!strings.Contains(a.Failure.Text.String(), "asked an earlier run to wait until 12:05:00Z: it is not asked before, in 4m0s") || src.asked > 0 {
		t.Errorf("early, asked %d times: %+v", src.asked, a.Failure)
	}
	later := newSourceRecord("ag", backend.SourceConfig{})
	later.note(ask(src, time.Minute))
	if later.note(ask(src, 2*time.Minute)); later.h.Failures != 0 || later.h.Status != StatusDown || later.h.Error.IsEmpty() {
		t.Errorf("not asked twice: %d failed polls, %s, %s", later.h.Failures, later.h.Status, later.h.Error)
	}
	if len(src.marks) != 1 || src.marks[0].File != "own" {
		t.Errorf("it goes on from %+v", src.marks)
	}
	if a := ask(src, 5*time.Minute); a.Failure != nil || src.asked != 1 {
		t.Errorf("afterwards: asked %d times, %+v", src.asked, a.Failure)
	}
	if a := ask(src, -2*time.Hour); a.Failure != nil || src.asked != 2 {
		t.Errorf("a clock that was set: asked %d times, %+v", src.asked, a.Failure)
	}
	part := &parted{}
	if a := ask(part, time.Minute); a.Failure != nil || part.asked != 1 || !part.until.Equal(t0.Add(5*time.Minute)) {
		t.Errorf("by itself: asked %d times, until %v", part.asked, part.until)
	}
}
