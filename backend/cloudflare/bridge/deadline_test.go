package bridge

import (
	"context"
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// TestEachReadHasItsOwnDeadline: a bridge that takes every request and answers none is given up after 3 s for its health, and after
// 10 s for what it lists.
func TestEachReadHasItsOwnDeadline(t *testing.T) {
	for name, c := range map[string]struct {
		ask  func(context.Context, *Client) error
		want time.Duration
	}{
		"health":          {func(ctx context.Context, c *Client) error { _, _, err := c.Health(ctx); return err }, 3 * time.Second},
		"pool":            {func(ctx context.Context, c *Client) error { _, err := c.Pool(ctx); return err }, 10 * time.Second},
		"routes":          {func(ctx context.Context, c *Client) error { _, err := c.Features(ctx); return err }, 10 * time.Second},
		"operator routes": {func(ctx context.Context, c *Client) error { _, _, err := c.Boxes(ctx); return err }, 10 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			silent := func(context.Context, string, string) (net.Conn, error) {
				ours, theirs := net.Pipe()
				go func() {
					_, _ = io.Copy(io.Discard, theirs)
					_ = theirs.Close()
				}()
				return ours, nil
			}
			cl, err := New(Site{URL: "http://127.0.0.1:1", Key: wire.Credential{Env: "KEY"}, Ops: "/ops"},
				backend.Deps{ID: "cf", Now: time.Now, Dial: silent, Getenv: func(string) string { return "key-0123456789" }})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if err := c.ask(t.Context(), cl); err == nil || time.Since(began) != c.want {
				t.Errorf("%s: given up after %v, want %v: %v", name, time.Since(began), c.want, err)
			}
			if err := cl.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
