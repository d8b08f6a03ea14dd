package test

import (
	"bytes"
	"context"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sandglass/demo"
)

// recorder keeps every address that the program asks for.
type recorder struct {
	mu    sync.Mutex
	asked []string
}

func (r *recorder) dial(ctx context.Context, network, address string) (net.Conn, error) {
	r.mu.Lock()
	r.asked = append(r.asked, network+" "+address)
	r.mu.Unlock()
	var d net.Dialer
	return d.DialContext(ctx, network, address)
}

// TestNoAddressOutsideTheConfiguration reads a whole fleet through a recording dialler: everything that is dialled
// stands in the configuration.
func TestNoAddressOutsideTheConfiguration(t *testing.T) {
	t.Parallel()
	d, err := demo.Start(t.Context(), demo.Options{Workspaces: 60, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	r := &recorder{}
	p := testProgram(time.Now)
	p.Dial = r.dial
	file := writeConfig(t, d.Config())
	var out bytes.Buffer
	p.Stdout = &out
	if code := p.Run(t.Context(), []string{"check", "--observe", "3s", "--config", file, "--state-dir", t.TempDir()}); code != 2 {
		t.Errorf("check of the demo exits %d, want 2:\n%s", code, out.String())
	}
	if len(r.asked) < 4 {
		t.Errorf("only %v was dialled; the recorder does not see the connections", r.asked)
	}
	slices.Sort(r.asked)
	for _, a := range slices.Compact(r.asked) {
		_, address, _ := strings.Cut(a, " ")
		if !strings.Contains(d.Config(), address) {
			t.Errorf("%q was dialled, and no source of the configuration is there", a)
		}
	}
}

// TestNothingIsDialledWithoutAConfiguration starts the local mode on a machine that has nothing.
func TestNothingIsDialledWithoutAConfiguration(t *testing.T) {
	r := &recorder{}
	p := testProgram(time.Now)
	p.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		_, _ = r.dial(ctx, network, "")
		return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("connect", syscall.ENOENT)}
	}
	var out bytes.Buffer
	p.Stdout = &out
	home := t.TempDir()
	p.Getenv = func(name string) string {
		if name == "HOME" {
			return home
		}
		return ""
	}
	// 1 and 2 are what a machine with a full disk has to tell; all else is a failure of the check.
	if code := p.Run(t.Context(), []string{"check", "--state-dir", t.TempDir()}); code < 0 || code > 2 {
		t.Errorf("check on a machine without anything exits %d:\n%s", code, out.String())
	}
	for _, a := range r.asked {
		if !strings.HasPrefix(a, "unix ") {
			t.Errorf("%q was dialled", a)
		}
	}
}
