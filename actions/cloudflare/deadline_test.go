package cloudflare

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/actions"
	"sandglass/backend/cloudflare/bridge"
)

// TestTheFirstTouchWaitsForAContainer: 160 s, and later requests 15 s; neither is sent again where no answer came.
func TestTheFirstTouchWaitsForAContainer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dials := 0
		site := (&world{t: t, url: "http://127.0.0.1:1"}).site(actions.Probe)
		site.Deps.Dial = func(context.Context, string, string) (net.Conn, error) {
			dials++
			ours, theirs := net.Pipe()
			go func() {
				_, _ = io.Copy(io.Discard, theirs)
				_ = theirs.Close()
			}()
			return ours, nil
		}
		parts, _, err := Kind().Build(site)
		if err != nil {
			t.Fatal(err)
		}
		e, err := parts[actions.Probe].Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c := e.(*effect).client
		for name, x := range map[string]struct {
			ask  func() error
			want time.Duration
		}{
			"first touch": {func() error { _, err := c.first(t.Context(), boxID); return err }, 160 * time.Second},
			"next": {func() error {
				_, err := c.exec(t.Context(), boxID, bridge.Order{Argv: []string{"pwd"}, Session: "s"}, c.factory.next)
				return err
			}, 15 * time.Second},
			"pool": {func() error { _, err := c.pool(t.Context()); return err }, 10 * time.Second},
		} {
			dials = 0
			began := time.Now()
			if err := x.ask(); err == nil || time.Since(began) != x.want || dials != 1 {
				t.Errorf("%s: given up after %v, want %v, %d requests: %v", name, time.Since(began), x.want, dials, err)
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
}
