package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"runtime/debug"
	"time"
)

// gate is one server with its listener; it can be shut, so that clients are
// refused, and opened again at the same address.
type gate struct {
	name    string
	network string // tcp or unix
	addr    string
	handler http.Handler
	group   *taskGroup
	now     now
	server  *http.Server // nil while shut
}

// open listens and serves. The first time a TCP gate gets a free port and keeps
// it from then on.
func (g *gate) open() error {
	var lc net.ListenConfig
	ln, err := lc.Listen(g.group.ctx, g.network, g.addr)
	if err != nil {
		return fmt.Errorf("demo: %s: listen on %s: %w", g.name, g.addr, err)
	}
	g.addr = ln.Addr().String()
	server := &http.Server{
		Handler:           g.watched(),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       time.Minute,
		BaseContext:       func(net.Listener) context.Context { return g.group.ctx },
		MaxHeaderBytes:    64 << 10,
		// Broken connections are the clients' business; panics go to the group.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	g.server = server
	g.group.start(g.name, func(context.Context) error {
		if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	return nil
}

// watched turns a panic in a handler into a failure of the demo.
func (g *gate) watched() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if p := recover(); p != nil {
				g.group.cancel(fmt.Errorf("demo: %s: %s: panic: %v\n%s", g.name, r.URL.Path, p, debug.Stack()))
				panic(http.ErrAbortHandler)
			}
		}()
		// The servers' clock is the fleet's, which need not be the machine's.
		if g.now != nil {
			world := g.now()
			w.Header().Set("Date", world.when(world.t).Format(http.TimeFormat))
		}
		g.handler.ServeHTTP(w, r)
	})
}

// shut closes the listener and every connection.
func (g *gate) shut() {
	if g.server == nil {
		return
	}
	// Closing reports listeners that are closed already, which is what is wanted.
	_ = g.server.Close()
	g.server = nil
}

func (g *gate) isOpen() bool { return g.server != nil }

// answers asks for a path until it is served.
func (g *gate) answers(ctx context.Context, path string) error {
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, g.network, g.addr)
	}}
	client := http.Client{Transport: transport, Timeout: time.Minute}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1"+path, nil)
	if err != nil {
		return fmt.Errorf("demo: %s: %w", g.name, err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("demo: %s does not answer: %w", g.name, err)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return fmt.Errorf("demo: %s does not answer: %w", g.name, err)
	}
	return nil
}
