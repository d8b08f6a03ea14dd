// Package sandbox is what a Blaxel sandbox says over HTTP, apart from the list of sandboxes: the requests to its own server,
// what their answers mean, the four shapes of a refusal, and the host names to which a key may go. Nothing here sends a request
// by itself: each request to a sandbox wakes it, and is billed.
package sandbox
