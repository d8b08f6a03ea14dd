package audit

import (
	"errors"
	"fmt"
	"io"
)

// maxBack bounds how far the end of a journal is searched for its last record.
const maxBack = 4 * MaxLine

// tail is the end of a journal, where the next record goes.
type tail struct {
	seq  uint64 // of the last record, 0 when there is none
	hash string // of its line
	// open says that the file does not end in a line end, so that the next record must bring one.
	open    bool
	remains *Remains
}

// ErrNoRecord means that the end of a journal holds no record, so that nothing can be chained to it.
var ErrNoRecord = errors.New("the end of the audit journal holds no record; look at it with `sandglass audit verify`, then move the file away")

// readTail finds the last record of a journal and the bytes behind it.
func readTail(f io.ReaderAt, size int64) (tail, error) {
	for span := int64(64 << 10); ; span *= 4 {
		from := max(0, size-span)
		buf := make([]byte, size-from)
		if _, err := f.ReadAt(buf, from); err != nil && !errors.Is(err, io.EOF) {
			return tail{}, fmt.Errorf("read the end of the audit journal: %w", err)
		}
		t, found := findTail(buf, from == 0)
		switch {
		case found && (t.remains == nil || t.remains.Bytes <= MaxLine):
			return t, nil
		case from == 0 && len(buf) <= MaxLine:
			return headless(buf), nil
		case found || from == 0 || span >= maxBack:
			return tail{}, ErrNoRecord
		}
	}
}

// findTail looks for the last record in buf, the end of a file; whole says that it is all of the file.
func findTail(buf []byte, whole bool) (tail, bool) {
	ended := len(buf) > 0 && buf[len(buf)-1] == '\n'
	end := len(buf)
	if ended {
		end--
	}
	last := end
	for end >= 0 {
		start, cut := lineStart(buf[:end])
		if !cut && !whole {
			return tail{}, false
		}
		if r, err := decode(buf[start:end]); err == nil {
			t := tail{seq: r.Seq, hash: sumOf(buf[start:end]), open: !ended}
			if end != last {
				t.remains = remainsOf(buf[end+1:last], ended)
			}
			return t, true
		}
		end = start - 1
	}
	return tail{}, false
}

// headless is the tail of a file in which nothing is a record.
func headless(buf []byte) tail {
	t := tail{hash: noLine}
	if len(buf) == 0 {
		return t
	}
	ended := buf[len(buf)-1] == '\n'
	if t.open = !ended; ended {
		buf = buf[:len(buf)-1]
	}
	t.remains = remainsOf(buf, ended)
	return t
}

// remainsOf describes bytes that are no record. A crash leaves only the beginning of one
// line; other bytes mean that the file was edited.
func remainsOf(b []byte, ended bool) *Remains {
	_, several := lineStart(b)
	return &Remains{Bytes: int64(len(b)), Sum: sumOf(b), Torn: !ended && !several && !looksWhole(b) && !overwritten(b)}
}
