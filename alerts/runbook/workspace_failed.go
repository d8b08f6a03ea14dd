package runbook

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// diagnoseWorkspaceFailed is for an agent that gets a WorkspaceFailedError from every tool it calls in its workspace.
func diagnoseWorkspaceFailed(s *subjectView) Diagnosis {
	d := Diagnosis{Checks: s.answers(
		s.failedEntry(),
		s.longAttempt(),
		s.evictedTogether(),
		s.undeclared(),
		s.recovered(),
		s.byErrors(question{"snapshot", "Is snapshot declared without a bucket to put backups in?", "the provider's configuration: snapshot needs backupR2Binding"}, alerts.NamesSnapshot),
		s.byErrors(question{"module", "Does the provider lack a module that the agent declares?", "the text of the error at session start"}, alerts.NamesModule),
		s.byErrors(question{"binding", "Is a binding missing in the deployment?", "the deployment's bindings"}, alerts.NamesBinding),
		s.byErrors(question{"sharing", "Is a sandbox id shared without permission?", "the declaration: an explicit id needs shareAcrossSessions"}, alerts.NamesSharing),
		s.byErrors(question{"quota", "Is the limit of instances reached?", "the platform's count of running instances against max_instances"}, alerts.NamesQuota),
		s.byErrors(question{"image", "Can the image not be pulled or started?", "the engine's or the platform's error when it starts the container"}, alerts.NamesImage),
		s.byErrors(question{"engine", "Does the container engine not answer?", "the engine's own error"}, alerts.NamesEngine),
		s.byErrors(question{"sqlite", "Is the Durable Object's SQLite storage not set up?", "the migrations of the deployment: the class must be in new_sqlite_classes"}, alerts.NamesSQLite),
		s.posix(),
		s.rootsWritable(),
		s.byErrors(s.fullQuestion(), alerts.NamesSpace),
		s.killedForMemory(),
		s.sandboxTrouble(),
		s.runtime(),
		s.storage(),
		s.byErrors(question{"database", "Is the platform's database (D1) in trouble?", "lastError, or a [[check]] that asks the database"}, alerts.NamesDatabase),
		s.byErrors(question{"statement", "Does the database (D1) refuse a statement?", "lastError, or the agents' log"}, alerts.NamesStatement),
		s.byErrors(question{"watches", "Is the kernel's limit of file watches reached?", "lastError, or sysctl fs.inotify on the host"}, alerts.NamesWatches),
		s.byErrors(question{"network", "Do connections break?", "lastError, or the agents' log"}, alerts.NamesNetwork),
		s.byErrors(question{"denied", "Is access to a file or service denied?", "lastError, or the agents' log"}, alerts.NamesDenied),
		s.byErrors(question{"auth", "Does a service refuse the credentials (401, 403)?", "lastError, or the service's own log"}, alerts.NamesAuth),
		s.byErrors(question{"rate-limit", "Does a service limit the rate of requests (429)?", "lastError, or the service's own limits"}, alerts.NamesRate),
		s.byErrors(question{"schema", "Does a stored reference have another schema version?", "lastError, or a source of persisted refs"}, alerts.NamesSchema|alerts.NamesStrict),
		s.deletedBehind(question{"deleted", "Was the sandbox behind it deleted?", "the text of the error"}),
		s.sharedCause(),
		s.byLines(question{"lines", "Do log lines tell of failed operations?", "a log source that reads the agents' log"}, backend.MetricWorkspaceFailed, "WorkspaceFailedError lines"),
		s.logEvidence(),
	)}
	s.adviseWorkspaceFailed(&d)
	return d
}

// failedEntry asks for entries that fail, by their state or by their times.
func (s *subjectView) failedEntry() Check {
	q := question{"failed", "Does a workspace fail, and with which error?", "a registry snapshot of the session while it runs"}
	failed, tried, evicted, long := 0, 0, 0, 0
	var first *backend.Workspace
	for _, w := range s.workspaces {
		switch {
		case w.Class == backend.ClassFailed:
			failed++
		case w.Class == backend.ClassEvicted && !(w.TriedSince() && s.ledOn[w.Key]):
			evicted++
			continue
		case s.failing(w):
			tried++
		case s.runsLong(w):
			long++
			continue
		default:
			continue
		}
		if first == nil || first.LastError.IsEmpty() {
			first = w
		}
	}
	all := plural(len(s.workspaces), "workspace")
	told := backend.Textf("%d of %s failed", failed, all)
	switch {
	case first != nil && failed == 0:
		told = backend.Textf("%d of %s tried without success although reported %s", tried, all, reported(first))
	case tried > 0:
		told = backend.Textf("%s, %d more tried without success", told, tried)
	}
	if s.recalled {
		told = backend.Textf("when read last, %s ago: %s", backend.Age(s.now.Sub(s.newest().at)), told)
	}
	switch {
	case first != nil && !first.LastError.IsEmpty():
		return q.yes(s.from(&first.Meta), "%s, %s with: %s", told, first.Key.Safe(), backend.Clean(first.LastError.String(), 200))
	case first != nil:
		return q.yes(s.from(&first.Meta), "%s; %s gives no error", told, first.Key.Safe())
	case len(s.workspaces) == 0:
		return q.unsure("no workspace of this subject is listed: a registry can be read only while its session runs")
	case evicted > 0:
		return s.settle(q.no(s.newest(), "no workspace is failed; %d evicted, see runbook 7", evicted), q)
	case long > 0:
		return s.settle(q.no(s.newest(), "none of %s has failed; an attempt still runs", all), q)
	}
	return s.settle(q.no(s.newest(), "the registry reports no failure of %s", all), q)
}

// recovered asks whether it works again: then advice would be about the past.
func (s *subjectView) recovered() Check {
	q := question{"recovered", "Does it work again by itself?", "lastAttemptAt and lastSuccessAt in the snapshot"}
	works, known := 0, 0
	for _, w := range s.workspaces {
		switch w.Condition(s.now, s.State.LongestOperation) {
		case backend.CondWorking:
			works++
			known++
		case backend.CondFailing, backend.CondBusy:
			known++
		case backend.CondUnknown, backend.CondUnused:
		}
	}
	lines := s.logged(backend.MetricWorkspaceFailed)
	switch {
	case known == 0:
		return q.unsure("no workspace gives times to conclude from")
	case works == known && lines.from.at.After(s.lastSuccess().Add(lineSlack)):
		return q.unsure("the last attempt of %s succeeded, and the log tells of failed operations since", plural(works, "workspace"))
	case works == known && s.old.IsEmpty():
		return q.yes(s.newest(), "the last attempt of %s succeeded", plural(works, "workspace"))
	case works == known:
		return q.unsure("the last attempts known succeeded, but these values are old: %s", s.old)
	}
	return s.settle(q.no(s.newest(), "%s without success since the last attempt", backend.Counted(known-works, "workspace", "workspaces")), q)
}

func (s *subjectView) posix() Check {
	q := question{"posix", "Is the host not a POSIX system?", "the provider's error on open"}
	c := s.byErrors(q, alerts.NamesPOSIX)
	if h := s.hosts(); c.Mark != Confirmed && len(h) > 0 {
		return q.no(s.from(&h[0].Meta), "%s was read through POSIX calls", h[0].Name)
	}
	return c
}

// rootsWritable asks whether the agents can create their scratch directories.
func (s *subjectView) rootsWritable() Check {
	q := question{"root", "Is the root of scratch directories unusable?", "a tmpdir source on the agents' host, with agent_user set"}
	named := s.byErrors(q, alerts.NamesPath)
	if named.Mark == Confirmed && s.namedRoot() != "" { // what the error says outweighs what a provider mostly has
		return named
	}
	if p := s.provider(); strings.HasPrefix(p, "cloudflare-") || p == "in-memory" {
		return q.no(s.newest(), "the provider is %s, which has no scratch directory on a host", backend.Clean(p, 60))
	}
	var usable origin
	for _, h := range s.hosts() {
		for _, r := range h.Roots {
			what := ""
			switch {
			case r.Exists.IsKnown() && !r.Exists.Or(true):
				what = "does not exist"
			case r.ReadOnly.Or(false):
				what = "is mounted read-only"
			case r.Writable.IsKnown() && !r.Writable.Or(true):
				what = "cannot be written by the agents' user"
			case r.Writable.Or(false):
				usable = s.from(&h.Meta)
			}
			if what != "" {
				return q.yes(s.from(&h.Meta), "%s on %s %s", r.Path, h.Name, backend.Clean(what, 60))
			}
		}
	}
	switch {
	case named.Mark == Confirmed:
		return named
	case !usable.at.IsZero():
		return q.no(usable, "the roots that are read are there and writable")
	case s.byErrors(q, alerts.NamesDenied).Mark == Confirmed:
		return q.unsure("the error denies access and does not name a scratch directory")
	}
	return q.unsure("no root is read whose rights are known")
}

// rootIn finds the directory in which a scratch directory was to be made.
var rootIn = regexp.MustCompile(`(?i)\b(?:tmpdirRoot|mkdtemp)\b[ =:]*['"]?(/[^\s'",;)]*)`)

// namedRoot is the root of scratch directories that an error names; "the root" where one names none, empty where no error is
// about it.
func (s *subjectView) namedRoot() string {
	out := ""
	for _, e := range s.errors {
		if e.cause&alerts.NamesPath == 0 {
			continue
		}
		if m := rootIn.FindStringSubmatch(e.text.String()); m != nil {
			dir, _, _ := strings.Cut(m[1], "/helix-ws-")
			return cmp.Or(dir, "/")
		}
		out = "the root"
	}
	return out
}

// runtime asks for a runtime that refuses workspaces when a run starts.
func (s *subjectView) runtime() Check {
	q := question{"runtime", "Does the runtime refuse workspaces?", "runtime in the list route or in a declaration"}
	if c := s.byErrors(q, alerts.NamesRuntime); c.Mark == Confirmed {
		return c
	}
	if s.session != nil && !s.session.Runtime.IsEmpty() {
		word := strings.ToLower(s.session.Runtime.String())
		if slices.ContainsFunc([]string{"temporal", "dbos", "cloudflare-workflows", "cloudflare workflows"}, func(x string) bool { return x == word }) {
			return q.yes(s.from(&s.session.Meta), "the session's runtime is %s", s.session.Runtime)
		}
		return q.no(s.from(&s.session.Meta), "the session's runtime is %s", s.session.Runtime)
	}
	if len(s.workspaces) > 0 {
		return q.no(s.newest(), "a registry was read, so the run passed that guard")
	}
	return q.unsure("no session names its runtime")
}

// sharedCause asks whether others fail for the same cause, which is then outside this workspace. Others that fail for other
// causes are troubles of their own.
func (s *subjectView) sharedCause() Check {
	q := question{"shared", "Do others of this source fail for the same cause?", "registry snapshots of more than one session, with their errors"}
	own, all := s.failingByCause(), s.widen().failingByCause()
	others, same := all.failing-own.failing, 0
	for cause, n := range own.by {
		same += all.by[cause] - n
	}
	if a := s.ledBy("failed-too-long", "hammered-and-failing", "error-burst", "capability-mismatch", "reset-loop"); a != nil {
		switch {
		case runsLong(a) && a.SubjectCount > 1:
			return q.yes(origin{a.Source, a.Confirmed}, "%s have such an attempt; so look at what they share", s.counts(a))
		case a.SubjectCount > 1:
			return q.yes(origin{a.Source, a.Confirmed}, "%s fail for this cause; so look at what they share", s.counts(a))
		}
		if own.failing == 1 && same == 0 && len(own.by) > 0 {
			return s.settle(q.no(s.newest(), "1 of %s of this source fails for this cause", plural(all.total, "workspace")), q)
		}
	}
	switch {
	case len(s.workspaces) == 0:
		return q.unsure("no workspace of this subject is listed")
	case s.wide && own.most > 1:
		return q.yes(s.newest(), "%d of %d workspaces of this source fail for one cause, %s for one", own.most, max(all.total, own.total), own.example)
	case s.wide && all.total > 1:
		return s.settle(q.no(s.newest(), "%d of %d workspaces of this source fail, each for another cause", all.failing, all.total), q)
	case same > 0:
		return q.yes(s.newest(), "%d more of %d workspaces of this source fail for the same cause: look at what they share", same, all.total)
	case others > 0 && own.failing > 0 && len(own.by) == 0:
		return q.unsure("%s, and this one gives no error to compare", backend.Clean(backend.Counted(others, "other fails", "others fail"), 40))
	case others > 0:
		return s.settle(q.no(s.newest(), "%s of %d workspaces of this source, none for this cause", backend.Clean(backend.Counted(others, "other fails", "others fail"), 40), all.total), q)
	case all.total > len(s.workspaces):
		return s.settle(q.no(s.newest(), "%s of this source: none fails", backend.Counted(all.total-len(s.workspaces), "other workspace", "other workspaces")), q)
	}
	return q.unsure("no other workspace of this source is listed")
}

// failures are the failing workspaces of a subjectView.
type failures struct {
	total, failing int
	by             map[string]int // by the normalised cause; those without an error are in none
	most           int            // of one cause
	example        backend.Safe   // a workspace of that one
}

func (s *subjectView) failingByCause() failures {
	f := failures{total: len(s.workspaces), by: map[string]int{}}
	for _, w := range s.workspaces {
		if s.failing(w) {
			f.failing++
		}
	}
	known := map[backend.Safe]string{}
	for i := range s.errors {
		e := &s.errors[i]
		if e.ws == nil || !s.failing(e.ws) {
			continue
		}
		cause, had := known[e.text]
		if !had {
			cause = s.Board.CauseOf(e.text)
			known[e.text] = cause
		}
		if f.by[cause]++; f.by[cause] > f.most {
			f.most, f.example = f.by[cause], e.who
		}
	}
	return f
}

// resetSteps are how a line of advice ends with a reset.
var resetSteps = [...]string{" Then reset the failed workspaces.", "; then reset the failed workspaces.", "; then reset.", " Then reset."}

// resetOnlyFailed leaves a reset out of the steps where no entry is failed: a reset refuses those. They come back when they
// are used next.
func (s *subjectView) resetOnlyFailed(d *Diagnosis) {
	if len(s.workspaces) == 0 || slices.ContainsFunc(s.workspaces, func(w *backend.Workspace) bool { return w.Class == backend.ClassFailed }) {
		return
	}
	for i, line := range d.Do {
		text := line.String()
		for _, step := range resetSteps {
			text = strings.Replace(text, step, ". The workspaces recover at their next use.", 1)
		}
		text = strings.Replace(text, "When it answers, reset the failed workspaces.", "When it answers, the workspaces recover at their next use.", 1)
		if text != line.String() {
			d.Do[i] = backend.Clean(strings.Replace(text, ".. ", ". ", 1), 600)
		}
	}
}

// unreadHome is the source of the subject while it does not answer: what was read last then says nothing of now.
func (s *subjectView) unreadHome() *fleet.SourceHealth {
	if h := s.State.Source(s.home); h != nil && (h.Status == fleet.StatusDown || h.Status == fleet.StatusStarting) {
		return h
	}
	return nil
}

// concludeRecalled says that a conclusion is about workspaces as they were read last: their registry closed since, so that
// nothing is left to reset, or it is not read.
func (s *subjectView) concludeRecalled(d *Diagnosis) {
	if !s.recalled || d.denies {
		return
	}
	d.Conclusion = backend.Textf("When it was read last, %s ago: %s", backend.Age(s.now.Sub(s.newest().at)), d.Conclusion)
	again := ". A new session opens it again."
	d.NoReset = backend.Text("its registry is closed; a new session opens the workspace again")
	if h := s.unreadHome(); h != nil && s.over().mark != Confirmed {
		d.NoReset = backend.Textf("its state now is unknown: source %s is %s", s.home, string(h.Status))
		again = ". Reset only what is failed when the source answers again."
	}
	d.Dont = slices.DeleteFunc(d.Dont, func(x backend.Safe) bool { return strings.HasPrefix(x.String(), "Don't reset") })
	for i, line := range d.Do {
		text := line.String()
		for _, step := range resetSteps {
			text = strings.Replace(text, step, again, 1)
		}
		d.Do[i] = backend.Clean(strings.Replace(text, ".. ", ". ", 1), 600)
	}
}

func (s *subjectView) adviseWorkspaceFailed(d *Diagnosis) {
	d.end(s.workspaceFailedEndings())
	if d.is("quota") && len(d.Do) == 0 {
		s.makeRoom(d)
		d.do("Limit opens to max_instances. When there is room, reset the failed workspaces.")
	}
	address := ""
	for _, e := range s.errors {
		if address == "" && e.cause&alerts.NamesStorage != 0 {
			address = addressIn(e.text.String())
		}
	}
	d.ask(address)
	if root := s.namedRoot(); d.is("root") && strings.HasPrefix(root, "/") {
		for i, step := range d.Do {
			d.Do[i] = backend.Clean(strings.Replace(step.String(), "Create the directory,", "Create "+root+",", 1), 600)
		}
	}
	s.resetOnlyFailed(d)
	s.concludeShares(d)
	s.concludeRecalled(d)
	if d.is("shared") && d.is("failed") {
		d.do("Treat it as one outage. Look at what the failing workspaces share.")
	}
	if d.is("long-attempt") && !d.is("failed") {
		d.do("Tell the user: it still runs, nothing failed so far. It takes longer than usual.")
	}
	switch {
	case !d.is("failed"):
	case s.recalled && s.unreadHome() != nil && s.over().mark != Confirmed:
		d.do("Tell the user: it failed when it was read last. Its state now is unknown.")
	case s.recalled:
		d.do("Tell the user: its registry is closed. A new session can fail for the same cause.")
	default:
		d.do("Tell the user: trying again does not help. The workspace does not work until the cause is fixed.")
	}
}
