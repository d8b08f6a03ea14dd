package alerts

import (
	"cmp"
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// blind computes which rules cannot see where. A source that has not answered yet says nothing about itself and is
// left out.
func (ev *evaluation) blind() []Blindness {
	var out []Blindness
	without := len(ev.st.Sources) > 0 && !ev.st.WatchesFramework() // what needs one is not missing
	noCloud := !slices.ContainsFunc(ev.st.Sources, func(h *fleet.SourceHealth) bool { return h.Watches(backend.InputPlatform) })
	for _, r := range ev.e.rules {
		m := r.Meta()
		if len(m.Needs) == 0 || without && slices.ContainsFunc(m.Needs, isOfFramework) || noCloud && slices.ContainsFunc(m.Needs, isOfPlatform) {
			continue
		}
		judged, starting := 0, false
		for _, h := range ev.st.Sources {
			starting = starting || h.Status == fleet.StatusStarting
			if h.Status == fleet.StatusStarting || !h.Watches(m.Watches) {
				continue
			}
			judged++
			why, blind := blindOn(ev.st, m, h)
			if b, ok := r.(Blinder); ok && !blind {
				why, blind = b.Blind(ev.st, h)
			}
			if blind && !ev.firesOn(m.Name, h.Key) {
				out = append(out, Blindness{Rule: m.Name, Source: h.Key.Source, Why: m.still(ev.st, h.Key.Source, why), Part: inPart(ev.st, m, h)})
			}
		}
		if judged == 0 && !starting && len(ev.st.Sources) > 0 {
			group := ev.undelivered(m)
			source, why := ev.readOnce(m)
			switch {
			case group != nil:
				out = append(out, Blindness{Rule: m.Name, Why: m.still(ev.st, "", noSource(group))})
			case source != "":
				out = append(out, Blindness{Rule: m.Name, Source: source, Why: why})
			}
		}
	}
	if ev.prev != nil && slices.Equal(out, ev.prev.Blind) {
		return ev.prev.Blind
	}
	return out
}

// isOfFramework reports whether a need is met only by what an agent framework reports.
func isOfFramework(group []backend.Input) bool {
	return !slices.ContainsFunc(group, func(in backend.Input) bool { return !in.OfFramework() })
}

// isOfPlatform reports whether a need is met only by a platform of cloud sandboxes.
func isOfPlatform(group []backend.Input) bool {
	return len(group) == 1 && group[0] == backend.InputPlatform
}

// firesOn reports whether a rule fires about a source itself: it sees something there, whatever it lacks.
func (ev *evaluation) firesOn(rule string, source backend.Key) bool {
	l := ev.next.rules[rule]
	if l == nil {
		return false
	}
	r := l.get(source)
	return r != nil && r.State == StateFiring
}

// Blinder is a rule whose inputs arrive with an input that it needs, but not always: it says itself where it cannot see.
// It is asked on every State and must not walk everything.
type Blinder interface {
	Blind(st *fleet.State, h *fleet.SourceHealth) (why backend.Safe, blind bool)
}

// nobodyDelivers is the first of a rule's needs that is met nowhere, nil where all are though no source of the kind that
// it watches is configured: log lines can be judged without a registry.
func (ev *evaluation) undelivered(m *Meta) []backend.Input {
	for _, group := range m.Needs {
		if !slices.ContainsFunc(ev.st.Sources, func(h *fleet.SourceHealth) bool {
			return slices.ContainsFunc(group, h.Delivers)
		}) {
			return group
		}
	}
	return nil
}

// readOnce is the first source whose counter is all that a rule has to go by and was read once: one reading gives no rate.
func (ev *evaluation) readOnce(m *Meta) (source string, why backend.Safe) {
	window := min(cmp.Or(m.Window, fleet.WindowSpan), fleet.WindowSpan)
	for _, group := range m.Needs {
		if !slices.Contains(group, backend.InputEvictions) {
			continue
		}
		var once []backend.Safe
		for _, h := range ev.st.Sources {
			switch counts := h.Delivers(backend.InputEvictions); {
			case counts && !ev.readTwice(h.Key.Source, window):
				once = append(once, backend.Clean(h.Key.Source, 80))
				source = cmp.Or(source, h.Key.Source)
			case counts, slices.ContainsFunc(group, h.Delivers):
				return "", why
			}
		}
		if len(once) > 0 {
			return source, backend.Textf("%s was read once in the last %s, and a rate needs two readings: check again before then, or watch with --observe",
				backend.Join(once, ", "), backend.Clean(backend.Age(window), 40))
		}
	}
	return "", why
}

// readTwice reports whether some counter of evictions was read at least twice within a window.
func (ev *evaluation) readTwice(source string, window time.Duration) bool {
	for s := range ev.st.Windows.All(backend.MetricEvictions) {
		if s.Source == source && ev.env.Over(s, window).Samples >= 2 {
			return true
		}
	}
	return false
}

// still adds to why a rule is blind what it sees all the same. source empty: anywhere.
func (m *Meta) still(st *fleet.State, source string, why backend.Safe) backend.Safe {
	for _, h := range st.Sources {
		if m.Alone.Input != "" && h.Delivers(m.Alone.Input) && (source == "" || h.ReportsOn(source)) {
			return backend.Textf("%s; only %s is seen", why, m.Alone.Sees)
		}
	}
	return why
}

// nobody says that an input is delivered by no source at all.
func noSource(group []backend.Input) backend.Safe {
	nouns := make([]backend.Safe, len(group))
	logs := true
	for i, in := range group {
		nouns[i] = backend.Clean(inputNoun(in), 80)
		logs = logs && (in == backend.InputRejections || in == backend.InputEvictionLogs)
	}
	why := backend.Textf("no configured source reports %s", backend.Join(nouns, " or "))
	if logs {
		why = backend.Textf("%s; Helix writes no log lines unless a Logger is configured", why)
	}
	return why
}

// blindOn reports whether a rule is blind on one source, and why: for each of its needs some source that speaks about
// this one must deliver one of the inputs.
func blindOn(st *fleet.State, m *Meta, h *fleet.SourceHealth) (backend.Safe, bool) {
	for _, group := range m.Needs {
		if h.Status == fleet.StatusDown && len(group) == 1 && group[0] == m.Watches {
			return backend.Textf("%s is down", backend.Clean(h.Key.Source, 80)), true // other sources deliver it of themselves
		}
		if delivered(st, group, h.Key.Source) {
			continue
		}
		parts := make([]backend.Safe, 0, len(group))
		for _, in := range group {
			if why := lacking(st, in, h.Key.Source); !slices.Contains(parts, why) {
				parts = append(parts, why)
			}
		}
		return backend.Join(parts, "; "), true
	}
	return backend.Safe{}, false
}

// inPart reports whether a rule that is blind on a source judges some of its sessions all the same, by lines of a log that speaks about
// their sandboxes, and lacks nothing else.
func inPart(st *fleet.State, m *Meta, h *fleet.SourceHealth) (part bool) {
	for _, group := range m.Needs {
		if delivered(st, group, h.Key.Source) {
			continue
		}
		if !slices.ContainsFunc(group, func(in backend.Input) bool {
			by, _ := linesBeside(st, in, h.Key.Source)
			return (in == backend.InputRejections || in == backend.InputEvictionLogs) && !by.IsEmpty()
		}) {
			return false
		}
		part = true
	}
	return part
}

func delivered(st *fleet.State, group []backend.Input, source string) bool {
	for _, h := range st.Sources {
		if h.ReportsOn(source) && h.Status != fleet.StatusDown && h.Status != fleet.StatusAbsent && slices.ContainsFunc(group, h.Delivers) {
			return true
		}
	}
	return false
}

// lacking says why an input is not there for a source: who could deliver it and does not, or that nobody is asked.
func lacking(st *fleet.State, in backend.Input, source string) backend.Safe {
	id := backend.Clean(source, 80)
	for _, h := range st.Sources {
		if !h.ReportsOn(source) {
			continue
		}
		from := backend.Clean(h.Key.Source, 80)
		if h.Watches(in) && h.Status == fleet.StatusDown {
			return backend.Textf("%s is down", from)
		}
		for _, x := range h.Missing {
			if x.Input == in {
				return backend.Textf("%s: %s", from, x.Why)
			}
		}
	}
	switch in {
	case backend.InputRejections, backend.InputEvictionLogs:
		if by, of := linesBeside(st, in, source); !by.IsEmpty() {
			return backend.Textf("no log source speaks about %s; lines of %s about %s are evaluated where they name its sessions", id, by, of)
		}
		return backend.Textf("no log source speaks about %s; Helix writes no log lines unless a Logger is configured", id)
	case backend.InputEvictions:
		return backend.Textf("no metrics source speaks about %s; Helix counts evictions only where WorkspaceMetrics is implemented", id)
	case backend.InputRegistry, backend.InputSessions, backend.InputContainers, backend.InputPlatform, backend.InputCapacity, backend.InputTmpdirs, backend.InputHost:
	}
	return backend.Textf("no source reports %s of %s", inputNoun(in), id)
}

// linesBeside is a log that speaks about sandboxes of the sessions that a source lists, and the source of these; empty: none does.
func linesBeside(st *fleet.State, in backend.Input, source string) (by, of backend.Safe) {
	for _, log := range st.Sources {
		if !log.Delivers(in) || log.ReportsOn(source) {
			continue
		}
		for _, about := range log.About {
			if st.Source(about) != nil && slices.ContainsFunc(st.SessionSourcesOf(about), func(h *fleet.SourceHealth) bool { return h.Key.Source == source }) {
				return backend.Clean(log.Key.Source, 80), backend.Clean(about, 80)
			}
		}
	}
	return by, of
}

// inputNoun names an input inside a sentence.
func inputNoun(in backend.Input) string {
	switch in {
	case backend.InputRegistry:
		return "workspace registries"
	case backend.InputSessions:
		return "a session list"
	case backend.InputContainers:
		return "container states"
	case backend.InputPlatform:
		return "cloud sandboxes"
	case backend.InputEvictions:
		return "eviction metrics"
	case backend.InputEvictionLogs:
		return "eviction log lines"
	case backend.InputRejections:
		return "rejection log lines"
	case backend.InputTmpdirs:
		return "scratch directories"
	case backend.InputHost:
		return "host memory and disk"
	}
	return string(in)
}
