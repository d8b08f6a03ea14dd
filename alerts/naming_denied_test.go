package alerts

import (
	"testing"

	"sandglass/backend"
)

// What a text denies, and what it quotes of others, it does not name.
func TestDeniedCausesAreNotNamed(t *testing.T) {
	for text, want := range map[string]Naming{
		"worker ended with code 3 (not out of memory, disk is not full)":      0,
		"worker ended with code 3, it wasn't out of memory":                   0,
		"no OOM kill was seen; the worker ended with code 3":                  0,
		"max_instances not reached (3/60), still refused":                     0,
		"max_instances has not been reached, still refused":                   0,
		"max_instances (3/60): open refused":                                  0,
		"max_instances (60/60): open refused":                                 NamesQuota,
		"max_instances reached (60/60)":                                       NamesQuota,
		"the quota of sandboxes was not exceeded; constructor threw":          0,
		"instance limit isn't reached (12 of 60)":                             0,
		"binding SANDBOX is not missing; constructor threw":                   0,
		"env.SANDBOX isn't undefined, its constructor threw":                  0,
		"binding SANDBOX is missing":                                          NamesBinding,
		"binding SANDBOX is not defined":                                      NamesBinding,
		"tool output: 'ENOSPC: no space left on device'":                      0,
		"user typed: 'ENOSPC no space left on device'; the parser refused it": 0,
		"tool output: 'all fine'; ENOSPC: no space left on device":            NamesSpace,
		"the error was not ENOENT, it was EACCES: permission denied":          NamesDenied,
		"out of memory was not the cause; socket hang up":                     NamesNetwork,
		"not enough disk space, not out of memory":                            NamesSpace,
		"docker daemon could not be reached: not running":                     NamesEngine,
		"image x not found, quota not exceeded":                               NamesImage,
	} {
		e := Env{causes: causes{at: map[string]int{}}, prints: map[string]string{}, values: map[string]string{}, mined: true}
		if got := e.Names(backend.Clean(text, 400)); got != want {
			t.Errorf("%q names %b, want %b", text, got, want)
		}
		if got := NamesIn(text); got != want {
			t.Errorf("%q as it is names %b, want %b", text, got, want)
		}
	}
}
