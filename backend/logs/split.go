package logs

import "bytes"

// splitter cuts a byte stream into lines. It keeps at most maxLine bytes of a line and counts the rest.
type splitter struct {
	part []byte
	size int // of the unfinished line, dropped bytes included
}

// feed hands every complete line to emit, without its newline; size counts the newline too. The slice is valid during
// the call only.
func (s *splitter) feed(b []byte, emit func(data []byte, size int)) {
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			s.keep(b)
			return
		}
		if s.size == 0 {
			emit(b[:min(i, maxLine)], i+1)
		} else {
			s.keep(b[:i])
			emit(s.part, s.size+1)
			s.reset()
		}
		b = b[i+1:]
	}
}

// flush hands out the unfinished line, for a stream that ended.
func (s *splitter) flush(emit func(data []byte, size int)) {
	if s.size > 0 {
		emit(s.part, s.size)
		s.reset()
	}
}

func (s *splitter) keep(b []byte) {
	s.size += len(b)
	s.part = append(s.part, b[:min(len(b), maxLine-len(s.part))]...)
}

func (s *splitter) reset() {
	s.size = 0
	if cap(s.part) > readBlock {
		s.part = nil
	} else {
		s.part = s.part[:0]
	}
}
