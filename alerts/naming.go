package alerts

import (
	"strings"

	"sandglass/backend"
)

// Naming is a set of things that an error text can name. The texts are the framework's, the providers' and the
// platforms', and only some are documented, so they are sought by their words: what is not found may be named in words
// that nobody knows yet.
type Naming uint32

// What an error text can name.
const (
	NamesSchema   Naming = 1 << iota // a stored reference of another schema version
	NamesStrict                      // a stored reference with fields that its reader refuses
	NamesSnapshot                    // snapshots without a place to put them
	NamesModule                      // a capability that the provider does not have
	NamesBinding                     // a binding that is not there
	NamesSQLite                      // a Durable Object without SQLite storage
	NamesPOSIX                       // a host that is not POSIX
	NamesRuntime                     // a runtime without workspaces
	NamesQuota                       // a limit of instances
	NamesGone                        // the machine behind a workspace, or what was stored of it, is not there
	NamesCleaned                     // a scratch directory or a file in it is not there
	NamesStorage                     // object storage
	NamesSpace                       // a full file system
	NamesMemory                      // out of memory
	NamesIsolate                     // the agent's own isolate or process ran out of memory
	NamesPath                        // a directory that cannot be written
	NamesReplaced                    // the container is another one now
	NamesDestroy                     // destroying fails
	NamesImage                       // an image that cannot be pulled or started
	NamesDatabase                    // a database of the platform: D1
	NamesNetwork                     // a connection that was refused, reset or not made
	NamesEngine                      // a container engine that does not answer
	NamesSharing                     // an explicit id of a sandbox without the flag that permits to share it
)

const (
	// NamesConfiguration is what only another configuration or deployment cures.
	NamesConfiguration = NamesSnapshot | NamesModule | NamesBinding | NamesSQLite | NamesPOSIX | NamesRuntime | NamesSharing
	// NamesPermanent is what no retry cures.
	NamesPermanent = NamesConfiguration | NamesSchema | NamesStrict
	// NamesReason is what says why something failed. The others say how it was noticed, and any reason can lead there.
	NamesReason = NamesPermanent | NamesGone | NamesQuota | NamesStorage | NamesSpace | NamesMemory | NamesIsolate | NamesPath | NamesImage | NamesDatabase | NamesEngine
)

// phrase is a set of words one of which must occur, together with one of with and none of but, where these are given.
type phrase struct {
	naming         Naming
	any, with, but []string
}

// phrases are lower case, and also fit texts in normalised form. Sources: https://agents.open-source.onhelix.ai (runbook, upgrade guide, provider pages); for containers
// https://developers.cloudflare.com/containers and the
// error codes of https://github.com/cloudflare/sandbox-sdk.
var phrases = [...]phrase{
	{naming: NamesSchema, any: []string{"schemaversion", "schema version"}},
	{naming: NamesStrict, any: []string{"unrecognized key", "unrecognized keys", "unrecognised key", "unknown field", "unexpected field"}, with: []string{"ref", "refs", "reference", "workspaceref"}},
	{naming: NamesSnapshot, any: []string{"backupr2binding", "backup bucket"}, with: append([]string{"needs", "requires"}, absent[:]...)},
	{naming: NamesSnapshot, any: []string{"snapshot", "snapshotter", "capabilities.snapshot"}, with: []string{"capability", "declared but", "requires", "needs"}},
	{naming: NamesModule, any: []string{"capability", "capabilities", "module"}, with: append([]string{"mismatch", "declared but", "lacks", "undeclared"}, absent[:]...),
		but: []string{"backupr2binding", "backup bucket"}}, // the provider has the module; its bucket is not bound
	{naming: NamesBinding, any: []string{"binding", "bindings", "backupr2binding", "env.sandbox", "env.files", "env.backup", "env.loader"}, with: absent[:]},
	{naming: NamesSQLite, any: []string{"new_sqlite_classes"}},
	{naming: NamesSQLite, any: []string{"storage.sql", "reading 'sql'", "reading 'exec'", "sql storage", "sqlite storage", "sqlite-backed"}, with: append([]string{"requires", "needs", "not a function"}, absent[:]...)},
	{naming: NamesSQLite, any: []string{"sqlite"}, with: append([]string{"migration", "requires"}, absent[:]...)},
	{naming: NamesPOSIX, any: []string{"posix", "win32", "windows"}, with: append([]string{"only", "requires"}, absent[:]...)},
	{naming: NamesPOSIX, any: []string{"posix", "win32"}, with: []string{"needs", "must be", "found", "refused", "refuses", "detected"}},
	{naming: NamesImage, any: []string{"imagepullbackoff", "errimagepull", "invalidimagename", "manifest unknown", "pull access denied", "no matching manifest", "exec format error",
		"failed to pull", "cannot pull", "could not pull", "image pull", "unable to find image"}},
	{naming: NamesImage, any: []string{"image", "manifest"}, with: []string{"not found", "no such", "does not exist", "cannot be started", "cannot be pulled", "unknown", "denied"},
		but: []string{"enoent", "no such file", "permission denied", "eacces"}},
	{naming: NamesDatabase, any: []string{"d1", "d1_error"}, but: []string{"new_sqlite_classes"}},
	{naming: NamesNetwork, any: []string{"econnreset", "econnrefused", "econnaborted", "etimedout", "epipe", "ehostunreach", "enetunreach", "enotfound", "eai_again", "und_err_socket", "socket hang up",
		"connection reset", "connection refused", "connection closed", "connection lost", "connection timed out", "broken pipe", "network error", "fetch failed",
		"getaddrinfo", "no route to host", "tls handshake", "i/o timeout", "unexpected eof"}},
	{naming: NamesEngine, any: []string{"docker daemon", "docker.sock", "containerd"}, with: append([]string{"cannot connect", "connect", "running", "refused"}, absent[:]...)},
	{naming: NamesRuntime, any: []string{"does not support workspaces"}},
	{naming: NamesSharing, any: []string{"shareacrosssessions"}},
	{naming: NamesQuota, any: []string{"max_instances", "max_container_instances_exceeded", "maximum number of running container instances",
		"no container instance that can be provided", "no_container_instance_available", "too many instances", "quota exceeded", "quota reached", "quota exhausted", "instance limit"}, but: []string{"disk", "edquot", "storage", "database", "d1", "r2", "write quota", "bucket"}},
	{naming: NamesQuota, any: []string{"limit reached", "quota"}, with: []string{"instance", "instances", "container", "containers", "sandbox", "sandboxes", "account"}, but: []string{"storage", "database", "d1", "r2", "write quota", "bucket"}},
	{naming: NamesGone, any: []string{"sandbox", "container", "instance", "ref", "reference", "durable object", "snapshot", "backup", "Namespace"},
		with: []string{"not found", "no such", "does not exist", "no longer exists", "is gone", "was deleted", "was destroyed", "was removed"},
		but:  []string{"image", "manifest", "binding", "capability", "command", "module"}},
	{naming: NamesCleaned, any: []string{"enoent", "no such file"}},
	{naming: NamesStorage, any: []string{"r2", "bucket", "object storage", "s3"}, but: []string{"backup bucket"}},
	{naming: NamesSpace, any: []string{"enospc", "no space left", "no_space", "disk full", "edquot", "inodes"}},
	{naming: NamesMemory, any: []string{"out of memory", "oom", "oomkilled", "enomem", "cannot allocate memory", "heap limit", "exit code 137", "exited with 137"}},
	{naming: NamesIsolate, any: []string{"exceeded its memory limit", "exceededmemory", "memory limit exceeded", "heap out of memory"}},
	{naming: NamesPath, any: []string{"eacces", "erofs", "read-only file system", "permission denied", "tmpdirroot"}},
	{naming: NamesReplaced, any: []string{"container_replaced", "runtime_replaced", "sandbox_lifetime_changed", "replaced"}},
	{naming: NamesDestroy, any: []string{"destroy failed", "destroy()", "failed to destroy", "destroy timed out"}},
}

// absent are the words for what is not there or not usable.
var absent = [...]string{"missing", "not bound", "not found", "undefined", "not defined", "not configured", "not set", "not enabled", "unknown", "unsupported",
	"not supported", "not available", "not implemented", "does not exist", "does not provide", "no such", "no"}

// NamesIn reads an error text, whole or in normalised form.
func NamesIn(text string) Naming { return (^Naming(0)).In(text) }

// In is what of a set an error text names.
func (set Naming) In(text string) Naming {
	text = strings.ToLower(text)
	var out Naming
	for i := range phrases {
		p := &phrases[i]
		if p.naming&set&^out != 0 && holdsAny(text, p.any) && (p.with == nil || holdsAny(text, p.with)) && !holdsAny(text, p.but) {
			out |= p.naming
		}
	}
	return out
}

func holdsAny(text string, words []string) bool {
	for _, w := range words {
		if backend.HoldsWord(text, w) {
			return true
		}
	}
	return false
}

// HasMachine reports whether a provider of the framework puts a machine behind its workspaces. An unknown one may.
func HasMachine(provider string) bool {
	switch provider {
	case "in-memory", "local-bash", "local-sandbox", "cloudflare-filestore", "cloudflare-dynamic-worker":
		return false
	}
	return true
}
