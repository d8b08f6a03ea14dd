// Package cloudflare acts on Cloudflare sandboxes through the bridge Worker and, where a person installed them, through operator
// routes in the same Worker. An answer of the bridge that something was removed is no proof, and any request under a sandbox id
// starts a container where none runs. It has never run against the live platform.
package cloudflare
