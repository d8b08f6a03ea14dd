package cloudflare

import "sandglass/backend"

// graph is what analytics say of instances.
type graph struct {
	of map[backend.ID]backend.Usage
}

func (p *poll) readAnalytics() {}
