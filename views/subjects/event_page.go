package subjects

import (
	"time"

	"sandglass/backend"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// event describes one line of the timeline and leads to what it is about.
func (w *writer) event(e *backend.Event) {
	w.Field("what", kit.Span{Tone: theme.Strong, Text: e.Text.String()})
	w.Field("when", kit.Span{Text: e.At.UTC().Format(time.RFC3339)}, kit.Span{Tone: theme.Dim, Text: "  " + backend.Age(w.f.Now.Sub(e.At)) + " ago, by our clock"})
	if !e.SourceAt.IsZero() {
		w.Field("its time", kit.Span{Text: e.SourceAt.UTC().Format(time.RFC3339)}, kit.Span{Tone: theme.Dim, Text: "  by the source's clock"})
	}
	kind, name := EventKind(e), EventName(e).String()
	if name != kind {
		kind += ", " + name
	}
	w.Field("kind", kit.Span{Text: kind})
	if e.Source != "" {
		w.to(backend.Key{Kind: backend.KindSource, Source: e.Source, ID: backend.MustID(e.Source)})
		w.Field("source", kit.Span{Text: backend.Clean(e.Source, 80).String()})
	}
	if e.Subject != (backend.Key{}) && e.Subject.Kind != backend.KindSource {
		w.to(e.Subject)
		w.Field("about", kit.Span{Text: string(e.Subject.Kind) + " " + NameOf(e.Subject, w.f.Snapshot).String()})
	}
}
