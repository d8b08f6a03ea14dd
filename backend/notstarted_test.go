package backend

import "testing"

// TestChangesRoot: what removes, moves or replaces the directory itself, and what only touches what is in it.
func TestChangesRoot(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"rm -rf /workspace":                       true,
		"cd / && rm -rf /workspace/ && ls":        true,
		"mv /workspace /workspace.old":            true,
		"ln -sfn /data/repo /workspace":           true,
		"sh -c 'rm -r /workspace'":                true,
		"rmdir /workspace; echo done":             true,
		"rm -rf /workspace/*":                     false,
		"rm -rf /workspace/node_modules":          false,
		"mv /workspace/a /workspace/b":            false,
		"echo /workspace":                         false,
		"ls /workspace && rm -f /tmp/x":           false,
		"farm /workspace":                         false,
		"rm -rf /workspaces":                      false,
		"ln -s /workspace/bin/tool /usr/bin/tool": false,
	} {
		if got := ChangesRoot(command, "/workspace"); got != want {
			t.Errorf("%q: %v", command, got)
		}
	}
}
