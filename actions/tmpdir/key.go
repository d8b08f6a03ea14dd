package tmpdir

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"sandglass/backend"
	"sandglass/backend/hostfs"
)

// parseKey takes the key of a scratch directory apart: "device:inode:path".
func parseKey(k backend.Key) (id hostfs.FileID, path string, err error) {
	parts := strings.SplitN(k.ID.Raw(), ":", 3)
	if k.Kind != backend.KindTmpdir || len(parts) != 3 {
		return id, "", fmt.Errorf("%s is not a key of a scratch directory", k.Safe())
	}
	dev, err1 := strconv.ParseUint(parts[0], 10, 64)
	ino, err2 := strconv.ParseUint(parts[1], 10, 64)
	if err1 != nil || err2 != nil || !filepath.IsAbs(parts[2]) || filepath.Clean(parts[2]) != parts[2] || strings.ContainsRune(parts[2], 0) {
		return id, "", fmt.Errorf("%s is not a key of a scratch directory", k.Safe())
	}
	return hostfs.FileID{Dev: dev, Ino: ino}, parts[2], nil
}
