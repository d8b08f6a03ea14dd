package subjects

import (
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/internal/stable"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// RejectionPane describes a row beside or below the table.
func RejectionPane(r views.Rejection, f *views.Frame) *kit.Doc {
	w := &writer{Doc: &kit.Doc{}, f: f}
	w.rejectionFacts(&r)
	w.keptLines(&r)
	return w.Doc
}

// rejection writes everything about rejected commands that count as one row.
func (w *writer) rejection(r *views.Rejection) {
	w.rejectionFacts(r)
	w.rejectedBy(r)
	w.keptLines(r)
	w.rejectedToo(r)
	w.Blank()
	l := fleet.Line{Source: r.Key.Source, Name: fleet.LineName(backend.MetricRejections)}
	w.Plot(plotHeight, func(cells int) *kit.Plot {
		n := chartParts(fleet.DaySpan, cells)
		return &kit.Plot{Title: []kit.Span{{Tone: theme.Strong, Text: "rejected commands a second, all of " + r.Key.Source}, dim("  24h, " + countedIn(l, w.f, fleet.DaySpan))},
			Values: perSecond(w.f.State.Day.Parts(l, w.f.Now, fleet.DaySpan, n), fleet.DaySpan), Scale: axisRate, From: "24h ago", Mid: "12h ago"}
	})
}

func (w *writer) rejectionFacts(r *views.Rejection) {
	word := "the lines name no command"
	if !r.Word.IsEmpty() {
		word = r.Word.String()
	}
	spans := []kit.Span{{Tone: theme.Strong, Text: word}}
	if !r.Metacharacter.IsEmpty() {
		spans = append(spans, normal("  the guard refused "+r.Metacharacter.String()))
	}
	w.Field("command", spans...)
	more := ""
	if r.LowerBound {
		more = " or more"
	}
	w.Field("rejected", normal(kit.Number(int64(r.Lines+r.Suppressed))+more+" times, "+kit.Rate(r.Rate())+"/s"),
		dim("  "+kit.Number(int64(r.Lines))+" in full, "+kit.Number(int64(r.Suppressed))+" in rollups ("+kit.Percent(r.RollupShare())+")"))
	w.Field("seen", normal(backend.Age(w.f.Now.Sub(r.FirstSeen))+" ago until "+backend.Age(w.f.Now.Sub(r.LastSeen))+" ago"),
		dim("  "+Clock(r.FirstSeen, w.f.Now)+" to "+Clock(r.LastSeen, w.f.Now)))
	if r.Distinct > 0 {
		w.Field("words", normal(kit.Count(r.Distinct, "first word", "different first words")), dim("  of this session and workspace in the last hour"))
	}
}

// rejectedBy leads to whose commands they are.
func (w *writer) rejectedBy(r *views.Rejection) {
	home := w.f.State.HomeOf(r.Key.Source, r.Session)
	switch {
	case !r.Session.IsZero():
		k := backend.Key{Kind: backend.KindSession, Source: home, ID: r.Session}
		w.to(k)
		w.Field("session", normal(r.Session.Safe().String()))
	case r.Fits > 1:
		w.Field("session", dim("not named; "+kit.Number(r.Fits)+" sessions have such lines"))
	default:
		w.Field("session", dim("not named"))
	}
	if !r.Workspace.IsZero() {
		w.to(backend.Key{Kind: backend.KindWorkspace, Source: home, Parent: r.Session, ID: r.Workspace})
		w.Field("workspace", normal(r.Workspace.Safe().String()))
	}
	if h := w.f.State.Source(r.Key.Source); h != nil {
		w.to(h.Key)
		w.cell("source", StatusCell(h.Status), normal("  "+h.Key.Source), dim(lastRead(h, w.f)))
	}
	if !r.Session.IsZero() {
		w.urgent(backend.Key{Kind: backend.KindSession, Source: home, ID: r.Session}, nil)
	}
}

// keptLines are the lines that are kept in full: the first one and the newest one.
func (w *writer) keptLines(r *views.Rejection) {
	if r.First.IsEmpty() {
		w.Head("The first line")
		w.Line(dim(firstLine(*r, w.f.Snapshot).Text.String()))
	} else {
		w.Head("The first line, " + Clock(r.FirstAt, w.f.Now) + " (" + backend.Age(w.f.Now.Sub(r.FirstAt)) + " ago)")
		w.Raw(r.First.String())
	}
	s := backend.Series{Source: r.Key.Source, Name: backend.MetricRejections, Session: r.Session, Workspace: r.Workspace}
	in := w.f.State.Windows.Over(s, w.f.Now, time.Hour)
	if in.Sample.IsEmpty() || in.Sample == r.First {
		return
	}
	w.Head("The newest line of this session and workspace, " + backend.Age(w.f.Now.Sub(in.Last)) + " ago")
	w.Raw(in.Sample.String())
}

// mostRejectedToo is how many other rows of a session are listed.
const mostRejectedToo = 10

// rejectedToo lists what else of the same session was rejected, the most first.
func (w *writer) rejectedToo(r *views.Rejection) {
	if r.Session.IsZero() {
		return
	}
	var others []views.Rejection
	for x := range views.RejectionRows(w.f.State) {
		if x.Session == r.Session && x.Key != r.Key {
			others = append(others, x)
		}
	}
	stable.Sort(others, func(a, b views.Rejection) int { return int(b.Lines + b.Suppressed - a.Lines - a.Suppressed) })
	w.Under("Also rejected of this session", func() {
		for i, x := range others {
			if i == mostRejectedToo {
				w.Line(dim("and " + kit.Number(len(others)-i) + " more"))
				return
			}
			w.to(x.Key)
			w.Line(kit.Span{Tone: theme.Strong, Text: x.Word.String()}, normal("  "+x.Metacharacter.String()),
				normal("  "+kit.Number(int64(x.Lines+x.Suppressed))+" times"), dim("  last "+backend.Age(w.f.Now.Sub(x.LastSeen))+" ago"))
		}
	})
}
