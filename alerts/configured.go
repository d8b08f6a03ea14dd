package alerts

import "sandglass/backend"

// WithConfiguration tells the Engine which configuration it runs with, by a digest of it; name is what people call it. When
// a former run had another one, that is a change marker: thresholds, sources or scopes may be others now.
func WithConfiguration(name, digest string) Option {
	return func(e *Engine) { e.configName, e.config = name, digest }
}

// reconfigured notes that the configuration is another one than that of the Board before.
func (ev *evaluation) reconfigured() {
	was, is := ev.old.config, ev.e.config
	if is == "" {
		ev.next.config = was
		return
	}
	if ev.next.config = is; was == "" || was == is {
		return
	}
	text := backend.Textf("Sandglass runs with another configuration than before: %s", backend.Clean(ev.e.configName, 200))
	ev.next.markers = append(ev.next.markers, marker{At: ev.env.Now, Name: backend.ChangeConfig, Text: text})
	ev.marked = true
	ev.events = append(ev.events, backend.Event{Kind: backend.EventChange, At: ev.next.clock.Wall, Name: backend.ChangeConfig, Text: text})
}
