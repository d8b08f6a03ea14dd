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
	NamesSchema    Naming = 1 << iota // a stored reference of another schema version
	NamesStrict                       // a stored reference with fields that its reader refuses
	NamesSnapshot                     // snapshots without a place to put them
	NamesModule                       // a capability that the provider does not have
	NamesBinding                      // a binding that is not there
	NamesSQLite                       // a Durable Object without SQLite storage
	NamesPOSIX                        // a host that is not POSIX
	NamesRuntime                      // a runtime without workspaces
	NamesQuota                        // a limit of instances
	NamesGone                         // the machine behind a workspace, or what was stored of it, is not there
	NamesCleaned                      // a scratch directory or a file in it is not there
	NamesStorage                      // object storage
	NamesSpace                        // a full file system
	NamesMemory                       // out of memory
	NamesIsolate                      // the agent's own isolate or process ran out of memory
	NamesPath                         // the root of scratch directories: it is missing or cannot be written
	NamesReplaced                     // the container is another one now
	NamesDestroy                      // destroying fails
	NamesImage                        // an image that cannot be pulled or started
	NamesDatabase                     // a database of the platform: D1
	NamesNetwork                      // a connection that was refused, reset or not made
	NamesEngine                       // a container engine that does not answer
	NamesSharing                      // an explicit id of a sandbox without the flag that permits to share it
	NamesAuth                         // credentials that a service refuses: 401, 403
	NamesRate                         // a limit of requests in a time: 429
	NamesDenied                       // access to something that a permission denies
	NamesStatement                    // a statement that a D1 database refuses, so the database answers
	NamesWatches                      // the kernel's limit of file watches
)

const (
	// NamesConfiguration is what only another configuration or deployment cures.
	NamesConfiguration = NamesSnapshot | NamesModule | NamesBinding | NamesSQLite | NamesPOSIX | NamesRuntime | NamesSharing
	// NamesPermanent is what no retry cures.
	NamesPermanent = NamesConfiguration | NamesSchema | NamesStrict
	// NamesReason is what says why something failed. The others say how it was noticed, and any reason can lead there.
	NamesReason = NamesPermanent | NamesGone | NamesQuota | NamesStorage | NamesSpace | NamesMemory | NamesIsolate | NamesPath | NamesImage | NamesDatabase | NamesEngine | NamesAuth | NamesRate |
		NamesDenied | NamesStatement | NamesWatches
	// namesOfCommands is what the output of a user's own command can prove: the kernel refuses any process alike.
	namesOfCommands = NamesSpace | NamesMemory | NamesIsolate | NamesWatches
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
	{naming: NamesSchema, any: []string{"schemaversion", "schema version"}, but: []string{"json schema", "json schemaversion", "manifest", "document"}},
	{naming: NamesStrict, any: []string{"unrecognized key", "unrecognized keys", "unrecognised key", "unknown field", "unexpected field"}, with: []string{"ref", "refs", "reference", "workspaceref"}},
	{naming: NamesSnapshot, any: []string{"backupr2binding", "backup bucket"}, with: append([]string{"needs", "requires"}, absent[:]...)},
	{naming: NamesSnapshot, any: []string{"snapshot", "snapshotter", "capabilities.snapshot"}, with: []string{"capability", "capabilities", "declared but"}},
	{naming: NamesModule, any: []string{"capability", "capabilities", "module", "modules"}, with: append([]string{"mismatch", "declared but", "lacks", "lacking", "not implement", "without", "not offer",
		"not offered", "not have", "not has", "not expose", "not provide", "not provided", "not part of", "unimplemented", "unavailable"}, absent[:]...),
		but: []string{"backupr2binding", "backup bucket", // the provider has the module; its bucket is not bound
			"no module named", "cannot find module", "module not found", "module_not_found", "err_module_not_found", "built-in module", "no such module", "cannot find package", "node_modules", "export named", "import", "kernel module"}}, // modules of a language
	{naming: NamesModule, any: []string{"capability", "capabilities"}, with: []string{"unavailable", "not support", "refused"}, but: []string{"backupr2binding", "backup bucket"}},
	{naming: NamesBinding, any: []string{"binding", "bindings", "backupr2binding", "env.", "env["}, with: append([]string{"unbound", "could not find", "cannot find", "not be found", "cannot be found"}, absent[:]...),
		but: []string{"native binding", "native bindings", "bindings file"}}, // modules of a language
	{naming: NamesSQLite, any: []string{"new_sqlite_classes"}},
	{naming: NamesSQLite, any: []string{"storage.sql", "reading 'sql'", "sql storage", "sqlite storage", "sqlite-backed"}, with: append([]string{"requires", "needs", "not a function"}, absent[:]...)},
	{naming: NamesSQLite, any: []string{"sqlite"}, with: []string{"not configured to use", "durable object class", "durable object namespace"}},
	{naming: NamesSQLite, any: []string{"not sqlite-backed", "not a sqlite-backed"}},
	{naming: NamesPOSIX, any: []string{"posix", "win32", "windows"}, with: append([]string{"only", "requires", "not run on"}, absent[:]...)},
	{naming: NamesPOSIX, any: []string{"posix", "win32"}, with: []string{"needs", "must be", "found", "refused", "refuses", "detected", "required", "not posix", "not a posix", "platform is"}},
	{naming: NamesImage, any: []string{"imagepullbackoff", "errimagepull", "invalidimagename", "manifest unknown", "pull access denied", "no matching manifest", "exec format error",
		"failed to pull", "cannot pull", "could not pull", "image pull", "image_pull_failed", "pulling image", "pull image", "pull the image", "fetch image", "unable to find image",
		"invalid reference format", "repository does not exist", "pull rate limit", "failed to resolve reference", "image registry"}},
	{naming: NamesImage, any: []string{"image", "manifest"}, with: []string{"not found", "no such", "does not exist", "cannot be started", "cannot be pulled", "not be pulled", "not be found", "cannot be found", "platform", "unknown", "denied"},
		but: []string{"enoent", "no such file", "permission denied", "eacces"}},
	{naming: NamesDatabase, any: []string{"d1", "d1_error", "d1_exec_error", "d1_type_error", "d1_column_notfound", "d1_dump_error"}, but: append([]string{"new_sqlite_classes"}, statements[:]...)},
	{naming: NamesStatement, any: []string{"d1", "d1_error", "d1_exec_error", "d1_type_error", "d1_column_notfound"}, with: statements[:]},
	{naming: NamesNetwork, any: []string{"econnreset", "econnrefused", "econnaborted", "etimedout", "epipe", "ehostunreach", "enetunreach", "enotfound", "eai_again", "und_err_socket", "socket hang up",
		"connection reset", "connection was reset", "connection refused", "connection was refused", "connection closed", "connection was closed", "connection has been closed", "connection lost",
		"connection was lost", "connection aborted", "connection timed out", "connection timeout", "und_err_connect_timeout", "socket disconnected", "server disconnected", "other side closed",
		"closed connection", "broken pipe", "premature close", "err_stream_premature_close", "rst_stream", "goaway", "stream was reset", "network error", "network unreachable",
		"network is unreachable", "host is unreachable", "fetch failed", "could not connect", "unable to connect", "no route to host", "i/o timeout", "unexpected eof"}},
	{naming: NamesNetwork, any: []string{"getaddrinfo", "no such host", "name resolution", "name or service not known", "nodename nor servname", "nxdomain", "servfail", "could not resolve host",
		"cannot resolve host", "dns lookup", "dns error", "failed to lookup address"}},
	{naming: NamesNetwork, any: []string{"tls handshake", "handshake failure", "handshake failed", "self-signed certificate", "self signed certificate", "certificate_verify_failed", "wrong version number",
		"cert_has_expired", "depth_zero_self_signed_cert", "self_signed_cert_in_chain", "unable_to_verify_leaf_signature", "err_tls_cert_altname_invalid"}},
	{naming: NamesNetwork, any: []string{"certificate", "certificates", "x509"}, with: []string{"expired", "unknown authority", "verify", "bad", "not valid", "not yet valid", "invalid", "not trusted", "untrusted", "not match"}},
	{naming: NamesEngine, any: []string{"docker daemon", "docker.sock", "containerd"}, with: append([]string{"cannot connect", "connect", "running", "refused"}, absent[:]...)},
	{naming: NamesEngine, any: []string{"docker desktop", "docker engine"}, with: []string{"not running", "not reach", "cannot reach", "not connect", "cannot connect"}},
	{naming: NamesAuth, any: []string{"unauthorized", "unauthorised", "unauthenticated", "forbidden", "authentication failed", "authentication required", "authentication error", "not authenticated", "bad credentials",
		"invalid credentials", "invalid api key", "invalid_api_key", "incorrect api key", "invalid token", "invalid api token", "invalid_token", "token expired", "token has expired", "expired token", "expiredtoken",
		"not authorized", "not authorised", "not authorized to", "accessdenied", "insufficient_scope", "insufficient permissions", "publickey"}, but: []string{"image", "manifest", "pull", "pulling"}},
	{naming: NamesAuth, any: []string{"401", "403"}, with: []string{"http", "status", "statuscode", "code", "response", "returned", "answered"}, but: []string{"image", "manifest", "pull", "pulling"}},
	{naming: NamesRate, any: []string{"too many requests", "toomanyrequests", "rate limit", "rate limited", "rate-limited", "ratelimit", "rate_limit_exceeded", "rate exceeded", "throttled", "throttling", "throttlingexception",
		"slow down", "slowdown"}, but: []string{"d1", "pull", "image"}},
	{naming: NamesRate, any: []string{"429"}, with: []string{"http", "status", "statuscode", "code", "response", "returned", "answered"}, but: []string{"d1", "pull", "image"}},
	{naming: NamesRuntime, any: []string{"does not support workspaces"}},
	{naming: NamesSharing, any: []string{"shareacrosssessions"}},
	{naming: NamesQuota, any: []string{"max_instances", "maxinstances"}, with: []string{"reached", "exceeded", "exhausted", "hit", "full", "used up", "all in use"}, but: resources[:]},
	{naming: NamesQuota, any: []string{"max_container_instances_exceeded", "maximum number of running container instances",
		"no container instance that can be provided", "no_container_instance_available", "no free instance", "no instance left", "no instances left", "out of instances"}},
	{naming: NamesQuota, any: []string{"too many instances", "too many containers", "too many sandboxes", "too many running instances", "too many running containers", "too many running sandboxes",
		"too many concurrent instances", "too many concurrent containers", "too many concurrent sandboxes", "too many active instances", "too many active containers", "too many active sandboxes",
		"instance limit", "container limit", "sandbox limit", "instance quota", "container quota", "sandbox quota", "limit reached for container", "limit reached for sandbox", "limit reached for instance"},
		but: resources[:]},
	{naming: NamesQuota, any: []string{"quota", "quota_exceeded", "limit reached", "limit exceeded", "limit is reached", "concurrency limit", "maximum number of concurrent"}, with: machines[:],
		but: append([]string{"tokens", "token quota", "token limit", "llm", "api", "rate", "requests", "request quota", "request limit", "queries", "pulls", "write quota", "size limit"}, resources[:]...)},
	{naming: NamesQuota, any: []string{"number of instances", "number of containers", "number of sandboxes", "number of running instances", "number of running containers", "number of running sandboxes",
		"number of concurrent instances", "number of concurrent containers", "number of concurrent sandboxes"}, with: []string{"reached", "exceeded"}},
	{naming: NamesQuota, any: []string{"no capacity", "out of capacity"}, with: append([]string{"instance", "container", "sandbox"}, machines[:]...)},
	{naming: NamesGone, any: []string{"sandbox", "container", "instance", "ref", "reference", "durable object", "snapshot", "backup", "Namespace"},
		with: []string{"not found", "no such", "does not exist", "no longer exists", "is gone", "was deleted", "was destroyed", "was removed"},
		but:  []string{"image", "manifest", "binding", "capability", "command", "module"}},
	{naming: NamesCleaned, any: []string{"enoent", "no such file"}, but: []string{"mkdtemp"}},
	{naming: NamesStorage, any: []string{"r2", "r2_error", "bucket", "nosuchbucket", "object storage", "object store", "s3"}, but: []string{"backup bucket"}},
	{naming: NamesSpace, any: []string{"enospc", "no space left", "no_space", "disk full", "disk is full", "disk quota", "edquot", "inodes", "file system full", "file system is full", "filesystem full",
		"filesystem is full", "volume is full", "volume full", "out of disk space", "insufficient disk space", "not enough disk space", "not enough space", "sqlite_full", "errno 28"},
		but: []string{"file watchers", "inotify", "watch", "inotify_add_watch", "cgroup", "semget", "shmget", "sem_open", "context window"}}, // limits of the kernel that are no space, and of a model
	{naming: NamesWatches, any: []string{"file watchers", "inotify", "inotify_add_watch", "max_user_watches", "max_user_instances"}, with: []string{"enospc", "emfile", "limit", "no space left", "too many open files"}},
	{naming: NamesMemory, any: []string{"out of memory", "oom", "oomkilled", "enomem", "cannot allocate memory", "heap limit", "memoryerror", "outofmemoryerror", "exit code 137", "exited with 137", "exited with code 137", "exit status 137"},
		but: []string{"maxmemory", "redis", "prompt", "budget", "context window"}}, // limits of another store, and of a model
	{naming: NamesIsolate, any: []string{"exceeded its memory limit", "exceeded memory limit", "exceeded the memory limit", "exceeds its memory limit", "exceededmemory", "memory limit exceeded", "heap out of memory"}},
	{naming: NamesPath, any: []string{"tmpdirroot"}},
	{naming: NamesPath, any: []string{"eacces", "eperm", "erofs", "enoent", "enotdir", "read-only file system", "permission denied", "operation not permitted", "no such file"}, with: []string{"mkdtemp"}},
	{naming: NamesDenied, any: []string{"eacces", "erofs", "read-only file system", "permission denied"}, but: []string{"mkdtemp", "tmpdirroot", "publickey"}},
	{naming: NamesReplaced, any: []string{"container_replaced", "runtime_replaced", "sandbox_lifetime_changed", "replaced"}},
	{naming: NamesDestroy, any: []string{"destroy failed", "destroy()", "failed to destroy", "destroy timed out"}},
}

// statements are how a database says that it refuses one statement.
var statements = [...]string{"no such table", "no such column", "has no column", "no column named", "syntax error", "constraint failed", "d1_exec_error", "d1_type_error", "d1_column_notfound", "already exists", "duplicate column"}

// machines are what a limit of instances counts. One alone may be the workspace that met another limit.
var machines = [...]string{"instances", "containers", "sandboxes", "microvms", "pods"}

// resources are what a limit of one machine, or of an account, may also be about.
var resources = [...]string{"storage", "database", "d1", "r2", "bucket", "disk", "edquot", "memory", "cpu", "bandwidth", "egress"}

// absent are the words for what is not there or not usable.
var absent = [...]string{"missing", "undefined", "undeclared", "unknown", "unsupported", "unset", "no", "no such", "not found", "not bound", "not declared", "not been declared",
	"not defined", "not configured", "not been configured", "not set", "not enabled", "not provided", "not support", "not supported", "not available", "not implemented",
	"does not exist", "does not provide"}

// contractions are written out, so that phrases need no second form.
var contractions = strings.NewReplacer("can't", "cannot", "n't", " not")

// NamesIn reads an error text, whole or in normalised form.
func NamesIn(text string) Naming { return (^Naming(0)).In(text) }

// In is what of a set an error text names.
func (set Naming) In(text string) Naming {
	text = strings.ToLower(text)
	if strings.ContainsAny(text, "'\u2019") {
		text = contractions.Replace(strings.ReplaceAll(text, "\u2019", "'"))
	}
	text = asserted(text)
	r := newPhraseReader(text)
	var out Naming
	for i := range phrases {
		p := &phrases[i]
		if p.naming&set&^out != 0 && r.holdsAny(p.any) && (p.with == nil || r.holdsAny(p.with)) && !r.holdsAny(p.but) {
			out |= p.naming
		}
	}
	if strings.Contains(text, "setup command") {
		out &= namesOfCommands
	}
	return out
}

// phraseReader looks for many phrases in one text. It searches only for those whose first and last two bytes are in the text.
type phraseReader struct {
	text  string
	pairs [64]uint64 // a bit for each pair of neighbouring bytes, by pairBit
}

func newPhraseReader(text string) *phraseReader {
	r := &phraseReader{text: text}
	for i := 1; i < len(text); i++ {
		b := pairBit(text[i-1], text[i])
		r.pairs[b/64] |= 1 << (b % 64)
	}
	return r
}

// pairBit spreads pairs of bytes over 4,096 bits.
func pairBit(a, b byte) uint { return (uint(a)<<6 ^ uint(b)) % 4096 }

func (r *phraseReader) hasPair(a, b byte) bool {
	i := pairBit(a, b)
	return r.pairs[i/64]&(1<<(i%64)) != 0
}

func (r *phraseReader) holdsAny(words []string) bool {
	for _, w := range words {
		n := len(w)
		if (n < 2 || r.hasPair(w[0], w[1]) && r.hasPair(w[n-2], w[n-1])) && backend.HoldsWord(r.text, w) {
			return true
		}
	}
	return false
}
