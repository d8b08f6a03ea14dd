package workdir

import "io/fs"

// ownerOf: Windows has no such owners, and no containers of its own kernel are looked into there.
func ownerOf(fs.FileInfo) (uid, gid uint64, known bool) { return 0, 0, false }
