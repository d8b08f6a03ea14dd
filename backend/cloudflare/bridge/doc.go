// Package bridge speaks with the bridge Worker of the Cloudflare Sandbox SDK (@cloudflare/sandbox/bridge) and with the operator
// routes beside it. Calls are data: a Client sends only those that start no container, actions send the others.
//
// The bridge lists nothing, and any request under a sandbox id starts a container where the id has none. It has never been tried
// at Cloudflare; the answers that the tests replay were recorded from the real Worker with the container binding replaced.
package bridge
