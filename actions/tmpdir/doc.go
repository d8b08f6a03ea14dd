// Package tmpdir cleans up scratch directories of this host. It is the only code that removes files.
//
// clean sets a directory aside: an atomic rename in place, in the same parent, to a name that no scan pattern matches
// and that holds the whole record (hostfs.Aside). Nothing is written besides, so that it works on a disk without a free
// block or inode, and nothing is freed. purge removes what waits; the wiring does so when the grace period is over
// (Keeper). undo gives a directory its name back.
//
// What may be cleaned is decided by one written list, conditions, of which docs/backends/tmpdir.md is the text.
// Every condition must hold when the plan is made and again just before the rename; what cannot be read does not hold.
//
// Removing is relative to open directories, opens each directory in one step with openat2 (beneath, no symbolic links,
// no magic links, no crossing of mounts), compares what it opened with what was listed, and uses no recursion. Linux
// only; elsewhere the verbs say so.
package tmpdir
