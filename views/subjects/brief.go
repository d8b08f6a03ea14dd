package subjects

import (
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
)

// briefest is the width, in cells, that the column of causes has at least: a brief form fits into it.
const briefest = 20

// briefs are short forms of the causes that rules word themselves, by a phrase that only this cause has. A column without room
// for the cause shows it; a cause without a brief form is foreign text, and loses its middle.
var briefs = [...]struct{ phrase, brief backend.Literal }{
	{"shell metacharacter rejected", "shell chars rejected"},
	{"command not in allowlist", "not in allowlist"},
	{"the agent ran out of memory", "agent out of memory"},
	{"the agent restarted when the kernel killed", "agent killed: memory"},
	{"the agent restarted with its memory nearly full", "memory ran full"},
	{"the agent starts over and over", "agent keeps starting"},
	{"probing: many different commands", "probing commands"},
	{" has no instance left", "no instance left"},
	{" is nearly full", "nearly full"},
	{"its clock is ahead of ours", "clock ahead of ours"},
	{"its clock is behind ours", "clock behind ours"},
	{"it obeys without a key", "open without a key"},
	{"workspaces fail for many different causes", "many causes at once"},
	{"workspaces are evicted faster than they recover", "recovery too slow"},
	{"evictions go on for long", "many not recovered"},
	{"evicted without a lastError", "no lastError given"},
	{"attempts fail, no lastError is given", "no lastError given"},
	{"failed without a lastError", "no lastError given"},
	{"fails without a lastError", "no lastError given"},
	{"re-created in a sandbox that was made after", "in a newer sandbox"},
	{"provider in-memory was re-created", "its files are gone"},
	{"with destroyOnClose: the sandbox ended with its files", "its files are gone"},
	{"started again, on an empty disk", "its files are gone"},
	{"closing removes its files", "closed: files gone"},
	{"its files may be", "files may be gone"},
	{"Sandglass set the scratch directory", "quarantined in use"},
	{"the scratch directory of a live workspace was removed", "directory removed"},
	{"the working directory of the sandbox is gone", "no working directory"},
	{"many sandboxes at once are ", "many fail at once"},
	{"commands of its agent fail", "agent: commands fail"},
	{"but no command begins in it", "no command begins"},
	{"but no file call begins in it", "no file call begins"},
	{"but the working directory of its control server", "no server directory"},
	{"but its working directory is missing", "no working directory"},
	{"but its working directory is a link to nothing", "dangling directory"},
	{"but the host directory mounted there was removed", "mount was removed"},
	{" and refuses connections", "refuses connections"},
	{"nothing runs in it until its platform", "reported not running"},
	{"but nothing in it answered a probe", "answers no probe"},
	{"but its mount is gone", "mount is gone"},
	{"but its working directory is not a directory", "not a directory"},
	{"but its user may not enter its working directory", "directory is closed"},
	{"but its main process is frozen", "main process frozen"},
	{"but its control server answers nothing", "control server silent"},
	{"but no command in it ended", "no command ends"},
	{"has no container to give now", "no container to give"},
	{"but its commands stay queued", "commands stay queued"},
	{"but a command in it was refused with a server error", "commands refused"},
	{" is pending since at least", "job does not begin"},
	{"has no checkpoint to resume from", "no checkpoint"},
	{"its resume is refused long after its suspend", "resume refused"},
	{"no driver connected", "no driver connected"},
	{"but its resume of", "resume unfinished"},
	{"right after a resume, and no resume followed", "resume undone"},
	{"corrected its record from", "record corrected"},
	{"but its hub says", "driver not reached"},
	{"the platform's routes disagree", "routes disagree"},
	{"and does not go on", "stuck in transit"},
	{"its platform removes it within", "removed soon"}, {"its platform should have removed it", "overdue, still listed"},
	{"may run on it, and its platform removes it soon", "removed soon, in use?"}, {"its platform removes it soon", "removed soon, in use"},
	{"can be opened from the internet without a token", "a port is public"},
	{"open to the internet, and its saved state says private", "public, not private"},
	{"its own API is open to the internet", "its API is public"},
	{"no token opens its private address", "no token for a port"},
	{"each token of its private address has ended", "port token ended"},
	{"the token of its private address ends soon", "port token ends soon"},
	{"but a command in it did not end", "command did not end"},
	{"but its filesystem is missing", "filesystem missing"},
	{"but it is gone", "sandbox is gone"},
	{"but its container is gone", "container is gone"},
	{"but its container could not start", "could not start"},
	{"but its container was killed at its memory limit", "killed: memory limit"},
	{"but its container ended with exit code", "ended with an error"},
	{"it was started again, and not verified since", "not verified since"},
	{"it ended, and was not verified since", "not verified since"},
	{"its session is reported running, but ", "container is down"},
	{" lists its workspace as ", "container is down"},
	{"the kernel killed processes for lack of memory", "kernel OOM kills"},
	{"the kernel killed processes; whether", "kernel kills"},
	{"memory is nearly exhausted", "memory nearly full"},
	{"behind sessions of different tenants", "shared by tenants"},
	{"behind several sessions", "shared by sessions"},
	{"names a sandbox that", "names a lost sandbox"},
	{"it is another sandbox", "another sandbox"},
	{"no registry is published", "no registry"},
	{"the health route is not there", "no health route"},
	{alerts.RegistriesLost, "registries lost"},
	{"many opens after: ", "many opens at once"},
	{"it ends and is started again and again", "restarts in a loop"},
	{"killed with its memory near the limit", "killed, nearly full"},
	{"killed at its memory limit and started again", "loops: memory limit"},
	{"it ended again and again until its restart policy gave up", "restarts given up"},
	{"killed at its memory limit", "killed: memory limit"},
	{"near its memory limit", "near memory limit"},
	{"its health check fails", "health check fails"},
	{"its list lost half or more", "list lost half"},
	{"a part of it is not read", "partly not read"},
	{backend.BridgeFailing, "bridge is silent"},
	{"its sessions cannot be read", "sessions not read"},
	{"sessions left its list", "sessions left list"},
	{"lost their workspaces at once", "workspaces vanished"},
	{"its registries do not move", "registries unchanged"},
	{"have no owner", "directories unowned"},
	{"scratch directories pile up", "directories pile up"},
	{"the disk below scratch directories fills up", "disk fills up"},
	{"the root does not exist", "root does not exist"},
	{"the file system is read-only", "file system readonly"},
	{"the agent's user may not write there", "root not writable"},
	{"the file system is full", "file system is full"},
	{"its container stopped: its files are gone", "stopped, files gone"},
	{"it leaked: the end of its session deletes it", "leaked"},
	{"it leaked: its agent's SDK could not delete it", "leaked"},
	{"something keeps it from falling asleep", "kept awake"},
	{"it should have been destroyed when its session ended", "not destroyed at end"},
	{"closing it ran into its deadline", "close was abandoned"},
	{"its platform reports that it failed", "platform: failed"}, {"its platform reports it unhealthy", "platform: unhealthy"},
	{"its platform calls the application", "app is unhealthy"},
	{"but / of it was listed since", "answers after end"}, {"its agent takes it for not running", "agent gave it up"}, {"its agent takes it for", "agent believes wrong"},
	{"of the OpenAI Agents SDK is not installed", "package missing"},
	{"a command runs past its timeout", "command runs on"}, {"a command runs on: its agent", "command runs on"},
	{"the tar of a save or restore runs past", "tar runs on"},
	{"a process runs on after the end of its session", "outlived its session"},
	{"a process runs longer than an agent waits", "process runs on"},
	{"its agent has nearly as many terminals open", "many terminals open"},
	{"a terminal of an agent could not be used", "terminals fail"},
	{"a save of its files was cut off", "save was cut off"},
	{"an archive of another session", "archive of another"},
	{"a restore of its files was cut off", "restore was cut off"},
	{"a drive that its saved state declares is not mounted", "drive not mounted"},
	{"so that it never falls asleep: only a destroy", "kept alive"}, {"it waits to fall asleep", "waits to fall asleep"},
	{"it did not fall asleep when it was due", "did not fall asleep"},
	{"no list names its session", "session not listed"},
	{"met its usage limit", "usage limit met"},
	{"its session is in no list any more", "session left list"},
	{"its session is over, and nothing says", "session is over"},
}

// brief is the short form of a cause that a rule words itself, or of an error that the diagnosis recognises; empty for other
// foreign text.
func brief(cause string) backend.Safe {
	for _, which := range []string{"one attempt", "the newest attempt"} {
		if strings.HasPrefix(cause, which+" runs for ") {
			return backend.Text("one long attempt")
		}
	}
	if rest, is := strings.CutPrefix(cause, "ends with exit code "); is {
		code, _, _ := strings.Cut(rest, " ")
		return backend.Clean("loops: exit code "+code, briefest)
	}
	if rest, is := strings.CutPrefix(cause, "ended with exit code "); is {
		code, after, _ := strings.Cut(rest, " ")
		if strings.HasPrefix(after, "until its restart policy gave up") {
			return backend.Clean("gave up: code "+code, briefest)
		}
		return backend.Clean("ended: exit code "+code, briefest)
	}
	for _, b := range briefs {
		if strings.Contains(cause, string(b.phrase)) {
			return backend.Text(b.brief)
		}
	}
	return errorBrief(cause)
}
