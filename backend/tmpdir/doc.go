// Package tmpdir is the source kind "tmpdir": scratch directories below configured roots of this host, who uses them,
// and the host's disk, memory and boot facts. It only reads. docs/backends/tmpdir.md says what is read and what stays
// unseen.
package tmpdir
