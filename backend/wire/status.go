package wire

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sandglass/backend"
)

// maxRetryAfter bounds how long an answer can make us wait; a hostile or broken header must not blind the console.
const maxRetryAfter = time.Hour

// StatusError is an answer that the client refused by its status. Text is the beginning of its body, drawable; Body is all
// that was read of it, as it came, and Header its headers.
type StatusError struct {
	Status int
	Text   backend.Safe
	Body   []byte
	Header http.Header
}

// Error names the status and what the body said.
func (e *StatusError) Error() string {
	s := fmt.Sprintf("answered %d", e.Status)
	if name := http.StatusText(e.Status); name != "" {
		s += " " + name
	}
	if !e.Text.IsEmpty() {
		s += ": " + e.Text.String()
	}
	return s
}

// judge turns a status into an error of the right kind, or nil when the caller has to judge the answer.
func (c *Client) judge(r *Response, asked Request, retry time.Duration) error {
	refuse := func(kind backend.ErrorKind) error {
		e := c.fail(kind, r.Where, &StatusError{Status: r.Status, Text: c.excerpt(r), Body: r.Body, Header: r.Header})
		if kind == backend.ErrThrottled {
			e.RetryAfter = retry
		}
		return e
	}
	switch s := r.Status; {
	case s == http.StatusNotModified && asked.ETag != "":
		r.NotModified, r.Body = true, nil
		return nil
	case s >= 200 && s <= 299, s == http.StatusNotFound:
		return nil
	case s >= 300 && s <= 399 && s != http.StatusNotModified:
		return c.fail(backend.ErrInvalid, r.Where,
			fmt.Errorf("redirects to %s; not followed", redirectHost(asked.URL, r.Header.Get("Location"))))
	case s == http.StatusUnauthorized, s == http.StatusForbidden:
		c.secret.forget() // it may have been rotated: the next request reads it again
		return refuse(backend.ErrUnauthorised)
	case s == http.StatusTooManyRequests, s == http.StatusServiceUnavailable && r.Header.Get("Retry-After") != "":
		return refuse(backend.ErrThrottled) // a 503 that names no time to wait is a service that is down
	case s == http.StatusGone:
		return refuse(backend.ErrGone)
	case s == http.StatusRequestTimeout, s == http.StatusGatewayTimeout:
		return refuse(backend.ErrTimeout)
	case s >= 500:
		return refuse(backend.ErrUnreachable)
	}
	return refuse(backend.ErrInvalid)
}

// excerpt is the beginning of an error body, when it is text for people or programs rather than a web page.
func (c *Client) excerpt(r *Response) backend.Safe {
	kind := r.Header.Get("Content-Type")
	if strings.Contains(kind, "html") || len(r.Body) == 0 {
		return backend.Safe{}
	}
	return c.Cleaner().Clean(strings.TrimSpace(string(r.Body)), backend.MaxTextRunes).LogLine(160)
}

func redirectHost(from, location string) string {
	base, err := url.Parse(from)
	if err != nil {
		return "an unreadable address"
	}
	to, err := base.Parse(location)
	if err != nil || location == "" {
		return "an unreadable address"
	}
	return backend.Clean(to.Host, 200).String()
}

// retryAfter reads the header's seconds or date; 0 when there is none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0
	}
	if s, err := strconv.ParseInt(v, 10, 64); err == nil {
		return min(time.Duration(min(max(s, 0), int64(maxRetryAfter/time.Second)))*time.Second, maxRetryAfter)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date // the server means its own clock
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}
