// Package blaxel acts on the sandboxes of a Blaxel workspace, through its control plane and through the server inside a sandbox.
// Each request to that server wakes the sandbox and is billed. It has never run against the live platform.
package blaxel
