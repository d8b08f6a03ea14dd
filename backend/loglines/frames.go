package loglines

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/moby/moby/api/pkg/stdcopy"
)

// maxComplaint bounds what is kept of an engine's own error within a stream, in bytes.
const maxComplaint = 2 << 10

// ErrBadFrame says that a stream is no log of a container engine.
var ErrBadFrame = errors.New("not a log stream of an engine")

// Demultiplex takes the two outputs of a container apart: frames of an 8-byte header (stream, 3 zero bytes, big-endian length)
// and a payload, as documented for stdcopy. take gets pieces of the payload, valid during the call, and 1 for standard
// error. The library's own StdCopy holds a whole frame in memory, up to the 4 GiB that a lying header can announce; here a
// frame passes through in small pieces. The end of the stream is no error.
func Demultiplex(r io.Reader, take func(b []byte, which int)) error {
	buf := make([]byte, 32<<10)
	var header [8]byte
	for {
		if _, err := io.ReadFull(r, header[:]); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		which := 0
		switch kind := stdcopy.StdType(header[0]); kind {
		case stdcopy.Stdin, stdcopy.Stdout:
		case stdcopy.Stderr:
			which = 1
		case stdcopy.Systemerr:
			text, _ := io.ReadAll(io.LimitReader(r, int64(min(binary.BigEndian.Uint32(header[4:]), maxComplaint))))
			return fmt.Errorf("the engine says: %s", text)
		default:
			return fmt.Errorf("%w: unknown stream %d", ErrBadFrame, kind)
		}
		for left := int64(binary.BigEndian.Uint32(header[4:])); left > 0; {
			n, err := r.Read(buf[:min(int64(len(buf)), left)])
			take(buf[:n], which)
			left -= int64(n)
			if err != nil && left > 0 {
				return fmt.Errorf("the stream broke within a frame: %w", err)
			}
		}
	}
}

// Plain hands over a stream without frames, as a container with a terminal writes it.
func Plain(r io.Reader, take func([]byte)) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		take(buf[:n])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
