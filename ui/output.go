package ui

import (
	"io"
	"os"
	"slices"
	"sync"

	"github.com/charmbracelet/x/term"

	"sandglass/backend"
)

// output writes to a terminal on a goroutine of its own, so that a terminal that takes no output can be given up.
type output struct {
	out     io.Writer
	chunks  chan []byte
	results chan written
	gone    chan struct{}
	once    sync.Once
}

type written struct {
	n   int
	err error
}

func newOutput(out io.Writer, spawn backend.Spawner) *output {
	o := &output{out: out, chunks: make(chan []byte), results: make(chan written, 1), gone: make(chan struct{})}
	spawn.Go("ui: output", func() {
		for {
			select {
			case b := <-o.chunks:
				n, err := out.Write(b)
				o.results <- written{n, err}
			case <-o.gone:
				return
			}
		}
	})
	return o
}

// Write returns when the terminal took the bytes, or when it was given up. One write at a time.
func (o *output) Write(p []byte) (int, error) {
	select {
	case o.chunks <- slices.Clone(p): // the caller may use its own again while the terminal still holds these
	case <-o.gone:
		return 0, os.ErrClosed
	}
	select {
	case r := <-o.results:
		return r.n, r.err
	case <-o.gone:
		return 0, os.ErrClosed
	}
}

// giveUp ends all writes, also the one that is under way.
func (o *output) giveUp() { o.once.Do(func() { close(o.gone) }) }

// terminal is the output as Bubble Tea takes it: a file that is a terminal stays one.
func (o *output) terminal() io.Writer {
	if f, ok := o.out.(term.File); ok {
		return outputFile{f, o}
	}
	return o
}

type outputFile struct {
	term.File
	output *output
}

// Write writes to the output, not to the file itself.
func (f outputFile) Write(p []byte) (int, error) { return f.output.Write(p) }
