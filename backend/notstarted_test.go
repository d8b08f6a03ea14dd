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
		// What is only said, looked for or written down.
		"git commit -m 'rm -rf /workspace'":                      false,
		`echo "rm -rf /workspace"`:                               false,
		"grep -r 'mv /workspace' .":                              false,
		"ls /workspace # rm -rf /workspace":                      false,
		"cat > clean.sh <<'EOF'\nrm -rf /workspace\nEOF":         false,
		"cat > clean.sh <<EOF\nrm -rf /tmp/x\nEOF\nrm -rf $PWD/": false,
		"mv /b/ws /workspace":                                    false,
		"rm -rf workspace":                                       false,
		"cd /tmp && rm -rf workspace":                            false,
		"(cd / && ls) && rm -rf workspace":                       false,
		"rm -rf .":                                               false,
		"cp -a /workspace /w2":                                   false,
		"find /workspace -name x -delete":                        false,
		// What does it in other words.
		"cd / && rm -rf workspace":                      true,
		`rm -rf "$PWD"`:                                 true,
		"find /workspace -delete":                       true,
		"cat > x <<EOF\nrm\nEOF\nrm -rf /workspace":     true,
		"ls # a word\nrm -rf /workspace":                true,
		"mv -T /b/ws /workspace":                        true,
		"sudo rm -rf /workspace 2>/dev/null":            true,
		"mv /workspace /w2 2>&1":                        true,
		"if true; then rm -rf '/workspace'; fi":         true,
		`bash -lc "cd / && rm -rf workspace"`:           true,
		"X=1 rm -rf /workspace":                         true,
		"rm -rf /workspace 2>&1 | tee /tmp/log && true": true,
	} {
		if got := ChangesRoot(command, "/workspace"); got != want {
			t.Errorf("%q: %v", command, got)
		}
	}
}
