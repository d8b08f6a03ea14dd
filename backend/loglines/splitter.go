// Package loglines cuts what logs are read from into lines, within bounds: streams of container engines, and plain bytes.
package loglines

import "bytes"

// Splitter cuts a byte stream into lines. It keeps at most Max bytes of a line and counts the rest.
type Splitter struct {
	Max  int
	part []byte
	cut  int // bytes of the unfinished line that were not kept
	open bool
}

// Feed hands every complete line to emit, without its end. The slice is valid during the call only; cut is how many bytes
// were not kept of it.
func (s *Splitter) Feed(b []byte, emit func(line []byte, cut int)) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			s.keep(b)
			return
		}
		if !s.open {
			n := min(i, s.Max)
			emit(chomp(b[:n]), i-n)
		} else {
			s.keep(b[:i])
			s.Flush(emit)
		}
		b = b[i+1:]
	}
}

// Flush hands out the unfinished line, if there is one.
func (s *Splitter) Flush(emit func(line []byte, cut int)) {
	if s.open {
		emit(chomp(s.part), s.cut)
		s.part, s.cut, s.open = s.part[:0], 0, false
	}
}

func (s *Splitter) keep(b []byte) {
	n := min(len(b), s.Max-len(s.part))
	s.part, s.cut, s.open = append(s.part, b[:n]...), s.cut+len(b)-n, true
}

func chomp(line []byte) []byte { return bytes.TrimSuffix(line, []byte{'\r'}) }
