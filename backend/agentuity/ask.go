package agentuity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// The headers of the vendor's answers and requests (core 2.0.21, api.ts and coder/client.ts).
const (
	headerTrace  = "x-session-id"
	headerRegion = "x-agentuity-region"
	headerOrg    = "x-agentuity-orgid"
)

// failure is an answer that is none of use, or no answer.
type failure struct {
	status        int    // 0: no answer
	code, message string // of the body, raw
	trace         string // names the answer for the vendor's support
	strange       bool   // the answer is none of this service: another route, a login page or a proxy may answer
	region        string // a 421 names the region that has the subject
	asks          string // what to check where another service answers
	retryAfter    time.Duration
	err           error // a *backend.Error
}

// Error says what was answered and where.
func (f *failure) Error() string { return f.err.Error() }

// said is place and answer, for evidence.
func (f *failure) said() string {
	var e *backend.Error
	if errors.As(f.err, &e) {
		return e.Said()
	}
	return f.Error()
}

// Unwrap returns the *backend.Error.
func (f *failure) Unwrap() error { return f.err }

func (f *failure) is(status int) bool { return f != nil && f.status == status }

// answer is one JSON answer.
type answer struct {
	root  wire.Node
	data  wire.Node // the part data where there is one, else the root
	trace string
	at    time.Time
	took  time.Duration
	where string
}

// place is one base with what is sent to it.
type place struct {
	source string
	client *wire.Client
	base   string
	asks   string // what to check where another service answers
	org    string // sent as the query orgId
	header http.Header
	budget *wire.Budget
}

// get asks one route. A query value is escaped; parts of a path are escaped by the caller.
func (p *place) get(ctx context.Context, route, path string, query url.Values) (*answer, *failure) {
	if p.org != "" {
		if query == nil {
			query = url.Values{}
		}
		query.Set("orgId", p.org)
	}
	to := p.base + path
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	resp, err := p.client.Get(ctx, wire.Request{URL: to, Route: route, Header: p.header})
	if err != nil {
		return nil, p.failed(err)
	}
	if resp.Status == http.StatusNotFound {
		return nil, p.refused(resp.Status, resp.Body, resp.Header, resp.Where, backend.ErrGone)
	}
	doc, err := wire.Parse(resp.Body)
	if err != nil {
		return nil, p.strange(resp, err)
	}
	root := doc.Root()
	if ok, is := root.Get("success").Bool(); is && !ok { // a refusal with the status of a success
		return nil, p.refused(resp.Status, resp.Body, resp.Header, resp.Where, backend.ErrInvalid)
	}
	out := &answer{root: root, data: root, trace: resp.Header.Get(headerTrace), at: resp.At, took: resp.Latency, where: resp.Where}
	if data := root.Get("data"); data.Kind() == '{' {
		out.data = data
	}
	return out, nil
}

// strange makes the failure of a body that is no JSON.
func (p *place) strange(resp *wire.Response, err error) *failure {
	what := "a web page instead of JSON"
	switch body := strings.TrimSpace(string(resp.Body[:min(len(resp.Body), 64)])); {
	case body == "" && len(resp.Body) <= 64:
		what = "an empty body"
	case !strings.HasPrefix(body, "<") && !strings.Contains(resp.Header.Get("Content-Type"), "html"):
		what = "a body that cannot be read as JSON"
		var e *backend.Error
		if errors.As(err, &e) {
			what += fmt.Sprintf(": %v, %s", e.Err, e.Where)
		}
	}
	f := &failure{status: resp.Status, trace: resp.Header.Get(headerTrace), strange: true, asks: p.asks}
	f.err = &backend.Error{Kind: backend.ErrInvalid, Source: p.source, Where: resp.Where, Err: errors.New(answered(f) + " with " + what + traced(f))}
	return f
}

// lacks makes the failure of an answer that is JSON and not of the form that is documented.
func (a *answer) lacks(what, asks string) *failure {
	f := &failure{status: http.StatusOK, trace: a.trace, strange: true, asks: asks}
	f.err = backend.Errorf(backend.ErrInvalid, a.where, "%s, but the answer holds no %s%s", answered(f), what, traced(f))
	return f
}

// answered names the status of a failure.
func answered(f *failure) string {
	said := fmt.Sprintf("answered %d", f.status)
	if name := http.StatusText(f.status); name != "" {
		said += " " + name
	}
	return said
}

// traced names the trace of a failure, for the vendor's support.
func traced(f *failure) string {
	if f.trace == "" {
		return ""
	}
	return " (trace " + backend.Clean(f.trace, 80).String() + ")"
}

// failed reads what the client refused.
func (p *place) failed(err error) *failure {
	f := &failure{err: err, asks: p.asks}
	var e *backend.Error
	var status *wire.StatusError
	if errors.As(err, &e) {
		f.retryAfter = e.RetryAfter
	}
	if !errors.As(err, &status) || e == nil {
		return f
	}
	out := p.refused(status.Status, status.Body, status.Header, e.Where, e.Kind)
	out.retryAfter = e.RetryAfter
	return out
}

// refused makes the failure of a status. The vendor's bodies carry any of message, error (a text or an object) and code.
func (p *place) refused(status int, body []byte, h http.Header, where string, kind backend.ErrorKind) *failure {
	f := &failure{status: status, trace: h.Get(headerTrace), region: h.Get(headerRegion), asks: p.asks}
	if doc, err := wire.Parse(body); err == nil {
		root := doc.Root()
		f.message, _ = root.Get("message").Text()
		f.code, _ = root.Get("code").Text()
		if f.message == "" {
			f.message, _ = root.Get("error").Text()
		}
		if f.message == "" {
			f.message, _ = root.Get("error").Get("message").Text()
		}
	} else if !strings.Contains(h.Get("Content-Type"), "html") {
		f.message = strings.TrimSpace(string(body))
	}
	said := answered(f)
	if f.message != "" {
		said += ": " + p.client.Cleaner().Clean(f.message, 200).String()
	}
	f.err = &backend.Error{Kind: kind, Source: p.source, Where: where, Err: errors.New(said + traced(f))}
	return f
}

// notFound reports whether the platform says that the subject of a request does not exist.
func (f *failure) notFound() bool {
	return f.is(http.StatusNotFound) && (f.code == "" || strings.HasSuffix(f.code, "NOT_FOUND"))
}

// mountGone reports whether a platform's text says that the filesystem of a sandbox is not mounted any more
// (agentuity/sdk#1350), and the path that it names.
func mountGone(text string) (path string, gone bool) {
	low := strings.ToLower(text)
	missing := strings.Contains(low, "no such file or directory")
	at := strings.Index(low, "/working/sandbox/")
	if !missing || at < 0 && !strings.Contains(low, "cow-merged") {
		return "", false
	}
	if at < 0 {
		return "cow-merged", true
	}
	path, _, _ = strings.Cut(text[at:], ":")
	return strings.TrimRight(strings.Fields(path + " ")[0], `"',;`), true
}

// mountOwner is the id of the sandbox whose directory a mount path names, empty when it names none.
func mountOwner(path string) string {
	rest, ok := strings.CutPrefix(path, "/working/sandbox/")
	if !ok {
		return ""
	}
	id, _, _ := strings.Cut(rest, "/")
	return id
}
