// Package operator acts through what the operator of a server supplies: one HTTP request or one command per target, with
// the target's ids filled in. It knows no server by itself. The verb reset of Helix sources and every [[action]] of the
// configuration are made of it.
package operator
