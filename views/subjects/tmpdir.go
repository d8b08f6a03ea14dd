package subjects

import (
	"fmt"
	"iter"
	"strconv"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Tmpdirs are scratch directories on hosts.
func Tmpdirs() *Set[*backend.Tmpdir] {
	type row = *backend.Tmpdir
	return &Set[row]{
		Kind:   "tmpdirs",
		Rows:   func(s *fleet.State, _ *alerts.Board) iter.Seq[row] { return s.Tmpdirs.All() },
		Key:    func(t row) backend.Key { return t.Key },
		ByName: func(a, b row) int { return kit.CompareNames(a.Path.String(), b.Path.String()) },
		Text: func(t row) string {
			return t.Path.String() + " " + t.Owner.String() + " " + t.Key.Parent.Safe().String() + " " + t.Key.Source
		},
		Stale:       func(t row, c *views.Snapshot) bool { return c.Stale(&t.Meta) },
		DefaultSort: "size",
		Columns: []Column[row]{
			{Name: "path", Title: "DIRECTORY", Help: "the directory's path; its last part where there is little room",
				Min: 18, Ideal: 30, Flex: 4, Priority: 0,
				Cell: func(t row, _ *views.Snapshot) Cell { return pathCell(t.Path) },
				Sort: func(t row, _ *views.Snapshot) SortKey { return sortText(t.Path.String()) }},
			{Name: "held", Title: "HELD BY", Help: "processes that use something inside it",
				Min: 9, Ideal: 22, Flex: 2, Priority: 1,
				Cell: func(t row, _ *views.Snapshot) Cell { return holdersCell(t) },
				Sort: func(t row, _ *views.Snapshot) SortKey {
					h, ok := t.Holders.Get()
					return SortKey{Num: float64(len(h)), Unknown: !ok}
				},
				Measure: func(t row, _ *views.Snapshot) (float64, bool) {
					h, ok := t.Holders.Get()
					return float64(len(h)), ok
				}},
			idColumn(Column[row]{Name: "host", Title: "HOST", Help: "the machine it is on", Min: 8, Ideal: 14, Priority: 5},
				theme.Normal, func(t row) backend.ID { return t.Key.Parent }),
			sourceColumn(func(t row) string { return t.Key.Source }, 7),
			textColumn(Column[row]{Name: "owner", Title: "OWNER", Help: "the user that owns it", Min: 6, Ideal: 10, Priority: 6},
				theme.Normal, func(t row) backend.Safe { return t.Owner }),
			textColumn(Column[row]{Name: "mode", Title: "MODE", Help: "its permissions", Min: 10, Ideal: 10, Priority: 8, Where: Extra},
				theme.Dim, func(t row) backend.Safe { return t.Mode }),
			lowerBound(numColumn(Column[row]{Name: "entries", Title: "ENTRIES", Help: "files and directories inside", Min: 8, Ideal: 9, Priority: 4},
				func(t row) SortKey { return sortNum(t.Entries) },
				func(t row) string { return kit.Number(t.Entries.Or(0)) }, nil)),
			lowerBound(numColumn(Column[row]{Name: "size", Title: "SIZE", Help: "allocated bytes", Min: 7, Ideal: 8, Priority: 1},
				func(t row) SortKey { return sortNum(t.Bytes) },
				func(t row) string { return backend.Bytes(t.Bytes.Or(0)) }, nil)),
			ageColumn(Column[row]{Name: "born", Title: "BORN", Help: "time since it was made", Min: 4, Ideal: 5, Priority: 7, Where: WideOnly},
				func(t row) backend.Value[time.Time] { return t.Born }),
			ageColumn(Column[row]{Name: "age", Title: "CHANGED", Brief: "AGE", Help: "age of the newest change anywhere in the tree", Min: 4, Ideal: 7, Priority: 0},
				func(t row) backend.Value[time.Time] { return t.Newest }),
			readColumn(func(t row) *backend.Meta { return &t.Meta }, 3),
		},
	}
}

// lowerBound marks numbers of a walk that stopped at its bound.
//
//go:noinline
func lowerBound(c Column[*backend.Tmpdir]) Column[*backend.Tmpdir] {
	exact := c.Cell
	c.Cell = func(t *backend.Tmpdir, x *views.Snapshot) Cell {
		cell := exact(t, x)
		if t.Cut && cell.Tone != theme.Dim {
			cell.Text = plain("≥" + cell.Text.String())
		}
		return cell
	}
	return c
}

// pathCell keeps the end of a path that does not fit: the beginning is the same for all.
func pathCell(p backend.Safe) Cell {
	c := text(p, theme.Normal)
	if i := strings.LastIndexByte(p.String(), '/'); i > 0 {
		c.Short = plain("…" + p.String()[i:])
	}
	return c
}

func holdersCell(t *backend.Tmpdir) Cell {
	h, ok := t.Holders.Get()
	switch {
	case !ok:
		return Cell{Text: plain(fmt.Sprintf("unknown: %d unreadable", t.Unreadable)), Short: backend.Text("unknown"),
			Tone: theme.Dim, Mark: theme.MarkUnknown}
	case len(h) == 0:
		return Cell{Text: backend.Text("none"), Tone: theme.Normal, Mark: theme.MarkIdle}
	}
	c := Cell{Text: plain(fmt.Sprintf("%s %d", h[0].Command, h[0].PID)), Tone: theme.Normal, Mark: theme.MarkGood}
	if len(h) > 1 {
		c.Text = plain(fmt.Sprintf("%s, %d more", c.Text, len(h)-1))
	}
	c.Short = plain(strconv.Itoa(len(h)) + " held")
	return c
}

func (w *writer) tmpdir(t *backend.Tmpdir) {
	set := Tmpdirs()
	col := func(name string) Cell { return set.Columns[set.Column(name)].Cell(t, w.f.Snapshot) }
	w.Field("path", normal(t.Path.String()))
	w.at("last change", t.Newest, "")
	w.Field("size", normal(col("size").Text.String()+" in "+col("entries").Text.String()+" entries"))
	switch {
	case t.Cut && !t.CutWhy.IsEmpty():
		w.Field("", dim("These are lower bounds: "+t.CutWhy.String()))
	case t.Cut:
		w.Field("", dim("The walk stopped at its bound: these are lower bounds."))
	}
	w.read(&t.Meta)
	_, page, has := w.urgent(t.Key, func() {
		w.at("made", t.Born, "")
		w.text("owner", t.Owner)
		w.text("mode", t.Mode)
	})
	w.Head("Held by")
	holders, ok := t.Holders.Get()
	switch {
	case !ok:
		w.Field("", dim("unknown: "+number(t.Unreadable, "process")+" could not be read"))
	case len(holders) == 0:
		w.tone("", theme.Warn, "none")
	}
	for _, h := range holders {
		w.Field(fmt.Sprint(h.PID), normal(h.Command.String()), dim("  "+h.How.String()))
	}
	if ok && t.Unreadable > 0 {
		w.Field("", dim(number(t.Unreadable, "further process")+" could not be read"))
	}
	w.doable(t.Key, page, has)
	w.Head("Joined")
	n := 0
	for b := range w.f.State.Sandboxes.All() {
		for _, m := range b.Mounts {
			if !m.RawSource.IsZero() && within(m.RawSource.Raw(), t.RawPath.Raw()) {
				n++
				w.to(b.Key)
				w.Field(label(n, "mounted by"), w.sandboxSpans(b)...)
				break
			}
		}
	}
	if n == 0 {
		w.Field("mounted by", dim("no listed sandbox"))
	}
	for h := range w.f.State.Hosts.All() {
		if h.Key.ID == t.Key.Parent {
			w.to(h.Key)
			w.Field("host", normal(h.Name.String()))
		}
	}
	w.alsoJoined(t.Key)
	w.raw(&t.Meta)
}

func within(path, dir string) bool {
	return dir != "" && (path == dir || strings.HasPrefix(path, dir+"/") || strings.HasPrefix(dir, path+"/"))
}

type tmpdirKind struct{ base }

func (tmpdirKind) listing() Listing { return Tmpdirs().Listing() }

func (tmpdirKind) name(k backend.Key, s *views.Snapshot) backend.Safe {
	if t := s.State.Tmpdirs.Get(k); t != nil {
		return t.Path
	}
	if p, ok := s.Board.Past(k); ok {
		return p.Entity.(*backend.Tmpdir).Path
	}
	return k.Safe()
}

func (tmpdirKind) details(w *writer, k backend.Key) bool {
	return write(w, w.f.State.Tmpdirs.Get(k), w.tmpdir)
}

func (tmpdirKind) page(backend.Key, *views.Frame) (incident, why string, trouble bool) {
	return "5", "This page is about scratch directories.", false
}

func (tmpdirKind) related(k backend.Key, s *views.Snapshot, add func(backend.Key)) {
	t := s.State.Tmpdirs.Get(k)
	if t == nil {
		return
	}
	for b := range s.State.Sandboxes.All() {
		if mounts(b, t) {
			add(b.Key)
			ofSession(s.State, b.Session, b.Workspace, "", add)
		}
	}
}

func (tmpdirKind) day() fleet.LineName { return fleet.LineTmpdirs }
