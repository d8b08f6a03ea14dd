package examine

import (
	"bufio"
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"sandglass/backend"
)

// mostFields bounds the names that one route lists.
const mostFields = 400

// fieldNames collects the names of the fields that answers of one route had.
type fieldNames struct {
	seen map[string]bool
}

func (n *fieldNames) add(name string) {
	if n.seen == nil {
		n.seen = map[string]bool{}
	}
	if len(n.seen) < mostFields {
		n.seen[name] = true
	}
}

// list divides the names into those that the adapter knows and the others.
func (n *fieldNames) list(x *examination) (known, unknown []backend.Safe) {
	var all []string
	for name := range n.seen {
		all = append(all, name)
	}
	slices.Sort(all)
	names := x.names()
	for _, name := range all {
		is := true
		for part := range strings.SplitSeq(name, ".") { // what is below an unknown field is unknown
			is = is && (part == "*" || !x.extra[part] && (names == nil || slices.Contains(names.known, part)))
		}
		if text := x.deps.Cleaner.Clean(name, 120); is {
			known = append(known, text)
		} else {
			unknown = append(unknown, text)
		}
	}
	return known, unknown
}

// names are what the source says that it knows; nil: it does not say.
type names struct{ known, data []string }

func (x *examination) names() *names {
	if x.fields == nil {
		return nil
	}
	known, data := x.fields.KnownFields()
	return &names{known, data}
}

// body takes the fields of one answer, and keeps the first as a redacted sample.
func (x *examination) body(out *Route, e *exchange, into *fieldNames) {
	switch {
	case len(e.body) == 0:
	case e.contentType() == "application/x-tar" || strings.Contains(e.contentType(), "stream") || strings.Contains(e.contentType(), "octet"):
	case isJSON(e):
		values := jsonValues(e.body)
		if len(values) == 0 && !e.cut {
			out.Problem = backend.Text("says that it is JSON and is not")
			return
		}
		red := newRedactor(x)
		for _, v := range values {
			red.names("", v, into)
		}
		if out.sample == nil && len(values) > 0 {
			out.sample = red.value("", values[0])
		}
	case strings.HasPrefix(e.contentType(), "text/plain") || strings.Contains(e.contentType(), "openmetrics"):
		x.metrics(out, e, into)
	}
}

func isJSON(e *exchange) bool {
	b := bytes.TrimSpace(e.body)
	return strings.Contains(e.contentType(), "json") || len(b) > 0 && (b[0] == '{' || b[0] == '[') && e.contentType() != "text/html"
}

// jsonValues are the values of a body: one, or one a line.
func jsonValues(body []byte) (out []any) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	for len(out) < 50 {
		var v any
		if d.Decode(&v) != nil {
			break
		}
		out = append(out, v)
	}
	return out
}

var metricLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*\})?\s+(\S+)`)

// metrics takes the names of metrics; values of labels never leave it.
func (x *examination) metrics(out *Route, e *exchange, into *fieldNames) {
	lines := bufio.NewScanner(bytes.NewReader(e.body))
	lines.Buffer(nil, maxKept)
	var sample []string
	for lines.Scan() {
		m := metricLine.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		into.add(m[1])
		if len(sample) < 200 {
			labels := ""
			if m[2] != "" {
				labels = labelValues.ReplaceAllString(m[2], `="‹masked›"`)
			}
			sample = append(sample, m[1]+labels+" "+m[3])
		}
	}
	if len(sample) > 0 && out.sample == nil {
		out.sample = sample
	}
}

var labelValues = regexp.MustCompile(`="(?:[^"\\]|\\.)*"`)
