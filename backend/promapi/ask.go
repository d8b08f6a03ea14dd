package promapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// maxRemarks bounds the warnings and infos of one answer that are shown.
const maxRemarks = 5

// answer is what one query returned.
type answer struct {
	where    string
	vector   model.Vector // of an instant query
	matrix   model.Matrix // of a range query
	at       time.Time    // of the evaluation by the server's clock, zero when nothing in the answer tells
	warnings []string     // the answer may lack something
	infos    []string
}

func (a *answer) complete() bool { return len(a.warnings) == 0 }

// instant asks for the present value of every series of an expression.
func (s *source) instant(ctx context.Context, query string) (*answer, error) {
	a, err := s.ask(ctx, "query", url.Values{"query": {query}})
	if err != nil {
		return nil, err
	}
	if a.matrix != nil {
		return nil, s.refuse(backend.ErrInvalid, a.where, "a vector was asked for, a matrix came")
	}
	for _, x := range a.vector {
		if t := x.Timestamp.Time(); t.After(a.at) {
			a.at = t
		}
	}
	return a, nil
}

// past asks for the values between two moments of the server's clock, one every step.
func (s *source) past(ctx context.Context, query string, from, to time.Time, step time.Duration) (*answer, error) {
	seconds := func(t time.Time) string { return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64) }
	a, err := s.ask(ctx, "query_range", url.Values{"query": {query}, "start": {seconds(from)}, "end": {seconds(to)},
		"step": {strconv.FormatFloat(step.Seconds(), 'f', 3, 64)}})
	if err != nil {
		return nil, err
	}
	if a.vector != nil {
		return nil, s.refuse(backend.ErrInvalid, a.where, "a matrix was asked for, a vector came")
	}
	return a, nil
}

// ask sends one query. limit and timeout are known to newer servers and ignored by older ones.
func (s *source) ask(ctx context.Context, route string, values url.Values) (*answer, error) {
	values.Set("limit", strconv.Itoa(s.opts.MaxSeries))
	if s.deps.Deadline > 0 {
		values.Set("timeout", s.deps.Deadline.String())
	}
	header := http.Header{}
	for name, value := range s.opts.Headers {
		header.Set(name, value)
	}
	resp, err := s.client.Get(ctx, wire.Request{URL: s.base + "/api/v1/" + route + "?" + values.Encode(), Header: header})
	if err != nil {
		return nil, s.explain(err)
	}
	if resp.Status == http.StatusNotFound {
		return nil, s.refuse(backend.ErrGone, resp.Where, "answered 404: there is no query API at this path")
	}
	if kind := resp.Header.Get("Content-Type"); strings.Contains(kind, "html") {
		return nil, s.refuse(backend.ErrInvalid, resp.Where, "wrong path: the answer is a web page, not that of a query API")
	}
	return s.read(resp)
}

// read takes an answer apart: {"status", "data": {"resultType", "result"}, "errorType", "error", "warnings", "infos"},
// as https://prometheus.io/docs/prometheus/latest/querying/api/ describes it.
func (s *source) read(resp *wire.Response) (*answer, error) {
	doc, err := wire.Parse(resp.Body)
	if err != nil {
		var e *backend.Error
		if errors.As(err, &e) {
			return nil, s.refuse(backend.ErrInvalid, resp.Where+" at "+e.Where, "%w", e.Err)
		}
		return nil, s.refuse(backend.ErrInvalid, resp.Where, "%w", err)
	}
	root := doc.Root()
	if e, failed := failure(root); failed {
		return nil, s.refuse(e.kind(backend.ErrInvalid), resp.Where, "%s", s.client.Cleaner().Clean(e.String(), 300))
	}
	status, _ := root.Get("status").Text()
	kind, _ := root.Get("data").Get("resultType").Text()
	result := root.Get("data").Get("result")
	if status != "success" || result.Kind() != '[' {
		return nil, s.refuse(backend.ErrInvalid, resp.Where, "wrong path: this is no answer of a query API")
	}
	a := &answer{where: resp.Where, warnings: texts(root.Get("warnings")), infos: texts(root.Get("infos"))}
	switch kind {
	case "vector":
		a.vector = model.Vector{}
		err = json.Unmarshal(result.Raw(), &a.vector)
	case "matrix":
		a.matrix = model.Matrix{}
		err = json.Unmarshal(result.Raw(), &a.matrix)
	default:
		err = fmt.Errorf("a result of type %q was not asked for", kind)
	}
	if err != nil {
		return nil, s.refuse(backend.ErrInvalid, resp.Where, "the result cannot be read: %w", err)
	}
	for i, x := range a.vector {
		if x == nil {
			return nil, s.refuse(backend.ErrInvalid, resp.Where, "the result cannot be read: element %d is null", i)
		}
	}
	for i, x := range a.matrix {
		if x == nil {
			return nil, s.refuse(backend.ErrInvalid, resp.Where, "the result cannot be read: element %d is null", i)
		}
	}
	return a, nil
}

func texts(n wire.Node) []string {
	var out []string
	for e := range n.Elements() {
		if text, ok := e.Text(); ok && text != "" {
			out = append(out, text)
		}
	}
	return out
}

// queryError is what a server says when it cannot answer a query.
type queryError struct{ class, text string }

func (e queryError) String() string {
	switch {
	case e.class == "":
		return "the server refused the query: " + e.text
	case strings.Contains(e.text, "too many samples"), strings.Contains(e.text, "exceeded maximum resolution"):
		return e.class + ": " + e.text + "; give matchers, or a shorter lookback"
	}
	return e.class + ": " + e.text
}

// kind classifies by the server's own word, and by the status where it says none.
func (e queryError) kind(otherwise backend.ErrorKind) backend.ErrorKind {
	switch e.class {
	case "timeout", "canceled":
		return backend.ErrTimeout
	case "bad_data", "execution", "not_acceptable":
		return backend.ErrInvalid
	case "internal":
		return backend.ErrUnreachable
	case "not_found":
		return backend.ErrGone
	}
	return otherwise
}

func failure(root wire.Node) (queryError, bool) {
	if status, _ := root.Get("status").Text(); status != "error" {
		return queryError{}, false
	}
	var e queryError
	e.class, _ = root.Get("errorType").Text()
	e.text, _ = root.Get("error").Text()
	return e, true
}

// explain makes words of a refused status: its body is {"status": "error", …} like that of any other answer.
func (s *source) explain(err error) error {
	var outer *backend.Error
	var status *wire.StatusError
	if !errors.As(err, &outer) || !errors.As(err, &status) {
		return err
	}
	doc, bad := wire.Parse(status.Body)
	if bad != nil {
		return err // the client's own words stand
	}
	e, failed := failure(doc.Root())
	if !failed {
		return err
	}
	said := *outer
	said.Kind = e.kind(outer.Kind)
	said.Err = fmt.Errorf("answered %d: %s", status.Status, s.client.Cleaner().Clean(e.String(), 300))
	return &said
}

func (s *source) refuse(kind backend.ErrorKind, where, format string, args ...any) error {
	e := backend.Errorf(kind, where, format, args...)
	e.Source = s.deps.ID
	return e
}
