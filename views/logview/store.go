// Package logview shows lines of logs: a store that keeps the newest within a bound of bytes, a filter over it, and the view of one
// viewer. The store takes lines from the goroutines that read them; the view is a pure function of the store and its intents.
package logview

import (
	"sync"
	"time"
	"unsafe"

	"sandglass/backend"
	"sandglass/backend/logstream"
)

const (
	// DefaultLimit is how many bytes of lines a view keeps.
	DefaultLimit = 16 << 20
	blockBytes   = backend.MaxLogLine // of text, so that each line fits into one block
	blockLines   = 8 << 10
	lineBytes    = int(unsafe.Sizeof(line{}))
)

// Store keeps the newest lines of some logs. It is safe for use by several goroutines.
type Store struct {
	cleaner *backend.Cleaner
	drawnAs func(string) string // what is drawn, copied, saved and searched for a text; nil: the text
	limit   int
	changed chan struct{}

	mu      sync.Mutex
	blocks  []*block // oldest first
	spare   *block
	next    uint64 // number of the line that comes next; numbers begin at 1
	read    uint64 // lines below this number were searched
	filter  *Filter
	logs    []logstream.State
	taken   uint64 // bytes
	dropped uint64 // lines
	newest  time.Time
}

// block is a run of lines, which is forgotten as a whole.
type block struct {
	first           uint64
	text            []byte
	lines           []line
	matched, errors int
}

// line is one line of a block.
type line struct {
	at    int64 // Unix time in nanoseconds; 0: not told
	from  uint32
	n     uint32
	cut   uint32
	log   uint16
	flags flags
}

type flags uint8

const (
	isStderr flags = 1 << iota
	isError
	isMatch
)

// Line is a line that was kept.
type Line struct {
	N       uint64 // its number
	At      time.Time
	Log     int
	Stderr  bool
	Error   bool // it tells of an error
	Matches bool // the filter; true without one
	Cut     int  // bytes at its end that were not kept
	Raw     string
}

// NewStore keeps at most limit bytes of lines of so many logs, bookkeeping included, and at least one block of 256 KiB.
func NewStore(limit, logs int, cleaner *backend.Cleaner) *Store {
	return &Store{cleaner: cleaner, limit: limit, changed: make(chan struct{}, 1), next: 1, read: 1, logs: make([]logstream.State, logs)}
}

// Showing makes the Store hand out and search texts as f says: where names are hidden. Call it before lines come; f is called from
// several goroutines.
func (s *Store) Showing(f func(string) string) { s.drawnAs = f }

// Changed has one slot, which is filled when something came.
func (s *Store) Changed() <-chan struct{} { return s.changed }

func (s *Store) tell() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// Line takes a line.
func (s *Store) Line(log int, l backend.LogLine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.room(len(l.Text))
	x := line{from: uint32(len(b.text)), n: uint32(len(l.Text)), cut: uint32(min(l.Cut, 1<<31)), log: uint16(log)}
	if !l.At.IsZero() {
		x.at = l.At.UnixNano()
		if l.At.After(s.newest) {
			s.newest = l.At
		}
	}
	if l.Stderr {
		x.flags = isStderr
	}
	b.text = append(b.text, l.Text...)
	b.lines = append(b.lines, x)
	s.next++
	s.taken += uint64(len(l.Text))
	s.tell()
}

// State takes what became of a log.
func (s *Store) State(log int, x logstream.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if log >= 0 && log < len(s.logs) {
		s.logs[log] = x
	}
	s.tell()
}

// room is the block that the next line goes into. The oldest blocks make room for it.
func (s *Store) room(n int) *block {
	if len(s.blocks) > 0 {
		if b := s.blocks[len(s.blocks)-1]; len(b.text)+n <= blockBytes && len(b.lines) < blockLines {
			return b
		}
	}
	for len(s.blocks) > 0 && s.held()+blockBytes+blockLines*lineBytes > s.limit {
		old := s.blocks[0]
		s.dropped += uint64(len(old.lines))
		s.blocks[0] = nil
		s.blocks = s.blocks[1:]
		s.spare = old
	}
	b := s.spare
	if s.spare = nil; b == nil {
		b = &block{text: make([]byte, 0, blockBytes)}
	}
	*b = block{first: s.next, text: b.text[:0], lines: b.lines[:0]}
	s.blocks = append(s.blocks, b)
	return b
}

// held is how many bytes the blocks take.
func (s *Store) held() (n int) {
	for _, b := range s.blocks {
		n += cap(b.text) + cap(b.lines)*lineBytes
	}
	return n
}

// first is the number of the oldest line; that of the next where there is none.
func (s *Store) first() uint64 {
	if len(s.blocks) == 0 {
		return s.next
	}
	return s.blocks[0].first
}

// find is the block of a line and its place there; nil: the line is not kept.
func (s *Store) find(n uint64) (*block, int) {
	if n < s.first() || n >= s.next {
		return nil, 0
	}
	for i := len(s.blocks) - 1; i >= 0; i-- {
		if b := s.blocks[i]; n >= b.first {
			return b, int(n - b.first)
		}
	}
	return nil, 0
}

// line copies a line out.
func (s *Store) line(b *block, i int) Line {
	x := &b.lines[i]
	l := Line{N: b.first + uint64(i), Log: int(x.log), Stderr: x.flags&isStderr != 0, Error: x.flags&isError != 0,
		Matches: s.filter == nil || x.flags&isMatch != 0, Cut: int(x.cut), Raw: string(b.text[x.from : x.from+x.n])}
	if x.at != 0 {
		l.At = time.Unix(0, x.at)
	}
	return l
}

// Counts are the numbers of a store.
type Counts struct {
	First, Next     uint64 // numbers of the oldest line, and of the one that comes next
	Matched, Errors int    // of the lines that are kept and searched
	Dropped         uint64 // lines that made room for newer ones
	Unread          uint64 // lines that are not searched yet
	Bytes           uint64 // that came
	Newest          time.Time
	Logs            []logstream.State
}

// Kept is how many lines are kept.
func (c Counts) Kept() int { return int(c.Next - c.First) }

// Counts are the numbers as they are now.
func (s *Store) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := Counts{First: s.first(), Next: s.next, Dropped: s.dropped, Bytes: s.taken, Newest: s.newest, Logs: append([]logstream.State(nil), s.logs...)}
	c.Unread = s.next - max(s.read, c.First)
	for _, b := range s.blocks {
		c.Matched += b.matched
		c.Errors += b.errors
	}
	if s.filter == nil {
		c.Matched = c.Kept()
	}
	return c
}

// Kind is which lines a walk goes to: those that are all that is set.
type Kind = flags

// The kinds of lines.
const (
	Any      Kind = 0
	Matching      = isMatch
	Errors        = isError
)

// Seek is the first line at or after n, or with back at or before it, of a kind; false: there is none.
func (s *Store) Seek(n uint64, back bool, kind Kind) (Line, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !back:
		n = max(n, s.first())
	case n < s.first():
		return Line{}, false
	default:
		n = min(n, s.next-1)
	}
	if b, i := s.seek(n, back, kind); b != nil {
		return s.line(b, i), true
	}
	return Line{}, false
}

func (s *Store) seek(n uint64, back bool, kind Kind) (*block, int) {
	if s.filter == nil {
		kind &^= Matching
	}
	step := uint64(1)
	if back {
		step = ^uint64(0) // -1
	}
	for b, i := s.find(n); b != nil; b, i = s.find(n) {
		for ; i >= 0 && i < len(b.lines); i += int(int64(step)) {
			if b.lines[i].flags&kind == kind {
				return b, i
			}
		}
		if n = b.first + uint64(len(b.lines)); back {
			n = b.first - 1
		}
	}
	return nil, 0
}

// Each hands the lines of a kind over, oldest first, until do returns false. It holds the store for one line at a time.
func (s *Store) Each(kind Kind, do func(Line) bool) {
	end := s.Counts().Next
	for n := uint64(0); ; {
		l, ok := s.Seek(n, false, kind)
		if !ok || l.N >= end || !do(l) {
			return
		}
		n = l.N + 1
	}
}
