package subjects

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
)

// impacts say what of the users' work is affected by the alerts of each rule. %s stands for how many subjects there are; a
// sentence says no more than the rule proved.
var impacts = [...][2]string{
	{"agent-oom", "%s lose the work in memory at each restart"},
	{"audit-saturation", "rejected commands do nothing"},
	{"capability-mismatch", "commands in %s fail, until the configuration is changed"},
	{"capacity", "%s get no sandbox"},
	{"clock-skew", "none known: times of this source are wrong here"},
	{"contradiction", ""},
	{"error-burst", "commands in %s fail"},
	{"error-chaos", "commands fail in many workspaces for different causes"},
	{"evicted-sustained", "commands in %s wait for a new sandbox or fail"},
	{"eviction-storm", "%s lost their sandbox; their commands wait or fail"},
	{"failed-too-long", "commands in %s fail"},
	{"files-vanished", "files of %s are missing; commands run without them"},
	{"hammered-and-failing", "commands in %s fail"},
	{"host-oom", "the kernel killed processes: their commands failed"},
	{"host-restarted", "work that ran on the host at the restart was lost"},
	{"hydrate-failed", "%s may start without their files"},
	{"intermittent-failure", "some commands in %s fail, others work"},
	{"misclassified-transient", "commands in %s fail; retries do not help"},
	{"no-checkpoint", "%s cannot be resumed: what is only in it is lost"},
	{"persist-failed", "files of %s may not be saved"},
	{"possible-leak", "sessions may see files of another tenant"},
	{"reaped-soon", "%s will be removed with their files"},
	{"preview-failed", "users cannot open a port of %s"},
	{"preview-token-expiring", "users cannot open ports of %s from then on"},
	{"package-missing", "agents of %s cannot use their sandboxes"},
	{"runaway-process", "what runs on in %s is billed, and may change files behind its agent"},
	{"snapshot-interrupted", "files of %s may be in no snapshot, or not whole"},
	{"pty-failed", "agents cannot use terminals of %s"},
	{"pty-pressure", "terminals of %s are closed silently"},
	{"public-preview", "who knows an address of %s can open its port"},
	{"ref-mismatch", "%s cannot be opened; no files are lost"},
	{"registry-not-published", "only the view: workspaces of these sessions are not seen"},
	{"reset-loop", "commands in %s fail after each reset"},
	{"restart-storm", "sessions wait while their workspaces open again"},
	{"sandbox-crash-loop", "commands in %s are cut off at each restart"},
	{"sandbox-expiring", "%s will be removed under a running session, with its files"},
	{"sandbox-exited", "no command runs in %s"},
	{"sandbox-oom", "commands in %s were killed"},
	{"sandbox-start-failed", "no command runs in %s"},
	{"sandbox-unhealthy", "not known: the health check fails, commands may work"},
	{"source-degraded", "only the view: what is not read is missing here"},
	{"source-down", ""},
	{"source-stale", "only the view: what is shown of this source is old"},
	{"stuck-in-transit", "%s cannot be used yet"},
	{"tmpdir-close-failed", ""},
	{"tmpdir-orphaned", ""},
	{"tmpdir-pileup", ""},
	{"tmpdir-root-unusable", "new agents on this host get no scratch directory"},
	{"wake-failed", "users cannot work in %s: no driver answers"},
	{"source-open", "none known: others can run commands"},
	{"wont-terminate", ""},
}

// impact says what of the users' work is affected; "not known" where no fact says so.
func impact(a *alerts.Alert, c *views.Snapshot) string {
	s, known := ofRule(impacts[:], a.Rule)
	switch {
	case a.State == alerts.StateEnded:
		return "none seen now: its subjects are no more"
	case a.State == alerts.StateResolved:
		return "none seen now"
	case a.Rule == "source-down":
		return unseen(a, c)
	case a.Rule == "source-degraded" && strings.HasPrefix(a.Cause.String(), backend.BridgeFailing):
		s = "from here no command reaches its sandboxes; what runs in them may go on"
		if a.Cause.String() != backend.BridgeFailing {
			s = "from here commands may not reach its sandboxes; what runs in them may go on"
		}
	case a.Rule == "sandbox-unhealthy" && len(a.Subjects) > 0 && a.Subjects[0].Key.Kind == backend.KindSource:
		s = "not known: its new sandboxes may not start, those that run may work"
	case a.Rule == "contradiction":
		s = contradicted(a, c)
	case a.Rule == "wont-terminate":
		s = noticed(a, c) + "; " + runOn(a, c)
	case a.Rule == "pty-pressure" && !closesTerminals(a):
		s = "none yet; at the limit each new terminal closes another silently"
	case !known:
		return "not known"
	case a.Rule == "capacity":
		s = shortage(a, s) + evicted(a, c)
	case a.Rule == "audit-saturation":
		s += logGrowth(a)
	case a.Rule == "tmpdir-close-failed", a.Rule == "tmpdir-orphaned", a.Rule == "tmpdir-pileup":
		s = room(a, c) + leftovers(c)
	case a.Rule == "ref-mismatch" && (backend.NoContainer(a.Cause.String()) || strings.Contains(a.Cause.String(), "names a sandbox that")):
		s = "%s cannot be opened again; files in their sandbox are lost" + exceptKept(a, c)
	case a.Rule == "ref-mismatch" && strings.Contains(a.Cause.String(), "it is another sandbox"):
		s = anotherSandbox(a, c)
	case a.Rule == "reaped-soon" && strings.HasSuffix(a.Cause.String(), "should have removed it"):
		s = "%s may be removed at any moment, with their files"
	case a.Rule == "sandbox-oom" && strings.HasPrefix(a.Cause.String(), "near "):
		s = "none yet; at its limit a command in it is killed"
	case a.Rule == "sandbox-oom" && down(a, c):
		s = "nothing runs in %s, says " + a.Source + ": killed and not started again"
	case strings.HasPrefix(a.Cause.String(), "one attempt runs "):
		s = "commands in %s wait; none has failed so far"
	case a.Rule == "hammered-and-failing":
		s += quietFor(a, c)
	}
	if strings.Contains(s, "%s") {
		what, uncounted := kit.Number(a.SubjectCount)+" subjects", ""
		if len(a.Subjects) > 0 {
			what = counted(affected(a, c), a.Subjects[0].Key.Kind)
			if k := a.Subjects[0].Key; k.Kind == backend.KindSource { // it counts, and names none
				what, uncounted = "workspaces of "+k.ID.Safe().String(), "; how many is not known"
			}
		}
		s = strings.ReplaceAll(s, "%s", what) + uncounted
		if a.SubjectCount == 1 && uncounted == "" {
			s = strings.NewReplacer(" lose ", " loses ", " lost their sandbox; their", " lost its sandbox; its", " get no sandbox", " gets no sandbox", " lead to", " leads to", " in their sandbox are lost", " in its sandbox are lost", "without their", "without its", "with their files", "with its files").Replace(s)
		}
	}
	if a.Rule == "eviction-storm" {
		s += filesUnknown
	}
	if a.State == alerts.StatePending {
		return "not confirmed yet: " + s
	}
	return s
}

// shortage is what a provider without free instances means, where how names those that wait.
func shortage(a *alerts.Alert, how string) string {
	switch {
	case strings.Contains(a.Cause.String(), backend.CodeUsage):
		return "no agent in this workspace can do anything in its sandbox"
	case strings.HasSuffix(a.Cause.String(), " is nearly full"):
		return "none yet; new sandboxes do not start when it is full"
	case len(a.Subjects) == 0 || a.Subjects[0].Key.Kind != backend.KindWorkspace:
		if strings.HasSuffix(a.Cause.String(), " has no instance left") { // as its platform counts: no refusal was read
			return "a new sandbox may not start: none is free"
		}
		return "new sandboxes do not start"
	}
	return how
}

// closesTerminals reports whether an alert tells that the SDK closes terminals for others.
func closesTerminals(a *alerts.Alert) bool {
	return slices.ContainsFunc(a.Evidence, func(e alerts.Evidence) bool {
		return strings.Contains(e.Text.String(), "each further one closes") || strings.Contains(e.Text.String(), "unknown PTY session")
	})
}

// quietAfter is how long nothing was tried before an outage may be over.
const quietAfter = 5 * time.Minute

// quietFor says how long none of the alert's workspaces was tried, so that nothing tells whether it goes on.
func quietFor(a *alerts.Alert, c *views.Snapshot) string {
	last := time.Time{}
	for _, x := range outage(a, c) {
		for i := range x.Subjects {
			w := c.State.Workspace(x.Subjects[i].Key)
			if w == nil || !w.LastAttemptAt.IsKnown() || x.Left() > 0 {
				return ""
			}
			if at := w.LastAttemptAt.Or(last); at.After(last) {
				last = at
			}
		}
	}
	if last.IsZero() || c.Now.Sub(last) < quietAfter {
		return ""
	}
	return "; none was tried for " + backend.Age(c.Now.Sub(last)) + ", so it may be over"
}

// logGrowth is how fast a flood fills the log.
func logGrowth(a *alerts.Alert) string {
	grows := "the log grows by "
	for _, e := range a.Evidence {
		if strings.Contains(e.Text.String(), "rebuilt from") {
			grows = "equal lines are merged, the log grows only by "
		}
	}
	for _, e := range a.Evidence {
		if n, known := e.Value.Get(); known && e.Unit == "B/s" {
			return "; " + grows + backend.Bytes(int64(n+0.5)) + "/s"
		}
	}
	return "; how fast the log grows is not read"
}

// plenty is how much of a file system must be free, in percent, so that leftovers can wait.
const plenty = 20

// room says what leftovers mean now, by how much of the file systems of scratch directories is free: the least of them.
func room(a *alerts.Alert, c *views.Snapshot) string {
	least, n, few := 100, 0, false
	for h := range c.State.Hosts.All() {
		for i := range h.Roots {
			free, known := h.Roots[i].BytesFree.Get()
			all, sized := h.Roots[i].Bytes.Get()
			if known && sized && all > 0 {
				least, n = min(least, int(100*free/all)), n+1
			}
			nodes, counted := h.Roots[i].InodesFree.Get()
			every, bounded := h.Roots[i].Inodes.Get()
			few = few || counted && bounded && every > 0 && 100*nodes/every < plenty
		}
	}
	few = few || slices.ContainsFunc(c.Board.Alerts, func(x *alerts.Alert) bool {
		return x.Rule == "tmpdir-pileup" && strings.Contains(x.Cause.String(), "fills up")
	})
	switch {
	case n == 0:
		return "none until the file system is full; how much is free is not read"
	case least >= plenty && !few && a.Severity != alerts.SeverityCritical:
		return "none now, it can wait for the morning; " + strconv.Itoa(least) + " % of their file system is free"
	}
	return "none until their file system is full; " + strconv.Itoa(least) + " % of it is free"
}

// leftovers says how much scratch directories take on disk, as far as that was read.
func leftovers(c *views.Snapshot) string {
	n, bytes, least := 0, int64(0), ""
	for t := range c.State.Tmpdirs.All() {
		size, known := t.Bytes.Get()
		if !known || t.Cut {
			least = "at least "
		}
		n, bytes = n+1, bytes+size
	}
	if n == 0 {
		return "; how much space the directories use is not read"
	}
	return "; scratch directories use " + least + backend.Bytes(bytes)
}

// down reports whether all containers of an alert are known not to run.
func down(a *alerts.Alert, c *views.Snapshot) bool {
	for i := range a.Subjects {
		b := c.State.Sandbox(a.Subjects[i].Key)
		if b == nil || b.Class != backend.SandboxExited && b.Class != backend.SandboxDead {
			return false
		}
	}
	return len(a.Subjects) > 0 && a.Left() == 0
}

// Impact says what of the users' work an alert affects.
func Impact(a *alerts.Alert, c *views.Snapshot) string { return impact(a, c) }

// noticed says whether a user may notice that sandboxes outlive their sessions, by what their platform tells of uses since.
func noticed(a *alerts.Alert, c *views.Snapshot) string {
	used := 0
	for i := range a.Subjects {
		if b := c.State.Sandbox(a.Subjects[i].Key); b != nil && alerts.UsedAfter(b, a.Subjects[i].Bounds.Latest) {
			used++
		}
	}
	switch {
	case used == 0:
		return "no user notices it"
	case a.SubjectCount == 1:
		return "used after its session's end: something may work in it"
	}
	return kit.Number(used) + " of " + kit.Number(a.SubjectCount) + " used after their session's end: something may work in them"
}

// runOn says what the sandboxes of an alert about ones that outlive their sessions cost, each by its own state. An alert may list some of
// its many.
func runOn(a *alerts.Alert, c *views.Snapshot) string {
	running, asleep, dead, rest := 0, 0, 0, a.Left()
	for i := range a.Subjects {
		class := backend.SandboxUnknown
		if b := c.State.Sandbox(a.Subjects[i].Key); b != nil {
			class = b.Class
		}
		switch class {
		case backend.SandboxRunning, backend.SandboxRestarting:
			running++
		case backend.SandboxAsleep:
			asleep++
		case backend.SandboxDead:
			dead++
		case backend.SandboxUnknown, backend.SandboxCreated, backend.SandboxPaused, backend.SandboxExited, backend.SandboxRemoving:
			rest++
		}
	}
	switch 0 {
	case asleep + dead + rest, running + asleep + dead: // of what is being removed too nothing says that it costs less
		return "sandboxes run on and cost money"
	case running + dead + rest:
		return "what sleeps is kept, and each request wakes it and costs money"
	case running + asleep + rest:
		return "what failed does not run, and stays in the list until it is destroyed"
	}
	var said []string
	for _, x := range [...]struct {
		n         int
		one, many string
	}{
		{running, "sandbox runs on and costs money", "sandboxes run on and cost money"}, {asleep, "sleeps: it is kept, and each request wakes it and costs money", "sleep: they are kept, and each request wakes one and costs money"},
		{dead, "failed and does not run", "failed and do not run"}, {rest, "is of no state that is told here", "are of no state that is told here"},
	} {
		if x.n > 0 {
			said = append(said, kit.Count(x.n, x.one, x.many))
		}
	}
	return strings.Join(said, "; ")
}

// evicted says how many workspaces lost their sandbox where no room is left for more, on the alert's source and on others with the
// same cause.
func evicted(a *alerts.Alert, c *views.Snapshot) string {
	list := []*alerts.Alert{a}
	for _, x := range c.Board.Alerts {
		if sameOutage(a, x) && len(list) <= mostOthers {
			list = append(list, x)
		}
	}
	all, pending := 0, 0
	for _, x := range list {
		n, proved := evictedOn(x.Source, c)
		if all += n; !proved {
			pending += n
		}
	}
	s := "; " + counted(all, backend.KindWorkspace) + " lost "
	switch {
	case all == 0:
		return "; no eviction is seen"
	case placedKind(a):
		s += "theirs"
	case all == 1:
		s += "its sandbox"
	default:
		s += "their sandbox"
	}
	if pending > 0 {
		s += " (" + kit.Number(pending) + " pending)"
	}
	return s + inBoth(list, all, c) + filesUnknown
}

// filesUnknown is said where sandboxes are lost: nothing that is read or declared tells what an eviction leaves of the files.
const filesUnknown = "; whether files are lost is not known"

// inBoth says how many of the subjects of the alerts of an outage are among the evicted workspaces; empty where not all are listed.
func inBoth(list []*alerts.Alert, all int, c *views.Snapshot) string {
	both, without, listed := 0, 0, 0
	for _, a := range list {
		evicted, _ := evictedOf(a.Source, c)
		listed += len(evicted)
		if without += len(a.Subjects); a.Left() > 0 {
			return ""
		}
		for i := range a.Subjects {
			if evicted[a.Subjects[i].Key] {
				both++
			}
		}
	}
	switch {
	case listed < all || without == 0 || list[0].Subjects[0].Key.Kind != backend.KindWorkspace:
		return ""
	case both == without && both == all:
		return "; they are the same"
	case both == without:
		return "; all " + kit.Number(without) + " are among them"
	case both == 0:
		return "; none is in both"
	}
	others := kit.Number(all-both) + " others"
	if all-both == 1 {
		others = "1 other"
	}
	return ": " + kit.Number(both) + " of them and " + others
}

// evictedOf are the evicted workspaces of a source that are listed, by its entries or by an alert, and whether they are proved.
func evictedOf(source string, c *views.Snapshot) (list map[backend.Key]bool, proved bool) {
	list, proved = map[backend.Key]bool{}, true
	for _, k := range c.Evicted(source) {
		list[k] = true
	}
	for _, x := range c.Board.Alerts {
		if x.Rule != "eviction-storm" || x.Source != source || x.State == alerts.StateEnded {
			continue
		}
		read := len(list)
		for i := range x.Subjects {
			if k := x.Subjects[i].Key; k.Kind == backend.KindWorkspace {
				list[k] = true
			}
		}
		proved = proved && (x.State != alerts.StatePending || len(list) == read && x.SubjectCount <= read)
	}
	return list, proved
}

// evictedOn counts the evicted workspaces of a source, and says whether that is proved.
func evictedOn(source string, c *views.Snapshot) (n int, proved bool) {
	list, proved := evictedOf(source, c)
	n = len(list)
	for _, x := range c.Board.Alerts {
		if x.Rule == "eviction-storm" && x.Source == source && x.State != alerts.StateEnded {
			n = max(n, x.SubjectCount)
		}
	}
	return n, proved
}

// unseen counts what is not seen of sources that do not answer. Whether the agents work is another question.
func unseen(a *alerts.Alert, c *views.Snapshot) string {
	kind := backend.KindWorkspace
	n := c.State.CountOf(kind, a.Source)
	if n == 0 {
		kind = backend.KindSandbox
		n = c.State.CountOf(kind, a.Source)
	}
	if n == 0 {
		return "not known: its agents may still work"
	}
	s := "not known: " + counted(n, kind) + " not seen; their agents may still work"
	if rules := len(c.Board.BlindOn(a.Source)); rules > 0 {
		s += "; " + number(rules, "rule") + " not evaluated there"
	}
	return s
}

// localhost is the name of the machine that Sandglass runs on, as a failure has it; empty where it names another address.
func localhost(h *fleet.SourceHealth) string {
	for _, name := range []string{"127.0.0.1", "localhost", "[::1]"} {
		if h != nil && strings.Contains(h.Error.String(), name) {
			return name
		}
	}
	return ""
}
