package demo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// dockerFilters are the filters of a list or of the event stream: every key
// must match, by any of its values (labels: by all).
type dockerFilters map[string][]string

// parseFilters reads both forms clients send: {"k":{"v":true}} and {"k":["v"]}.
func parseFilters(raw string, allowed ...string) (dockerFilters, error) {
	out := dockerFilters{}
	if raw == "" {
		return out, nil
	}
	var sets map[string]map[string]bool
	if err := json.Unmarshal([]byte(raw), &sets); err == nil {
		for key, values := range sets {
			for v, on := range values {
				if on {
					out[key] = append(out[key], v)
				}
			}
		}
	} else if err := json.Unmarshal([]byte(raw), &out); err != nil {
		return nil, fmt.Errorf("invalid filters: %w", err)
	}
	for key := range out {
		if !slices.Contains(allowed, key) {
			return nil, fmt.Errorf("invalid filter '%s'", key)
		}
	}
	return out, nil
}

// oneOf says whether one of the values of a key fits, or the key is not asked for.
func (f dockerFilters) oneOf(key string, fits func(v string) bool) bool {
	return len(f[key]) == 0 || slices.ContainsFunc(f[key], fits)
}

func (f dockerFilters) labels(have map[string]string) bool {
	for _, want := range f["label"] {
		key, value, valued := strings.Cut(want, "=")
		got, ok := have[key]
		if !ok || valued && got != value {
			return false
		}
	}
	return true
}

// container says whether a container belongs into a filtered list.
func (f dockerFilters) container(w world, b *fakeContainer, s containerState) bool {
	return f.labels(w.labels(b)) &&
		f.oneOf("id", func(v string) bool { return strings.HasPrefix(b.id, v) }) &&
		f.oneOf("name", func(v string) bool { return strings.Contains(b.name, strings.TrimPrefix(v, "/")) }) &&
		f.oneOf("status", func(v string) bool { return v == s.status }) &&
		f.oneOf("health", func(v string) bool { return v == s.health || v == "none" && s.health == "" })
}

// event says whether an event belongs into a filtered stream. Actions with a
// colon match by the part before it, as in the engine.
func (f dockerFilters) event(w world, e containerEvent) bool {
	return f.labels(w.labels(e.container)) &&
		f.oneOf("type", func(v string) bool { return v == "container" }) &&
		f.oneOf("image", func(v string) bool { return v == e.container.image }) &&
		f.oneOf("scope", func(v string) bool { return v == "local" }) &&
		f.oneOf("container", func(v string) bool { return v == e.container.name || strings.HasPrefix(e.container.id, v) }) &&
		f.oneOf("event", func(v string) bool {
			before, _, _ := strings.Cut(e.action, ":")
			return v == e.action || v == before
		})
}
