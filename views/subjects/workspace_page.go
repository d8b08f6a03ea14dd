package subjects

import (
	"strconv"
	"time"

	"sandglass/backend"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

func (w *writer) workspace(x *backend.Workspace) {
	cond := ConditionCell(x.Condition(w.f.Now, w.f.State.LongestOperation))
	reported := x.Reported.String()
	if reported == "" {
		reported = "no state"
	}
	w.cell("works", cond, dim("  the registry says "), kit.Span{Tone: theme.Strong, Text: reported})
	if !x.LastError.IsEmpty() {
		w.tone("last error", cond.Tone, x.LastError.String())
	}
	w.at("last attempt", x.LastAttemptAt, "never")
	w.at("last success", x.LastSuccessAt, "never")
	if x.LastOpAt.IsKnown() {
		w.at("last operation", x.LastOpAt, "")
	}
	w.read(&x.Meta)
	w.text("provider", x.Provider)
	w.naming(x.Key)
	w.doable(x.Key)
	w.Head("Joined")
	w.owner(x.Key.Source, x.Key.Parent)
	w.sandboxesOf(func(b *backend.Sandbox) bool { return b.Session == x.Key.Parent && b.Workspace == x.Key.ID })
	w.siblings(x)
	w.facts(x)
	w.history(&x.Meta)
	w.extra("Other fields", x.Extra)
	w.raw(&x.Meta)
}

// owner shows the session that something belongs to.
func (w *writer) owner(source string, id backend.ID) {
	if id.IsZero() {
		w.Field("session", dim("none is named"))
		return
	}
	s := w.f.State.Session(backend.Key{Kind: backend.KindSession, Source: source, ID: id})
	if s == nil { // a sandbox knows its session by name alone; any source may own it
		for x := range w.f.State.Sessions.All() {
			if x.Key.ID == id {
				s = x
				break
			}
		}
	}
	if s == nil {
		w.Field("session", normal(id.Safe().String()), dim("  no source lists it"))
		return
	}
	spans := []kit.Span{normal(id.Safe().String() + "  "), w.state(RunningCell(s))}
	for _, t := range []backend.Safe{s.Status, s.Tenant, s.Versions()} {
		if !t.IsEmpty() && t != RunningCell(s).Text {
			spans = append(spans, dim("  "+t.String()))
		}
	}
	w.to(s.Key)
	w.Field("session", spans...)
}

func (w *writer) sandboxesOf(match func(*backend.Sandbox) bool) {
	n := 0
	for b := range w.f.State.Sandboxes.All() {
		if !match(b) {
			continue
		}
		if n++; n <= 5 {
			w.to(b.Key)
			w.Field(label(n, "sandbox"), w.sandboxSpans(b)...)
		}
	}
	switch {
	case n == 0:
		w.Field("sandbox", dim("none is joined to it"))
	case n > 5:
		w.Field("", dim("and "+kit.Number(n-5)+" more"))
	}
}

func label(n int, s string) string {
	if n == 1 {
		return s
	}
	return ""
}

func (w *writer) sandboxSpans(b *backend.Sandbox) []kit.Span {
	set := Sandboxes()
	name := b.Name.String()
	if name == "" {
		name = b.Key.Safe().String()
	}
	spans := []kit.Span{normal(name + "  "), w.state(set.Columns[set.Column("reported")].Cell(b, w.f.Snapshot))}
	if b.Observed.IsKnown() {
		spans = append(spans, normal("  "), w.state(set.Columns[set.Column("observed")].Cell(b, w.f.Snapshot)))
	}
	return append(spans, dim("  "+b.Key.Source))
}

func (w *writer) siblings(x *backend.Workspace) {
	n, bad := 0, 0
	for o := range w.f.State.Workspaces.Of(backend.KindWorkspace, x.Key.Source, x.Key.Parent) {
		if o.Key == x.Key {
			continue
		}
		n++
		if o.Condition(w.f.Now, w.f.State.LongestOperation) == backend.CondFailing {
			bad++
		}
	}
	if n > 0 {
		w.Field("beside it", normal(kit.Number(n)+" other workspaces of the session, "+kit.Number(bad)+" failing"))
	}
}

func (w *writer) facts(x *backend.Workspace) {
	d := &kit.Doc{}
	head := w.Doc
	w.Doc = d
	w.text("sandbox id", x.ProviderID.Safe())
	w.text("namespace", x.Namespace.Safe())
	w.yes("shared", x.ShareAcrossSessions)
	w.yes("inherited", x.InheritWorkspaces)
	w.yes("destroy on close", x.DestroyOnClose)
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

func (w *writer) yes(label string, v backend.Value[bool]) {
	if b, ok := v.Get(); ok {
		word := "no"
		if b {
			word = "yes"
		}
		w.Field(label, normal(word))
	}
}

func (w *writer) duration(label string, v backend.Value[time.Duration]) {
	d, ok := v.Get()
	if b, err := backend.Duration(d).MarshalText(); ok && err == nil {
		w.Field(label, normal(string(b)))
	}
}

func (w *writer) number(label string, v backend.Value[int]) {
	if n, ok := v.Get(); ok {
		w.Field(label, normal(strconv.Itoa(n)))
	}
}

func (w *writer) session(s *backend.Session) {
	w.cell("running", RunningCell(s))
	w.text("status", s.Status)
	if s.Answer != backend.AnswerNone {
		w.Field("health route", normal(string(s.Answer)))
	}
	w.text("problem", s.AnswerText)
	w.at("started", s.StartedAt, "")
	w.read(&s.Meta)
	w.text("tenant", s.Tenant)
	w.text("runtime", s.Runtime)
	w.running("version", s.Versions(), &s.Meta)
	w.text("branched from", s.BranchedFrom.Safe())
	w.naming(s.Key)
	w.doable(s.Key)
	w.Head("Joined")
	n := 0
	for x := range w.f.State.Workspaces.Of(backend.KindWorkspace, s.Key.Source, s.Key.ID) {
		if n++; n <= 12 {
			w.to(x.Key)
			w.Field(label(n, "workspace"), normal(x.Key.ID.Safe().String()+"  "),
				w.state(ConditionCell(x.Condition(w.f.Now, w.f.State.LongestOperation))), dim("  "+x.LastError.String()))
		}
	}
	if n > 12 {
		w.Field("", dim("and "+kit.Number(n-12)+" more"))
	}
	w.sandboxesOf(func(b *backend.Sandbox) bool { return b.Session == s.Key.ID })
	w.history(&s.Meta)
	w.raw(&s.Meta)
}

// running writes the version or image that a session or sandbox runs, and what else of the kind its source runs.
func (w *writer) running(label string, version backend.Safe, m *backend.Meta) {
	if version.IsEmpty() {
		return
	}
	spans := []kit.Span{normal(version.String())}
	if mixed := Mixed(w.f.State, m.Key.Source, m.Key.Kind); !mixed.IsEmpty() {
		spans = append(spans, kit.Span{Tone: theme.Warn, Text: "  " + mixed.String()})
	}
	w.Field(label, spans...)
}
