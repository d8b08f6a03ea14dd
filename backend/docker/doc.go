// Package docker reads containers from a Docker engine (or one that speaks its API) and shows them as sandboxes. It
// only reads: the transport below the client refuses every method but GET and HEAD.
//
// What the engine has to do for it is kept small. The list is asked for when something happened and slowly otherwise,
// a container is inspected when it is new or changed, and figures are taken one sample at a time: often for the rows
// that somebody looks at, slowly for the others.
package docker
