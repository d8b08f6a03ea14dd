package backend

import (
	"regexp"
	"strings"
)

// MarkNotStarted ends what the sandbox SDK of Cloudflare writes of a command that could not begin, whatever the command was
// (cloudflare/sandbox-sdk#288).
const MarkNotStarted = "Unknown Error, TODO"

// notStarted is the whole message, notStartedEnd the last line of one whose command has several.
var (
	notStarted    = regexp.MustCompile(`(?s)Failed to execute command '(.*)' in session '([^'\n]{1,128})': ` + MarkNotStarted)
	notStartedEnd = regexp.MustCompile(`(?:^|')? in session '([^'\n]{1,128})': ` + MarkNotStarted)
)

// NotStartedText reads such a message: the command and the session that it names, each empty where it does not.
func NotStartedText(raw string) (command, session string, ok bool) {
	if !strings.Contains(raw, MarkNotStarted) {
		return "", "", false
	}
	if m := notStarted.FindStringSubmatch(raw); m != nil {
		return m[1], m[2], true
	}
	if m := notStartedEnd.FindStringSubmatch(raw); m != nil {
		return "", m[1], true
	}
	return "", "", true
}

// MarkNoDirectory stands in what the SDK writes of a session or a command that could not begin for want of its directory. It names the
// shell, but the directory is what is missing, where the image has a shell.
const MarkNoDirectory = "ENOENT: no such file or directory, posix_spawn '"

// noDirectory is the whole message: of a session before SDK 0.6.4, or of a command without one.
var noDirectory = regexp.MustCompile(`(?s)Failed to (?:create session '([^'\n]{1,128})'|execute (?:streaming )?command '(.*)' in sessionless execution): ` + MarkNoDirectory)

// NoDirectoryText reads such a message: the command or the session that it names, each empty where it does not.
func NoDirectoryText(raw string) (command, session string, ok bool) {
	m := noDirectory.FindStringSubmatch(raw)
	if m == nil {
		return "", "", false
	}
	return m[2], m[1], true
}

// fileCall is such a message about a call for a file instead of a command.
var fileCall = regexp.MustCompile(`\bFailed to (?:read|write|delete|remove|rename|move|copy|list|create|make|open|check|stat) [^\n]{0,1000}` + MarkNotStarted)

// FileCallText reports whether such a message is about a call for a file, which fails so too where the directory of the control server is
// gone.
func FileCallText(raw string) bool {
	return fileCall.MatchString(raw) && !strings.Contains(raw, "Failed to execute command")
}

// SessionPrefix stands before the id of a sandbox in the name of the session that its SDK makes for it.
const SessionPrefix = "sandbox-"

// SandboxOfSession is the sandbox that a session of the SDK belongs to. The prefix is taken away once: an id may begin with it.
func SandboxOfSession(session string) (ID, bool) {
	rest, is := strings.CutPrefix(session, SessionPrefix)
	id, err := NewID(rest)
	return id, is && err == nil
}

// SandboxRoot is the working directory of a sandbox of the SDK.
const SandboxRoot = "/workspace"

// OfWorker reports whether a sandbox is a container behind a Cloudflare Worker, which the account's list or the bridge knows.
func (b *Sandbox) OfWorker() bool {
	p := b.Provider.String()
	return p == "cloudflare" || p == "cloudflare-sandbox"
}

// NamesWorkerBox reports whether a workspace or reference of a provider can name a container behind a Cloudflare Worker. The files of a
// filestore are in the agent's own Durable Object, whatever sandbox it names.
func NamesWorkerBox(provider Safe) bool {
	switch provider.String() {
	case "cloudflare", "cloudflare-sandbox", "cloudflare-filestore":
		return true
	}
	return false
}

// NamesBox reports whether a line of the sandbox SDK is about a sandbox: it names the id that the application gave it.
func (x *Report) NamesBox(b *Sandbox) bool {
	return !x.Sandbox.IsZero() && b.OfWorker() && (x.Sandbox == b.Key.ID || x.Sandbox == b.BridgeID || x.Sandbox.Raw() == b.Name.String())
}

// NoBridgeID is why nothing can be done in a sandbox that only the account's list shows.
const NoBridgeID = Literal("no id of the bridge is known for it: name its id in sandboxes, read references that name it, or add operator routes")

// EmptyRead is what a probe says of a file that has no content, or that cannot be read: the bridge answers both alike. EmptyReadNext
// is what tells them apart, where commands run.
const (
	EmptyRead     = Literal("the file that was asked for came back empty, as one does that cannot be read")
	EmptyReadNext = Literal("write text into one there, then probe again")
)

// SleepAfterLabel names the label with how long a sandbox of a Worker rests before it sleeps, as its operator routes say.
const SleepAfterLabel = Literal("sleepAfter")

// RepairFull begins the evidence of a repair that a disk without space prevented.
const RepairFull = Literal("no space was left for the repair: ")

// RootEntered begins what a probe says of a sandbox in which only commands without a session do not begin.
const RootEntered = Literal("commands without a session do not begin although /workspace can be entered")

// TrueEnded begins what a probe says where true began and failed: its exit code follows. A bridge that says running: false means no more.
const TrueEnded = Literal("true ended with exit code ")

// NotListed begins what a probe says of a directory that it did not list: a test of what stands in its place tells that it cannot be.
const NotListed = Literal("not listed: ")

// Inferred reports whether a verdict only repeats what another plane showed: nothing was tried on its own.
func (v *Verdict) Inferred() bool { return strings.HasPrefix(v.What.String(), string(NotListed)) }

// RootIsLink begins what a probe says of a working directory that is a link to a directory.
const RootIsLink = Literal("/workspace is a link to ")

// LinkedRoot is where the working directory of a sandbox leads, as a probe found it; empty: it is no link, or nobody looked.
func LinkedRoot(b *Sandbox) string {
	o, _ := b.Proved()
	v, _ := o.Of(PlaneList)
	to, _ := linkedTo(&v)
	return to
}

// linkedTo is where the working directory leads that a verdict found to be a link.
func linkedTo(v *Verdict) (to string, is bool) {
	rest, is := strings.CutPrefix(v.What.String(), string(RootIsLink))
	if !is || v.Outcome != OutcomeOK {
		return "", false
	}
	to, _, _ = strings.Cut(rest, ", ")
	return to, true
}

// RoutesSayLabel names the label with the word of the operator routes for a sandbox, where the account says otherwise of whether it runs, or
// theirs is not known.
const RoutesSayLabel = Literal("operator routes say")

// sdkImage is the image of the sandbox SDK itself, whose tag is the version of the SDK.
var sdkImage = regexp.MustCompile(`(?:^|/)cloudflare/sandbox:v?(\d{1,4})\.(\d{1,4})(?:\.\d|$)`)

// SDKPinned reports whether an image is that of a sandbox SDK from 0.9.0 on: its control server outlives the removal of its own
// directory, and its commands begin in a linked one. Of an image with another name nothing is known, and it is false.
func SDKPinned(image string) bool {
	m := sdkImage.FindStringSubmatch(image)
	return m != nil && (m[1] != "0" || len(m[2]) > 1 || m[2] == "9")
}
