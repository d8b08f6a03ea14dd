package examine

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
)

// redactor makes an answer fit to be sent: the shape, names of fields, numbers, times and state words stay; every other text is
// replaced. Equal texts get equal stand-ins, so that joins can still be seen.
type redactor struct {
	x    *examination
	data []string
	seen map[string]int
}

func newRedactor(x *examination) *redactor {
	r := &redactor{x: x, seen: map[string]int{}}
	if n := x.names(); n != nil {
		r.data = n.data
	}
	return r
}

var (
	fieldName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,39}$`)
	digits    = regexp.MustCompile(`[0-9]{3,}|[0-9a-f]{8,}`)
	stateWord = regexp.MustCompile(`^[A-Za-z][A-Za-z_-]{0,23}$`)
	hexID     = regexp.MustCompile(`^(sha256:)?[0-9a-f-]{8,}$`)
)

// stateFields are the names of fields whose words are kept: they say what the platform calls a state.
var stateFields = []string{"state", "status", "phase", "health", "kind", "type", "schemaversion", "version", "apiversion", "resulttype", "scope", "driver", "runtime"}

// isName reports whether a member's name is the name of a field, and not an identifier that is used as a key.
func (r *redactor) isName(at, name string) bool {
	parts := strings.Split(strings.ReplaceAll(at, ".*", ""), ".")
	in := strings.Join(parts[max(len(parts)-2, 0):], ".")
	if strings.HasSuffix(at, "*") {
		in = "" // the value of a key
	}
	return fieldName.MatchString(name) && !digits.MatchString(name) && !slices.Contains(r.data, in) && r.x.deps.Cleaner.Mask(name) == name
}

// names collects the paths of the fields of a value.
func (r *redactor) names(at string, v any, into *fieldNames) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			path := "*" // the key is data
			if r.isName(at, name) {
				path = name
			}
			if at != "" {
				path = at + "." + path
			}
			if path != "*" && !strings.HasSuffix(path, ".*") {
				into.add(path)
			}
			r.names(path, value, into)
		}
	case []any:
		for _, e := range v[:min(len(v), 500)] {
			r.names(at, e, into)
		}
	}
}

// mostListed bounds the elements of a list in a sample.
const mostListed = 5

// value is a redacted value; at is the path of its field.
func (r *redactor) value(at string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for i, key := range slices.Sorted(maps.Keys(v)) {
			if i >= mostFields {
				break
			}
			if r.isName(at, key) {
				out[key] = r.value(strings.TrimPrefix(at+"."+key, "."), v[key])
			} else {
				out[r.standIn(key)] = r.value(strings.TrimPrefix(at+".*", "."), v[key])
			}
		}
		return out
	case []any:
		out := make([]any, 0, mostListed)
		for _, e := range v[:min(len(v), mostListed)] {
			out = append(out, r.value(at, e))
		}
		if n := len(v) - mostListed; n > 0 {
			out = append(out, fmt.Sprintf("‹%d more›", n))
		}
		return out
	case string:
		return r.text(at[strings.LastIndexByte(at, '.')+1:], v)
	}
	return v // numbers, booleans, null
}

func (r *redactor) text(name, s string) string {
	if s == "" {
		return ""
	}
	if _, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return s
	}
	if slices.Contains(stateFields, strings.ToLower(name)) && stateWord.MatchString(s) && r.x.deps.Cleaner.Mask(name+"="+s) == name+"="+s {
		return s
	}
	return r.standIn(s)
}

// standIn is what stands for a text.
func (r *redactor) standIn(s string) string {
	n, known := r.seen[s]
	if !known {
		n = len(r.seen) + 1
		r.seen[s] = n
	}
	if hexID.MatchString(s) {
		return fmt.Sprintf("‹id %d of %d characters›", n, len(s))
	}
	return fmt.Sprintf("‹text %d of %d characters›", n, len([]rune(s)))
}

// sampleRoute is one route of a sample.
type sampleRoute struct {
	Route
	Sample any `json:"sample,omitempty"`
}

// WriteSample writes what a user can send: the report with one redacted answer of each route.
func (r *Report) WriteSample(w io.Writer) error {
	doc := struct {
		Masked []string `json:"masked"`
		*Report
		Source string        `json:"source"`
		Routes []sampleRoute `json:"routes"`
		// What names hosts, paths and subjects is left out.
		Notes    []string `json:"notes"`
		Problems int      `json:"problems"`
		Missing  []string `json:"missing"`
	}{Masked: Masked(), Report: r, Source: "‹masked›", Notes: []string{}, Problems: len(r.Problems), Missing: []string{}}
	for _, m := range r.Missing {
		input, _, _ := strings.Cut(m.String(), ":")
		doc.Missing = append(doc.Missing, input)
	}
	for _, route := range r.Routes {
		route.Target = backend.Clean(hostless(route.Target.String()), 300)
		if !route.Problem.IsEmpty() && route.Answers[0] > 0 {
			route.Problem = backend.Text("no answer")
		}
		if route.Answers == nil { // of this machine: its paths are the user's
			route.Target = backend.Text("‹path›")
			if !route.Problem.IsEmpty() {
				route.Problem = backend.Text("‹masked›")
			}
		}
		route.Why = backend.Safe{}
		doc.Routes = append(doc.Routes, sampleRoute{route, route.sample})
	}
	states := slices.Clone(r.States)
	for i, s := range states {
		if !stateWord.MatchString(s.Reported.String()) {
			states[i].Reported = backend.Text("‹masked›")
		}
	}
	was := r.States
	r.States = states
	defer func() { r.States = was }()
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}

// Masked says what a sample does not have.
func Masked() []string {
	return []string{"every text but times and single state words", "ids, names, labels and keys of maps", "hosts, addresses, paths of this machine, queries",
		"headers but those that name software and version", "credentials, which are never read from answers"}
}

// hostless is a route's target without its host and query.
func hostless(target string) string {
	target, _, _ = strings.Cut(target, "?")
	if i := strings.Index(target, ".sock/"); i >= 0 {
		return target[i+len(".sock"):]
	}
	if _, after, ok := strings.Cut(target, "://"); ok {
		if i := strings.IndexByte(after, '/'); i >= 0 {
			return after[i:]
		}
		return "/"
	}
	if !strings.HasPrefix(target, "/") {
		if i := strings.IndexByte(target, '/'); i >= 0 {
			return target[i:]
		}
		return "‹masked›"
	}
	return target
}
