package sandbox

import (
	"net/http"

	"sandglass/backend/wire"
)

// Site is a workspace of the platform: where its control plane is, and what its requests carry.
type Site struct {
	URL       string // of the control plane
	Workspace string
	Version   string // of the control plane's API; empty: its oldest one
	Hosts     []string
	// Key is where the API key is; Login reads that of the vendor's CLI where there is no other.
	Key   wire.Credential
	Login func() (string, error)
}

// Header is what each request carries beside the key.
func (s *Site) Header() http.Header {
	h := http.Header{"X-Blaxel-Workspace": {s.Workspace}}
	if s.Version != "" {
		h.Set("Blaxel-Version", s.Version)
	}
	return h
}
