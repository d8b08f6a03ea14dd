package runbook

import "strings"

// cause is a set of things that an error text can name. The texts are the framework's, the providers' and the
// platforms', and only some are documented; a phrase that is missing here makes an answer "ruled out" too early, so
// facts always quote how many errors were searched.
type cause uint32

const (
	causeSchema   cause = 1 << iota // a stored reference of another schema version
	causeStrict                     // a stored reference with fields that the reader refuses
	causeQuota                      // a limit of instances or an allowance
	causeStorage                    // object storage
	causeSpace                      // a full file system
	causeMemory                     // out of memory
	causeSnapshot                   // snapshots without a place to put them
	causeModule                     // a capability that the provider lacks
	causeBinding                    // a binding that is not there
	causeSQLite                     // a Durable Object without SQLite storage
	causePOSIX                      // a host that is not POSIX
	causePath                       // a directory that cannot be written
	causeRuntime                    // a runtime without workspaces
	causeMissing                    // the resource is not there
	causeNoFile                     // a file or directory is not there
	causeReplaced                   // the container is another one now
	causeDestroy                    // destroying fails
	causeIsolate                    // the agent's own isolate or process ran out of memory
)

// causePermanent are the causes that no retry cures.
const causePermanent = causeSchema | causeStrict | causeSnapshot | causeModule | causeBinding | causeSQLite | causePOSIX | causeRuntime

type phrase struct {
	cause cause
	words []string // lower case
}

// phrases lists what names a cause. Sources: the documentation named in page.go; for containers
// https://developers.cloudflare.com/containers and the error codes of https://github.com/cloudflare/sandbox-sdk.
func phrases() []phrase {
	return []phrase{
		{causeSchema, []string{"schemaversion", "schema version"}},
		{causeStrict, []string{"unrecognized key", "unrecognised key", "unknown field", "unexpected field", "unknown key"}},
		{causeQuota, []string{"max_instances", "max_container_instances_exceeded", "maximum number of running container instances",
			"no container instance that can be provided", "no_container_instance_available", "quota", "too many instances", "limit reached"}},
		{causeStorage, []string{"r2", "bucket", "object storage", "s3"}},
		{causeSpace, []string{"enospc", "no space left", "no_space", "disk full", "edquot", "inodes"}},
		{causeMemory, []string{"out of memory", "oom", "oomkilled", "enomem", "cannot allocate memory", "heap limit", "exit code 137", "exited with 137"}},
		{causeIsolate, []string{"exceeded its memory limit", "exceededmemory", "memory limit exceeded", "heap out of memory"}},
		{causeSnapshot, []string{"backupr2binding", "backup bucket", "snapshotter", "snapshot capability", "capabilities.snapshot"}},
		{causeModule, []string{"capability mismatch", "missing capability", "missing module", "does not provide", "lacks capability", "not supported by provider", "undeclared capability"}},
		{causeBinding, []string{"binding", "env.sandbox"}},
		{causeSQLite, []string{"sqlite", "new_sqlite_classes", "no such table"}},
		{causePOSIX, []string{"windows", "win32", "posix"}},
		{causePath, []string{"eacces", "erofs", "read-only file system", "permission denied", "tmpdirroot"}},
		{causeRuntime, []string{"does not support workspaces"}},
		{causeMissing, []string{"not found", "no such container", "no longer exists", "sandbox does not exist", "404", "is gone", "was deleted"}},
		{causeNoFile, []string{"enoent", "no such file"}},
		{causeReplaced, []string{"container_replaced", "runtime_replaced", "sandbox_lifetime_changed", "replaced"}},
		{causeDestroy, []string{"destroy failed", "destroy()", "failed to destroy", "destroy timed out"}},
	}
}

// causesOf finds what a text names.
func causesOf(text string, list []phrase) cause {
	text = strings.ToLower(text)
	var found cause
	for _, p := range list {
		for _, w := range p.words {
			if names(text, w) {
				found |= p.cause
				break
			}
		}
	}
	return found
}

// names reports whether text has the phrase as whole words: "oom" is not in "room".
func names(text, phrase string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], phrase)
		if i < 0 {
			return false
		}
		i += from
		end := i + len(phrase)
		if (i == 0 || !wordByte(text[i-1]) || !wordByte(phrase[0])) &&
			(end == len(text) || !wordByte(text[end]) || !wordByte(phrase[len(phrase)-1])) {
			return true
		}
		from = i + 1
	}
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_'
}
