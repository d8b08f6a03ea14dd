package rules

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain collects garbage less often: stories are many short-lived States.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
