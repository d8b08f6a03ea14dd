// Package blaxel reads the sandboxes of a Blaxel workspace: their list, their own records, previews and snapshots. It follows
// the published API description and has never run against the live service. Only the control plane is polled: any request to
// a sandbox itself wakes it and is billed, so none is sent from here.
package blaxel
