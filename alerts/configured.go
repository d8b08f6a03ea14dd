package alerts

import "sandglass/backend"

// WithConfiguration tells the Engine which configuration it runs with, by a digest of it; name is what people call it. When
// a former run had another one, that is a change marker: thresholds, sources or scopes may be others now.
func WithConfiguration(name, digest string) Option {
	return func(e *Engine) { e.configName, e.config = name, digest }
}

// reconfigured notes that the configuration is another one than that of the Board before.
func (t *turn) reconfigured() {
	was, is := t.old.config, t.e.config
	if is == "" {
		t.next.config = was
		return
	}
	if t.next.config = is; was == "" || was == is {
		return
	}
	text := backend.Textf("Sandglass runs with another configuration than before: %s", backend.Clean(t.e.configName, 200))
	t.next.markers = append(t.next.markers, marker{At: t.env.Now, Name: backend.ChangeConfig, Text: text})
	t.marked = true
	t.events = append(t.events, backend.Event{Kind: backend.EventChange, At: t.next.clock.Wall, Name: backend.ChangeConfig, Text: text})
}
