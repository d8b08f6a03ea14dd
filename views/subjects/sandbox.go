package subjects

import (
	"fmt"
	"iter"
	"strconv"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Sandboxes are the machines behind workspaces. What a platform reports and what was proved are separate columns.
func Sandboxes() *Set[*backend.Sandbox] {
	type row = *backend.Sandbox
	return &Set[row]{
		Kind: "sandboxes",
		Rows: func(s *fleet.State, _ *alerts.Board) iter.Seq[row] { return s.Sandboxes.All() },
		Key:  func(b row) backend.Key { return b.Key },
		ByName: func(a, b row) int {
			return kit.CompareNames(sandboxName(a).String(), sandboxName(b).String())
		},
		Text: func(b row) string {
			return b.Name.String() + " " + b.Key.Safe().String() + " " + b.Reported.String() + " " + b.Image.String() + " " +
				b.Session.Safe().String() + " " + b.Workspace.Safe().String() + " " + b.Key.Source
		},
		Named:       joinedIDs,
		Labels:      func(b row, _ *views.Snapshot) []backend.Field { return b.Labels },
		Muted:       func(b row) bool { return !b.Judged() },
		Stale:       func(b row, c *views.Snapshot) bool { return c.Stale(&b.Meta) },
		DefaultSort: "reported",
		JSON:        sandboxJSON,
		Columns: []Column[row]{
			{Name: "sandbox", Title: "SANDBOX", Help: "its name, or its id where it has none",
				Min: 20, Ideal: 20, Flex: 2, Priority: 0, IDs: true, Wanted: bridgeWidth,
				Cell: func(b row, _ *views.Snapshot) Cell { return Cell{Text: sandboxName(b), Tone: theme.Normal} },
				Sort: func(b row, _ *views.Snapshot) SortKey { return sortText(sandboxName(b).String()) }},
			{Name: "reported", Title: "REPORTED", Help: "what the platform says",
				Min: 12, Ideal: 12, Priority: 0, Descending: true, Wanted: reportedWidth,
				Cell: func(b row, _ *views.Snapshot) Cell { return reportedCell(b) },
				Sort: func(b row, _ *views.Snapshot) SortKey {
					return SortKey{Num: sandboxRank(b), Text: b.Reported.String()}
				}},
			recentColumn(backend.KindSandbox, func(b row) backend.Key { return b.Key }, 2),
			{Name: "observed", Title: "OBSERVED", Help: "what probes and passive checks found, apart from what is reported",
				Min: 10, Ideal: 20, Flex: 2, Priority: 1, Local: 11, Descending: true,
				Needed: func(c *views.Snapshot) bool { return c.State.Observes() },
				Urgent: observedFailing,
				Cell:   func(b row, c *views.Snapshot) Cell { return observedCell(b, c) },
				Sort: func(b row, _ *views.Snapshot) SortKey {
					o, ok := b.Observed.Get()
					k := SortKey{Text: o.What().String(), Unknown: !ok}
					if len(o.Failed()) > 0 {
						k.Num = 1
					}
					return k
				}},
			{Name: "health", Title: "HEALTH", Help: "the platform's own health check",
				Min: 11, Ideal: 11, Priority: 4, Local: 1,
				Cell: func(b row, _ *views.Snapshot) Cell { return healthCell(b) },
				Sort: func(b row, _ *views.Snapshot) SortKey { return sortText(b.Health.Or(backend.Safe{}).String()) }},
			{Name: "failing", Title: "FAILING", Help: "how long its health check has failed: ≥ 40m at least, ≤ 3h at most", Align: Right,
				Min: 7, Ideal: 7, Priority: 9, Descending: true, Where: Extra,
				Cell:    failingCell,
				Sort:    func(b row, c *views.Snapshot) SortKey { return sortFailing(b, c.Now) },
				Measure: func(b row, c *views.Snapshot) (float64, bool) { return measured(sortFailing(b, c.Now)) }},
			{Name: "session", Title: "SESSION", Help: "the session it belongs to; ? one of whose id only its name has the first digits", Min: 14, Ideal: 14, Flex: 1, Priority: 5, IDs: true,
				Cell: func(b row, c *views.Snapshot) Cell { return sessionCell(b, c.State) },
				Sort: func(b row, c *views.Snapshot) SortKey {
					id, _ := sessionOf(b, c.State)
					return sortText(id.Raw())
				}},
			{Name: "workspace", Title: "WORKSPACE", Help: "the workspace that uses it", Min: 8, Ideal: 12, Priority: 7, Where: WideOnly, IDs: true,
				Cell: func(b row, c *views.Snapshot) Cell { return idOf(c.State.WorkspaceOn(b), theme.Normal) },
				Sort: func(b row, c *views.Snapshot) SortKey { return sortText(c.State.WorkspaceOn(b).Raw()) }},
			sourceColumn(func(b row) string { return b.Key.Source }, 5),
			{Name: "bridge_id", Title: "SANDBOX ID", Help: "the id under which the bridge Worker knows it; unattributed: nothing names one", Min: 12, Ideal: 26, Priority: 10, Local: 3, Where: Extra, IDs: true, Needed: ofApplications,
				Cell: func(b row, _ *views.Snapshot) Cell { return bridgeCell(b) },
				Sort: func(b row, _ *views.Snapshot) SortKey { return sortText(b.BridgeID.Raw()) }},
			needed(ofApplications, idColumn(Column[row]{Name: "container", Title: "CONTAINER", Help: "the platform's id of its container instance", Min: 12, Ideal: 16, Priority: 10, Local: 3, Where: Extra},
				theme.Dim, func(b row) backend.ID { return b.Container })),
			needed(ofApplications, textColumn(Column[row]{Name: "class", Title: "CLASS", Help: "the Durable Object class that manages it", Min: 8, Ideal: 14, Priority: 10, Local: 3, Where: Extra},
				theme.Dim, func(b row) backend.Safe { return b.ObjectClass })),
			needed(ofApplications, textColumn(Column[row]{Name: "script", Title: "SCRIPT", Help: "the Worker script of that class", Min: 8, Ideal: 16, Priority: 10, Local: 3, Where: Extra},
				theme.Dim, func(b row) backend.Safe { return b.Script })),
			textColumn(Column[row]{Name: "image", Title: "IMAGE", Help: "the image it runs", Min: 8, Ideal: 22, Flex: 1, Priority: 9, Local: 2, Where: Extra},
				theme.Dim, func(b row) backend.Safe { return b.Image }),
			textColumn(Column[row]{Name: "command", Title: "COMMAND", Help: "its first process, as it was started", Min: 8, Ideal: 24, Flex: 1, Priority: 10, Local: 3, Where: Extra},
				theme.Dim, func(b row) backend.Safe { return b.Command }),
			listColumn(Column[row]{Name: "ports", Title: "PORTS", Help: "published ports: of the host -> of the container", Min: 8, Ideal: 20, Priority: 10, Local: 3, Where: Extra},
				"ports", func(b row) []backend.Safe { return b.Ports }),
			listColumn(Column[row]{Name: "labels", Title: "LABELS", Help: "what its platform calls labels or metadata", Min: 8, Ideal: 20, Flex: 1, Priority: 10, Local: 3, Where: Extra},
				"labels", func(b row) []backend.Safe { return labels(b.Labels) }),
			{Name: "exit", Title: "EXIT", Help: "how it ended: exit code, oom",
				Align: Right, Min: 4, Ideal: 7, Priority: 3, Local: 1, Cell: func(b row, _ *views.Snapshot) Cell { return exitCell(b) },
				Sort:    func(b row, _ *views.Snapshot) SortKey { return sortNum(b.ExitCode) },
				Measure: func(b row, _ *views.Snapshot) (float64, bool) { return measured(sortNum(b.ExitCode)) }},
			numColumn(Column[row]{Name: "restarts", Title: "RESTARTS", Brief: "RST", Help: "how often the platform restarted it",
				Min: 3, Ideal: 8, Priority: 8, Local: 1, Where: WideOnly},
				func(b row) SortKey { return sortNum(b.RestartCount) },
				func(b row) string { return strconv.Itoa(b.RestartCount.Or(0)) },
				func(b row) bool { return b.RestartCount.IsNotApplicable() }),
			numColumn(Column[row]{Name: "cpu", Title: "CPU", Help: "cores in use, 100 % = one core", Min: 6, Ideal: 6, Priority: 6, Local: 1, Follows: true},
				func(b row) SortKey { return sortNum(usage(b).CPU) },
				func(b row) string { return percent1(usage(b).CPU.Or(0)) },
				noUsage),
			{Name: "mem", Title: "MEM", Help: "memory in use without page cache, of its limit", Align: Right, Min: 6, Ideal: 18, Priority: 4, Local: 1, Descending: true, Follows: true,
				Cell:    memoryCell,
				Sort:    func(b row, _ *views.Snapshot) SortKey { return sortNum(usage(b).Mem) },
				Measure: func(b row, _ *views.Snapshot) (float64, bool) { return measured(sortNum(usage(b).Mem)) }},
			ageColumn(Column[row]{Name: "age", Title: "AGE", Help: "time since it was created, or since its start where no creation is told", Min: 4, Ideal: 5, Priority: 1}, bornAt),
			readColumn(func(b row) *backend.Meta { return &b.Meta }, 5),
		},
	}
}

// bornAt is when a machine was created. A platform that makes a new one at each start tells the start alone.
func bornAt(b *backend.Sandbox) backend.Value[time.Time] {
	if b.CreatedAt.IsNotApplicable() && b.StartedAt.IsKnown() {
		return b.StartedAt
	}
	return b.CreatedAt
}

// observedFailing reports whether what was tried in a machine failed, which no word of its platform tells.
func observedFailing(c *views.Snapshot) bool {
	for b := range c.State.Sandboxes.All() {
		if o, ok := b.Proved(); ok && len(o.Failed()) > 0 {
			return true
		}
	}
	return false
}

// bridgeWidth is the width of the longest id that a bridge gave a sandbox: commands and logs name it whole.
func bridgeWidth(c *views.Snapshot) int {
	const most = 26
	n := 0
	for b := range c.State.Sandboxes.All() {
		n = max(n, len(b.BridgeID.Raw()))
	}
	return min(n, most)
}

// reportedWidth is the width of the longest status of two words, with its mark.
func reportedWidth(c *views.Snapshot) int {
	const most = 20
	n := 0
	for b := range c.State.Sandboxes.All() {
		if !b.Power.IsEmpty() {
			n = max(n, kit.Width(b.Reported.String())+2)
		}
	}
	return min(n, most)
}

// ofApplications reports whether some machine belongs to a container application of a cloud platform.
func ofApplications(c *views.Snapshot) bool {
	for b := range c.State.Sandboxes.All() {
		if !b.Application.IsEmpty() || !b.BridgeID.IsZero() {
			return true
		}
	}
	return false
}

// needed offers a column only where there is something to show in it.
//
//go:noinline
func needed[R any](when func(*views.Snapshot) bool, c Column[R]) Column[R] {
	c.Needed = when
	return c
}

// bridgeCell is the sandbox id of an instance, or that nothing names one.
func bridgeCell(b *backend.Sandbox) Cell {
	switch {
	case !b.BridgeID.IsZero():
		return idOf(b.BridgeID, theme.Normal)
	case b.Unattributed:
		return Cell{Text: backend.Text("unattributed"), Tone: theme.Dim}
	}
	return None()
}

// memoryCell is the memory in use, with the limit where there is one and room for it.
func memoryCell(b *backend.Sandbox, _ *views.Snapshot) Cell {
	u := usage(b)
	n, ok := u.Mem.Get()
	if !ok {
		return absent(noUsage(b))
	}
	c := Cell{Text: plain(backend.Bytes(n))}
	if limit, limited := u.MemLimit.Get(); limited {
		c.Text, c.Short = backend.Textf("%s of %s", c.Text, plain(backend.Bytes(limit))), c.Text
	}
	return c
}

// noUsage says that a machine has no usage to read: it does not run.
func noUsage(b *backend.Sandbox) bool {
	return b.Usage.IsNotApplicable() || b.Class == backend.SandboxExited || b.Class == backend.SandboxCreated || b.Class == backend.SandboxDead
}

func usage(b *backend.Sandbox) backend.Usage { return b.Usage.Or(backend.Usage{}) }

func percent1(cores float64) string {
	if cores < 0.995 {
		return strconv.FormatFloat(cores*100, 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(cores*100, 'f', 0, 64) + " %"
}

func sandboxName(b *backend.Sandbox) backend.Safe {
	if b.Name.IsEmpty() {
		return b.Key.Safe()
	}
	return b.Name
}

func reportedCell(b *backend.Sandbox) Cell {
	c := text(b.Reported, theme.Normal)
	if b.Reported.IsEmpty() {
		c = Unknown()
	}
	if !b.Doubt.IsEmpty() {
		c.Text = backend.Textf("%s, not confirmed", b.Reported)
	}
	c.Short = b.Power // of two words the one that tells whether it runs
	switch b.Class {
	case backend.SandboxRunning:
		c.Mark = theme.MarkGood
	case backend.SandboxCreated, backend.SandboxRemoving:
		c.Mark = theme.MarkBusy
	case backend.SandboxPaused, backend.SandboxAsleep:
		c.Mark, c.Tone = theme.MarkIdle, theme.Dim
	case backend.SandboxRestarting:
		c.Mark, c.Tone = theme.MarkWarn, theme.Warn
	case backend.SandboxExited:
		c.Mark, c.Tone = theme.MarkIdle, theme.Dim
		if b.OOMKilled.Or(false) {
			c.Mark, c.Tone = theme.MarkBad, theme.Bad
		}
	case backend.SandboxDead:
		c.Mark, c.Tone = theme.MarkBad, theme.Bad
	case backend.SandboxUnknown:
		c.Mark, c.Tone = theme.MarkUnknown, theme.Dim
	}
	return c
}

// sandboxRank sorts what needs eyes first when descending; machines that are no sandboxes come last.
func sandboxRank(b *backend.Sandbox) float64 {
	rank := 0.0
	switch b.Class {
	case backend.SandboxDead:
		rank = 9
	case backend.SandboxRestarting:
		rank = 8
	case backend.SandboxUnknown:
		rank = 6
	case backend.SandboxRunning:
		rank = 5
		if h, ok := b.Health.Get(); ok && h.String() == "unhealthy" {
			rank = 7.5
		}
	case backend.SandboxCreated, backend.SandboxRemoving:
		rank = 4
	case backend.SandboxPaused, backend.SandboxAsleep:
		rank = 3
	case backend.SandboxExited:
		rank = 2
		if b.OOMKilled.Or(false) {
			rank = 8.5
		}
	}
	if o, _ := b.Proved(); len(o.Failed()) > 0 {
		rank = 10
	}
	if !b.Judged() {
		rank -= 20
	}
	return rank
}

func healthCell(b *backend.Sandbox) Cell {
	h, ok := b.Health.Get()
	switch {
	case b.Health.IsNotApplicable():
		return None()
	case !ok:
		return Unknown()
	}
	c := Cell{Text: h}
	switch h.String() {
	case "healthy":
		c.Tone, c.Mark = theme.Good, theme.MarkGood
	case "unhealthy":
		c.Tone, c.Mark = theme.Bad, theme.MarkBad
	}
	return c
}

// failingCell is for how long the health check of a running sandbox has failed.
func failingCell(b *backend.Sandbox, c *views.Snapshot) Cell {
	early, late, failing := b.Failing()
	switch {
	case b.Health.IsNotApplicable():
		return None()
	case !b.HealthChecks.IsKnown():
		return Unknown()
	case !failing:
		return None()
	case b.HealthChecks.Or(backend.HealthChecks{}).Passed.IsZero():
		early = time.Time{} // the start of the run bounds it too, and says nothing of use here
	}
	return Cell{Text: plain(span(early, late, c.Now)), Tone: theme.Bad}
}

func sortFailing(b *backend.Sandbox, now time.Time) SortKey {
	_, late, failing := b.Failing()
	return SortKey{Num: now.Sub(late).Seconds(), Unknown: !failing}
}

func exitCell(b *backend.Sandbox) Cell {
	if b.OOMKilled.Or(false) {
		return Cell{Text: plain("oom " + exitCode(b)), Short: backend.Text("oom"), Tone: theme.Bad}
	}
	code, ok := b.ExitCode.Get()
	if !ok {
		return None()
	}
	c := Cell{Text: plain(strconv.Itoa(code))}
	if code != 0 {
		c.Tone = theme.Warn
	}
	return c
}

func exitCode(b *backend.Sandbox) string {
	if code, ok := b.ExitCode.Get(); ok {
		return fmt.Sprint(code)
	}
	return ""
}
