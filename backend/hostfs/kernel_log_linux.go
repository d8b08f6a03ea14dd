package hostfs

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// ReadKernelLog reads the kernel's log at a path such as /dev/kmsg from its beginning, without waiting for more. It needs
// the right to: root, or kernel.dmesg_restrict=0.
func ReadKernelLog(path string) (KernelLog, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return KernelLog{}, fmt.Errorf("%s: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }() // opened for reading: nothing is lost
	var log, wall unix.Timespec
	if err := errors.Join(unix.ClockGettime(unix.CLOCK_MONOTONIC, &log), unix.ClockGettime(unix.CLOCK_REALTIME, &wall)); err != nil {
		return KernelLog{}, err
	}
	out := KernelLog{Read: time.Unix(wall.Unix())}
	now, record := time.Duration(log.Nano()), make([]byte, 16<<10)
	for left := maxKernelLog; left > 0; {
		n, err := unix.Read(fd, record)
		switch {
		case errors.Is(err, unix.EAGAIN), err == nil && n == 0:
			return out, nil
		case errors.Is(err, unix.EPIPE), errors.Is(err, unix.EINTR): // the kernel wrote over what comes next
			left -= 64
		case err != nil:
			return KernelLog{}, fmt.Errorf("%s: %w", path, err)
		default:
			out.add(record[:n], now)
			left -= n
		}
	}
	return out, nil
}
