package runbook

import (
	"regexp"
	"slices"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
)

const (
	noRetry    backend.Literal = "Don't raise transientRetryAttempts: retries only delay the failure."
	stillWrong backend.Literal = "the configuration is still wrong"
)

// filestore is the provider whose files are in the agent's Durable Object.
const filestore = "cloudflare-filestore"

// workspaceFailedEndings are what incident 1 can come to, the first that is true.
func (s *subjectView) workspaceFailedEndings() []ending {
	return []ending{
		{any: []string{"recovered"}, without: "failed", denies: true, conclude: "Nothing is failed now: the last attempts succeeded.",
			do: "Read the Timeline: 8, or sandglass get events.", dont: "Don't reset a workspace that works: a reset opens it again.", noReset: "it works"},
		{any: []string{"storm"}, conclude: "It is a part of an eviction storm (runbook 7).",
			do: "Follow the alert eviction-storm: it has the steps. The workspaces come back when the storm ends.", dont: "Don't reset: each reset adds an open to the storm.",
			noReset: "it was evicted together with others; a reset adds opens"},
		{any: []string{"schema"}, conclude: "This release cannot read the stored reference (runbook 6).",
			do: "Go to runbook 6: the release has to change.", dont: "Don't reset: the same reference is refused again.",
			noReset: "the stored reference is refused again until the release can read it"},
		{any: []string{"runtime"}, conclude: "This runtime refuses workspaces at start.",
			do: s.otherRuntime(), dont: "Don't retry or reset. There is no registry that could open anything.",
			noReset: "this runtime has no workspaces"},
		{any: []string{"quota"}, conclude: "The platform has no instance left for it.",
			dont:    "Don't reset before there is room: a reset asks for an instance.",
			noReset: "the instance limit is reached; a reset asks for one more"},
		{any: []string{"snapshot"}, conclude: "Snapshots are declared. The deployment cannot store them.",
			do:   "Bind a backup bucket (backupR2Binding) and redeploy. Or remove the capability snapshot. Then reset the failed workspaces.",
			dont: noRetry, noReset: stillWrong},
		{any: []string{"module"}, conclude: "The agent declares a capability that its provider lacks.",
			do:   "Add the module to the provider, or remove the capability. Redeploy; then reset the failed workspaces.",
			dont: noRetry, noReset: stillWrong},
		{any: []string{"binding"}, conclude: "The deployment lacks a binding that the provider needs.",
			do:   "Add the binding that the error names. Redeploy; then reset the failed workspaces.",
			dont: noRetry, noReset: stillWrong},
		{any: []string{"sharing"}, conclude: "The declaration has a sandbox id and permits no sharing.",
			do:   "Remove the explicit id. Or set shareAcrossSessions: true after a review of its threat model (runbook 8). Then reset the failed workspaces.",
			dont: noRetry, noReset: stillWrong},
		{any: []string{"sqlite"}, conclude: "The class of the Durable Object has no SQLite storage.",
			do:   "Add the class to new_sqlite_classes in a migration. Redeploy; then reset the failed workspaces.",
			dont: noRetry, noReset: stillWrong},
		{any: []string{"posix"}, conclude: "The provider needs a POSIX host, and this host is none.",
			do:   "Run the agent on Linux or macOS, or choose another provider. Then reset the failed workspaces.",
			dont: noRetry, noReset: stillWrong},
		{any: []string{"root"}, conclude: "Agents cannot create their scratch directories.",
			do: s.otherRoot(), dont: "Don't reset first: open fails again at once.",
			noReset: "the root of scratch directories was unusable at the last attempt"},
		s.full(),
		{any: []string{"image"}, conclude: "The image of the sandbox cannot be pulled or started.",
			do: "Check the image's name, its tag and access to the registry. Check it from where the image is pulled. Then reset the failed workspaces.", dont: "Don't reset before the image can be pulled: the open fails again.",
			noReset: "the image cannot be pulled or started yet"},
		{any: []string{"engine"}, conclude: "The container engine does not answer.",
			do: "Start the engine on its host and look why it stopped. Then reset the failed workspaces.", dont: "Don't reset first: without the engine every open fails.",
			noReset: "the container engine does not answer"},
		s.unreachable(),
		{any: []string{"database"}, conclude: "The platform's database (D1) fails.",
			do: "Check the database and the platform's status. When it answers, reset the failed workspaces.", dont: "Don't reset while the database fails: the open fails again.",
			noReset: "the database fails"},
		{any: []string{"statement"}, conclude: "The database (D1) refuses a statement. It answers.",
			do: "Apply the migrations to the database that is bound. Or correct the statement or table that the error names. Then reset the failed workspaces.", dont: noRetry,
			noReset: "the database refuses the same statement again"},
		{any: []string{"watches"}, conclude: "The kernel's limit of file watches is reached.",
			do: "Raise fs.inotify.max_user_watches on its host. Or watch fewer files: leave out folders of dependencies. Then reset the failed workspaces.", dont: "Don't delete files: the disk is not what is full.",
			noReset: "the limit of file watches is reached"},
		{any: []string{"auth"}, conclude: "A service refuses the credentials.",
			do:   "Replace the token or key that the error is about. Check that it is set, valid and allowed to do this. Redeploy; then reset the failed workspaces.",
			dont: noRetry, noReset: "the open fails again while the credentials are refused"},
		{any: []string{"rate-limit"}, conclude: "A service limits the rate of requests.",
			do:   "Lower concurrent opens and retries. Or ask the service for a higher limit. Reset when the limit has passed.",
			dont: "Don't add retries: each one counts against the limit.", noReset: "a reset sends more requests against the limit"},
		s.connection(),
		{any: []string{"deleted"}, conclude: "The sandbox behind it was deleted: see runbook 6.",
			do: "Start a fresh session. Find out who deleted it (runbook 6).", dont: "Don't reset: it looks for the same sandbox and fails again.",
			noReset: "the sandbox behind it was deleted; a reset looks for the same one"},
		{any: []string{"memory"}, conclude: "Its process was killed for lack of memory", quotes: true,
			do: "See what ran in it. Raise its memory limit or limit that command.", dont: "Don't reset it first: it is killed at its limit again.",
			noReset: "what needs more memory than the limit is killed again"},
		{any: []string{"sandbox"}, conclude: "Its sandbox is in trouble", quotes: true,
			do: "Repair the sandbox: open its own alert and follow that page. The workspace recovers when its sandbox works.", dont: "Don't reset first: the open fails while the sandbox is broken.",
			noReset: "its sandbox does not work yet"},
		{any: []string{"long-attempt"}, without: "failed", conclude: "Nothing has failed yet. An attempt runs longer than longest_operation.",
			do:      "See in the agents' log what it does. It may be an image pull, a build, a long command, a lock, or a call that never returns. Wait while it makes progress; raise longest_operation where such attempts are ordinary.",
			dont:    "Don't reset while it runs. That cuts the attempt off, and what it did is lost.",
			noReset: "an attempt still runs and has not failed"},
		{any: []string{"denied"}, conclude: "Access to a file or service is denied.",
			do: "Find the file or service in the error or the agents' log. Give the user that runs there access to it. Then reset the failed workspaces.", dont: saveFirst},
		s.unexplained(),
		{any: []string{"lines"}, denies: true, conclude: "The log tells of failed operations. No workspace is failed.", do: "Read those lines in the agents' log. Look at what came before the first of them.",
			dont: "Don't reset a workspace that works: a reset opens it again.", noReset: "no workspace is failed"},
		s.noRegistry(),
		{denies: true, conclude: "Nothing that was read shows a failed workspace.", do: "Poll the session while it runs. An idle session has no registry to read.",
			dont: "Don't take silence for health: a closed registry reports nothing."},
	}
}

// unexplained is what failures come to that no check explains. An eviction is known as such; what brought it is not.
func (s *subjectView) unexplained() ending {
	fails := slices.DeleteFunc(slices.Clone(s.workspaces), func(w *backend.Workspace) bool { return !s.failing(w) && w.Class != backend.ClassFailed })
	if len(fails) > 0 && !slices.ContainsFunc(fails, func(w *backend.Workspace) bool {
		return w.Class != backend.ClassEvicted && !strings.Contains(w.LastError.String(), "WorkspaceEvictedError")
	}) {
		return ending{any: []string{"failed"}, conclude: "It was evicted and does not come back. What evicts it is not known yet.",
			do:   "Read the log of its container or platform at that time. Runbook 7 asks about quota, storage and restarts.",
			dont: saveFirst}
	}
	if e, known := s.told(fails); known {
		return e
	}
	return ending{any: []string{"failed"}, conclude: "The error matches no known cause. The cause line is what the provider met.",
		do:   "Find in the agents' log what came before this error. Fix that; then reset. If such errors pass by themselves, mark them transient in the provider.",
		dont: saveFirst}
}

// saveFirst is what must not be done to an error that is not understood.
const saveFirst backend.Literal = "Don't lose the error: save it before a reset (sandglass bundle). A reset overwrites it."

// told is what failures come to whose errors say what was done when they failed, though not why.
func (s *subjectView) told(fails []*backend.Workspace) (ending, bool) {
	all := func(words ...string) bool {
		return len(fails) > 0 && !slices.ContainsFunc(fails, func(w *backend.Workspace) bool {
			text := strings.ToLower(w.LastError.String())
			return !slices.ContainsFunc(words, func(x string) bool { return strings.Contains(text, x) })
		})
	}
	switch {
	case all("setup command"):
		return ending{any: []string{"failed"}, conclude: "Its setup command ends with an error.",
			do:   "Run that command by hand in the same image. Correct it or its inputs; then reset the failed workspaces.",
			dont: saveFirst, noReset: "the setup command fails again"}, true
	case all("did not answer", "did not respond", "timed out", "timeout", "deadline exceeded"):
		return ending{any: []string{"failed"}, conclude: "The provider waited for an answer that did not come in time.",
			do:   "Look at the load of the sandbox's host or platform. If such errors pass by themselves, mark them transient in the provider.",
			dont: saveFirst}, true
	}
	return ending{}, false
}

// otherRoot is the advice about a root that cannot be used: only the local providers have a setting for it.
func (s *subjectView) otherRoot() backend.Literal {
	if s.provider() == "docker" {
		return "Create the directory, writable for the agents' user. Then reset."
	}
	return "Create the directory, writable for the agents' user. Or set tmpdirRoot elsewhere. Then reset."
}

// sameMachine are addresses that lead back to the machine or the container that connects.
var sameMachine = regexp.MustCompile(`(?i)(?:^|[^\w.])(?:127\.\d+\.\d+\.\d+|localhost|\[?::1\]?)(?:[^\w.]|$)`)

// connection is what a broken connection comes to. The error does not say that it was one to the provider.
func (s *subjectView) connection() ending {
	own := func(e reportedError) bool {
		return e.cause&alerts.NamesNetwork == 0 || sameMachine.MatchString(e.text.String())
	}
	if !slices.ContainsFunc(s.errors, func(e reportedError) bool { return !own(e) }) {
		return ending{any: []string{"network"}, conclude: "A service on the same machine does not take connections.",
			do:   "Start the service that listens at the address in the error. If it runs, check that it listens inside the same container. Then reset the failed workspaces.",
			dont: "Don't look at the provider first. The address is not its own."}
	}
	return ending{any: []string{"network"}, conclude: "A connection breaks or cannot be made.",
		do:   "Check the service that the connection is for. The error or the agents' log names it. Check its name, proxies and load. Let the provider mark such errors transient; then reset.",
		dont: "Don't change what the workspace declares. The error says nothing against it."}
}

// fullQuestion asks for the store of the subject's provider: a filestore is in the SQLite storage of one Durable Object.
func (s *subjectView) fullQuestion() question {
	if s.provider() == filestore {
		return question{"full", "Is the storage of the Durable Object full?", "the text of the error"}
	}
	return question{"full", "Is a file system full?", "the text of the error, or a tmpdir source on the host"}
}

// full is what a full store comes to.
func (s *subjectView) full() ending {
	if s.provider() != filestore {
		return ending{any: []string{"full"}, conclude: "A file system is full.",
			do: "Make room. List leftovers: sandglass clean --dry-run. See runbook 5. Then reset the failed workspaces.", dont: "Don't reset first: the open fails again on a full file system.",
			noReset: "the file system is still full"}
	}
	return ending{any: []string{"full"}, conclude: "The SQLite storage of the Durable Object is full. Each object has a limit of its own.",
		do:   "Remove files that the workspace does not need. Or set r2Binding, so that large files go to R2. Then reset the failed workspaces.",
		dont: "Don't make room on a host: the files are in the Durable Object. Don't reset first: the open fails again.", noReset: "the storage of its Durable Object is still full"}
}

// unreachable is the ending where object storage fails: whether it does not answer or refuses, as far as all errors say the same.
func (s *subjectView) unreachable() ending {
	silent, refused := 0, 0
	for _, e := range s.errors {
		text := strings.ToLower(e.text.String())
		switch {
		case strings.Contains(text, "timeout"), strings.Contains(text, "timed out"):
			silent++
		case strings.Contains(text, "refused"), strings.Contains(text, "denied"), strings.Contains(text, "forbidden"):
			refused++
		}
	}
	conclude := backend.Literal("Object storage refuses or does not answer.")
	switch n := len(s.errors); {
	case n > 0 && silent == n:
		conclude = "Object storage does not answer."
	case n > 0 && refused == n:
		conclude = "Object storage refuses."
	}
	return ending{any: []string{"storage"}, conclude: conclude,
		do: "From the agent's network, ask the bucket: curl -I ADDRESS. No answer: look at the network and the provider's status. Any HTTP answer: check the binding. When it answers, reset the failed workspaces.", dont: "Don't reset before the storage answers: the open fails again.",
		noReset: "object storage does not answer yet"}
}
