package app

import (
	"os"
	"syscall"
	"testing"
	"time"
)

func TestSignalsEndTheContext(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT} {
		ctx, stop := Signals()
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if err := self.Signal(sig); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
			t.Errorf("%v did not end the context", sig)
		}
		stop()
	}
}
