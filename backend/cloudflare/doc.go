// Package cloudflare reads the containers of a Cloudflare account: the applications, their instances, and the Durable Object
// namespaces that manage them. It follows the published API descriptions and has never run against the live service. It
// changes nothing and starts no container: every request below a sandbox id of the bridge Worker would start one, so none is
// sent from here.
package cloudflare
