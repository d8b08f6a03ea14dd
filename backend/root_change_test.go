package backend

import "testing"

// TestRootMovedTo: the place where a command moves the working directory is named as the shell would take it; a move of something in
// it, into it, or to a place that only the shell knows names none.
func TestRootMovedTo(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"mv /workspace /w2":                     "/w2",
		"sudo mv -f /workspace/ /mnt/old":       "/mnt/old",
		"cd / && mv workspace w2":               "/w2",
		"mv /workspace ../w3":                   "/w3",
		"bash -c 'mv /workspace /tmp/x && ls'":  "/tmp/x",
		"mv /workspace $OLD":                    "",
		"mv /workspace/a /w2":                   "",
		"mv /b/ws /workspace":                   "",
		"rm -rf /workspace":                     "",
		"echo 'mv /workspace /w2'":              "",
		"ln -sfn /data/ws /workspace":           "",
		"mv /workspace /w2; mv /w2 /workspace2": "/w2",
	} {
		if to := RootMovedTo(command, SandboxRoot); to != want {
			t.Errorf("%s: %q, want %q", command, to, want)
		}
	}
}

// TestWhatMayNotHaveRunChangesNothing: a command after || runs only where the one before it failed.
func TestWhatMayNotHaveRunChangesNothing(t *testing.T) {
	for command, want := range map[string]bool{
		"test -d /workspace || rm -rf /workspace":            false,
		"test -d /workspace || sudo rm -rf /workspace && ls": false,
		"ls || (rm -rf /workspace)":                          false,
		"ls ||\n rm -rf /workspace":                          false,
		"ls || true; rm -rf /workspace":                      true,
		"cd /tmp || exit 1\nrm -rf /workspace":               true,
		"rm -rf /workspace || true":                          true,
		"ls | rm -rf /workspace":                             true,
		"echo '||' && rm -rf /workspace":                     true,
	} {
		if got := ChangesRoot(command, SandboxRoot); got != want {
			t.Errorf("%q: %t", command, got)
		}
	}
}
