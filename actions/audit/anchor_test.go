//go:build unix

package audit

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeLog is a datagram socket as the system's log has one.
func fakeLog(t *testing.T) (path string, read func() string) {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "log") // the name of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "s")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		_ = os.RemoveAll(dir)
	})
	return path, func() string {
		t.Helper()
		b := make([]byte, 4096)
		if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		n, err := c.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
}

func anchored(t *testing.T, s Sockets) *Journal {
	t.Helper()
	j, err := New(Options{Dir: t.TempDir(), Origin: origin(), Sockets: s})
	if err != nil {
		t.Fatal(err)
	}
	j.patience = time.Minute // these logs take what they are given
	return j
}

func synced(t *testing.T, j *Journal, i int) Receipt {
	t.Helper()
	r, err := j.Append(t.Context(), entry(i), Synced)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheHeadGoesToTheSystemsLog(t *testing.T) {
	journald, readJournald := fakeLog(t)
	syslog, readSyslog := fakeLog(t)
	j := anchored(t, Sockets{Journald: journald, Syslog: syslog})
	add(t, j, entry(0)) // not synced, not anchored
	r := synced(t, j, 1)
	first := sumOf(content(t, j)[:bytes.IndexByte(content(t, j), '\n')])
	text := fmt.Sprintf("audit anchor v1 place=%s chain=%s seq=2 hash=%s", j.Place(), first[:16], r.Hash)
	if got, want := readJournald(), "MESSAGE="+text+"\nPRIORITY=5\nSYSLOG_FACILITY=10\nSYSLOG_IDENTIFIER=sandglass\n"; got != want {
		t.Errorf("journald got %q, want %q", got, want)
	}

	j = anchored(t, Sockets{Journald: filepath.Join(t.TempDir(), "none"), Syslog: syslog})
	r = synced(t, j, 0)
	got := readSyslog()
	head := fmt.Sprintf("<85>%s sandglass[%d]: audit anchor v1 ", t0.Local().Format("Jan _2 15:04:05"), os.Getpid())
	if !strings.HasPrefix(got, head) || !strings.HasSuffix(got, " seq=1 hash="+r.Hash) {
		t.Errorf("syslog got %q", got)
	}
	all, err := ReadAnchors(strings.NewReader("Jan 01 12:00:00 build-7 " + got))
	if err != nil || len(all) != 1 || all[0] != (Anchor{Place: j.Place(), Chain: r.Hash[:16], Seq: 1, Hash: r.Hash}) {
		t.Errorf("read back: %+v, %v", all, err)
	}
}

func TestALogThatListensForStreamsIsToldToo(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "log")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	j := anchored(t, Sockets{Syslog: filepath.Join(dir, "s")})
	r := synced(t, j, 0)
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := io.ReadAll(c)
	if all, _ := ReadAnchors(bytes.NewReader(got)); err != nil || len(all) != 1 || all[0].Hash != r.Hash || !bytes.HasSuffix(got, []byte{0}) {
		t.Errorf("the log got %q, %v", got, err)
	}
}

// TestALogThatDoesNotTakeAnchorsHoldsNothingUp: nobody reads the socket, so that it fills up, and there is none at all.
func TestALogThatDoesNotTakeAnchorsHoldsNothingUp(t *testing.T) {
	stuck, _ := fakeLog(t)
	c, err := net.Dial("unixgram", stuck)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	raw, err := c.(*net.UnixConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	full := false
	for !full { // the socket is non-blocking: it says so when the log takes no more
		if err := raw.Write(func(fd uintptr) bool {
			_, err := syscall.Write(int(fd), []byte("noise"))
			full = err != nil
			return true
		}); err != nil {
			t.Fatal(err)
		}
	}
	j := anchored(t, Sockets{Journald: stuck, Syslog: filepath.Join(t.TempDir(), "none")})
	j.patience = anchorPatience
	began := time.Now()
	synced(t, j, 0) // without an end of patience this would never return
	if d := time.Since(began); d < anchorPatience {
		t.Errorf("it took %s: the log was not stuck", d)
	}
	if r := verify(t, content(t, j)); r.Records != 1 || r.Anchored != 0 {
		t.Errorf("%+v", r)
	}
}

func TestAnchorsFindACutTail(t *testing.T) {
	syslog, read := fakeLog(t)
	j := anchored(t, Sockets{Syslog: syslog})
	var log strings.Builder
	var heads []Receipt
	for i := range 5 {
		heads = append(heads, synced(t, j, i))
		log.WriteString("Nov 21 12:00:00 build-7 " + read() + "\nNov 21 12:00:00 build-7 sshd[7]: a line of something else\n")
	}
	good := content(t, j)
	lines := bytes.SplitAfter(good, []byte("\n"))
	anchors, err := ReadAnchors(strings.NewReader(log.String()))
	if err != nil || len(anchors) != 5 {
		t.Fatalf("%d anchors, %v", len(anchors), err)
	}
	rewritten := anchored(t, Sockets{})
	for i := range 6 {
		add(t, rewritten, entry(i+20))
	}
	forked := anchored(t, Sockets{}) // the same beginning, another end
	put(t, forked, join(lines[:4]...))
	add(t, forked, entry(30))
	stranger := anchors[4]
	stranger.Place, stranger.Chain = "0000000000000000", "1111111111111111"
	by := func(text string) []Anchor {
		a, err := ParseAnchor(text)
		if err != nil {
			t.Fatal(err)
		}
		return []Anchor{a}
	}
	for _, c := range []struct {
		name     string
		in       []byte
		anchors  []Anchor
		want     string
		anchored uint64
		foreign  int
	}{
		{"whole", good, anchors, "", 5, 0},
		{"without anchors", good, nil, "", 0, 0},
		{"the last one gone", join(lines[:4]...), anchors, "5 cut off", 4, 0},
		{"three gone", join(lines[:2]...), anchors, "3 cut off", 2, 0},
		{"all gone", nil, anchors, "1 cut off", 0, 0},
		{"the last one half gone", good[:len(good)-30], anchors, "6 cut off; torn 5", 4, 0},
		{"another end", content(t, forked), anchors, "5 replaced", 4, 0},
		{"rewritten as a whole", content(t, rewritten), anchors, "1 cut off", 0, 0},
		{"longer than the anchors", good, anchors[:3], "", 3, 0},
		{"an anchor of another journal", good, []Anchor{stranger}, "", 0, 1},
		{"a hash", good, by(heads[2].Hash), "", 3, 0},
		{"a hash that is not there", join(lines[:2]...), by(heads[2].Hash), "3 cut off", 0, 0},
		{"a noted head", good, by(fmt.Sprintf("4:%s", heads[3].Hash)), "", 4, 0},
		{"a noted head with another hash", good, by(fmt.Sprintf("4:%s", heads[2].Hash)), "4 replaced", 0, 0},
		{"a noted head that was cut off", join(lines[:3]...), by(fmt.Sprintf("4:%s", heads[3].Hash)), "4 cut off", 0, 0},
	} {
		r, err := verifyChain(bytes.NewReader(c.in), j.Place(), c.anchors)
		if err != nil {
			t.Fatal(err)
		}
		if found(&r) != c.want || r.Anchored != c.anchored || r.Foreign != c.foreign {
			t.Errorf("%s: found %q, anchored %d, %d foreign; want %q, %d, %d", c.name, found(&r), r.Anchored, r.Foreign, c.want, c.anchored, c.foreign)
		}
	}
	if err := os.Remove(j.Path()); err != nil {
		t.Fatal(err)
	}
	if r, err := j.Verify(context.Background(), anchors...); err != nil || found(&r) != "1 cut off" {
		t.Errorf("the file is gone: %q, %v", found(&r), err)
	}
}

func TestWhatIsNoAnchor(t *testing.T) {
	for _, s := range []string{"", "abc", "7:", "x:" + noLine, noLine + "0", noLine[1:] + "g"} {
		if a, err := ParseAnchor(s); err == nil {
			t.Errorf("%q is taken for %+v", s, a)
		}
	}
	long := strings.Repeat("x", 3*maxLogLine) + " " + Anchor{Place: noLine[:16], Chain: noLine[:16], Seq: 1, Hash: noLine}.String() + "\n7:" + noLine
	all, err := ReadAnchors(strings.NewReader(long))
	if err != nil || len(all) != 1 || all[0].Seq != 7 {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := ReadAnchors(failing{strings.NewReader("x\n")}); err == nil {
		t.Error("a log that cannot be read is no error")
	}
}
