package subjects

import (
	"strconv"
	"time"

	"sandglass/backend"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// owner shows the session that something belongs to.
func (w *writer) owner(source string, id backend.ID) {
	if id.IsZero() {
		w.Field("session", dim("none is named"))
		return
	}
	s := w.f.State.Session(backend.Key{Kind: backend.KindSession, Source: source, ID: id})
	if s == nil { // a sandbox knows its session by name alone; any source may own it
		for x := range w.f.State.Sessions.All() {
			if x.Key.ID == id {
				s = x
				break
			}
		}
	}
	if s == nil {
		w.Field("session", normal(id.Safe().String()), dim("  no source lists it"))
		return
	}
	w.to(s.Key)
	w.Field("session", sessionKind{}.row(w, s)...)
}

// sandboxesOf lists the sandboxes of a session, else a candidate, and returns those that it lists.
func (w *writer) sandboxesOf(session backend.ID) (listed []backend.Key) {
	boxes := w.f.State.BoxesOf(session)
	if b := w.f.State.CandidateOf(session); b != nil && len(boxes) == 0 {
		w.to(b.Key)
		why := "no saved state names its session"
		_, digits := w.f.State.AgentSession(b)
		if _, another := w.f.State.NamesAnother(digits); !another.IsZero() {
			why = "its saved state names " + another.Safe().String()
		}
		w.Field("sandbox", append(w.sandboxSpans(b), dim("  a candidate from its name: "+why))...)
		return nil
	}
	return w.sandboxList(boxes)
}

// sandboxesThat lists the sandboxes that match.
func (w *writer) sandboxesThat(match func(*backend.Sandbox) bool) {
	var boxes []*backend.Sandbox
	for b := range w.f.State.Sandboxes.All() {
		if match(b) {
			boxes = append(boxes, b)
		}
	}
	w.sandboxList(boxes)
}

func (w *writer) sandboxList(boxes []*backend.Sandbox) (listed []backend.Key) {
	for i, b := range boxes[:min(len(boxes), mostJoined)] {
		w.to(b.Key)
		w.Field(label(i+1, "sandbox"), w.sandboxSpans(b)...)
		w.lostHere("", b)
		listed = append(listed, b.Key)
	}
	switch n := len(boxes); {
	case n == 0:
		w.Field("sandbox", dim("none is joined to it"))
	case n > mostJoined:
		w.Field("", dim("and "+kit.Number(n-mostJoined)+" more"))
	}
	return listed
}

// sandboxNamed shows the sandbox of a raw id.
func (w *writer) sandboxNamed(id backend.ID) {
	for b := range w.f.State.Sandboxes.All() {
		if b.Key.ID == id {
			w.to(b.Key)
			w.Field("sandbox", w.sandboxSpans(b)...)
			return
		}
	}
	w.Field("sandbox", normal(id.Safe().String()), dim("  no source lists it"))
}

// lostHere says where Sandglass itself ended a sandbox with its files: that is no failure, and never silent.
func (w *writer) lostHere(name string, b *backend.Sandbox) {
	if lost := b.LostHere(); !lost.IsEmpty() {
		w.tone(name, theme.Warn, lost.String())
	}
}

func label(n int, s string) string {
	if n == 1 {
		return s
	}
	return ""
}

func (w *writer) sandboxSpans(b *backend.Sandbox) []kit.Span {
	set := Sandboxes()
	name := b.Name.String()
	if name == "" {
		name = b.Key.Safe().String()
	}
	spans := []kit.Span{normal(name + "  "), w.state(set.Columns[set.Column("reported")].Cell(b, w.f.Snapshot))}
	if b.Observed.IsKnown() {
		spans = append(spans, normal("  "), w.state(set.Columns[set.Column("observed")].Cell(b, w.f.Snapshot)))
	}
	if hasCloudName(b) {
		spans = append(spans, dim("  "+b.Key.Safe().String()))
	}
	return append(spans, dim("  "+b.Key.Source))
}

func (w *writer) yes(label string, v backend.Value[bool]) {
	if b, ok := v.Get(); ok {
		word := "no"
		if b {
			word = "yes"
		}
		w.Field(label, normal(word))
	}
}

func (w *writer) duration(label string, v backend.Value[time.Duration]) {
	d, ok := v.Get()
	if b, err := backend.Duration(d).MarshalText(); ok && err == nil {
		w.Field(label, normal(string(b)))
	}
}

func (w *writer) number(label string, v backend.Value[int]) {
	if n, ok := v.Get(); ok {
		w.Field(label, normal(strconv.Itoa(n)))
	}
}

// running writes the version or image that a session or sandbox runs, and what else of the kind its source runs.
func (w *writer) running(label string, version backend.Safe, m *backend.Meta) {
	if version.IsEmpty() {
		return
	}
	spans := []kit.Span{normal(version.String())}
	if mixed := Mixed(w.f.State, m.Key.Source, m.Key.Kind); !mixed.IsEmpty() {
		spans = append(spans, kit.Span{Tone: theme.Warn, Text: "  " + mixed.String()})
	}
	w.Field(label, spans...)
}
