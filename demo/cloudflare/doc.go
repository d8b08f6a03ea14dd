// Package cloudflare plays Cloudflare containers and the bridge Worker of a demo. It imports nothing of ours.
package cloudflare
