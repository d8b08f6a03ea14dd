package hostfs

import "os"

func chdirDeep(path string) error { return os.Chdir(path) }

func bindElsewhere(string) error { return os.ErrInvalid }

const (
	deepLevels = 700
	deepName   = "dddddd"
)
