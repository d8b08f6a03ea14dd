package sandbox

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// Address checks where a sandbox's own API is said to be, before a key goes there: https below an allowed domain. base is the
// configured base of the control plane; what is on its host is allowed as well, and on loopback over http where it is there too.
func Address(raw, base string, domains []string) (string, error) {
	u, err := wire.ParseURL(raw)
	if err != nil {
		return "", fmt.Errorf("the address of the sandbox is %w", err)
	}
	if u.RawQuery != "" {
		return "", fmt.Errorf("the address of the sandbox has a query")
	}
	host := strings.ToLower(u.Hostname())
	if b, err := wire.ParseURL(base); err == nil && b.Scheme == u.Scheme && (strings.EqualFold(b.Hostname(), host) || loopback(b.Hostname()) && loopback(host)) {
		return strings.TrimRight(raw, "/"), nil
	}
	if u.Scheme != "https" || !slices.ContainsFunc(domains, func(d string) bool { return host == d || strings.HasSuffix(host, "."+d) }) {
		return "", fmt.Errorf("the sandbox is said to be at %s://%s, %s", u.Scheme, host, backend.OutsideHosts)
	}
	return strings.TrimRight(raw, "/"), nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.IsLoopback()
}
