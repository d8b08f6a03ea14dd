package backendtest

import (
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
)

// OnSocket serves on a Unix socket until stop is called or the test ends.
func OnSocket(t testing.TB, serve http.HandlerFunc) (path string, stop func()) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "d.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(serve)
	_ = srv.Listener.Close()
	srv.Listener = l
	srv.Start()
	stop = func() {
		srv.CloseClientConnections()
		srv.Close()
	}
	t.Cleanup(stop)
	return path, stop
}

// Refusing is an address on which nothing listens and which no other socket gets while the test runs: it is the near end
// of a connection.
func Refusing(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.LocalAddr().String()
}
