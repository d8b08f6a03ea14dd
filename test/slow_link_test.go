package test

import (
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// A slow link: 64 kbit/s are 8,000 bytes a second, of which each tick carries its share, and replies come a round trip later.
const (
	linkBytes = 8000 // a second
	linkTick  = 20 * time.Millisecond
	linkShare = linkBytes / int(time.Second/linkTick)
	roundTrip = 300 * time.Millisecond
	// usefulWithin is how much the first useful screen may cost: one second of the link.
	usefulWithin = linkBytes
)

// slowLink is the program on a terminal of 80x24 behind such a link.
type slowLink struct {
	tty   *os.File
	cmd   *exec.Cmd
	em    *vt.Emulator
	bytes int
}

func newSlowLink(t testing.TB, args ...string) *slowLink {
	t.Helper()
	l := &slowLink{cmd: exec.Command(os.Args[0], args...), em: vt.NewEmulator(80, 24)}
	l.cmd.Env = []string{"SANDGLASS_TEST_RUN_MAIN=1", "TERM=xterm-256color", "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=/tmp", "LANG=C.UTF-8"}
	var err error
	if l.tty, err = pty.StartWithSize(l.cmd, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.end)
	go l.reply()
	return l
}

func (l *slowLink) end() {
	_ = l.cmd.Process.Kill()
	_ = l.tty.Close()
	_ = l.cmd.Wait()
	if w, ok := l.em.InputPipe().(io.Closer); ok {
		_ = w.Close() // ends reply; the emulator's own Close races with it
	}
}

// reply sends what the terminal answers to questions, a round trip later.
func (l *slowLink) reply() {
	buf := make([]byte, 512)
	for {
		n, err := l.em.Read(buf)
		if err != nil {
			return
		}
		answer := slices.Clone(buf[:n])
		time.AfterFunc(roundTrip, func() { _, _ = l.tty.Write(answer) })
	}
}

// until takes from the program what the link carries until the screen is as wanted. It takes no more than most bytes: false says that
// the screen was not there by then.
func (l *slowLink) until(t testing.TB, most int, wanted func(screen string) bool) bool {
	t.Helper()
	share := make([]byte, linkShare)
	carries := time.NewTicker(linkTick)
	defer carries.Stop()
	for l.bytes < most {
		<-carries.C
		n, err := l.tty.Read(share[:min(len(share), most-l.bytes)])
		if err != nil {
			t.Fatalf("the program ended after %d bytes: %v\n%s", l.bytes, err, l.em.String())
		}
		l.bytes += n
		_, _ = l.em.Write(share[:n])
		if wanted(l.em.String()) {
			return true
		}
	}
	return false
}

// useful is a screen on which somebody can begin: what is wrong, its cause and the first step.
func useful(screen string) bool {
	return strings.Contains(screen, "SINCE") && strings.Contains(screen, "crit ") && strings.Contains(screen, "\n first ") && strings.Contains(screen, "\n don't ")
}

// TestFirstScreenOnASlowLink opens the console on a terminal that takes 64 kbit/s: the first useful screen costs at most what that link
// carries in one second, whatever is drawn before it. How long that takes: BenchmarkFirstScreenOnASlowLink.
func TestFirstScreenOnASlowLink(t *testing.T) {
	t.Parallel()
	l := newSlowLink(t, "demo", "--workspaces", "200", "--state-dir", t.TempDir())
	if !l.until(t, usefulWithin, useful) {
		t.Fatalf("%d bytes are not enough for the first useful screen:\n%s", l.bytes, l.em.String())
	}
	t.Logf("%d bytes, %v of the link", l.bytes, time.Duration(l.bytes)*time.Second/linkBytes)
}

// BenchmarkFirstScreenOnASlowLink is how long that takes from the start of the program on, and what it costs.
func BenchmarkFirstScreenOnASlowLink(b *testing.B) {
	total := 0
	for b.Loop() {
		l := newSlowLink(b, "demo", "--workspaces", "200", "--state-dir", b.TempDir())
		if !l.until(b, usefulWithin, useful) {
			b.Fatalf("%d bytes are not enough", l.bytes)
		}
		total += l.bytes
		l.end()
	}
	b.ReportMetric(float64(total)/float64(b.N), "bytes/screen")
}
