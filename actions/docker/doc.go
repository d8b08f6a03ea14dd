// Package docker acts on containers of a Docker engine: destroy, stop, pause, resume, probe (run a harmless command),
// and repair (make a vanished working directory again).
//
// Targets are read by their full id from the engine itself, with a client that refuses every method but GET and HEAD.
// Only an Effect has a client that can do more, and only for as long as a run of a confirmed plan lasts. Where the
// engine is, is the adapter's business: it is found through a read ability of the source.
package docker
