// Package backend holds the words in which Sandglass speaks about what it reads: entities (sessions, workspaces,
// sandboxes, scratch directories, hosts), the Reading that one poll of one source returns, error kinds, identities,
// and text that is safe to draw. It performs no I/O; adapters in the packages below it do.
package backend
