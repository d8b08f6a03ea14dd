package hostfs

import (
	"context"
	"fmt"
)

// Users needs a /proc tree.
func (p Proc) Users(context.Context, []Target) (Users, error) {
	return Users{}, fmt.Errorf("which processes use a directory is only known on Linux")
}
