package agentuity

import (
	"strings"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// join is one row of the Hub's list that binds a session to a sandbox.
type join struct {
	session, sandbox backend.ID
	status           string
	connected        backend.Value[bool]
}

func flag(n wire.Node) backend.Value[bool] {
	if b, ok := n.Bool(); ok {
		return backend.Known(b)
	}
	return backend.Unknown[bool]()
}

// join reads a row of sessions.sandbox[].
func (d *decoder) join(n wire.Node) (j join, ok bool) {
	j = join{session: id(n.Get("sessionId")), sandbox: id(n.Get("sandboxId")), connected: flag(n.Get("wsConnected"))}
	j.status, _ = n.Get("status").Text()
	return j, !j.session.IsZero()
}

// session reads a session of the Hub's list or of its own route.
func (d *decoder) session(n wire.Node) (s *backend.Session, ok bool) {
	key := id(n.Get("sessionId"))
	if key.IsZero() {
		return nil, false
	}
	word, _ := n.Get("status").Text()
	s = &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: d.source, ID: key}, Raw: d.raw(n)}, Status: d.cut(word, 60)}
	s.StartedAt, s.Runtime = d.moment(n.Get("createdAt")), backend.Text("agentuity coder")
	s.Running = runs(word)
	s.ListedRunning = s.Running
	s.Hub = &backend.HubSession{
		Label: d.text(n.Get("label"), maxName), Mode: d.text(n.Get("mode"), 60), Bucket: d.text(n.Get("bucket"), 60), Error: d.hubError(n.Get("error")),
		Wakeable: flag(n.Get("wakeAvailable")), LiveExpected: flag(n.Get("liveExpected")), LastActivity: d.moment(n.Get("lastActivityAt")),
	}
	return s, true
}

// runs is what a status word of a session says about its run; the words are free text, so most say nothing for sure.
func runs(word string) backend.Value[bool] {
	switch strings.ToLower(word) {
	case "active", "running", "connected":
		return backend.Known(true)
	case "paused", "archived", "shutdown", "stopped", "failed", "error":
		return backend.Known(false)
	}
	return backend.Unknown[bool]()
}

// hubError is the error that a session carries: a text, or an object with a message. Durations are in seconds.
func (d *decoder) hubError(n wire.Node) backend.Safe {
	if t, ok := n.Text(); ok {
		return backend.HubSeconds(d.cut(t, maxText))
	}
	return backend.HubSeconds(d.text(n.Get("message"), maxText))
}

// participants reads who is connected to a session.
func (d *decoder) participants(n wire.Node) []backend.Participant {
	var out []backend.Participant
	for p := range n.Get("participants").Elements() {
		if len(out) >= maxTags {
			break
		}
		if p.Kind() == '{' {
			out = append(out, backend.Participant{ID: d.text(p.Get("id"), 80), Role: d.text(p.Get("role"), 40), Transport: d.text(p.Get("transport"), 40),
				ConnectedAt: d.moment(p.Get("connectedAt")), ActiveAt: d.moment(p.Get("lastActivityAt"))})
		}
	}
	return out
}
