package docker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/backendtest"
)

func env(m map[string]string) func(string) string { return func(k string) string { return m[k] } }

func urls(t *testing.T, r resolver) string {
	t.Helper()
	as, err := r.addresses()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, a := range as {
		out = append(out, a.url)
	}
	return strings.Join(out, " ")
}

func writeContext(t *testing.T, dir, name, meta string) string {
	t.Helper()
	sum := sha256.Sum256([]byte(name))
	d := filepath.Join(dir, "contexts", "meta", hex.EncodeToString(sum[:]))
	if err := os.MkdirAll(d, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d, "meta.json"), []byte(meta), 0o600); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum[:])
}

func TestWhereTheEngineIsLookedFor(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".docker")
	writeContext(t, dir, "lima", `{"Name":"lima","Metadata":{},"Endpoints":{"docker":{"Host":"unix:///lima.sock","SkipTLSVerify":false}}}`)
	writeContext(t, dir, "far", `{"Name":"far","Endpoints":{"docker":{"Host":"ssh://me@far"}}}`)
	writeContext(t, dir, "empty", `{"Endpoints":{}}`)
	tlsID := writeContext(t, dir, "tls", `{"Endpoints":{"docker":{"Host":"tcp://far:2376","SkipTLSVerify":true}}}`)
	if err := os.MkdirAll(filepath.Join(dir, "contexts", "tls", tlsID, "docker"), 0o700); err != nil {
		t.Fatal(err)
	}
	current := func(name string) {
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{"auths":{},"currentContext":"`+name+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	base := map[string]string{"HOME": home, "XDG_RUNTIME_DIR": "/run/user/7"}
	with := func(kv ...string) func(string) string {
		m := map[string]string{}
		for k, v := range base {
			m[k] = v
		}
		for i := 0; i < len(kv); i += 2 {
			m[kv[i]] = kv[i+1]
		}
		return env(m)
	}
	usual := "unix:///var/run/docker.sock unix:///run/user/7/docker.sock unix://" + home + "/.docker/run/docker.sock unix://" + home +
		"/.docker/desktop/docker.sock unix:///run/user/7/podman/podman.sock unix:///run/podman/podman.sock"
	if got := urls(t, resolver{getenv: with()}); got != usual {
		t.Errorf("nothing set: %s", got)
	}
	delete(base, "XDG_RUNTIME_DIR")
	if got := urls(t, resolver{getenv: with(), uid: 7}); got != usual {
		t.Errorf("a service of a user: %s", got)
	}
	base["XDG_RUNTIME_DIR"] = "/run/user/7"
	current("lima")
	for _, c := range []struct {
		r    resolver
		want string
	}{
		{resolver{getenv: with()}, "unix:///lima.sock"},
		{resolver{getenv: with("DOCKER_CONTEXT", "default")}, usual},
		{resolver{getenv: with("DOCKER_HOST", "tcp://h", "DOCKER_CONTEXT", "far")}, "tcp://h:2375"},
		{resolver{host: "unix:///opt.sock", getenv: with("DOCKER_HOST", "tcp://h")}, "unix:///opt.sock"},
		{resolver{getenv: with("DOCKER_CONFIG", dir, "HOME", "")}, "unix:///lima.sock"},
	} {
		if got := urls(t, c.r); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	for name, want := range map[string]string{"far": "forward the socket", "gone": "docker context ls", "empty": "no docker endpoint"} {
		_, err := resolver{getenv: with("DOCKER_CONTEXT", name)}.addresses()
		if backend.KindOf(err) != backend.ErrInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("context %s: %v", name, err)
		}
	}
	as, err := resolver{getenv: with("DOCKER_CONTEXT", "tls")}.addresses()
	if err != nil || !as[0].tls.on || !as[0].tls.skipVerify || !strings.Contains(as[0].tls.dir, tlsID) {
		t.Errorf("TLS context: %+v, %v", as, err)
	}
	as, err = resolver{getenv: with("DOCKER_HOST", "tcp://h:2376", "DOCKER_TLS_VERIFY", "1")}.addresses()
	if err != nil || !as[0].tls.on || as[0].tls.skipVerify || as[0].tls.dir != dir {
		t.Errorf("DOCKER_TLS_VERIFY: %+v, %v", as, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(`{`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (resolver{getenv: with()}).addresses(); backend.KindOf(err) != backend.ErrInvalid {
		t.Errorf("broken config.json: %v", err)
	}
}

func TestBadOptionsAreRefusedWithTheirPlace(t *testing.T) {
	for key, set := range map[string]func(*Options){
		"host: \"ssh":              func(o *Options) { o.Host = "ssh://me@far" },
		"host: \"docker":           func(o *Options) { o.Host = "docker.sock" },
		"host: tcp":                func(o *Options) { o.Host = "tcp://user:secret-word@h:1" },
		"host: npipe":              func(o *Options) { o.Host = "npipe:////./pipe/docker" },
		"host: rel":                func(o *Options) { o.Host = "unix://docker.sock" },
		"host: long":               func(o *Options) { o.Host = "unix:///" + strings.Repeat("x", 200) },
		"selector":                 func(o *Options) { o.Selector = "=x" },
		"tmpdir_pattern":           func(o *Options) { o.TmpdirPattern = "/tmp/[" },
		"tmpdir_pattern: relative": func(o *Options) { o.TmpdirPattern = "helix-*" },
		"name_pattern":             func(o *Options) { o.NamePattern = "(" },
		"name_pattern: ":           func(o *Options) { o.NamePattern = "^a$" },
		"relist":                   func(o *Options) { o.Relist = 0 },
		"stats_sweep":              func(o *Options) { o.StatsSweep = 1 },
	} {
		_, err := Kind().New(backendtest.Options[Options](set), testDeps(t, backendtest.NewClock(time.Now())))
		word, _, _ := strings.Cut(key, ":")
		if err == nil || !strings.Contains(err.Error(), word+":") || strings.Contains(err.Error(), "secret-word") {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestNoEngine(t *testing.T) {
	dead := filepath.Join(t.TempDir(), "dead.sock")
	l, err := net.Listen("unix", dead)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = l.Close()
	poll := func(host string, vars map[string]string, dial error) error {
		t.Helper()
		c := backendtest.NewClock(time.Now())
		d := testDeps(t, c)
		d.Getenv = env(vars)
		if dial != nil {
			d.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, dial }
		}
		src, err := Kind().New(backendtest.Options[Options](func(o *Options) { o.Host = host }), d)
		if err != nil {
			t.Fatal(err)
		}
		_, err = src.Poll(t.Context())
		return err
	}
	none := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ENOENT)}
	denied := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.EACCES)}
	refused := &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for _, c := range []struct {
		name, host string
		vars       map[string]string
		dial       error
		kind       backend.ErrorKind
		says       string
	}{
		{"nothing", "", nil, none, backend.ErrAbsent, "no such socket at unix:///var/run/docker.sock (usual socket), unix:///run/podman/podman.sock"},
		{"stale socket", "", nil, refused, backend.ErrAbsent, "connection refused"},
		{"not for us", "", nil, denied, backend.ErrAbsent, "group docker"},
		{"option", "unix:///nope/d.sock", nil, nil, backend.ErrUnreachable, "option host"},
		{"option, stale", "unix://" + dead, nil, nil, backend.ErrUnreachable, "connection refused"},
		{"option, denied", "unix://" + dead, nil, denied, backend.ErrUnauthorised, "group docker"},
		{"environment, missing", "", map[string]string{"DOCKER_HOST": "unix:///nope/d.sock"}, nil, backend.ErrUnreachable, "DOCKER_HOST"},
		{"environment, stale", "", map[string]string{"DOCKER_HOST": "unix://" + dead}, nil, backend.ErrUnreachable, "connection refused"},
		{"environment, ssh", "", map[string]string{"DOCKER_HOST": "ssh://me@far"}, nil, backend.ErrInvalid, "ssh -nNT -L"},
	} {
		err := poll(c.host, c.vars, c.dial)
		if err == nil || backend.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: kind %s, %v", c.name, backend.KindOf(err), err)
		}
	}
}

func TestAnEngineThatWasThereIsNeverAbsent(t *testing.T) {
	f := newFake(t)
	f.add(&fakeContainer{id: "a", name: "a"})
	c := backendtest.NewClock(time.Now())
	d := testDeps(t, c)
	gone := false
	dial := d.Dial
	var tried []string
	d.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		tried = append(tried, network+" "+addr)
		if addr == "/var/run/docker.sock" && !gone {
			return dial(ctx, network, f.path)
		}
		return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ENOENT)}
	}
	src, err := Kind().New(backendtest.Options[Options](nil), d)
	if err != nil {
		t.Fatal(err)
	}
	s := src.(*Source)
	mustPoll(t, s)
	gone = true
	_ = s.Close()
	tried = nil
	_, err = s.Poll(t.Context())
	if backend.KindOf(err) != backend.ErrUnreachable || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an engine that went away: %v", err)
	}
	for _, a := range tried {
		if a != "unix /var/run/docker.sock" {
			t.Errorf("another engine was looked for at %s", a)
		}
	}
	gone = false
	mustPoll(t, s)
}

func TestVersionNegotiation(t *testing.T) {
	for offered, spoken := range map[string]string{"1.40": "1.40", "1.41": "1.41", "1.43": "1.43", "9.99": "1.56"} {
		f := newFake(t)
		f.api = offered
		f.add(&fakeContainer{id: "a", name: "a"})
		s, _ := f.source(nil)
		r := mustPoll(t, s)
		if len(f.versions) != 1 || !f.versions[spoken] || !strings.Contains(r.Notes[0].String(), "API "+spoken) {
			t.Errorf("API %s: spoke %v, notes %v", offered, f.versions, r.Notes)
		}
	}
	f := newFake(t)
	f.api = "1.39"
	s, _ := f.source(nil)
	_, err := s.Poll(t.Context())
	if backend.KindOf(err) != backend.ErrInvalid || !strings.Contains(err.Error(), "1.39") || !strings.Contains(err.Error(), "1.40") {
		t.Errorf("API 1.39: %v", err)
	}
}

func TestRoutesNameWhatIsAskedAndActNowhere(t *testing.T) {
	f := newFake(t)
	s, _ := f.source(nil)
	routes := s.Routes()
	if len(routes) != 8 {
		t.Fatalf("%d routes", len(routes))
	}
	for _, r := range routes {
		if r.Acts || r.Why == "" || !strings.HasPrefix(r.Target, "unix://"+f.path+"/") || r.Verb != "GET" && r.Verb != "HEAD" {
			t.Errorf("route %+v", r)
		}
	}
	if len(f.taken()) != 0 {
		t.Error("explaining opened a connection")
	}
}

func TestTransportRefusesChanges(t *testing.T) {
	f := newFake(t)
	m, err := newMoby(address{url: "unix://" + f.path, network: "unix", dial: f.path}, testDeps(t, backendtest.NewClock(time.Now())))
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH"} {
		if err := sendRaw(t, m, method); !errors.Is(err, errReadOnly) {
			t.Errorf("%s: %v", method, err)
		}
	}
	if n := len(f.taken()); n != 0 {
		t.Errorf("%d requests arrived", n)
	}
}

func TestTLS(t *testing.T) {
	f := newFake(t)
	f.add(&fakeContainer{id: "a", name: "a"})
	srv := httptest.NewTLSServer(http.HandlerFunc(f.serve))
	defer srv.Close()
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	certs, bare := t.TempDir(), t.TempDir()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(certs, "ca.pem"), ca, 0o600); err != nil {
		t.Fatal(err)
	}
	poll := func(dir string) error {
		d := testDeps(t, backendtest.NewClock(time.Now()))
		d.Getenv = env(map[string]string{"DOCKER_HOST": "tcp://" + srv.Listener.Addr().String(), "DOCKER_CERT_PATH": dir})
		src, err := Kind().New(backendtest.Options[Options](nil), d)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = src.(*Source).Close() }()
		_, err = src.Poll(t.Context())
		return err
	}
	if err := poll(certs); err != nil {
		t.Errorf("with the engine's certificate: %v", err)
	}
	if err := poll(bare); backend.KindOf(err) != backend.ErrUnreachable || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("with an unknown certificate: %v", err)
	}
	if err := os.WriteFile(filepath.Join(bare, "ca.pem"), []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := poll(bare); backend.KindOf(err) != backend.ErrInvalid {
		t.Errorf("with a broken ca.pem: %v", err)
	}
}
