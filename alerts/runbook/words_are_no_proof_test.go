package runbook

import (
	"strings"
	"testing"

	"sandglass/backend"
)

const noKnownCause = "matches no known cause"

// TestAWordIsNoProof: what an error of a user's own code or command says in the platform's words leads to no page of the
// platform, and the provider that is read rules out the pages of other providers.
func TestAWordIsNoProof(t *testing.T) {
	for _, c := range []struct {
		provider backend.Literal
		text     string
		concl    string
		never    []string
	}{
		{"docker", "git clone failed: Permission denied (publickey).", "refuses the credentials", []string{"root"}},
		{"docker", "EACCES: permission denied, open '/workspace/.env'", "Access to a file", []string{"root"}},
		{"local-bash", "EACCES: permission denied, open '/workspace/.env'", "Access to a file", []string{"root"}},
		{"docker", "mkdir: cannot create directory '/workspace/.cache': Permission denied", "Access to a file", []string{"root"}},
		{"local-sandbox", "cp: cannot open 'a': Permission denied", "Access to a file", []string{"root"}},
		{"", "EROFS: read-only file system, open '/etc/hosts'", "Access to a file", []string{"root"}},
		{"docker", "TypeError: Cannot read properties of undefined (reading 'exec')", noKnownCause, []string{"sqlite"}},
		{"local-bash", "TypeError: Cannot read properties of undefined (reading 'exec')", noKnownCause, []string{"sqlite"}},
		{"", "TypeError: Cannot read properties of undefined (reading 'exec')", noKnownCause, []string{"sqlite"}},
		{"docker", "TypeError: Cannot read properties of undefined (reading 'sql')", noKnownCause, []string{"sqlite"}},
		{"", "Error: No such built-in module: node:sqlite", noKnownCause, []string{"sqlite", "module"}},
		{"", "sqlite: no such table: users", noKnownCause, []string{"sqlite", "database"}},
		{"docker", "ENOSPC: System limit for number of file watchers reached, watch '/workspace'", "file watches", []string{"full"}},
		{"", "inotify_add_watch: No space left on device", "file watches", []string{"full"}},
		{"docker", "failed to create cgroup: no space left on device", noKnownCause, []string{"full"}},
		{"", "Error: no space left in the context window", noKnownCause, []string{"full"}},
		{"cloudflare-sandbox", "Error: D1_ERROR: no such table: users", "refuses a statement", []string{"database"}},
		{"cloudflare-sandbox", "D1_ERROR: UNIQUE constraint failed: users.id", "refuses a statement", []string{"database"}},
		{"docker", "setup command failed: psql: error: connection refused", "setup command", []string{"network"}},
		{"docker", "setup command failed: docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock", "setup command", []string{"engine"}},
		{"", "setup command ./migrate.sh failed: bucket not found", "setup command", []string{"storage"}},
		{"local-bash", "Error: fetch failed: connect ECONNREFUSED 127.0.0.1:3000", "on the same machine", nil},
		{"docker", "connect ECONNREFUSED ::1:5432", "on the same machine", nil},
		{"docker", "dial tcp localhost:6379: connection refused", "on the same machine", nil},
		{"docker", "max_instances is not a number in config", noKnownCause, []string{"quota"}},
		{"cloudflare-sandbox", "invalid value for max_instances", noKnownCause, []string{"quota"}},
		{"docker", "R2 bucket name invalid", noKnownCause, []string{"storage"}},
		{"local-bash", "Error: No such image: agents/box:7", noKnownCause, []string{"image"}},
		{"", "image.png not found", noKnownCause, []string{"image"}},
		{"", "npm ERR! 404 Not Found container.js", noKnownCause, []string{"deleted"}},
		{"docker", "JSON schemaVersion missing in package.json", noKnownCause, []string{"schema"}},
		{"", "process.env.API_KEY is undefined", noKnownCause, []string{"binding"}},
		{"docker", "Error: OOM command not allowed when used memory > 'maxmemory'", noKnownCause, []string{"memory"}},
		{"", "Error: out of memory budget for prompt", noKnownCause, []string{"memory"}},
	} {
		w := world{workspaces: []*backend.Workspace{broken("s1", "box", backend.ClassFailed, c.text, provider(c.provider))}}
		d := w.diagnose("1", wsKey("s1", "box"))
		if !strings.Contains(d.Conclusion.String(), c.concl) {
			t.Errorf("%q with provider %q: %s, want %q", c.text, c.provider, d.Conclusion, c.concl)
		}
		for _, name := range c.never {
			if d.is(name) {
				t.Errorf("%q with provider %q confirms %s", c.text, c.provider, name)
			}
		}
	}
}

// TestThePlatformsOwnWordsAreProof: the same pages are found in the words in which the platforms say it.
func TestThePlatformsOwnWordsAreProof(t *testing.T) {
	for _, c := range []struct {
		provider backend.Literal
		text     string
		check    string
		first    string
	}{
		{"local-bash", "EACCES: permission denied, mkdtemp '/srv/agents/helix-ws-a1B2c3'", "root", "Create /srv/agents, writable"},
		{"local-bash", "ENOENT: no such file or directory, mkdtemp '/srv/agents/helix-ws-a1B2c3'", "root", "Create /srv/agents, writable"},
		{"docker", "EROFS: read-only file system, mkdtemp '/srv/agents/helix-ws-a1B2c3'", "root", "Create /srv/agents, writable for the agents' user. Then"},
		{"local-bash", "tmpdirRoot /srv/agents/tmp does not exist", "root", "Create /srv/agents/tmp, writable"},
		{"cloudflare-filestore", "SQL is not enabled for this Durable Object class. To enable it, set new_sqlite_classes in the configuration.", "sqlite", "new_sqlite_classes"},
		{"cloudflare-filestore", "TypeError: Cannot read properties of undefined (reading 'sql')", "sqlite", "new_sqlite_classes"},
		{"cloudflare-sandbox", "D1_ERROR: D1 DB is overloaded. Too many requests queued.", "database", "platform's status"},
		{"cloudflare-sandbox", "max_instances (60/60): open refused", "quota", "Raise max_instances"},
		{"cloudflare-sandbox", "WorkspaceFailedError: max_instances reached", "quota", "Raise max_instances"},
		{"docker", "ENOSPC: no space left on device, write", "full", "Make room"},
		{"docker", "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?", "engine", "Start the engine"},
		{"docker", "Error: No such image: agents/box:7", "image", "Check the image's name"},
		{"cloudflare-sandbox", "read ECONNRESET", "network", "Check the service"},
	} {
		w := world{workspaces: []*backend.Workspace{broken("s1", "box", backend.ClassFailed, c.text, provider(c.provider))}}
		d := w.diagnose("1", wsKey("s1", "box"))
		want(t, d, map[string]Mark{c.check: Confirmed})
		if len(d.Do) == 0 || !strings.Contains(d.Do[0].String(), c.first) {
			t.Errorf("%q with provider %q: %s; do %v, want %q", c.text, c.provider, d.Conclusion, d.Do, c.first)
		}
	}
}
