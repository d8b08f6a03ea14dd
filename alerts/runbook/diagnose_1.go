package runbook

import (
	"slices"
	"strings"

	"sandglass/alerts"
	"sandglass/backend"
)

// diagnose1: whatever tool the agent calls in its workspace, it gets a WorkspaceFailedError.
func diagnose1(s *scene) Diagnosis {
	d := Diagnosis{Checks: s.answers(
		s.failedEntry(),
		s.recovered(),
		s.byErrors(ask{"snapshot", "Is snapshot declared without a bucket to put backups in?", "the provider's configuration: snapshot needs backupR2Binding"}, alerts.NamesSnapshot),
		s.byErrors(ask{"module", "Does the provider lack a module that the agent declares?", "the text of the error at session start"}, alerts.NamesModule),
		s.byErrors(ask{"binding", "Is the sandbox binding missing?", "the deployment's bindings"}, alerts.NamesBinding),
		s.byErrors(ask{"quota", "Is the limit of instances reached?", "the platform's count of running instances against max_instances"}, alerts.NamesQuota),
		s.filestore(),
		s.posix(),
		s.rootsWritable(),
		s.runtime(),
		s.byErrors(ask{"schema", "Does a stored reference have another schema version?", "lastError, or a source of persisted refs"}, alerts.NamesSchema|alerts.NamesStrict),
		s.sharedCause(),
	)}
	s.advise1(&d)
	return d
}

func (s *scene) failedEntry() Check {
	a := ask{"failed", "Is an entry failed, and with which error?", "a registry snapshot of the session while it runs"}
	n, evicted := 0, 0
	var first *backend.Workspace
	for _, w := range s.workspaces {
		switch {
		case w.Class == backend.ClassFailed:
			if n++; first == nil || first.LastError.IsEmpty() {
				first = w
			}
		case w.Class == backend.ClassEvicted:
			evicted++
		}
	}
	switch {
	case first != nil && !first.LastError.IsEmpty():
		return a.yes(s.from(&first.Meta), "%d of %s failed, %s with: %s", n, plural(len(s.workspaces), "entry"), first.Key.Safe(), backend.Clean(first.LastError.String(), 200))
	case first != nil:
		return a.yes(s.from(&first.Meta), "%s is failed and gives no error", first.Key.Safe())
	case len(s.workspaces) == 0:
		return a.unsure("no entry of this subject is listed: a registry can be read only while its session runs")
	case evicted > 0:
		return s.settle(a.no(s.newest(), "no entry is failed; %d evicted, see incident 7", evicted), a)
	}
	return s.settle(a.no(s.newest(), "none of %s is failed", plural(len(s.workspaces), "entry")), a)
}

// recovered asks whether it works again: then advice would be about the past.
func (s *scene) recovered() Check {
	a := ask{"recovered", "Does it work again by itself?", "lastAttemptAt and lastSuccessAt in the snapshot"}
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
	switch {
	case known == 0:
		return a.unsure("no entry gives times to conclude from")
	case works == known && s.old.IsEmpty():
		return a.yes(s.newest(), "the last attempt of %s succeeded", plural(works, "entry"))
	case works == known:
		return a.unsure("the last attempts known succeeded, but these values are old: %s", s.old)
	}
	return s.settle(a.no(s.newest(), "%d of %d entries have had no success since their last attempt", known-works, known), a)
}

func (s *scene) filestore() Check {
	a := ask{"sqlite", "Is the Durable Object's SQLite storage not set up?", "the migrations of the deployment: the class must be in new_sqlite_classes"}
	if p := s.provider(); p != "" && p != "cloudflare-filestore" {
		return a.no(s.newest(), "the provider is %s, which does not use it", backend.Clean(p, 60))
	}
	return s.byErrors(a, alerts.NamesSQLite)
}

func (s *scene) posix() Check {
	a := ask{"posix", "Is the host not a POSIX system?", "the provider's error on open"}
	if h := s.hosts(); len(h) > 0 {
		return a.no(s.from(&h[0].Meta), "%s was read through POSIX calls", h[0].Name)
	}
	return s.byErrors(a, alerts.NamesPOSIX)
}

// rootsWritable asks whether the agents can create their scratch directories.
func (s *scene) rootsWritable() Check {
	a := ask{"root", "Is the root of scratch directories unusable?", "a tmpdir source on the agents' host, with agent_user set"}
	if p := s.provider(); strings.HasPrefix(p, "cloudflare-") || p == "in-memory" {
		return a.no(s.newest(), "the provider is %s, which has no scratch directory on a host", backend.Clean(p, 60))
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
				return a.yes(s.from(&h.Meta), "%s on %s %s", r.Path, h.Name, backend.Clean(what, 60))
			}
		}
	}
	if c := s.byErrors(a, alerts.NamesPath); c.Mark == Confirmed {
		return c
	}
	if !usable.at.IsZero() {
		return a.no(usable, "the roots that are read are there and writable")
	}
	return a.unsure("no root is read whose rights are known")
}

// runtime asks for a runtime that refuses workspaces when a run starts.
func (s *scene) runtime() Check {
	a := ask{"runtime", "Does the runtime refuse workspaces?", "runtime in the list route or in a declaration"}
	if c := s.byErrors(a, alerts.NamesRuntime); c.Mark == Confirmed {
		return c
	}
	if s.session != nil && !s.session.Runtime.IsEmpty() {
		word := strings.ToLower(s.session.Runtime.String())
		if slices.ContainsFunc([]string{"temporal", "dbos", "cloudflare-workflows", "cloudflare workflows"}, func(x string) bool { return x == word }) {
			return a.yes(s.from(&s.session.Meta), "the session's runtime is %s", s.session.Runtime)
		}
		return a.no(s.from(&s.session.Meta), "the session's runtime is %s", s.session.Runtime)
	}
	if len(s.workspaces) > 0 {
		return a.no(s.newest(), "a registry was read, so the run passed that guard")
	}
	return a.unsure("no session names its runtime")
}

// sharedCause asks whether others fail for the same cause: then it lies outside this one. Others that fail for other
// causes are troubles of their own.
func (s *scene) sharedCause() Check {
	a := ask{"shared", "Do others of this source fail for the same cause?", "registry snapshots of more than one session, with their errors"}
	own, all := s.failingByCause(), s.widen().failingByCause()
	others, same := all.failing-own.failing, 0
	for cause, n := range own.by {
		same += all.by[cause] - n
	}
	switch {
	case len(s.workspaces) == 0:
		return a.unsure("no workspace of this subject is listed")
	case s.wide && own.most > 1:
		return a.yes(s.newest(), "%d of %d workspaces of this source fail for one cause, %s for one", own.most, all.total, own.example)
	case s.wide && all.total > 1:
		return s.settle(a.no(s.newest(), "%d of %d workspaces of this source fail, no two for one cause", all.failing, all.total), a)
	case same > 0:
		return a.yes(s.newest(), "%d more of %d workspaces of this source fail for the same cause: it likely lies outside this one", same, all.total)
	case others > 0 && own.failing > 0 && len(own.by) == 0:
		return a.unsure("%d others fail, and this one gives no error to compare", others)
	case others > 0:
		return s.settle(a.no(s.newest(), "%d others of %d workspaces of this source fail, none for this cause", others, all.total), a)
	case all.total > len(s.workspaces):
		return s.settle(a.no(s.newest(), "the other %d workspaces of this source do not fail", all.total-len(s.workspaces)), a)
	}
	return a.unsure("no other workspace of this source is listed")
}

// failures are the failing workspaces of a scene.
type failures struct {
	total, failing int
	by             map[string]int // by the normalised cause; those without an error are in none
	most           int            // of one cause
	example        backend.Safe   // a workspace of that one
}

func (s *scene) failingByCause() failures {
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
			cause = alerts.NormaliseCause(e.text.String())
			known[e.text] = cause
		}
		if f.by[cause]++; f.by[cause] > f.most {
			f.most, f.example = f.by[cause], e.who
		}
	}
	return f
}

// endings1 are what incident 1 can come to, the first that is true.
func endings1() []ending {
	return []ending{
		{any: []string{"recovered"}, without: "failed", conclude: "Nothing is failed now: the last attempts succeeded.",
			do: "Read the Timeline for what happened in between.", dont: "Don't reset an entry that works: it would be opened anew.", noReset: "it works"},
		{any: []string{"schema"}, conclude: "The stored reference cannot be read by this release: this is incident 6.",
			do: "Go to runbook 6: the release has to change, not the entry.", dont: "Don't reset: the same reference is refused again.",
			noReset: "the stored reference is refused again until the release can read it"},
		{any: []string{"runtime"}, conclude: "This runtime refuses workspaces at start.",
			do: "Run the agent on the JS runtime or in a Durable Object, or take its workspaces out.", dont: "Don't retry or reset: there is no registry that could open anything.",
			noReset: "this runtime has no workspaces"},
		{any: []string{"quota"}, conclude: "The platform has no instance left for it.",
			do: "Free instances or raise max_instances first, bound opens to that number, then reset.", dont: "Don't reset before there is room: every reset asks for one more instance.",
			noReset: "the instance limit is reached; a reset asks for one more"},
		{any: []string{"snapshot", "module", "binding", "sqlite", "posix"}, conclude: "The configuration cannot work; no retry cures that.",
			do:   "Fix what the confirmed check names, redeploy, then reset the failed entries.",
			dont: "Don't raise transientRetryAttempts: the error is permanent, retries only make failing slower.", noReset: "the configuration is still wrong"},
		{any: []string{"root"}, conclude: "Agents cannot create their scratch directories.",
			do: "Make the root exist and writable for the agents' user, or set tmpdirRoot elsewhere; then reset.", dont: "Don't reset first: open fails again at once.",
			noReset: "the root of scratch directories is still unusable"},
		{any: []string{"failed"}, conclude: "An entry is failed for a cause that no check names; its error says what the provider met.",
			do:   "Find the cause in the error and fix it. Where it passes by itself, let the provider mark it transient and raise transientRetryAttempts; then reset.",
			dont: "Don't reset as a test: when the cause is still there the entry fails again and its first error is overwritten."},
		{conclude: "Nothing that was read shows a failed entry.", do: "Poll the session while it runs: an idle session has no registry to read.",
			dont: "Don't take silence for health: a closed registry reports nothing."},
	}
}

func (s *scene) advise1(d *Diagnosis) {
	d.end(endings1())
	if s.firing("eviction-storm") != nil {
		d.dont("Don't reset while the eviction storm of this source fires: each reset adds an open.")
		d.NoReset = backend.Text("an eviction storm fires at this source; a reset adds opens")
	}
	if d.is("shared") && d.is("failed") {
		d.do("Treat it as one outage: others of this source fail for the same cause.")
	}
}
