package subjects

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Workspaces are the entries of the agent framework's registries.
func Workspaces() *Set[*backend.Workspace] {
	type row = *backend.Workspace
	return &Set[row]{
		Kind:   "workspaces",
		Rows:   func(s *fleet.State, _ *alerts.Board) iter.Seq[row] { return s.Workspaces.All() },
		Key:    func(w row) backend.Key { return w.Key },
		ByName: func(a, b row) int { return comparePaths(a.Key, b.Key) },
		Text: func(w row) string {
			return w.Key.Safe().String() + " " + w.Reported.String() + " " + w.LastError.String() + " " +
				w.Provider.String() + " " + w.Key.Source
		},
		Labels: workspaceLabels,
		Stale:  func(w row, c *views.Snapshot) bool { return w.Unreadable || c.Stale(&w.Meta) },
		JSON: func(w row, c *views.Snapshot) ([]byte, error) {
			return views.JSON(workspaceJSON{w, condition(w, c), w.Durability()})
		},
		DefaultSort: "works",
		Columns: []Column[row]{
			{Name: "works", Title: "WORKS", Help: "concluded from the timestamps: failing, attempting (for longer than longest_operation), busy, working, unused or unknown",
				Min: 9, Ideal: 12, Priority: 0, Descending: true,
				Cell: func(w row, c *views.Snapshot) Cell { return WorksCell(w, c) },
				Sort: func(w row, c *views.Snapshot) SortKey { return SortKey{Num: worksRank(w, c)} }},
			{Name: "state", Title: "STATE", Help: "the registry's own word",
				Min: 7, Ideal: 9, Priority: 3,
				Cell: func(w row, _ *views.Snapshot) Cell { return stateCell(w) },
				Sort: func(w row, _ *views.Snapshot) SortKey { return sortText(w.Reported.String()) }},
			recentColumn(backend.KindWorkspace, func(w row) backend.Key { return w.Key }, 2),
			idColumn(Column[row]{Name: "workspace", Title: "WORKSPACE", Help: "the name in its session's registry",
				Min: 10, Ideal: 14, Flex: 1, Priority: 0}, theme.Normal, func(w row) backend.ID { return w.Key.ID }),
			idColumn(Column[row]{Name: "session", Title: "SESSION", Help: "the session that owns it",
				Min: 14, Ideal: 16, Flex: 1, Priority: 1}, theme.Normal, func(w row) backend.ID { return w.Key.Parent }),
			{Name: "error", Title: "LAST ERROR", Help: "the cause the registry gives", Min: 16, Ideal: 42, Flex: 6, Priority: 2,
				Cell: func(w row, _ *views.Snapshot) Cell {
					c := errorCell(w.LastError)
					c.Brief = brief(w.LastError.String())
					return c
				},
				Sort: func(w row, _ *views.Snapshot) SortKey { return sortText(w.LastError.String()) }},
			sourceColumn(func(w row) string { return w.Key.Source }, 5),
			{Name: "provider", Title: "PROVIDER", Help: "who runs the sandbox behind it, as its registry or else its stored reference names it",
				Min: 18, Ideal: 18, Priority: 7, Where: WideOnly,
				Cell: func(w row, c *views.Snapshot) Cell { return text(c.State.WithStoredProvider(w).Provider, theme.Normal) },
				Sort: func(w row, c *views.Snapshot) SortKey {
					return sortText(c.State.WithStoredProvider(w).Provider.String())
				}},
			alertColumn(func(w row) backend.Key { return w.Key }, 7),
			ageColumn(Column[row]{Name: "attempt", Title: "ATTEMPT", Help: "age of the last attempt to use it", Min: 7, Ideal: 7, Priority: 5},
				func(w row) backend.Value[time.Time] { return w.LastAttemptAt }),
			ageColumn(Column[row]{Name: "success", Title: "SUCCESS", Help: "age of the last success", Min: 7, Ideal: 7, Priority: 3},
				func(w row) backend.Value[time.Time] { return w.LastSuccessAt }),
			readColumn(func(w row) *backend.Meta { return &w.Meta }, 6),
			{Name: "version", Title: "VERSION", Help: "the framework's version in its session", Min: 7, Ideal: 7, Priority: 9, Where: Extra,
				Cell: func(w row, c *views.Snapshot) Cell { return text(versionOf(w, c), theme.Dim) },
				Sort: func(w row, c *views.Snapshot) SortKey { return sortText(versionOf(w, c).String()) }},
			idColumn(Column[row]{Name: "sandbox-id", Title: "SANDBOX ID", Help: "the id the provider was given",
				Min: 10, Ideal: 12, Priority: 8, Where: Extra}, theme.Normal, func(w row) backend.ID { return w.ProviderID }),
			idColumn(Column[row]{Name: "namespace", Title: "NAMESPACE", Help: "the namespace the provider was given",
				Min: 9, Ideal: 12, Priority: 8, Where: Reports}, theme.Normal, func(w row) backend.ID { return w.Namespace }),
			textColumn(Column[row]{Name: "shares", Title: "SHARES", Help: "shareAcrossSessions: set or unset; inherited: inheritWorkspaces",
				Min: 6, Ideal: 9, Priority: 8, Where: Reports}, theme.Normal, sharesText),
		},
	}
}

// sharesText is what a workspace declares about sharing, empty where nothing is declared.
func sharesText(w *backend.Workspace) backend.Safe {
	share, told := w.ShareAcrossSessions.Get()
	switch {
	case w.InheritWorkspaces.Or(false):
		return backend.Text("inherited")
	case told && share:
		return backend.Text("set")
	case told:
		return backend.Text("unset")
	}
	return backend.Safe{}
}

func condition(w *backend.Workspace, c *views.Snapshot) backend.Condition {
	return c.Condition(w)
}

// ConditionCell is how a workspace's condition is shown.
func ConditionCell(c backend.Condition) Cell {
	cell := Cell{Text: plain(string(c))}
	switch c {
	case backend.CondWorking:
		cell.Tone, cell.Mark = theme.Good, theme.MarkGood
	case backend.CondBusy:
		cell.Tone, cell.Mark = theme.Normal, theme.MarkBusy
	case backend.CondFailing:
		cell.Tone, cell.Mark = theme.Bad, theme.MarkBad
	case backend.CondUnused:
		cell.Tone, cell.Mark = theme.Dim, theme.MarkIdle
	case backend.CondUnknown:
		cell.Tone, cell.Mark = theme.Dim, theme.MarkUnknown
	}
	return cell
}

// attempting is the word for an attempt that runs longer than any operation may: it has not failed yet.
const attempting = "attempting"

func runsLong(w *backend.Workspace, c *views.Snapshot) bool {
	return w.RunsLong(c.Now, c.State.LongestOperation)
}

// WorksCell is how it is shown whether a workspace works.
func WorksCell(w *backend.Workspace, c *views.Snapshot) Cell {
	if runsLong(w, c) {
		return Cell{Text: plain(attempting), Short: backend.Text("attempt"), Tone: theme.Warn, Mark: theme.MarkBusy}
	}
	return ConditionCell(condition(w, c))
}

// worksRank sorts what needs eyes first when descending.
func worksRank(w *backend.Workspace, c *views.Snapshot) float64 {
	if runsLong(w, c) {
		return longRank
	}
	return conditionRank(condition(w, c))
}

// longRank is between failing and unknown.
const longRank = 3.5

// conditionRank sorts what needs eyes first when descending.
func conditionRank(c backend.Condition) float64 {
	switch c {
	case backend.CondFailing:
		return 4
	case backend.CondUnknown:
		return 3
	case backend.CondBusy:
		return 2
	case backend.CondWorking:
		return 1
	case backend.CondUnused:
	}
	return 0
}

// errorCell leaves the names of the framework's two error types out where there is little room: the state says as much.
func errorCell(s backend.Safe) Cell {
	c := text(s, theme.Normal)
	if rest := BareError(s.String()); rest != s.String() {
		c.Short = plain(rest)
	}
	return c
}

// BareError is an error's text without the name of its type, which can stand behind a provider's name.
func BareError(s string) string {
	for _, name := range []string{"WorkspaceFailedError: ", "WorkspaceEvictedError: "} {
		if before, rest, ok := strings.Cut(s, name); ok && (before == "" || strings.HasSuffix(before, ": ")) {
			return before + rest
		}
	}
	return s
}

// stateCell shows the registry's word verbatim; only words with a known meaning are coloured.
func stateCell(w *backend.Workspace) Cell {
	c := text(w.Reported, theme.Normal)
	switch w.Class {
	case backend.ClassFailed:
		c.Tone = theme.Bad
	case backend.ClassEvicted:
		c.Tone = theme.Warn
	case backend.ClassHealthy, backend.ClassOpening:
	case backend.ClassClosed, backend.ClassUnknown:
		c.Tone = theme.Dim
	}
	return c
}

func versionOf(w *backend.Workspace, c *views.Snapshot) backend.Safe {
	if s := c.State.SessionOf(w); s != nil {
		return s.Versions()
	}
	return backend.Safe{}
}

func (w *writer) workspace(x *backend.Workspace) {
	x = w.f.State.WithStoredProvider(x)
	cond := WorksCell(x, w.f.Snapshot)
	reported := x.Reported.String()
	if reported == "" {
		reported = "no state"
	}
	w.cell("works", cond, dim("  the registry says "), kit.Span{Tone: theme.Strong, Text: reported})
	if !x.LastError.IsEmpty() {
		w.tone("last error", cond.Tone, x.LastError.String())
		w.tellError(x.LastError)
	}
	w.at("last attempt", x.LastAttemptAt, "never")
	w.at("last success", x.LastSuccessAt, "never")
	if x.LastOpAt.IsKnown() {
		w.at("last operation", x.LastOpAt, "")
	}
	w.read(&x.Meta)
	w.text("provider", x.Provider)
	w.doable(w.urgent(x.Key, nil))
	w.Head("Joined")
	w.owner(x.Key.Source, x.Key.Parent)
	w.sandboxesThat(func(b *backend.Sandbox) bool {
		return w.f.State.SessionOn(b) == x.Key.Parent && w.f.State.WorkspaceOn(b) == x.Key.ID || w.f.State.SandboxNamed(x.ProviderID, x.Provider) == b && slices.Contains(w.f.State.SharersOf(b), x.Key.Parent)
	})
	if n := w.f.State.Namesakes(x); n > 0 {
		w.Field("", warn(number(n, "listed sandbox")+" of "+x.Provider.String()+" are called "+x.ProviderID.Safe().String()), dim("  so that none is joined by that"))
	}
	w.siblings(x)
	w.facts(x)
	w.history(&x.Meta)
	w.extra("Other fields", x.Extra)
	w.raw(&x.Meta)
}

func (w *writer) siblings(x *backend.Workspace) {
	n, bad := 0, 0
	for o := range w.f.State.Workspaces.Of(backend.KindWorkspace, x.Key.Source, x.Key.Parent) {
		if o.Key == x.Key {
			continue
		}
		n++
		if condition(o, w.f.Snapshot) == backend.CondFailing && !runsLong(o, w.f.Snapshot) {
			bad++
		}
	}
	if n > 0 {
		w.Field("beside it", normal(kit.Count(n, "other workspace", "other workspaces")+" of the session, "+kit.Number(bad)+" failing"))
	}
}

func (w *writer) facts(x *backend.Workspace) {
	d := &kit.Doc{}
	head := w.Doc
	w.Doc = d
	w.text("sandbox id", x.ProviderID.Safe())
	w.text("namespace", x.Namespace.Safe())
	w.text("namespace before", x.Moved.Safe())
	w.yes("shared", x.ShareAcrossSessions)
	w.yes("inherited", x.InheritWorkspaces)
	w.yes("destroy on close", x.DestroyOnClose)
	w.durability(x)
	w.duration("sleeps after", x.SleepAfter)
	w.duration("close timeout", x.CloseTimeout)
	w.duration("resets after", x.ResetAfter)
	w.number("concurrency", x.Concurrency)
	w.number("retries", x.RetryAttempts)
	if n, ok := x.MaxFileSize.Get(); ok {
		w.Field("largest file", normal(backend.Bytes(n)))
	}
	w.Doc = head
	if d.Len() > 0 {
		w.Head("Declared or reported about it")
		w.Append(d)
	}
}

// durability writes what becomes of the files, where the provider is named.
func (w *writer) durability(x *backend.Workspace) {
	if x.Provider.IsEmpty() {
		return
	}
	d := x.Durability()
	var parts []string
	for _, p := range []struct {
		what string
		fate backend.Fate
	}{{"close", d.Close}, {"process restart", d.Restart}, {"reboot", d.Reboot}, {"sleep", d.Sleep}} {
		if p.fate != backend.FateNone {
			parts = append(parts, p.what+" "+string(p.fate))
		}
	}
	if !x.DestroyOnClose.IsKnown() && d.Close == backend.FateUnknown && x.Provider.String() == "cloudflare-sandbox" {
		parts = append(parts, "destroyOnClose is not declared")
	}
	w.Field("files after", normal(strings.Join(parts, " · ")))
}

// lastRead writes what is remembered of a subject that is no longer there.
func (w *writer) lastRead(p alerts.Past) {
	m := p.Entity.EntityMeta()
	w.Field("last read", normal(backend.Age(w.f.Now.Sub(m.ReadAt))+" ago"), dim("  "+m.Key.Source))
	if !p.Left.IsZero() {
		w.Field("left", normal(backend.Age(w.f.Now.Sub(p.Left))+" ago: "+p.Why.String()))
	}
	switch x := p.Entity.(type) {
	case *backend.Workspace:
		w.text("reported", x.Reported)
		w.text("last error", x.LastError)
		w.text("provider", x.Provider)
		w.at("last attempt", x.LastAttemptAt, "")
		w.at("last success", x.LastSuccessAt, "")
		w.facts(x)
	case *backend.Session:
		w.text("tenant", x.Tenant)
		w.at("started", x.StartedAt, "")
		for _, p := range w.f.Board.PastOf(backend.KindWorkspace) {
			if k := p.Entity.EntityMeta().Key; k.Source == x.Key.Source && k.Parent == x.Key.ID {
				w.Head("Workspace " + k.ID.Safe().String())
				w.lastRead(p)
			}
		}
	case *backend.Sandbox:
		w.text("state", x.Reported)
		if code, known := x.ExitCode.Get(); known && x.Class.Ended() {
			w.Field("exit code", normal(kit.Number(code)))
		}
		w.at("created", x.CreatedAt, "")
		w.text("image", x.Image)
		w.text("command", x.Command)
		w.text("session", x.Session.Safe())
		w.text("workspace", x.Workspace.Safe())
		w.text("id", x.Key.Safe())
	case *backend.Tmpdir:
		if n, known := x.Bytes.Get(); known {
			w.Field("size", normal(backend.Bytes(n)))
		}
		w.at("newest change", x.Newest, "")
	}
}

type workspaceKind struct{ base }

func (workspaceKind) listing() Listing { return Workspaces().Listing() }

func (workspaceKind) details(w *writer, k backend.Key) bool {
	return write(w, w.f.State.Workspace(k), w.workspace)
}

func (workspaceKind) page(k backend.Key, f *views.Frame) (incident, why string, trouble bool) {
	x := f.State.Workspace(k)
	if x != nil && runsLong(x, f.Snapshot) {
		return "1", "Its newest attempt runs longer than longest_operation.", true
	}
	if x != nil && condition(x, f.Snapshot) == backend.CondFailing {
		return "1", "It fails.", true
	}
	if x, ok := f.Board.Past(k); ok && x.Entity.(*backend.Workspace).Class == backend.ClassFailed {
		return "1", "It failed when it was read last.", true
	}
	if failuresLogged(k, f.Snapshot) {
		return "1", "Log lines of the last hour tell of its failed operations.", true
	}
	return "2", "Missing files show in no state.", false
}

// failuresLogged reports whether log lines of the last hour name failed operations of a workspace.
func failuresLogged(k backend.Key, s *views.Snapshot) bool {
	for x := range s.State.Windows.All(backend.MetricWorkspaceFailed) {
		if x.Session == k.Parent && (x.Workspace.IsZero() || x.Workspace == k.ID) && s.State.Windows.Over(x, s.State.Wall, time.Hour).N > 0 {
			return true
		}
	}
	return false
}

func (workspaceKind) related(k backend.Key, s *views.Snapshot, add func(backend.Key)) {
	ofSession(s.State, k.Parent, k.ID, k.Source, add)
}

func (workspaceKind) summary(e backend.Entity, s *views.Snapshot, quote func(backend.Safe) string) []string {
	x := e.(*backend.Workspace)
	lines := []string{fmt.Sprintf("reported %s (%s by its times)", quote(x.Reported), WorksCell(x, s).Text)}
	if !x.LastError.IsEmpty() {
		lines = append(lines, "last error: "+quote(x.LastError))
	}
	return lines
}

func (workspaceKind) remark(e backend.Entity) (what string, text backend.Safe) {
	return "the last error of", e.(*backend.Workspace).LastError
}

func (workspaceKind) day() fleet.LineName { return fleet.LineBroken }

// workspaceJSON adds what is concluded from the timestamps, and what becomes of the files.
type workspaceJSON struct {
	*backend.Workspace
	Condition  backend.Condition  `json:"condition"`
	Durability backend.Durability `json:"durability"`
}
