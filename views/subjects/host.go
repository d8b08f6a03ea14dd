package subjects

import (
	"strings"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

func (w *writer) host(h *backend.Host) {
	w.at("booted", h.BootedAt, "")
	for _, g := range HostGroups(h) {
		w.Field("", g...)
	}
	for _, r := range w.f.Board.Remarks(h.Key) {
		w.text("note", r)
	}
	w.read(&h.Meta)
	w.urgent(h.Key, nil)
	w.raw(&h.Meta)
}

// HostGroups says how full a host is: its memory, then disk and inodes of each root. A group belongs on one line.
func HostGroups(h *backend.Host) [][]kit.Span {
	memory := []kit.Span{{Tone: theme.Strong, Text: h.Name.String()}}
	total, okT := h.MemTotal.Get()
	free, okF := h.MemAvailable.Get()
	if okT && okF && total > 0 {
		memory = append(memory, fullness("memory", float64(total-free)/float64(total), backend.Bytes(free)+" free"))
	} else {
		memory = append(memory, dim("  memory unknown"))
	}
	if p, ok := h.MemPressure.Get(); ok && p >= 0.1 {
		memory = append(memory, kit.Span{Tone: theme.Warn, Text: "  pressure " + kit.Percent(p)})
	}
	if n, ok := h.OOMKills.Get(); ok && n > 0 {
		memory = append(memory, kit.Span{Tone: theme.Warn, Text: "  " + kit.Count(int(n), "oom kill", "oom kills") + " since boot"})
	}
	groups := [][]kit.Span{memory}
	for _, r := range h.Roots {
		groups = append(groups, append([]kit.Span{{Tone: theme.Strong, Text: r.Path.String()}}, rootSpans(r)...))
	}
	return groups
}

func rootSpans(r backend.Root) []kit.Span {
	if exists, ok := r.Exists.Get(); ok && !exists {
		return []kit.Span{{Tone: theme.Bad, Text: " does not exist"}}
	}
	var spans []kit.Span
	if ro, ok := r.ReadOnly.Get(); ok && ro {
		spans = append(spans, kit.Span{Tone: theme.Bad, Text: " read-only"})
	} else if wr, ok := r.Writable.Get(); ok && !wr {
		spans = append(spans, kit.Span{Tone: theme.Bad, Text: " not writable by the agent"})
	}
	if !r.Problem.IsEmpty() {
		spans = append(spans, kit.Span{Tone: theme.Warn, Text: " " + r.Problem.String()})
	}
	if !r.FSType.IsEmpty() {
		spans = append(spans, dim(" "+r.FSType.String()))
	}
	spans = append(spans, used(" disk", r.Bytes, r.BytesFree), used("  inodes", r.Inodes, r.InodesFree))
	if r.WaitingCount > 0 {
		spans = append(spans, kit.Span{Tone: theme.Accent, Text: "  " + setAside(r)})
	}
	return spans
}

// setAside says how many directories of a root a clean-up has set aside, and what they still occupy.
func setAside(r backend.Root) string {
	var bytes int64
	known := 0
	for _, w := range r.Waiting {
		if n, ok := w.Bytes.Get(); ok {
			bytes, known = bytes+n, known+1
		}
	}
	text := kit.Number(r.WaitingCount) + " quarantined"
	switch {
	case known == r.WaitingCount:
		text += ", " + backend.Bytes(bytes)
	case known > 0:
		text += ", at least " + backend.Bytes(bytes)
	}
	return text
}

func used(label string, total, free backend.Value[int64]) kit.Span {
	n, okN := total.Get()
	f, okF := free.Get()
	switch {
	case total.IsNotApplicable() || okN && n == 0:
		return dim(label + " –")
	case !okN || !okF:
		return dim(label + " unknown")
	}
	note := ""
	if strings.Contains(label, "disk") {
		note = backend.Bytes(f) + " free"
	}
	return fullness(label, float64(n-f)/float64(n), note)
}

func fullness(label string, share float64, note string) kit.Span {
	s := kit.Span{Text: "  " + strings.TrimSpace(label) + " " + kit.Percent(share) + " full"}
	if note != "" {
		s.Text += ", " + note
	}
	switch {
	case share >= 0.95:
		s.Tone = theme.Bad
	case share >= 0.85:
		s.Tone = theme.Warn
	}
	return s
}

type hostKind struct{ base }

func (hostKind) details(w *writer, k backend.Key) bool {
	return write(w, w.f.State.Hosts.Get(k), w.host)
}

func (hostKind) page(backend.Key, *views.Frame) (incident, why string, trouble bool) {
	return "5", "This page is about scratch directories.", false
}
