//go:build !linux

package hostfs

import (
	"context"
	"errors"
)

// Users needs a /proc tree.
func (p Proc) Users(context.Context, []Target) (Users, error) {
	return Users{}, errors.New("which processes use a directory is only known on Linux: run Sandglass there, or stop the agents before you remove it")
}
