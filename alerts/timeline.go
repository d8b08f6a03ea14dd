package alerts

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// timelineFile is the timeline's name in the state directory.
const timelineFile = "timeline.jsonl"

// The bounds of the timeline: how far back it goes and how large its file grows, and what of it a process holds.
const (
	timelineAge    = 7 * 24 * time.Hour
	timelineSize   = 16 << 20
	timelineTail   = 2 << 20
	timelineEvents = 5000
)

// timelineSchema is the number of the line's form.
const timelineSchema = 1

type timelineLine struct {
	Schema int `json:"schema"`
	backend.Event
}

// timeline holds what happened: in a file, where there is a state directory, and the newest of it in memory. What backends
// report on their own is not written down, it can be asked of them again.
type timeline struct {
	file   *lineFile // nil: memory only
	writes sync.Mutex
	cursor lineCursor // under writes

	mu       sync.Mutex
	written  []backend.Event // as they stand in the file
	waiting  []backend.Event // to be written
	platform []backend.Event
	doings   []backend.Event // what people did and noted, not yet handed to the engine
}

// done tells what people did and noted since it was last asked: it may explain what follows. Orders change alerts only.
func (t *timeline) done() []backend.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.doings
	t.doings = nil
	return d
}

// The names of events that change nothing outside: evidence was written down, a console may act or not any more, a sandbox or a
// platform was looked at.
const (
	EventBundle = "bundle"
	EventArm    = "arm"
	EventDisarm = "disarm"
	eventProbe  = "probe"
	eventProve  = "prove"
)

func (t *timeline) notice(e backend.Event) {
	switch OrderKind(e.Name) {
	case OrderAcknowledge, OrderUnacknowledge, OrderSilence, OrderExpire, EventBundle, EventArm, EventDisarm, eventProbe, eventProve:
		return
	}
	if e.Kind == backend.EventAction || e.Kind == backend.EventNote {
		t.doings = newest(append(t.doings, e), markersKept)
	}
}

// take adds what happened. Only the process that holds the alert state writes transitions, markers and ends down; for others
// they come back out of the file.
func (t *timeline) take(holder bool, events []backend.Event) (waiting bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range events {
		switch e.Kind {
		case backend.EventPlatform:
			if t.file != nil && isOurs(e) { // a backend does not tell it again
				if holder {
					t.waiting = append(t.waiting, e)
				}
				continue
			}
			t.platform = newest(append(t.platform, e), timelineEvents)
		case backend.EventTransition, backend.EventChange:
			if (holder || t.file == nil) && !t.holds(e) {
				t.waiting = append(t.waiting, e)
			}
		case backend.EventAction, backend.EventNote:
			t.waiting = append(t.waiting, e)
			if t.file == nil {
				t.notice(e)
			}
		}
	}
	t.waiting = newest(t.waiting, timelineEvents)
	return len(t.waiting) > 0 && t.file != nil
}

// holds reports whether a marker is there already: sources look back at each start, and tell again what carries a time
// of its own.
func (t *timeline) holds(e backend.Event) bool {
	if e.Kind != backend.EventChange || e.SourceAt.IsZero() {
		return false
	}
	same := func(o backend.Event) bool {
		return o.Kind == e.Kind && o.Source == e.Source && o.Name == e.Name && o.Text == e.Text && o.SourceAt.Equal(e.SourceAt)
	}
	return slices.ContainsFunc(t.waiting, same) || slices.ContainsFunc(t.written, same)
}

func newest(es []backend.Event, n int) []backend.Event {
	if len(es) <= n {
		return es
	}
	return slices.Clone(es[len(es)-n:])
}

// write writes down what waits, and reads what others added meanwhile.
func (t *timeline) write() error {
	if t.file == nil {
		return nil
	}
	t.writes.Lock()
	defer t.writes.Unlock()
	t.mu.Lock()
	waiting := t.waiting
	t.mu.Unlock()
	lines := make([][]byte, 0, len(waiting))
	for _, e := range waiting {
		line, err := json.Marshal(timelineLine{timelineSchema, e})
		if err != nil {
			return fmt.Errorf("timeline: %w", err)
		}
		lines = append(lines, line)
	}
	if err := t.file.add(false, lines...); err != nil {
		return fmt.Errorf("the timeline is not written down: %w", err)
	}
	return t.read(len(waiting))
}

// read takes over what was added to the file; so many of those that wait are among it.
func (t *timeline) read(done int) error {
	lines, anew, err := t.file.since(&t.cursor, timelineTail)
	var events []backend.Event
	unread := 0
	for _, line := range lines {
		var e timelineLine
		if json.Unmarshal(line, &e) != nil || e.Schema != timelineSchema {
			unread++
			continue
		}
		events = append(events, e.Event)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if anew {
		t.written = nil
	}
	for _, e := range events {
		t.notice(e)
	}
	t.written = newest(append(t.written, events...), timelineEvents)
	t.waiting = t.waiting[min(done, len(t.waiting)):]
	if err == nil && unread > 0 {
		err = &UnreadLinesError{unread, t.file.path}
	}
	return err
}

// UnreadLinesError means that the timeline's file holds what this program did not write. What was to be written is.
type UnreadLinesError struct {
	lines int
	path  string
}

// Error counts them.
func (e *UnreadLinesError) Error() string {
	return fmt.Sprintf("%s of %s %s damaged and skipped; the other events are complete",
		backend.Counted(e.lines, "line", "lines"), e.path, map[bool]string{true: "is", false: "are"}[e.lines == 1])
}

// trim drops what is older than a week, and the oldest when the file is too large.
func (t *timeline) trim(now time.Time) error {
	if t.file == nil {
		return nil
	}
	age := func(line []byte) (age time.Duration, known bool) {
		var e timelineLine
		known = json.Unmarshal(line, &e) == nil
		return now.Sub(e.At), known
	}
	past := func(line []byte) bool { // neither what another version wrote nor what a wrong clock dated tells how old the file is
		d, known := age(line)
		return known && d >= 0
	}
	oldest, size, err := t.file.oldest(past)
	if err != nil {
		return err
	}
	if d, _ := age(oldest); size <= timelineSize && (oldest == nil || d < timelineAge) {
		return nil
	}
	return t.file.compact(timelineSize/2, func(line []byte) bool {
		d, known := age(line)
		return !known || d < timelineAge
	})
}

// newest lists what happened, the newest first.
func (t *timeline) newest(n int) []backend.Event {
	t.mu.Lock()
	all := slices.Concat(t.written, t.waiting, t.platform)
	t.mu.Unlock()
	stable.Sort(all, func(a, b backend.Event) int { return a.At.Compare(b.At) })
	slices.Reverse(all)
	return all[:min(max(n, 0), len(all))]
}
