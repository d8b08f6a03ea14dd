package subjects

import (
	"iter"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Refs are the workspace references that a framework saved.
func Refs() *Set[*backend.Ref] {
	type row = *backend.Ref
	return &Set[row]{
		Kind: "refs",
		Rows: func(s *fleet.State, _ *alerts.Board) iter.Seq[row] { return s.Refs.All() },
		Key:  func(r row) backend.Key { return r.Key },
		Text: func(r row) string {
			return r.Key.Safe().String() + " " + r.Provider.String() + " " + r.Sandbox.Safe().String() + " " + r.Origin.String() + " " + r.Key.Source + " " + backend.Join(labels(refLabels(r)), " ").String()
		},
		JSON:  refJSON,
		Stale: func(r row, c *views.Snapshot) bool { return c.Stale(&r.Meta) },
		Columns: []Column[row]{
			idColumn(Column[row]{Name: "workspace", Title: "WORKSPACE", Help: "the workspace it leads to", Min: 10, Ideal: 14, Priority: 0},
				theme.Normal, func(r row) backend.ID { return r.Key.ID }),
			idColumn(Column[row]{Name: "session", Title: "SESSION", Help: "the session that saved it", Min: 12, Ideal: 20, Flex: 1, Priority: 0},
				theme.Normal, func(r row) backend.ID { return r.Key.Parent }),
			textColumn(Column[row]{Name: "provider", Title: "PROVIDER", Help: "who made the workspace", Min: 8, Ideal: 18, Priority: 1},
				theme.Normal, func(r row) backend.Safe { return r.Provider }),
			idColumn(Column[row]{Name: "sandbox", Title: "SANDBOX", Help: "the machine behind it, where the reference says", Min: 8, Ideal: 16, Priority: 2},
				theme.Normal, func(r row) backend.ID { return r.Sandbox }),
			idColumn(Column[row]{Name: "namespace", Title: "NAMESPACE", Help: "the namespace of its files", Min: 8, Ideal: 14, Priority: 5},
				theme.Normal, func(r row) backend.ID { return r.Namespace }),
			numColumn(Column[row]{Name: "schema", Title: "SCHEMA", Help: "the reference's schemaVersion", Min: 6, Ideal: 6, Priority: 1},
				func(r row) SortKey { return sortNum(r.SchemaVersion) },
				func(r row) string { return kit.Number(r.SchemaVersion.Or(0)) }, func(r row) bool { return r.SchemaVersion.IsNotApplicable() }),
			textColumn(Column[row]{Name: "status", Title: "STATUS", Help: "the saved status of the session", Min: 8, Ideal: 10, Priority: 4},
				theme.Normal, func(r row) backend.Safe { return r.Status }),
			textColumn(Column[row]{Name: "origin", Title: "ORIGIN", Help: "where it was found", Min: 10, Ideal: 24, Flex: 1, Priority: 7, Where: WideOnly},
				theme.Dim, func(r row) backend.Safe { return r.Origin }),
			{Name: "inventory", Title: "INVENTORY", Help: "how the state of an agent SDK compares with what lists its sandbox", Min: 9, Ideal: 10, Priority: 8, Where: Extra, Needed: agentStates,
				Cell: func(r row, c *views.Snapshot) Cell { return text(inventoryWord(r, c), theme.Normal) },
				Sort: func(r row, c *views.Snapshot) SortKey { return sortText(inventoryWord(r, c).String()) }},
			needed(agentStates, textColumn(Column[row]{Name: "root", Title: "ROOT", Help: "where the files of an agent's session are", Min: 8, Ideal: 12, Priority: 9, Where: Extra},
				theme.Normal, func(r row) backend.Safe { return agentOf(r).Root })),
			needed(agentStates, textColumn(Column[row]{Name: "snapshot", Title: "SNAPSHOT", Help: "the kind of its snapshot: noop keeps nothing", Min: 8, Ideal: 8, Priority: 9, Where: Extra},
				theme.Normal, func(r row) backend.Safe { return agentOf(r).Snapshot })),
			needed(agentStates, listColumn(Column[row]{Name: "labels", Title: "LABELS", Help: "labels of its sandbox, as the session saved them", Min: 8, Ideal: 20, Flex: 1, Priority: 10, Where: Extra},
				"labels", func(r row) []backend.Safe { return labels(refLabels(r)) })),
			sourceColumn(func(r row) string { return r.Key.Source }, 6),
			ageColumn(Column[row]{Name: "saved", Title: "SAVED", Help: "time since it was saved", Min: 4, Ideal: 5, Priority: 3},
				func(r row) backend.Value[time.Time] { return r.SavedAt }),
			readColumn(func(r row) *backend.Meta { return &r.Meta }, 5),
		},
	}
}

// agentStates reports whether an agent SDK saved some reference.
func agentStates(c *views.Snapshot) bool {
	for r := range c.State.Refs.All() {
		if r.Agent != nil {
			return true
		}
	}
	return false
}

// agentOf is the part of an agent SDK, empty where another framework saved the reference.
func agentOf(r *backend.Ref) *backend.AgentState {
	if r.Agent == nil {
		return &backend.AgentState{}
	}
	return r.Agent
}

func refLabels(r *backend.Ref) []backend.Field { return agentOf(r).Labels }

// inventoryWord is how the inventory compares, empty where no agent SDK saved the reference.
func inventoryWord(r *backend.Ref, c *views.Snapshot) backend.Safe {
	if r.Agent == nil {
		return backend.Safe{}
	}
	return backend.Clean(string(c.State.MatchOf(r).Result), 40)
}

// labels writes each label as a filter finds it: a=b.
func labels(all []backend.Field) []backend.Safe {
	out := make([]backend.Safe, len(all))
	for i, l := range all {
		out[i] = backend.Textf("%s=%s", l.Name, l.Value)
	}
	return out
}

// ref writes everything that a reference holds.
func (w *writer) ref(r *backend.Ref) {
	w.text("status", r.Status)
	w.text("provider", r.Provider)
	w.text("sandbox id", r.Sandbox.Safe())
	w.at("saved", r.SavedAt, "")
	w.read(&r.Meta)
	_, page, ok := w.urgent(r.Key, func() { w.refFacts(r) })
	if r.Agent != nil {
		w.agentState(r)
	}
	w.doable(r.Key, page, ok)
	w.Head("Joined")
	w.owner(r.Key.Source, r.Key.Parent)
	w.workspaceOf(r.Key.Parent, r.Key.ID)
	w.sandboxesThat(func(b *backend.Sandbox) bool {
		return !r.Sandbox.IsZero() && (b.Key.ID == r.Sandbox || w.f.State.SandboxNamed(r.Sandbox, r.Provider) == b)
	})
	w.history(&r.Meta)
	w.extra("Other fields", r.Extra)
	if !r.Opaque.IsEmpty() {
		w.Head("The provider's own part")
		w.Raw(r.Opaque.String())
	}
	w.raw(&r.Meta)
}

// refFacts writes what a reference holds beyond what it points at.
func (w *writer) refFacts(r *backend.Ref) {
	w.text("namespace", r.Namespace.Safe())
	switch n, known := r.SchemaVersion.Get(); {
	case known:
		w.Field("schema version", normal(kit.Number(n)))
	case !r.SchemaVersion.IsNotApplicable():
		w.Field("schema version", dim("unknown: what it carries is no number"))
	}
	if r.Agent != nil && !r.Agent.Version.IsEmpty() {
		not := ""
		if !backend.RunStateKnown(r.Agent.Version.String()) {
			not = "  not known to Sandglass: what is read of it may be wrong"
		}
		w.Field("run state", normal("version "+r.Agent.Version.String()), dim(not))
	}
	if len(r.Capabilities) > 0 {
		w.text("capabilities", backend.Join(r.Capabilities, ", "))
	}
	w.text("origin", r.Origin)
}

type refKind struct{ base }

func (refKind) details(w *writer, k backend.Key) bool { return write(w, w.f.State.Refs.Get(k), w.ref) }

func (refKind) listing() Listing { return Refs().Listing() }

func (refKind) related(k backend.Key, s *views.Snapshot, add func(backend.Key)) {
	ofSession(s.State, k.Parent, backend.ID{}, "", add)
}
