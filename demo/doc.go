// Package demo is an embedded fleet: loopback servers that speak the real
// protocols (Helix health and operator routes, a Docker Engine socket, a
// Prometheus text page, log files, scratch directories, in some scenarios
// Agentuity and its Hub, or a Cloudflare account), and scripted incidents that unfold in real time.
//
// Everything the servers say is a pure function of (seed, scenario, time since
// the start) and of what clients did to containers since: the engine can be
// acted on. The fleet opens with a past, so that a console started beside it
// meets outages that are already old.
//
// The package imports only the standard library. Its wire formats are written
// from the published formats, so that a mistake in a decoder of the console
// cannot be hidden by the same mistake here.
package demo
