//go:build !linux

package hostfs

import "errors"

// ReadKernelLog fails: only Linux has such a log.
func ReadKernelLog(string) (KernelLog, error) { return KernelLog{}, errors.ErrUnsupported }
