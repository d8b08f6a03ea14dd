package blaxel

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Server is the server inside one sandbox. It answers as the recorded one does, its traps included: it forgets no process, lists
// them in no order, calls one stopped that was only asked to end, and signals what is over.
type Server struct {
	now  func() time.Time
	wait func(time.Duration) // plays that a request takes time
	mu   sync.Mutex
	next int
	all  []*process
	file map[string]*file // by path; directories too
	born time.Time
	// Mounted are the directories of drives.
	Mounted []string
	// Zone is by how much its clock, which it prints as GMT, is ahead.
	Zone time.Duration
}

type file struct {
	dir, link     bool
	content, mode string
	changed       time.Time
	size          int64
}

// NewServer makes one with the usual directories.
func NewServer(now func() time.Time, wait func(time.Duration)) *Server {
	s := &Server{now: now, wait: wait, next: 29, file: map[string]*file{}, born: now()}
	for _, dir := range []string{"/", "/dev", "/etc", "/opt", "/proc", "/root", "/tmp", "/usr", "/var", "/workspace", "/workspace/src"} {
		s.file[dir] = &file{dir: true}
	}
	for name, size := range map[string]int64{"/bin": 7, "/lib": 7, "/lib64": 9} {
		s.file[name] = &file{link: true, mode: "1000000777", size: size, changed: s.born}
	}
	s.file["/workspace/hello.txt"] = &file{content: "hello\n", mode: "644", size: 6, changed: s.born}
	return s
}

// Remove removes a path and what is below it.
func (s *Server) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.file {
		if p == name || strings.HasPrefix(p, name+"/") {
			delete(s.file, p)
		}
	}
}

// Leave puts a file of some size there; its content is not kept.
func (s *Server) Leave(name string, size int64, changed time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.file[name] = &file{mode: "644", size: size, changed: changed}
}

func says(w http.ResponseWriter, status int, body any) {
	b, err := json.Marshal(body)
	if err != nil {
		panic(err) // our own values
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(b)
}

func fails(w http.ResponseWriter, status int, format string, args ...any) {
	says(w, status, map[string]string{"error": fmt.Sprintf(format, args...)})
}

func noRoute(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(http.StatusNotFound)
	_, _ = io.WriteString(w, "404 page not found")
}

// answer serves one request; at is its escaped path, since a cleaned one would be another.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, at string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first, rest, _ := strings.Cut(strings.TrimPrefix(at, "/"), "/")
	switch {
	case at == "/" && r.Method == http.MethodGet:
		says(w, 200, map[string]string{"message": "Welcome to your Blaxel Sandbox", "documentation": "https://docs.blaxel.ai/Sandboxes/Overview",
			"description": "This sandbox provides a full-featured environment for running code securely. Visit the documentation to learn how to manage processes, access the filesystem, and more."})
	case at == "/health" && r.Method == http.MethodGet:
		up := s.now().Sub(s.born)
		says(w, 200, map[string]any{"status": "ok", "version": "dev", "gitCommit": "unknown", "buildTime": "unknown", "goVersion": "go1.26.8", "os": "linux", "arch": "amd64",
			"uptime": up.Round(time.Second).String(), "uptimeSeconds": up.Seconds(), "upgradeCount": 0, "startedAt": s.born.UTC().Format(time.RFC3339),
			"lastUpgrade": map[string]string{"status": "idle", "step": "none", "version": ""}})
	case at == "/drives/mount" && r.Method == http.MethodGet:
		mounts := []any{}
		for _, m := range s.Mounted {
			mounts = append(mounts, map[string]any{"driveName": path.Base(m), "mountPath": m, "drivePath": "/", "readOnly": false})
		}
		says(w, 200, map[string]any{"mounts": mounts})
	case first == "process":
		s.processes(w, r, rest)
	case first == "filesystem" && strings.Contains(at[1:], "/"):
		s.files(w, r, rest)
	default:
		noRoute(w)
	}
}

// absolute is the path that a request means: one that does not begin with a slash is relative to the root.
func absolute(escaped string) (string, bool) {
	name, err := url.PathUnescape(escaped)
	if err != nil {
		return "", false
	}
	return path.Clean("/" + name), true
}

func (s *Server) files(w http.ResponseWriter, r *http.Request, rest string) {
	if tree, is := strings.CutPrefix(rest, "tree/"); is && r.Method == http.MethodGet {
		rest = tree
	}
	name, ok := absolute(rest)
	if !ok {
		fails(w, http.StatusBadRequest, "invalid path")
		return
	}
	f := s.file[name]
	switch r.Method {
	case http.MethodGet:
		switch {
		case f == nil:
			fails(w, http.StatusNotFound, "stat %s: no such file or directory", name)
		case f.dir:
			says(w, 200, s.list(name))
		case r.URL.Query().Get("download") == "true" || strings.Contains(r.Header.Get("Accept"), "octet-stream"):
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = io.WriteString(w, f.content)
		default:
			entry := s.entry(name)
			entry["name"], entry["content"] = "", f.content
			says(w, 200, entry)
		}
	case http.MethodDelete:
		switch {
		case f == nil:
			fails(w, http.StatusNotFound, "file or directory not found")
		case f.dir && s.holds(name) && r.URL.Query().Get("recursive") != "true":
			fails(w, http.StatusUnprocessableEntity, "error deleting directory: remove %s: directory not empty", name)
		default:
			for p := range s.file {
				if p == name || strings.HasPrefix(p, name+"/") {
					delete(s.file, p)
				}
			}
			says(w, 200, map[string]string{"path": name, "message": "File or directory deleted successfully"})
		}
	case http.MethodPut:
		s.put(w, r, name)
	default:
		noRoute(w)
	}
}

func (s *Server) put(w http.ResponseWriter, r *http.Request, name string) {
	var ask struct {
		Content, Permissions string
		IsDirectory          bool
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<20)).Decode(&ask); err != nil {
		fails(w, http.StatusBadRequest, "invalid request body: %v", err)
		return
	}
	for dir := path.Dir(name); dir != "/"; dir = path.Dir(dir) {
		if s.file[dir] == nil {
			s.file[dir] = &file{dir: true}
		}
	}
	if ask.IsDirectory {
		s.file[name] = &file{dir: true}
		says(w, 200, map[string]string{"path": name, "message": "Directory created successfully"})
		return
	}
	mode := strings.TrimPrefix(ask.Permissions, "0")
	if mode == "" {
		mode = "644"
	}
	s.file[name] = &file{content: ask.Content, mode: mode, size: int64(len(ask.Content)), changed: s.now()}
	says(w, 200, map[string]string{"path": name, "message": "File created/updated successfully"})
}

func (s *Server) holds(dir string) bool {
	for p := range s.file {
		if strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	return false
}

func (s *Server) entry(name string) map[string]any {
	f := s.file[name]
	return map[string]any{"path": name, "name": path.Base(name), "permissions": f.mode, "size": f.size, "lastModified": f.changed.UTC().Format(time.RFC3339Nano), "owner": "root", "group": "root"}
}

func (s *Server) list(dir string) map[string]any {
	files, dirs := []any{}, []any{}
	for _, p := range sorted(s.file) {
		switch f := s.file[p]; {
		case p == "/" || path.Dir(p) != dir:
		case f.dir:
			dirs = append(dirs, map[string]any{"path": p, "name": path.Base(p)})
		default:
			files = append(files, s.entry(p))
		}
	}
	return map[string]any{"path": dir, "name": path.Base(dir), "files": files, "subdirectories": dirs}
}

func (s *Server) find(id string) *process {
	for i := len(s.all) - 1; i >= 0; i-- {
		p := s.all[i]
		if _, err := strconv.Atoi(id); err == nil && strconv.Itoa(p.pid) == id || err != nil && p.name == id {
			return p
		}
	}
	return nil
}
