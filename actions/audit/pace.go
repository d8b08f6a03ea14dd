package audit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"sandglass/internal/stable"
)

// Pace bounds how many targets of one source are announced for one verb, whichever processes do it.
type Pace struct {
	Source string
	Most   int // within Within; at least 1
	Within time.Duration
}

// TooSoonError means that nothing was written, because as many targets as may be were announced already.
type TooSoonError struct {
	Wait time.Duration // until the next one may be; others may be faster then
}

// Error says how long to wait.
func (e *TooSoonError) Error() string {
	return fmt.Sprintf("as much as may be done in this time was done already; wait %s", e.Wait)
}

// maxPaced bounds how far back a journal is read for a Pace, in bytes. Older bytes are from before any span that
// is asked for: a record about one target has a few hundred bytes.
const maxPaced = 64 << 20

// tooSoon compares a journal, whose lock is held, with the pace; nil: there is room for one more.
func tooSoon(f *os.File, verb string, now time.Time, p Pace) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("audit journal: %w", err)
	}
	at, err := announced(f, info.Size(), verb, now, p)
	if err != nil {
		return fmt.Errorf("audit journal: how much was done lately is not known, and more might be too much: %w", err)
	}
	if len(at) < p.Most {
		return nil
	}
	stable.Sort(at, time.Time.Compare)
	return &TooSoonError{max(at[len(at)-p.Most].Add(p.Within).Sub(now), time.Millisecond)}
}

// announced lists when targets of the pace's source were announced for the verb within its span before now. Records with a
// time far after now were written before the clock was set back. Their age is unknown; records before them do not count.
func announced(f io.ReaderAt, size int64, verb string, now time.Time, p Pace) ([]time.Time, error) {
	var at []time.Time
	for span := int64(64 << 10); ; span *= 4 {
		from := max(0, size-span)
		at = at[:0]
		covered := from == 0
		first := true
		s := newScanner(io.NewSectionReader(f, from, size-from))
		for s.next() {
			r, err := s.record()
			if err != nil {
				continue // the rest of a line, or damage, which is Verify's business
			}
			if first {
				covered = covered || r.At.Before(now.Add(-p.Within))
				first = false
			}
			if d := now.Sub(r.At); r.Phase == PhaseTargetIntent && r.Verb == verb && d < p.Within && d > -p.Within &&
				len(r.Subjects) > 0 && r.Subjects[0].Source == p.Source {
				at = append(at, r.At)
			}
		}
		switch {
		case s.err != nil:
			return nil, s.err
		case covered:
			return at, nil
		case span >= maxPaced:
			return nil, errors.New("too much was written since")
		}
	}
}
