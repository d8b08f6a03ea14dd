package loglines

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
)

// cuts are the lines that a Splitter makes of data in pieces of so many bytes.
func cuts(data []byte, most, size int) (out []string) {
	s := Splitter{Max: most}
	emit := func(line []byte, cut int) { out = append(out, fmt.Sprintf("%q cut %d", line, cut)) }
	for piece := range slices.Chunk(data, size) {
		s.Feed(piece, emit)
	}
	s.Flush(emit)
	s.Flush(emit) // a second one has nothing
	return out
}

// expected are the same by splitting the whole.
func expected(data []byte, most int) (out []string) {
	lines := bytes.Split(data, []byte{'\n'})
	if last := len(lines) - 1; len(lines[last]) == 0 {
		lines = lines[:last]
	}
	for _, l := range lines {
		n := min(len(l), most)
		out = append(out, fmt.Sprintf("%q cut %d", bytes.TrimSuffix(l[:n], []byte{'\r'}), len(l)-n))
	}
	return out
}

// However the bytes of a log arrive, its lines are the same, within their bound.
func FuzzSplitter(f *testing.F) {
	for _, data := range []string{"", "\n", "\n\n", "one\ntwo\n", "one\r\ntwo\r\n", "no end", "\r", "\r\n", "a\r\rb\n", "0123456789abcdef\nx\n", "0123456\r\n", "\x00\xff\n\x1b]0;x\a\n"} {
		for _, size := range []byte{1, 2, 7, 64} {
			f.Add([]byte(data), byte(8), size)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, most, size byte) {
		got, want := cuts(data, int(most), max(int(size), 1)), expected(data, int(most))
		if !slices.Equal(got, want) {
			t.Errorf("at most %d bytes, in pieces of %d:\n%q\nwant\n%q", most, size, got, want)
		}
	})
}
