package cloudflare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// The permissions of an API token that routes need, as the dashboard calls them.
const (
	needContainers = "Workers Containers Read"
	needScripts    = "Workers Scripts Read"
)

// failure is an answer that is of no use, or no answer.
type failure struct {
	status     int // 0: no answer
	retryAfter time.Duration
	said       string // what the body says, masked and cut
	header     bool   // the token has no form that a token has
	denied     bool   // the body says so, with the status of a success
	err        error  // a *backend.Error
}

func (f *failure) is(status int) bool { return f != nil && f.status == status }

// headerCodes are what the platform answers, with status 400, where a header is not as it should be: invalid request headers, and an
// Authorization header of another form.
var headerCodes = []int{6003, 6111}

// deniedCodes are what the platform says, also with the status of a success, to a token that it does not know or that may not read this: authentication
// error, unauthorized to access the resource.
var deniedCodes = []int{10000, 9109}

// refused reports whether the token is refused.
func (f *failure) refused() bool {
	return f != nil && f.denied || f.is(http.StatusUnauthorized) || f.is(http.StatusForbidden) || f.is(http.StatusBadRequest) && f.header
}

// answer is one JSON answer.
type answer struct {
	root, result wire.Node
	bad          []wire.BadElement // elements of the list that are no valid JSON
	next         string            // token of the next page, empty: this was the last one
	at           time.Time
	where        string
}

// get asks one route of the account.
func (s *Source) get(ctx context.Context, route, path string, query url.Values) (*answer, *failure) {
	to := s.base + path
	if len(query) > 0 {
		to += "?" + query.Encode()
	}
	resp, err := s.client.Get(ctx, wire.Request{URL: to, Route: s.base + route})
	if err != nil {
		return nil, s.failed(err)
	}
	s.limits.note(resp.Header, resp.At)
	if resp.Status == http.StatusNotFound {
		return nil, s.refusal(resp.Status, resp.Body, resp.Header, resp.Where, backend.ErrGone)
	}
	doc, bad, err := wire.ParseList(resp.Body, "/result")
	if err != nil && bytes.HasPrefix(bytes.TrimSpace(resp.Body), []byte("<")) {
		return nil, &failure{status: resp.Status, err: backend.Errorf(backend.ErrInvalid, resp.Where, "it answered with a web page; is %s the account API, and not the login page of a proxy?", s.opt.URL)}
	}
	if err != nil {
		return nil, &failure{status: resp.Status, err: inside(resp.Where, err)}
	}
	root := doc.Root()
	if ok, is := root.Get("success").Bool(); is && !ok { // a refusal with the status of a success
		return nil, s.refusal(resp.Status, resp.Body, resp.Header, resp.Where, backend.ErrInvalid)
	}
	out := &answer{root: root, result: root.Get("result"), bad: bad, at: resp.At, where: resp.Where}
	out.next, _ = root.Get("result_info").Get("next_page_token").Text()
	return out, nil
}

// inside names the URL before the place in a body.
func inside(where string, err error) error {
	var e *backend.Error
	if errors.As(err, &e) {
		c := *e
		c.Where = strings.TrimSpace(where + " " + e.Where)
		return &c
	}
	return err
}

// failed reads what the client refused.
func (s *Source) failed(err error) *failure {
	f := &failure{err: err}
	var e *backend.Error
	var status *wire.StatusError
	if errors.As(err, &e) {
		f.retryAfter = e.RetryAfter
	}
	if !errors.As(err, &status) || e == nil {
		return f
	}
	out := s.refusal(status.Status, status.Body, status.Header, e.Where, e.Kind)
	out.retryAfter = e.RetryAfter
	return out
}

// refusal makes the failure of a status. The envelope lists errors with code and message.
func (s *Source) refusal(status int, body []byte, h http.Header, where string, kind backend.ErrorKind) *failure {
	var said []string
	header, denied := false, false
	if doc, err := wire.Parse(body); err == nil {
		for n := range doc.Root().Get("errors").Elements() {
			text, _ := n.Get("message").Text()
			if code, ok := number(n.Get("code")); ok {
				text += " (code " + strconv.Itoa(code) + ")"
				header = header || slices.Contains(headerCodes, code)
				denied = denied || slices.Contains(deniedCodes, code) && status < http.StatusMultipleChoices
			}
			if text = strings.TrimSpace(text); text != "" && len(said) < 3 {
				said = append(said, text)
			}
		}
		if text, ok := doc.Root().Get("error").Text(); ok && len(said) == 0 {
			said = append(said, text)
		}
	} else if !strings.Contains(h.Get("Content-Type"), "html") {
		said = append(said, strings.TrimSpace(string(body)))
	}
	f := &failure{status: status, header: header, denied: denied, said: s.client.Cleaner().Clean(strings.Join(said, "; "), 200).String()}
	text := fmt.Sprintf("answered %d", status)
	if name := http.StatusText(status); name != "" {
		text += " " + name
	}
	if f.said != "" {
		text += ": " + f.said
	}
	if ray := h.Get("Cf-Ray"); ray != "" {
		text += " (ray " + backend.Clean(ray, 60).String() + ")"
	}
	f.err = &backend.Error{Kind: kind, Source: s.deps.ID, Where: where, Err: errors.New(text)}
	return f
}

// explain says of a failure what it is, where, and the next step. need is the permission of the route.
func (s *Source) explain(f *failure, need string) (kind backend.ErrorKind, where, what string) {
	var e *backend.Error
	kind, what = backend.KindOf(f.err), f.err.Error()
	if errors.As(f.err, &e) {
		where, what = e.Where, e.Err.Error()
	}
	if s.opt.AccountID == exampleAccount {
		what += "; account_id is still that of the example: write yours, or set " + envAccount
	}
	switch {
	case f.refused() && need == needContainers && !s.namespaces.ok.IsZero(), f.refused() && need != needContainers:
		return backend.ErrUnauthorised, where, what + "; the token (" + s.opt.Read.Origin() + ") works for other routes: give it the permission " + need
	case f.refused():
		return backend.ErrUnauthorised, where, what + "; check the token (" + s.opt.Read.Origin() + "): valid, for this account, with the permission " + need
	case f.is(http.StatusNotFound):
		return kind, where, what + "; check account_id and url"
	case kind == backend.ErrThrottled:
		if f.retryAfter > 0 {
			what += "; it asks to wait " + f.retryAfter.Round(time.Second).String()
		}
		return kind, where, what + "; all programs of the token share 1200 requests in 5 minutes: lower requests_per_second, or stop another one"
	case f.status >= 500:
		return kind, where, what + "; what runs is unknown until it answers: see www.cloudflarestatus.com"
	}
	return kind, where, what
}

func number(n wire.Node) (int, bool) {
	f, ok := n.Float()
	return int(f), ok && f == float64(int(f))
}
