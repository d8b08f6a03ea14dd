package rules

import (
	"sandglass/alerts"
	"sandglass/backend"
)

// naming is what an error text names.
type naming uint32

const (
	namesSchema   naming = 1 << iota // a stored reference of another schema version
	namesStrict                      // a stored reference with fields that its reader refuses
	namesSnapshot                    // snapshots without a place to put them
	namesModule                      // a capability that the provider does not have
	namesBinding                     // a binding that is not there
	namesSQLite                      // a Durable Object without SQLite storage
	namesPOSIX                       // a host that is not POSIX
	namesRuntime                     // a runtime without workspaces
	namesQuota                       // a limit of instances
	namesGone                        // the machine behind a workspace, or what was stored of it, is not there
	namesCleaned                     // a scratch directory or a file in it is not there
)

const (
	// namesConfiguration is what only another configuration or deployment cures.
	namesConfiguration = namesSnapshot | namesModule | namesBinding | namesSQLite | namesPOSIX | namesRuntime
	// namesPermanent is what no retry cures.
	namesPermanent = namesConfiguration | namesSchema | namesStrict
)

// phrase is a set of words one of which must occur, together with one of with and none of but, where these are given.
type phrase struct {
	naming         naming
	any, with, but []string
}

// phrases are lower case and in normalised form. The framework documents few of its texts, so they are sought by their
// words. Sources: https://agents.open-source.onhelix.ai (runbook, upgrade guide, provider pages); for containers
// https://developers.cloudflare.com/containers.
var phrases = [...]phrase{
	{naming: namesSchema, any: []string{"schemaversion", "schema version"}},
	{naming: namesStrict, any: []string{"unrecognized key", "unrecognized keys", "unrecognised key", "unknown field", "unexpected field"}, with: []string{"ref", "refs", "reference", "workspaceref"}},
	{naming: namesSnapshot, any: []string{"backupr2binding", "backup bucket"}, with: absent[:]},
	{naming: namesSnapshot, any: []string{"snapshot", "snapshotter", "capabilities.snapshot"}, with: []string{"capability", "declared but", "requires"}},
	{naming: namesModule, any: []string{"capability", "capabilities", "module"}, with: append([]string{"mismatch", "declared but", "lacks", "undeclared"}, absent[:]...)},
	{naming: namesBinding, any: []string{"binding", "bindings", "env.sandbox"}, with: absent[:]},
	{naming: namesSQLite, any: []string{"new_sqlite_classes"}},
	{naming: namesSQLite, any: []string{"sqlite"}, with: append([]string{"migration", "requires"}, absent[:]...)},
	{naming: namesPOSIX, any: []string{"posix", "win<n>", "windows"}, with: append([]string{"only", "requires"}, absent[:]...)},
	{naming: namesRuntime, any: []string{"does not support workspaces"}},
	{naming: namesQuota, any: []string{"max_instances", "max_container_instances_exceeded", "maximum number of running container instances",
		"no container instance that can be provided", "no_container_instance_available", "too many instances", "quota exceeded", "instance limit"}},
	{naming: namesGone, any: []string{"sandbox", "container", "instance", "ref", "reference", "durable object", "snapshot", "backup", "namespace"},
		with: []string{"not found", "no such", "does not exist", "no longer exists", "is gone", "was deleted", "was destroyed", "was removed"},
		but:  []string{"image", "manifest", "binding", "capability", "command", "module"}},
	{naming: namesCleaned, any: []string{"enoent", "no such file or directory"}},
}

// absent are the words for what is not there or not usable.
var absent = [...]string{"missing", "not bound", "not found", "undefined", "not defined", "not configured", "not set", "not enabled", "unknown", "unsupported",
	"not supported", "not available", "not implemented", "does not exist", "does not provide", "no such", "no"}

// sameCause lists the rules whose alerts about the same workspaces and the same cause are part of an alert.
func sameCause(rules ...string) []alerts.Inhibition {
	return []alerts.Inhibition{{Rules: rules, Equal: []string{alerts.LabelSource, alerts.LabelFingerprint}}}
}

// named says what an error text names; equal causes of one State are read once.
func named(env *alerts.Env, text backend.Safe) naming {
	if text.IsEmpty() {
		return 0
	}
	return naming(env.Names(text, func(normalised string) uint32 { return uint32(namesIn(normalised)) }))
}

// namesIn reads a normalised text.
func namesIn(text string) naming {
	var out naming
	for i := range phrases {
		p := &phrases[i]
		if out&p.naming == 0 && holdsAny(text, p.any) && (p.with == nil || holdsAny(text, p.with)) && !holdsAny(text, p.but) {
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
