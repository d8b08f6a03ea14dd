package blaxel

import (
	"cmp"
	"crypto/subtle"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The workspace and region of every world.
const (
	Workspace = "demo"
	Region    = "us-pdx-1"
	Version   = "2026-04-28"
)

// Platform answers as the control plane of one workspace, as the gateway before its sandboxes, and as their servers.
type Platform struct {
	key  string
	now  func() time.Time
	base func() string // where all of it answers
	wait func(time.Duration)
	mu   sync.Mutex
	all  map[string]*Box
	// Woken is how many requests reached a sandbox that slept.
	Woken int
}

// Box is one sandbox.
type Box struct {
	Name, Status string
	Labels       map[string]string
	Created      time.Time
	Asleep       bool
	// Cold is how many requests the gateway still answers with WORKLOAD_UNAVAILABLE.
	Cold int
	// Stays keeps it listed after a delete that is accepted.
	Stays     bool
	Previews  []*Preview
	Snapshots []Saved
	Server    *Server
	used      time.Time
	ended     time.Time
}

// Preview is an address of a sandbox on the internet.
type Preview struct {
	Name   string
	Port   int
	Public bool
	Tokens map[string]time.Time // by name: when each ends
}

// Saved is a snapshot of the workspace.
type Saved struct {
	ID, Name string
	Created  time.Time
}

// NewPlatform makes one without sandboxes.
func NewPlatform(key string, now func() time.Time, base func() string, wait func(time.Duration)) *Platform {
	return &Platform{key: key, now: now, base: base, wait: wait, all: map[string]*Box{}}
}

// Add makes a sandbox that runs.
func (p *Platform) Add(name string, created time.Time) *Box {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := &Box{Name: name, Status: "DEPLOYED", Created: created, used: p.now(), Labels: map[string]string{"team": "agents"}, Server: NewServer(p.now, p.wait)}
	b.Server.born = created
	p.all[name] = b
	return b
}

// Change changes a sandbox; one that is no more stays so.
func (p *Platform) Change(name string, change func(*Box)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b := p.all[name]; b != nil {
		change(b)
	}
}

// Drop takes a sandbox out of all lists, as a platform that lost it.
func (p *Platform) Drop(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.all, name)
}

func refuses(w http.ResponseWriter, status int, text string) {
	says(w, status, map[string]any{"code": status, "error": text})
}

// gateway answers in the place of a sandbox.
func gateway(w http.ResponseWriter, status int, code string, retryable bool) {
	w.Header().Set("X-Blaxel-Source", "platform")
	w.Header().Set("X-Blaxel-Error-Code", code)
	says(w, status, map[string]any{"error": map[string]any{"code": code, "message": strings.ToLower(strings.ReplaceAll(code, "_", " ")), "status": status, "retryable": retryable, "origin": "platform"}})
}

// ServeHTTP answers.
func (p *Platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", p.now().UTC().Format(http.TimeFormat))
	given := cmp.Or(r.Header.Get("X-Blaxel-Authorization"), r.Header.Get("Authorization"))
	known := subtle.ConstantTimeCompare([]byte(given), []byte("Bearer "+p.key)) == 1
	path := r.URL.EscapedPath()
	if rest, is := strings.CutPrefix(path, "/sbx/"); is {
		p.enter(w, r, rest, known)
		return
	}
	rest, is := strings.CutPrefix(path, "/v0")
	version := r.Header.Get("Blaxel-Version")
	switch {
	case !known:
		refuses(w, http.StatusUnauthorized, "Unauthorized")
	case version != "" && version != Version && version != "2026-04-16":
		says(w, http.StatusBadRequest, map[string]string{"error": "invalid_api_version", "message": "unknown version"})
	case r.Header.Get("X-Blaxel-Workspace") != Workspace:
		refuses(w, http.StatusForbidden, "Forbidden")
	case !is:
		refuses(w, http.StatusNotFound, "Not found")
	default:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.control(w, r, strings.Split(strings.Trim(rest, "/"), "/"))
	}
}

// enter leads a request to the server of a sandbox, which it wakes.
func (p *Platform) enter(w http.ResponseWriter, r *http.Request, rest string, known bool) {
	name, at, _ := strings.Cut(rest, "/")
	p.mu.Lock()
	b := p.all[name]
	gone := b == nil || b.Status == "TERMINATED" || b.Status == "DELETING"
	cold := !gone && b.Cold > 0
	if !gone && known {
		if b.Asleep {
			b.Asleep = false
			p.Woken++
		}
		b.used, b.Cold = p.now(), max(0, b.Cold-1)
	}
	p.mu.Unlock()
	switch {
	case !known:
		gateway(w, http.StatusUnauthorized, "AUTHENTICATION_FAILED", false)
	case gone:
		gateway(w, http.StatusNotFound, "WORKLOAD_NOT_FOUND", false)
	case cold:
		gateway(w, http.StatusNotFound, "WORKLOAD_UNAVAILABLE", true)
	default:
		b.Server.answer(w, r, "/"+at)
	}
}

// retention is how long what ended is still read.
const retention = 5 * time.Minute

func (p *Platform) control(w http.ResponseWriter, r *http.Request, at []string) {
	for name, b := range p.all {
		if b.Status == "TERMINATED" && p.now().Sub(b.ended) > retention {
			delete(p.all, name)
		}
	}
	if len(at) == 1 && at[0] == "snapshots" && r.Method == http.MethodGet {
		p.snapshots(w, r)
		return
	}
	if at[0] != "sandboxes" {
		refuses(w, http.StatusNotFound, "Not found")
		return
	}
	if len(at) == 1 {
		p.list(w, r)
		return
	}
	b := p.all[at[1]]
	switch {
	case b == nil:
		refuses(w, http.StatusNotFound, "Sandbox not found")
	case len(at) == 2 && r.Method == http.MethodGet:
		says(w, 200, p.told(b, true))
	case len(at) == 2 && r.Method == http.MethodDelete:
		b.Status = "TERMINATED"
		if b.Stays {
			b.Status = "DELETING"
		}
		b.ended = p.now()
		says(w, 200, p.told(b, true))
	case len(at) > 2 && at[2] == "previews":
		p.previews(w, r, b, at[3:])
	default:
		refuses(w, http.StatusNotFound, "Not found")
	}
}

// tokenName is a variable that every session gives its sandbox.
const tokenName, token = "NPM_TOKEN", "npm_0123456789abcdefghijklmnopqrstuvwxyz"

// asleepAfter is how long after its last use a sandbox sleeps.
const asleepAfter = 15 * time.Second

func (p *Platform) told(b *Box, whole bool) map[string]any {
	state := "RUNNING"
	if b.Asleep || !b.Server.busy() && p.now().Sub(b.used) > asleepAfter {
		state, b.Asleep = "STANDBY", true
	}
	out := map[string]any{
		"metadata": map[string]any{"name": b.Name, "workspace": Workspace, "labels": b.Labels, "createdAt": b.Created.UTC().Format(time.RFC3339), "updatedAt": b.Created.UTC().Format(time.RFC3339),
			"createdBy": "svc-agents", "updatedBy": "svc-agents", "plan": "tier-2", "url": p.base() + "/sbx/" + b.Name},
		"spec":   map[string]any{"enabled": true, "region": Region, "runtime": map[string]any{"image": "blaxel/base-image:latest", "memory": 4096, "ports": []any{}, "envs": []any{map[string]any{"name": tokenName, "value": token, "secret": true}}}},
		"status": b.Status, "lastUsedAt": b.used.UTC().Format(time.RFC3339), "nodeGeneration": "mk3.1"}
	if b.Status == "DEPLOYED" {
		out["state"] = state
	}
	if whole {
		out["events"] = []any{map[string]any{"time": b.Created.UTC().Format(time.RFC3339), "type": "deployment", "status": "DEPLOYED", "message": "deployed"}}
	}
	return out
}

// page writes a list: in pages, or whole for the version that knows none. A cursor is the index of a row.
func page(w http.ResponseWriter, r *http.Request, all []any) {
	if r.Header.Get("Blaxel-Version") != Version {
		says(w, 200, all)
		return
	}
	size, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || size < 1 {
		size = 50
	}
	from, err := strconv.Atoi(r.URL.Query().Get("cursor"))
	if err != nil || from < 0 || from > len(all) {
		from = 0
	}
	to, next := min(from+min(size, 200), len(all)), ""
	if to < len(all) {
		next = strconv.Itoa(to)
	}
	says(w, 200, map[string]any{"data": all[from:to], "meta": map[string]any{"hasMore": next != "", "nextCursor": next, "total": len(all)}})
}

func (p *Platform) list(w http.ResponseWriter, r *http.Request) {
	out := []any{}
	for _, name := range sorted(p.all) {
		if b := p.all[name]; b.Status != "TERMINATED" || r.URL.Query().Get("showTerminated") == "true" {
			out = append(out, p.told(b, false))
		}
	}
	page(w, r, out)
}

func (p *Platform) snapshots(w http.ResponseWriter, r *http.Request) {
	out := []any{}
	for _, name := range sorted(p.all) {
		for _, s := range p.all[name].Snapshots {
			out = append(out, map[string]any{"id": s.ID, "name": s.Name, "sandboxName": name, "status": "READY", "createdAt": s.Created.UTC().Format(time.RFC3339)})
		}
	}
	page(w, r, out)
}

func (p *Platform) previews(w http.ResponseWriter, r *http.Request, b *Box, at []string) {
	if len(at) == 0 {
		out := []any{}
		for _, v := range b.Previews {
			out = append(out, map[string]any{"metadata": map[string]any{"name": v.Name}, "status": "DEPLOYED",
				"spec": map[string]any{"port": v.Port, "public": v.Public, "url": "https://" + v.Name + ".preview.example"}})
		}
		says(w, 200, out)
		return
	}
	i := slices.IndexFunc(b.Previews, func(v *Preview) bool { return v.Name == at[0] })
	if i < 0 || len(at) < 2 || at[1] != "tokens" {
		refuses(w, http.StatusNotFound, "Preview not found")
		return
	}
	v := b.Previews[i]
	token := func(name string) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": name}, "spec": map[string]any{"token": "secret-of-" + name, "expiresAt": v.Tokens[name].UTC().Format(time.RFC3339), "expired": p.now().After(v.Tokens[name])}}
	}
	switch {
	case len(at) == 2 && r.Method == http.MethodGet:
		out := []any{}
		for _, name := range sorted(v.Tokens) {
			out = append(out, token(name))
		}
		says(w, 200, out)
	case len(at) == 3 && r.Method == http.MethodDelete:
		if _, is := v.Tokens[at[2]]; !is {
			refuses(w, http.StatusNotFound, "Token not found")
			return
		}
		body := token(at[2])
		delete(v.Tokens, at[2])
		says(w, 200, body)
	default:
		refuses(w, http.StatusNotFound, "Not found")
	}
}
