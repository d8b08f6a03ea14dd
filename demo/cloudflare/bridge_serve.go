package cloudflare

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"
)

var (
	bridgeID  = regexp.MustCompile(`^[a-z2-7]{1,128}$`)
	sessionID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)
)

func bridgeSays(w http.ResponseWriter, status int, body any) {
	b, err := json.Marshal(body)
	if err != nil { // every body is plain data
		panic(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

func bridgeFails(w http.ResponseWriter, status int, code, text string) {
	bridgeSays(w, status, map[string]string{"error": text, "code": code})
}

func noRoute(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; charset=UTF-8")
	w.WriteHeader(http.StatusNotFound)
	_, _ = io.WriteString(w, "404 Not Found")
}

// ServeHTTP answers as the Worker does.
func (b *Bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p := r.URL.EscapedPath()
	rest, inSandbox := strings.CutPrefix(p, "/v1/sandbox/")
	ops, inOps := strings.CutPrefix(p, strings.TrimRight(b.o.Ops, "/")+"/")
	switch {
	case p == "/health":
		bridgeSays(w, http.StatusOK, map[string]bool{"ok": true})
	case inSandbox:
		b.sandbox(w, r, rest)
	case !b.knows(r):
		bridgeFails(w, http.StatusUnauthorized, "unauthorized", "Unauthorized")
	case p == "/v1/sandbox" && r.Method == http.MethodPost:
		bridgeSays(w, http.StatusOK, map[string]string{"id": "2ae7pib2vjeswlcbc2d4d4auzy"})
	case p == "/v1/pool/stats" && r.Method == http.MethodGet:
		b.stats(w)
	case p == "/v1/openapi.json" && r.Method == http.MethodGet:
		bridgeSays(w, http.StatusOK, b.schema())
	case b.o.Ops != "" && inOps:
		b.operate(w, r, ops)
	default:
		noRoute(w)
	}
}

func (b *Bridge) knows(r *http.Request) bool {
	return b.o.Key == "" || r.Header.Get("Authorization") == "Bearer "+b.o.Key
}

func (b *Bridge) stats(w http.ResponseWriter) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.running()
	body := map[string]any{"warm": 0, "assigned": n, "total": n, "maxInstances": nil,
		"config": map[string]int{"warmTarget": 0, "refreshInterval": 10000, "maxInstances": 0, "scaleBatchSize": 5}}
	if b.learned > 0 {
		body["maxInstances"] = b.learned
	}
	bridgeSays(w, http.StatusOK, body)
}

// schema has the routes of a release by method, without their descriptions.
func (b *Bridge) schema() any {
	routes := map[string][]string{"/v1/sandbox": {"post"}, "/v1/sandbox/{id}": {"delete"}, "/v1/sandbox/{id}/running": {"get"}, "/v1/sandbox/{id}/file/{path}": {"get", "put"},
		"/v1/sandbox/{id}/hydrate": {"post"}, "/v1/pool/stats": {"get"}, "/health": {"get"}, "/v1/openapi.json": {"get"}}
	if b.o.Next {
		routes["/v1/sandbox/{id}/processes"] = []string{"get", "post"}
		routes["/v1/sandbox/{id}/terminals"] = []string{"get", "post"}
	} else {
		routes["/v1/sandbox/{id}/exec"] = []string{"post"}
		routes["/v1/sandbox/{id}/session"] = []string{"post"}
		routes["/v1/sandbox/{id}/session/{sid}"] = []string{"delete"}
		routes["/v1/sandbox/{id}/pty"] = []string{"get"}
	}
	paths := map[string]any{}
	for route, methods := range routes {
		of := map[string]any{}
		for _, m := range methods {
			of[m] = map[string]any{}
		}
		paths[route] = of
	}
	return map[string]any{"openapi": "3.1.0", "info": map[string]string{"title": "Cloudflare Sandbox Service API", "version": "1.0.0"}, "paths": paths}
}

// sandbox answers below the id of a sandbox, which starts a container where the id has none, whatever is asked.
func (b *Bridge) sandbox(w http.ResponseWriter, r *http.Request, rest string) {
	id, rest, _ := strings.Cut(rest, "/")
	switch {
	case !bridgeID.MatchString(id):
		bridgeFails(w, http.StatusBadRequest, "invalid_request", "Invalid sandbox ID format")
		return
	case !b.knows(r):
		bridgeFails(w, http.StatusUnauthorized, "unauthorized", "Unauthorized")
		return
	}
	b.mu.Lock()
	x := b.start(id)
	n := b.running()
	b.mu.Unlock()
	if x == nil {
		bridgeFails(w, http.StatusServiceUnavailable, "capacity_exceeded",
			fmt.Sprintf("Cannot start container: instance limit reached (%d/%d). All container slots are in use. Wait for existing containers to stop.", n, b.o.Most))
		return
	}
	area, below, _ := strings.Cut(rest, "/")
	switch {
	case rest == "" && r.Method == http.MethodDelete:
		b.mu.Lock()
		delete(b.boxes, id)
		b.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	case rest == "exec" && r.Method == http.MethodPost && !b.o.Next:
		b.exec(w, r, x)
	case rest == "running" && r.Method == http.MethodGet:
		b.mu.Lock()
		defer b.mu.Unlock()
		bridgeSays(w, http.StatusOK, map[string]bool{"running": b.o.Next || x.there("/workspace") && !x.Wedged})
	case (rest == "processes" || rest == "terminals") && r.Method == http.MethodGet && b.o.Next:
		bridgeSays(w, http.StatusOK, map[string]any{rest: []any{}})
	case area == "file":
		b.file(w, r, x, "/"+below)
	case rest == "pty" && !b.o.Next:
		bridgeFails(w, http.StatusBadRequest, "invalid_request", "WebSocket upgrade required")
	case rest == "hydrate" && r.Method == http.MethodPost:
		b.hydrate(w, x)
	case rest == "session" && r.Method == http.MethodPost && !b.o.Next, area == "session" && r.Method == http.MethodDelete && !b.o.Next:
		b.session(w, r, x, below)
	default:
		noRoute(w)
	}
}

func (b *Bridge) session(w http.ResponseWriter, r *http.Request, x *Box, sid string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.Method == http.MethodPost {
		var ask struct{ ID string }
		_ = json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&ask) // without a body it has a name of its own
		if ask.ID == "" {
			ask.ID = fmt.Sprintf("session-%d", b.o.Clock().UnixMilli())
		}
		x.sessions[ask.ID] = "/workspace"
		bridgeSays(w, http.StatusOK, map[string]string{"id": ask.ID})
		return
	}
	if _, known := x.sessions[sid]; !known {
		bridgeFails(w, http.StatusBadGateway, "session_error", "session delete failed: SandboxError: Session '"+sid+"' not found")
		return
	}
	delete(x.sessions, sid)
	bridgeSays(w, http.StatusOK, map[string]any{"success": true, "sessionId": sid, "timestamp": b.o.Clock().UTC().Format("2006-01-02T15:04:05.000Z")})
}

func (b *Bridge) hydrate(w http.ResponseWriter, x *Box) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !x.there("/workspace") {
		bridgeFails(w, http.StatusBadGateway, "workspace_archive_write_error", "hydrate failed: CommandError: Failed to execute command 'mkdir -p /workspace' in sessionless execution: ENOENT: no such file or directory, posix_spawn '/bin/bash'")
		return
	}
	bridgeSays(w, http.StatusOK, map[string]bool{"ok": true})
}

const mostFile = 32 << 20

func (b *Bridge) file(w http.ResponseWriter, r *http.Request, x *Box, name string) {
	if name = path.Clean(name); !strings.HasPrefix(name, "/workspace/") {
		bridgeFails(w, http.StatusForbidden, "invalid_request", "path must resolve to a location within /workspace")
		return
	}
	switch r.Method {
	case http.MethodGet:
		b.mu.Lock()
		content := x.read(name)
		b.mu.Unlock()
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = io.WriteString(w, content)
	case http.MethodPut:
		content, err := io.ReadAll(io.LimitReader(r.Body, mostFile+1))
		if err != nil || len(content) > mostFile {
			bridgeFails(w, http.StatusRequestEntityTooLarge, "payload_too_large", "payload too large")
			return
		}
		b.mu.Lock()
		fault := x.write(name, string(content))
		b.mu.Unlock()
		if fault != "" {
			bridgeFails(w, http.StatusBadGateway, "workspace_archive_write_error", "write failed: "+fault)
			return
		}
		bridgeSays(w, http.StatusOK, map[string]bool{"ok": true})
	default:
		noRoute(w)
	}
}

// exec answers 200 with events, also when the command could not begin.
func (b *Bridge) exec(w http.ResponseWriter, r *http.Request, x *Box) {
	var ask struct {
		Argv      []string
		Cwd       string
		TimeoutMs float64 `json:"timeout_ms"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&ask); err != nil {
		bridgeFails(w, http.StatusBadRequest, "invalid_request", "Invalid JSON body")
		return
	}
	session := r.Header.Get("Session-Id")
	switch {
	case len(ask.Argv) == 0:
		bridgeFails(w, http.StatusBadRequest, "invalid_request", "argv must be a non-empty array")
		return
	case session != "" && !sessionID.MatchString(session):
		bridgeFails(w, http.StatusBadRequest, "invalid_request", "Invalid session ID format")
		return
	case ask.Cwd != "" && ask.Cwd != "/workspace" && !strings.HasPrefix(path.Clean(ask.Cwd), "/workspace/"):
		bridgeFails(w, http.StatusForbidden, "invalid_request", "cwd must resolve to a location within /workspace")
		return
	}
	b.mu.Lock()
	out := b.run(x, ask.Argv, session, ask.Cwd)
	b.mu.Unlock()
	limit := time.Duration(ask.TimeoutMs) * time.Millisecond
	if out.lasts > 0 && limit > 0 && limit < out.lasts && !b.o.Old {
		out = outcome{lasts: limit, exit: 124, stderr: fmt.Sprintf("Command timed out after %dms\n", limit.Milliseconds())}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	if out.lasts > 0 {
		b.o.Wait(r.Context(), out.lasts)
	}
	event := func(name, data string) { _, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data) }
	for _, part := range [][2]string{{"stdout", out.stdout}, {"stderr", out.stderr}} {
		if part[1] != "" {
			event(part[0], base64.StdEncoding.EncodeToString([]byte(part[1])))
		}
	}
	switch {
	case out.hangs:
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-b.held:
		}
	case out.fault != "":
		data, err := json.Marshal(struct {
			Error string `json:"error"`
			Code  string `json:"code"`
		}{"exec failed: " + out.fault, "exec_transport_error"})
		if err != nil { // it is plain text
			panic(err)
		}
		event("error", string(data))
	default:
		event("exit", fmt.Sprintf(`{"exit_code":%d}`, out.exit))
	}
}
