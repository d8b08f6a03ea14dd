package refs

import (
	"strconv"
	"strings"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// A state may hold anything: these bound the search for errors in it.
const (
	maxStateErrors     = 10
	maxErrorNodes      = 5000
	maxStateErrorDepth = 12
)

// errorSearch looks for errors of the agent's SDK in a saved state: an object whose class or code is one of the SDK's, with what it says in
// members of its own, in its context, or in the mapping that is its first argument.
type errorSearch struct {
	d     *decoder
	left  int
	found []backend.AgentError
}

// errorsOf are the errors in a session state, in the order in which it has them. What is below one is its cause, and counts once. The
// manifest is what its owner wrote, and holds none.
func (d *decoder) errorsOf(n wire.Node) []backend.AgentError {
	s := errorSearch{d: d, left: maxErrorNodes}
	for name, v := range n.Members() {
		if string(name) != "manifest" {
			s.look(v, "/"+string(name), 1)
		}
	}
	return s.found
}

func (s *errorSearch) look(n wire.Node, at string, depth int) {
	if s.left--; s.left < 0 || depth > maxStateErrorDepth || len(s.found) == maxStateErrors {
		return
	}
	switch n.Kind() {
	case '{':
		if k, is := sdkKind(n); is {
			s.found = append(s.found, backend.AgentError{Class: backend.Clean(k.Name, 60), Details: s.details(n), Means: means(n, k), Where: s.d.s.deps.Cleaner.Clean(at, nameRunes)})
			return
		}
		for name, v := range n.Members() {
			s.look(v, at+"/"+string(name), depth+1)
		}
	case '[':
		i := 0
		for v := range n.Elements() {
			s.look(v, at+"/"+strconv.Itoa(i), depth+1)
			i++
		}
	}
}

// sdkKind is the kind of error that an object is; false: it is none of the SDK's.
func sdkKind(n wire.Node) (backend.SDKErrorKind, bool) {
	code, _ := n.Get("error_code").Text()
	for _, k := range backend.SDKErrorKinds() {
		if code == k.Code {
			return k, true
		}
		for _, key := range [...]string{"type", "class", "name", "error_class", "error_type"} {
			if name, _ := n.Get(key).Text(); name == k.Name {
				return k, true
			}
		}
	}
	return backend.SDKErrorKind{}, false
}

// parts are the objects that can tell more of an error.
func parts(n wire.Node) (out []wire.Node) {
	out = append(out, n, n.Get("context"))
	for v := range n.Get("args").Elements() {
		return append(out, v)
	}
	return out
}

// detail is the first text or number of that name that an error tells.
func detail(n wire.Node, names ...string) string {
	for _, part := range parts(n) {
		for _, name := range names {
			if v, ok := scalar(part.Get(name)); ok && v != "" {
				return v
			}
		}
	}
	return ""
}

// details are what an error says beside its class. What the command or the message was is not among them: they may hold secrets.
func (s *errorSearch) details(n wire.Node) backend.Safe {
	var out []string
	for _, x := range [...]struct {
		as    string
		names []string
	}{{"path ", []string{"path"}}, {"timeout ", []string{"timeout_s"}}, {"type ", []string{"actual_type"}}, {"reason ", []string{"reason"}}, {"HTTP ", []string{"http_status", "status_code", "status"}},
		{"", []string{"provider_error_code"}}} {
		if v := detail(n, x.names...); v != "" {
			out = append(out, x.as+v)
		}
	}
	return s.d.s.deps.Cleaner.Clean(strings.Join(out, ", "), nameRunes)
}

// means says what an error means: a save or a restore that failed by its reason, as in a log.
func means(n wire.Node, k backend.SDKErrorKind) backend.Safe {
	switch detail(n, "reason") {
	case "tar_failed":
		return backend.Text("the content of its workspace could not be saved")
	case "tar_extract_failed", "unsafe_or_invalid_tar":
		return backend.Text("the saved content of its workspace could not be brought back")
	}
	return backend.Text(k.Means)
}
