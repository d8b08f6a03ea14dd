package alerts

import "testing"

// TestRecognisedErrorTexts reads texts as frameworks, platforms and engines write them, whole and in normalised form.
func TestRecognisedErrorTexts(t *testing.T) {
	for text, want := range map[string]Naming{
		"TypeError: ctx.storage.sql is undefined":                                                   NamesSQLite,
		"TypeError: Cannot read properties of undefined (reading 'sql')":                            NamesSQLite,
		"SQL is not enabled for this Durable Object class: SQL storage requires new_sqlite_classes": NamesSQLite,
		"local-bash needs a POSIX host, found win32":                                                NamesPOSIX,
		"local-bash requires a POSIX platform (detected win32)":                                     NamesPOSIX,
		"WorkspaceFailedError: missing binding FILES":                                               NamesBinding,
		"WorkspaceFailedError: binding 'SANDBOX' not found in env":                                  NamesBinding,
		"env.FILES is undefined":                                                                    NamesBinding,
		"Error response from daemon: pull access denied for agents/box, repository does not exist":  NamesImage,
		"ImagePullBackOff":                   NamesImage,
		"Error: No such image: agents/box:7": NamesImage,
		"no matching manifest for linux/arm64/v8 in the manifest list entries": NamesImage,
		"max_instances reached":                                  NamesQuota,
		"Maximum number of running container instances exceeded": NamesQuota,
		"R2: internal error (10001)":                             NamesStorage,
		"put failed: bucket agents-prod answered 503":            NamesStorage,
		"D1_ERROR: no such table: refs":                          NamesStatement,
		"D1 DB is overloaded. Too many requests queued.":         NamesDatabase,
		"read ECONNRESET":                                        NamesNetwork,
		"FetchError: socket hang up":                             NamesNetwork,
		"connect ECONNREFUSED 10.0.0.7:8080":                     NamesNetwork,
		"Network connection lost.":                               NamesNetwork,
		"getaddrinfo ENOTFOUND sandbox.internal":                 NamesNetwork,
		"Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?": NamesEngine,
		"ENOSPC: no space left on device, mkdtemp '/tmp/helix-ws-a'":                                        NamesSpace,
		"EACCES: permission denied, mkdtemp '/srv/agents/helix-ws-a'":                                       NamesPath,
		"something odd happened": 0,
		"ENOENT: no such file or directory, open '/tmp/helix-ws-a/image.png'": NamesCleaned,
		"image of the situation":              0,
		"3 windows were found in the picture": 0,
		"room r2d2":                           0,
	} {
		if got := NamesIn(text); got != want {
			t.Errorf("%q names %b, want %b", text, got, want)
		}
		if want&(NamesSQLite|NamesCleaned) != 0 {
			continue // quoted words and paths are left out of the normalised form
		}
		if got := NamesIn(NormaliseCause(text)); got != want {
			t.Errorf("%q in normalised form names %b, want %b", text, got, want)
		}
	}
}

// A quota of something else, or of nothing named, is no shortage of instances.
func TestQuotasOfOtherThingsAreNotThoseOfInstances(t *testing.T) {
	for _, text := range []string{
		"D1_ERROR: database storage quota exceeded", "R2: daily write quota exceeded for account", "bucket quota of the account reached",
		"quota exceeded", "account quota exceeded", "quota reached", "session=x tenant=acme quota exceeded", "LLM token quota exceeded for tenant acme", "quota exceeded for GitHub API",
		"API rate limit: quota exceeded for quota metric 'Read requests'", "Account storage quota exceeded", "OpenAI: insufficient_quota, you exceeded your current quota",
		"sandbox sbx_1: quota exceeded", "container c1: token quota exhausted", "sandboxes of acme: quota of requests exceeded", "tenant quota exceeded for acme", "rate limit reached for sandboxes",
		"container memory limit reached: quota of containers", "QUOTA_EXCEEDED: tokens per minute", "maximum number of retries exceeded", "too many open files in containers", "email quota exceeded",
	} {
		if got := NamesIn(text); got&NamesQuota != 0 {
			t.Errorf("%q names a shortage of instances", text)
		}
	}
}
