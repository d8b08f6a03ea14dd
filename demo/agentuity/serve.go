package agentuity

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// answer is what a route says.
type answer struct {
	status int // zero means 200
	body   any
	raw    []byte // instead of a body in JSON
	later  bool   // ask again, as long as the request waits
}

// route answers one request while the world stands still.
type route func(r *http.Request) (answer, *refusal)

// keys says which keys a route takes.
type keys uint8

const (
	anyKey  keys = iota
	cliOnly      // a key of the command line
	noKey        // the address is the secret
)

type server struct {
	w      *World
	region string // empty on the routes that belong to no region
	mux    *http.ServeMux
}

// ServeRegion answers as the base of one region.
func (w *World) ServeRegion(region string) http.Handler {
	s := server{w, region, http.NewServeMux()}
	s.sandboxRoutes()
	s.workRoutes()
	s.fileRoutes()
	s.keepRoutes()
	s.commandRoutes()
	s.on("GET /coder", anyKey, func(*http.Request) (answer, *refusal) {
		return answer{body: map[string]string{"url": w.hubBase()}}, nil
	})
	return s.whole()
}

// ServeAPI answers as the base that belongs to no region.
func (w *World) ServeAPI() http.Handler {
	s := server{w, "", http.NewServeMux()}
	s.commandRoutes()
	return s.whole()
}

// ServeHub answers as the Coder Hub.
func (w *World) ServeHub() http.Handler {
	s := server{w, "", http.NewServeMux()}
	s.hubRoutes()
	return s.whole()
}

// Handler serves everything at one address: each region under its name, the
// routes of no region under api, the Hub under hub.
func (w *World) Handler() http.Handler {
	mux := http.NewServeMux()
	parts := map[string]http.Handler{"api": w.ServeAPI(), "hub": w.ServeHub()}
	for _, region := range Regions() {
		parts[region] = w.ServeRegion(region)
	}
	for name, h := range parts {
		mux.Handle("/"+name+"/", http.StripPrefix("/"+name, h))
	}
	return mux
}

// At are the bases of a world whose Handler is at an address, for Serve.
func At(address string) Bases {
	b := Bases{Region: map[string]string{}, Hub: address + "/hub"}
	for _, region := range Regions() {
		b.Region[region] = address + "/" + region
	}
	return b
}

func (s server) whole() http.Handler {
	s.on("/", noKey, func(*http.Request) (answer, *refusal) {
		return answer{}, &refusal{status: http.StatusNotFound, message: "not found"}
	})
	return s.mux
}

// look is how often a request that waits looks again.
const look = 50 * time.Millisecond

// on serves a route: the key first, then the organisation, then the route itself.
func (s server) on(pattern string, need keys, do route) {
	s.mux.HandleFunc(pattern, func(out http.ResponseWriter, r *http.Request) {
		until := time.Now().Add(waits(r))
		for {
			a, no := s.once(r, need, do)
			if no == nil && a.later && time.Now().Before(until) {
				select {
				case <-r.Context().Done():
					return
				case <-time.After(look):
					continue
				}
			}
			s.write(out, a, no)
			return
		}
	})
}

func (s server) once(r *http.Request, need keys, do route) (answer, *refusal) {
	if no := s.admit(r, need); no != nil {
		return answer{}, no
	}
	defer s.w.enter()()
	return do(r)
}

// waits is how long a request is ready to wait for a state.
func waits(r *http.Request) time.Duration {
	q := r.URL.Query()
	if ms, err := strconv.Atoi(q.Get("waitMs")); err == nil && ms > 0 {
		return min(time.Duration(ms)*time.Millisecond, time.Minute)
	}
	if d, err := time.ParseDuration(q.Get("wait")); err == nil && d > 0 {
		return min(d, 5*time.Minute)
	}
	return 0
}

func (s server) admit(r *http.Request, need keys) *refusal {
	if need == noKey {
		return nil
	}
	given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	o := &s.w.o
	switch {
	case given != "" && same(given, o.CLIKey):
	case given != "" && same(given, o.SDKKey):
		if need == cliOnly {
			return &refusal{status: http.StatusUnauthorized, message: "this route takes only a CLI key"}
		}
	default:
		return &refusal{status: http.StatusUnauthorized, message: "unauthorized"}
	}
	org := r.URL.Query().Get("orgId")
	if org == "" {
		org = r.Header.Get("X-Agentuity-Orgid")
	}
	if org != "" && org != OrgID {
		return &refusal{status: http.StatusForbidden, message: "organization not found or access denied"}
	}
	return nil
}

func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return b != "" && subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// trace is the id of one answer, the handle for the vendor's support.
func (s server) trace() string {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	return s.w.id("sess", 32)
}

func (s server) write(out http.ResponseWriter, a answer, no *refusal) {
	h := out.Header()
	h.Set("X-Session-Id", s.trace())
	if no != nil {
		a = answer{status: no.status, body: wireRefusal{Message: no.message, Code: no.code}}
		switch no.envelope {
		case envelopeError:
			a.body = map[string]string{"error": no.message}
		case envelopeText:
			a.body, a.raw = nil, []byte(no.message)
			h.Set("Content-Type", "text/plain; charset=utf-8")
		}
		if no.region != "" {
			h.Set("X-Agentuity-Region", no.region)
		}
	}
	if a.status == 0 {
		a.status = http.StatusOK
	}
	if a.body != nil {
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(a.body); err != nil {
			http.Error(out, "demo: encode answer: "+err.Error(), http.StatusInternalServerError)
			return
		}
		a.raw = buf.Bytes()
		h.Set("Content-Type", "application/json")
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/octet-stream")
	}
	h.Set("Content-Length", strconv.Itoa(len(a.raw)))
	out.WriteHeader(a.status)
	// A failed write means that the client is gone: there is nothing to do.
	_, _ = out.Write(a.raw)
}

// data wraps what a route answers.
func data[T any](v T) (answer, *refusal) { return answer{body: envelope[T]{true, v}}, nil }

// done is the answer of what has nothing to tell.
func done() (answer, *refusal) {
	return answer{body: struct {
		Success bool `json:"success"`
	}{true}}, nil
}

func refuse(status int, message, code string) (answer, *refusal) {
	return answer{}, &refusal{status: status, message: message, code: code}
}

// maxBody bounds what clients may send.
const maxBody = 8 << 20

// body reads the JSON of a request.
func body[T any](r *http.Request) (T, *refusal) {
	var v T
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err == nil && len(raw) > 0 {
		err = json.Unmarshal(raw, &v)
	}
	if err != nil {
		return v, &refusal{status: http.StatusBadRequest, message: "invalid request body: " + err.Error()}
	}
	return v, nil
}

// sandbox finds the sandbox of a request. In another region it is misdirected.
func (s server) sandbox(r *http.Request) (*sandbox, *refusal) {
	x := s.w.byID[r.PathValue("id")]
	if x == nil || x.status == deleted && r.URL.Query().Get("includeDeleted") != "true" {
		return nil, &refusal{status: http.StatusNotFound, message: "sandbox not found", code: "SANDBOX_NOT_FOUND"}
	}
	return x, s.here(x)
}

func (s server) here(x *sandbox) *refusal {
	if s.region != "" && x.region != s.region {
		return &refusal{status: http.StatusMisdirectedRequest, message: "the resource is in another region", region: x.region}
	}
	return nil
}

// number reads a count of the query.
func number(r *http.Request, name string, standard, most int) int {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil || n < 0 || n == 0 && name == "limit" {
		return standard
	}
	return min(n, most)
}

// page cuts a page out of a list.
func page[T any](r *http.Request, all []T) []T {
	from := min(number(r, "offset", 0, len(all)), len(all))
	return all[from:min(from+number(r, "limit", defaultPage, maxPage), len(all))]
}
