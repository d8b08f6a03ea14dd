// Package refs reads what a framework has saved about sessions: persisted workspaceRefs of a state store, and the
// session state that agent SDKs write. It reads files or the output of a command and changes nothing.
//
// How a store encodes its records is not documented, so nothing about it is fixed here: JSON pointers say where each
// fact stands, and a value that is JSON inside of a string is unfolded on the way.
package refs
