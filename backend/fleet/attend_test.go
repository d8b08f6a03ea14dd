package fleet

import (
	"testing"

	"sandglass/backend"
)

// listener is a source that remembers where attention is.
type listener struct {
	backend.Source
	heard backend.Attention
}

func (l *listener) ID() string                  { return "ag" }
func (l *listener) Attend(at backend.Attention) { l.heard = at }

// The subject that a command asks about reaches the sources, with the part of the attention that concerns each.
func TestAttentionReachesTheSources(t *testing.T) {
	t.Parallel()
	key := backend.Key{Kind: backend.KindSandbox, Source: "ag", ID: backend.MustID("a")}
	other := backend.Key{Kind: backend.KindSandbox, Source: "docker", ID: backend.MustID("b")}
	l := &listener{}
	f := &Fleet{pollers: []*poller{{src: l}}}
	f.Attend(backend.Attention{Asked: "coder-session", Alerting: []backend.Key{key, other}})
	if l.heard.Asked != "coder-session" || len(l.heard.Alerting) != 1 || l.heard.Alerting[0] != key {
		t.Errorf("heard %+v", l.heard)
	}
}
