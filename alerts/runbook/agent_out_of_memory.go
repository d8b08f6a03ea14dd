package runbook

import (
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

// snapshotMade asks for a snapshot within the last hour: the OpenAI Agents SDK holds the whole archive in memory.
func (s *subjectView) snapshotMade() Check {
	q := question{"snapshot", "Was a snapshot saved or restored lately, which the agent holds whole?", "the agent's log, with session events"}
	for _, m := range []backend.Metric{backend.MetricPersistDone, backend.MetricPersistFailed, backend.MetricHydrateFailed} {
		if c := s.byLines(q, m, "snapshots"); c.Mark == Confirmed {
			return c
		}
	}
	return q.unsure("no line tells of one; a save that goes well is told only by session events")
}

// diagnoseAgentOutOfMemory is for an agent whose own process or Durable Object runs out of memory.
func diagnoseAgentOutOfMemory(s *subjectView) Diagnosis {
	r := s.release()
	d := Diagnosis{Release: r, Checks: s.answers(
		s.agentOOM(),
		s.agentMemory(),
		s.fileCap(),
		s.writeGuard(r),
		s.bigGreps(),
		s.byLines(question{"exhausted", "Do eviction retries run out?", "a log source that reads the agent's log"}, backend.MetricEvictionExhausted, "exhausted retries"),
		s.eagerOpens(),
		s.byLines(question{"pty-output", "Are many terminals open, whose unread output the agent holds?", "the agent's log: it tells from 60 on"}, backend.MetricPTYCount, "many terminals open"),
		s.snapshotMade(),
		s.stormNow(),
		s.ofAll((*subjectView).sandboxOOM),
		s.hostMemory(),
		s.agentRestarted(),
		s.logEvidence(),
	)}
	s.adviseAgentOutOfMemory(&d)
	return d
}

func (s *subjectView) agentOOM() Check {
	q := question{"agent-oom", "Did the agent itself run out of memory?", "the platform's outcome of the object (exceededMemory), the agent's log, or its kernel's oom kills"}
	if c := s.byErrors(q, alerts.NamesIsolate); c.Mark == Confirmed {
		return c
	}
	if c := s.byLines(q, backend.MetricAgentOOM, "lines that say so"); c.Mark == Confirmed {
		return c
	}
	if v := s.verdict("agent-oom", s.namesSession); v.fires() {
		return q.saysAlert(v.alert)
	}
	e := s.event(24*time.Hour, func(e *backend.Event) bool {
		said := e.Kind == backend.EventPlatform || e.Kind == backend.EventChange // what an alert said of others is no reading
		return said && s.speaksHere(e.Source) && e.Subject.Kind != backend.KindSandbox && (alerts.NamesIsolate|alerts.NamesMemory).In(e.Text.String()) != 0
	})
	if e != nil {
		return q.yes(origin{e.Source, e.At}, "%s", e.Text)
	}
	for _, h := range s.hosts() {
		if n, ok := h.OOMKills.Get(); ok && n > 0 {
			return q.unsure("the kernel of %s killed %d processes for memory since it booted; whether the agent was one is not read", h.Name, n)
		}
	}
	if h := s.hosts(); len(h) > 0 && h[0].OOMKills.IsKnown() {
		// A heap limit or an isolate's limit ends a process without the kernel.
		return q.unsure("the kernel of %s has killed nothing for memory since it booted, which says nothing of a heap's or an isolate's own limit", h[0].Name)
	}
	return q.unsure("neither an error nor an event names the agent's memory")
}

func (s *subjectView) fileCap() Check {
	q := question{"file-cap", "May agents write files so large that one fills the memory?", "max_file_size in a declaration or in the aggregate route"}
	large, judged := s.number(agentFile)
	if !judged {
		return q.off(agentFile)
	}
	known := 0
	for _, w := range s.workspaces {
		n, ok := w.MaxFileSize.Get()
		if ok && float64(n) > large {
			return q.yes(s.from(&w.Meta), "%s may write files of %s; from %s they are large", w.Key.Safe(), bytesText(n), bytesText(int64(large)))
		}
		if ok {
			known++
		}
	}
	if known > 0 && known == len(s.workspaces) {
		return q.no(s.newest(), "the cap is at most %s everywhere", bytesText(int64(large)))
	}
	return q.unsure("the cap of %s is not declared", plural(len(s.workspaces)-known, "workspace"))
}

// bigGreps has no input of ours: neither the registry nor the known log lines tell what a search reads.
func (s *subjectView) bigGreps() Check {
	return question{"greps", "Do searches read very large files?", "the agent's tool calls: grep results with skippedPaths, or a maxGrepFileSizeMb above its default of 10"}.
		unsure("no source reports what searches read%s", s.readLines())
}

// readLines counts the lines that the operator's own patterns take for reads, with the newest.
func (s *subjectView) readLines() backend.Safe {
	t := s.tally(backend.MetricReads, time.Hour)
	if t.in.N == 0 {
		return s.bytesOfPatterns()
	}
	named := ""
	if n := s.tally(backend.MetricReadBytes, time.Hour).in.N; n > 0 {
		named = " (together they name " + bytesText(int64(n)) + ")"
	}
	return backend.Textf("; lines about reads in the last %s: %s%s, the newest: %s", s.watched(t, time.Hour), number(t.in.N), named, backend.Clean(t.in.Sample.String(), 160))
}

// bytesOfPatterns sums the bytes that lines of the operator's own patterns name; the check of the log counts the lines.
func (s *subjectView) bytesOfPatterns() backend.Safe {
	n := 0.0
	for _, name := range s.ownPatterns() {
		n += s.logged(backend.PatternBytes(name)).in.N
	}
	if n == 0 {
		return backend.Safe{}
	}
	return backend.Textf("; lines of your own patterns name %s together", backend.Clean(bytesText(int64(n)), 20))
}

// eagerOpens asks whether many workspaces of a session are opened at one moment.
func (s *subjectView) eagerOpens() Check {
	q := question{"eager", "Are many workspaces opened at the same moment?", "concurrency in a declaration, and the first attempts of a session's workspaces"}
	opens, judged := s.number(agentOpens)
	if !judged {
		return q.off(agentOpens)
	}
	count := map[backend.ID]int{}
	tried := map[backend.ID][]time.Time{}
	most, together := 0, 0
	var who *backend.Workspace
	for _, w := range s.sameSession() {
		id := w.Key.Parent
		count[id]++
		most = max(most, count[id])
		at, ok := w.LastAttemptAt.Get()
		if !ok {
			continue
		}
		tried[id] = append(tried[id], at)
		if n, _ := alerts.Together(tried[id], alerts.OpenedTogether); n > together {
			together, who = n, w
		}
	}
	for _, w := range s.workspaces {
		if n, ok := w.Concurrency.Get(); ok && n > 0 && n < most {
			return q.no(s.from(&w.Meta), "opens are bounded to %d at a time", n)
		}
	}
	switch {
	case most == 0:
		return q.unsure("no workspace of this subject is listed")
	case most == 1:
		return s.settle(q.no(s.newest(), "no session has more than one workspace"), q)
	case float64(together) >= opens && together > 1:
		return q.yes(s.from(&who.Meta), "a session has %d workspaces, and %d were tried within %s of each other", most, together, spanText(alerts.OpenedTogether))
	}
	return q.unsure("a session has %d workspaces, at most %d of them tried within %s of each other; no bound of opens is declared", most, max(together, 1), spanText(alerts.OpenedTogether))
}

// sameSession is all workspaces of the subject's session; those of the subject when it has no session.
func (s *subjectView) sameSession() []*backend.Workspace {
	if s.Subject.Kind != backend.KindWorkspace {
		return s.workspaces
	}
	var out []*backend.Workspace
	for w := range s.State.Workspaces.All() {
		if w.Key.Parent == s.sessionID && w.Key.Source == s.home {
			out = append(out, w)
		}
	}
	return out
}

// agentRestarted asks whether the agent's process started again, as it does after it ran out of memory.
func (s *subjectView) agentRestarted() Check {
	q := question{"restarted", "Did the agent's process restart?", "process_start_time_seconds on a metrics page, or change events"}
	e := s.event(time.Hour, func(e *backend.Event) bool {
		return e.Kind == backend.EventChange && (e.Name == "process-restarted" || e.Name == "boot") && s.speaksHere(e.Source)
	})
	if e != nil {
		return q.yes(origin{e.Source, e.At}, "%s", e.Text)
	}
	if h := s.delivers(backend.InputEvictions); h != nil && !h.FirstTry.IsZero() {
		return q.unsure("no new start was seen in the %s that %s is read; only pages with a start time show one", backend.Age(s.now.Sub(h.FirstTry)), backend.Clean(h.Key.Source, 80))
	}
	return q.unsure("nothing that is read tells when the process started")
}

func (s *subjectView) adviseAgentOutOfMemory(d *Diagnosis) {
	storm, short := d.is("storm") || d.is("exhausted"), d.is("agent-oom") || d.is("memory")
	fell := backend.Literal("The data does not show that the agent ran out of memory")
	if d.is("agent-oom") {
		fell = "The agent ran out of memory"
	}
	if storm {
		d.do("Go to runbook 7 first. The memory follows when the storm ends.")
	}
	switch {
	case storm && short:
		d.conclude("Evictions churn open state and fill the memory. See runbook 7.")
	case storm:
		d.deny("The data does not show that the agent ran out of memory. Its retries after evictions run out, which can lead there: see runbook 7.")
	case d.is("file-cap") && d.is("eager"):
		d.conclude("%s. Large files and many opens at once are both allowed; either can fill the memory.", backend.Text(fell))
	case d.is("file-cap"):
		d.conclude("%s. Large writes are allowed: one can fill the memory.", backend.Text(fell))
	case d.is("eager"):
		d.conclude("%s. Many workspaces open at once: together they can fill the memory.", backend.Text(fell))
	case d.is("sandbox-oom") && !d.is("agent-oom"):
		d.conclude("It is the sandbox that ran out of memory, not the agent.")
		d.do("Give the container more memory. Or give the command in it less to do. Settings of the agent do not help.")
		d.dont("Don't lower the agent's caps for a sandbox's memory.")
	case d.is("agent-oom") && s.memoryJumped():
		d.conclude("The agent ran out of memory at once. One large write or search does that, many open workspaces do not.")
	case d.is("agent-oom") && d.is("memory"):
		d.conclude("The agent ran out of memory step by step. What is kept open adds up; one large file does not do that. What is kept open is not known.")
	case d.is("agent-oom"):
		d.conclude("The agent ran out of memory. What filled it is not known yet.")
	case d.is("memory"):
		d.deny("The memory that the agent uses grows. The data does not show that it ran out.")
	default:
		d.deny("The data does not show that the agent ran out of memory.")
	}
	sdk := s.agentStates() // which has none of the settings, unless a workspace declares them
	if d.is("file-cap") || !sdk && d.Mark("file-cap") == CannotTell {
		d.do("Lower capabilities.fs.maxFileSizeMb. A write is held in memory whole.")
	}
	if d.is("file-cap") || d.Mark("file-cap") == CannotTell {
		d.do("Let the agent write large files in chunks.")
	}
	if !sdk && d.Mark("greps") == CannotTell {
		d.do("Tell the owner of an agent that raises maxGrepFileSizeMb. To raise it again and again is a fault of its design.")
		d.do("Cap searches with maxGrepFileSizeMb. What is skipped is listed in the result.")
	}
	if d.is("eager") || !sdk && d.Mark("eager") == CannotTell {
		d.do("Open on first use. Or bound opens with workspaceMaxConcurrentOpens.")
	}
	if d.is("pty-output") {
		d.do("Let the agent read or end its terminals. It holds their unread output in memory.")
	}
	if d.is("snapshot") {
		d.do("Keep large files out of snapshots. The agent holds the whole archive in memory.")
	}
	if d.is("host-memory") {
		d.do("Relieve the host first: others on it are at risk as well.")
	}
	d.dont("Don't raise the memory limit alone. The next larger file or storm reaches it too.")
}
