package cloudflare

import (
	"sandglass/backend"
	"sandglass/backend/wire"
)

// bridge is the bridge Worker, of which only passive routes are asked: all others start a container.
type bridge struct {
	base   string
	client *wire.Client
	known  []backend.ID // sandbox ids of the configuration
}

func newBridge(o *Options, deps backend.Deps) (*bridge, error) {
	c, err := wire.New(wire.Config{Origins: []string{o.BridgeURL}, Credential: o.Bridge}, deps)
	if err != nil {
		return nil, err
	}
	return &bridge{client: c, base: o.BridgeURL}, nil
}

func (b *bridge) routes() []backend.Route { return nil }

// bridgeID is the sandbox id of the bridge for an instance, zero: not known.
func (s *Source) bridgeID(*box) backend.ID { return backend.ID{} }

func (p *poll) readBridge() {}

// known lists the sandboxes that are known by their bridge id alone.
func (p *poll) known(map[backend.ID]bool) {}
