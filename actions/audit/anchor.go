package audit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Sockets are the datagram sockets of the system's log, where the head of the journal goes after each synced record, so
// that a cut tail is found. Journald is preferred.
type Sockets struct {
	Journald string // speaks journald's native protocol, https://systemd.io/JOURNAL_NATIVE_PROTOCOL/
	Syslog   string // speaks RFC 3164, as syslog(3) writes it
}

// SystemSockets are where Linux systems have them.
func SystemSockets() Sockets {
	return Sockets{Journald: "/run/systemd/journal/socket", Syslog: "/dev/log"}
}

func (s Sockets) empty() bool { return s.Journald == "" && s.Syslog == "" }

// Identifier is the name under which anchors are in the system's log.
const Identifier = "sandglass"

// anchorPatience is how long an anchor waits for a log that does not take it.
const anchorPatience = 250 * time.Millisecond

// Severity notice (5) of the facility authpriv (10).
const (
	facility = 10
	priority = 5
)

// Anchor is the head of a journal at one moment, as it was kept elsewhere.
type Anchor struct {
	Place string // names the journal's path; empty: not known
	Chain string // names the journal's first record; empty: not known
	Seq   uint64 // 0: not known
	Hash  string // SHA-256 of the record's line, in hex
}

// String is the anchor as written to a log.
func (a Anchor) String() string {
	return fmt.Sprintf("audit anchor v1 place=%s chain=%s seq=%d hash=%s", a.Place, a.Chain, a.Seq, a.Hash)
}

// shortHash is how many hexadecimal digits name a place or a chain.
const shortHash = 16

// Place names the journal's path in anchors.
func (j *Journal) Place() string {
	path, err := filepath.Abs(j.path)
	if err != nil {
		path = j.path
	}
	return sumOf([]byte(path))[:shortHash]
}

// chainOf names the journal that begins so: by its first record.
func chainOf(f io.ReaderAt) string {
	s := newScanner(io.NewSectionReader(f, 0, 1<<62))
	for s.next() {
		if _, err := s.record(); err == nil {
			return sumOf(s.line)[:shortHash]
		}
	}
	return ""
}

// anchor tells the system's log the head. Where there is none, or it does not take it in time, the journal goes on
// without: Verify says how far it is anchored.
func (j *Journal) anchor(ctx context.Context, at time.Time, chain string, r Receipt) {
	if j.sockets.empty() || chain == "" {
		return
	}
	text := Anchor{Place: j.Place(), Chain: chain, Seq: r.Seq, Hash: r.Hash}.String()
	if j.sockets.Journald != "" {
		line := fmt.Sprintf("MESSAGE=%s\nPRIORITY=%d\nSYSLOG_FACILITY=%d\nSYSLOG_IDENTIFIER=%s\n", text, priority, facility, Identifier)
		if j.send(ctx, "unixgram", j.sockets.Journald, line) == nil {
			return
		}
	}
	if j.sockets.Syslog != "" {
		line := fmt.Sprintf("<%d>%s %s[%d]: %s", facility<<3|priority, at.Local().Format(time.Stamp), Identifier, os.Getpid(), text)
		if j.send(ctx, "unixgram", j.sockets.Syslog, line) != nil {
			_ = j.send(ctx, "unix", j.sockets.Syslog, line+"\x00") // some daemons listen for streams; syslog(3) ends a message so
		}
	}
}

func (j *Journal) send(ctx context.Context, network, socket, text string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), j.patience)
	defer cancel()
	c, err := (&net.Dialer{}).DialContext(ctx, network, socket)
	if err != nil {
		return err
	}
	if end, ok := ctx.Deadline(); ok {
		err = c.SetWriteDeadline(end)
	}
	if err == nil {
		_, err = io.WriteString(c, text)
	}
	return errors.Join(err, c.Close())
}

var (
	anchorText = regexp.MustCompile(`audit anchor v1 place=([0-9a-f]{16}) chain=([0-9a-f]{16}) seq=([0-9]{1,19}) hash=([0-9a-f]{64})`)
	headText   = regexp.MustCompile(`^(?:([0-9]{1,19}):)?([0-9a-f]{64})$`)
)

// ParseAnchor reads what `audit verify` prints as the head, "SEQ:HASH", or the hash alone.
func ParseAnchor(text string) (Anchor, error) {
	m := headText.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	if m == nil {
		return Anchor{}, fmt.Errorf("%q is not a head of a journal: it is 64 hexadecimal digits, or a number, a colon and those", text)
	}
	a := Anchor{Hash: m[2]}
	if m[1] != "" {
		a.Seq, _ = strconv.ParseUint(m[1], 10, 64) // 19 digits fit
	}
	return a, nil
}

// maxLogLine bounds a line of a log that is searched for anchors, in bytes; of a longer one the rest is not searched.
const maxLogLine = 64 << 10

// ReadAnchors finds the anchors in the lines of a log, whatever else they contain: the output of journalctl, a syslog
// file, or heads that were noted by hand, one a line.
func ReadAnchors(r io.Reader) ([]Anchor, error) {
	var out []Anchor
	in := bufio.NewReaderSize(r, maxLogLine)
	rest := false // the line began before
	for {
		line, err := in.ReadSlice('\n')
		if !rest {
			if m := anchorText.FindSubmatch(line); m != nil {
				seq, _ := strconv.ParseUint(string(m[3]), 10, 64)
				out = append(out, Anchor{Place: string(m[1]), Chain: string(m[2]), Seq: seq, Hash: string(m[4])})
			} else if a, err := ParseAnchor(string(bytes.TrimSpace(line))); err == nil {
				out = append(out, a)
			}
		}
		rest = errors.Is(err, bufio.ErrBufferFull)
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil && !rest:
			return out, fmt.Errorf("read anchors: %w", err)
		}
	}
}

// anchorCheck compares a journal with the anchors while it is read.
type anchorCheck struct {
	place  string
	chain  string // of the journal; empty before its first record
	bySeq  map[uint64][]Anchor
	byHash map[string]bool // anchors without a number: whether the record was seen
}

func newWitness(place string, anchors []Anchor) *anchorCheck {
	w := &anchorCheck{place: place, bySeq: map[uint64][]Anchor{}, byHash: map[string]bool{}}
	for _, a := range anchors {
		if a.Seq == 0 {
			w.byHash[a.Hash] = false
		} else {
			w.bySeq[a.Seq] = append(w.bySeq[a.Seq], a)
		}
	}
	return w
}

// mine reports whether the anchor belongs to this journal.
func (w *anchorCheck) mine(a Anchor) bool { return a.Chain == "" || a.Chain == w.chain }

// see takes a record in its place; wrong says that an anchor knows another one there.
func (w *anchorCheck) see(here Receipt) (anchored, wrong bool) {
	if w.chain == "" {
		w.chain = here.Hash[:shortHash]
	}
	if _, ok := w.byHash[here.Hash]; ok {
		w.byHash[here.Hash], anchored = true, true
	}
	for _, a := range w.bySeq[here.Seq] {
		if w.mine(a) {
			anchored = anchored || a.Hash == here.Hash
			wrong = wrong || a.Hash != here.Hash
		}
	}
	return anchored && !wrong, wrong
}

// end compares the anchors with the last record. last is the highest anchored number beyond it, lost whether an anchored
// record was not found, another whether another journal was kept in this place.
func (w *anchorCheck) end(head uint64) (last uint64, lost, another bool, foreign int) {
	for seq, list := range w.bySeq {
		for _, a := range list {
			switch {
			case w.mine(a):
				if seq > head {
					last = max(last, seq)
				}
			case a.Place == w.place && w.place != "":
				another = true
			default:
				foreign++
			}
		}
	}
	for _, seen := range w.byHash {
		lost = lost || !seen
	}
	return last, lost, another, foreign
}
