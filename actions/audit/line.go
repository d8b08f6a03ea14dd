package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// MaxLine bounds a stored line in bytes; a larger record is refused.
const MaxLine = 2 << 20

// A line ends in its own hash: `…,"sum":"<64 hex>"}`. The hash covers everything before that, as stored.
const (
	sumOpen  = `,"sum":"`
	sumClose = `"}`
	hexSum   = 2 * sha256.Size
	tailSize = len(sumOpen) + hexSum + len(sumClose)
)

// noLine is the Prev of the first record.
const noLine = "0000000000000000000000000000000000000000000000000000000000000000"

// storedRecord is the JSON form of a record.
type storedRecord struct {
	Record
	Sum string `json:"sum,omitempty"`
}

func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// encode makes a line without its line end.
func encode(r *Record) ([]byte, error) {
	b, err := json.Marshal(storedRecord{Record: *r})
	if err != nil {
		return nil, err
	}
	b = ascii(b)
	b = b[:len(b)-1] // the brace
	sum := sumOf(b)
	b = append(b, sumOpen+sum+sumClose...)
	if len(b) > MaxLine {
		return nil, fmt.Errorf("the record takes %d bytes, more than %d; name fewer subjects in one record", len(b), MaxLine)
	}
	return b, nil
}

// ascii writes what is not printable ASCII as JSON escapes, so that a stored line is harmless wherever it is printed.
// Outside of strings JSON is ASCII, so every such character is in a string.
func ascii(b []byte) []byte {
	out := make([]byte, 0, len(b)+tailSize)
	for i := 0; i < len(b); {
		if b[i] >= 0x20 && b[i] < 0x7f {
			out = append(out, b[i])
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		i += n
		if r > 0xffff {
			r -= 0x10000
			out = fmt.Appendf(out, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
			continue
		}
		out = fmt.Appendf(out, `\u%04x`, r)
	}
	return out
}

// looksWhole reports whether the line has the end of a whole record, so that no crash can have cut it.
func looksWhole(line []byte) bool {
	if len(line) < tailSize {
		return false
	}
	tail := line[len(line)-tailSize:]
	return string(tail[:len(sumOpen)]) == sumOpen && string(tail[len(tail)-len(sumClose):]) == sumClose
}

// overwritten reports whether a line without a line end is a whole record and one more byte: no crash leaves that, its
// line end was changed.
func overwritten(line []byte) bool {
	if len(line) == 0 {
		return false
	}
	_, err := decode(line[:len(line)-1])
	return err == nil
}

var (
	errNotWhole = errors.New("the line is not a whole record")
	errChanged  = errors.New("the line was changed: it does not have the hash that it names")
)

// decode reads a line without its line end and proves it against its own hash. It says nothing about its place.
func decode(line []byte) (Record, error) {
	if !looksWhole(line) {
		return Record{}, errNotWhole
	}
	at := len(line) - tailSize
	if string(line[at+len(sumOpen):len(line)-len(sumClose)]) != sumOf(line[:at]) {
		return Record{}, errChanged
	}
	var s storedRecord
	if err := json.Unmarshal(line, &s); err != nil {
		return Record{}, fmt.Errorf("the line has its right hash but is no record: %w", err)
	}
	if s.Seq == 0 || len(s.Prev) != hexSum {
		return Record{}, errors.New("the line has its right hash but no place in a chain")
	}
	return s.Record, nil
}

// lineStart returns the index behind the last line end of b, and whether there is one.
func lineStart(b []byte) (int, bool) {
	i := bytes.LastIndexByte(b, '\n')
	return i + 1, i >= 0
}
