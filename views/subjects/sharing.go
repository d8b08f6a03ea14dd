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

// Sharing are the sandbox ids, namespaces and scratch directories that more than one session or workspace uses, and the ids
// and namespaces that are given explicitly.
func Sharing() *Set[*fleet.SharedStorage] {
	type row = *fleet.SharedStorage
	return &Set[row]{
		Kind: "sharing",
		Rows: func(s *fleet.State, _ *alerts.Board) iter.Seq[row] {
			return func(yield func(row) bool) {
				for _, places := range []iter.Seq[row]{s.Shared(s.HomeOf, true), s.Explicit(s.HomeOf)} {
					for p := range places {
						if !yield(p) {
							return
						}
					}
				}
			}
		},
		Key: views.SharedStorageKey,
		Text: func(p row) string {
			var b strings.Builder
			b.WriteString(p.Home + " " + string(p.What) + " " + p.ID.Safe().String())
			for _, u := range p.Users {
				b.WriteString(" " + u.Session.Safe().String() + " " + u.Workspace.Safe().String())
			}
			return b.String()
		},
		JSON: func(p row, c *views.Snapshot) ([]byte, error) { return views.JSON(newPlaceItem(p, c)) },
		Columns: []Column[row]{
			{Name: "what", Title: "WHAT", Help: "sandbox, namespace or scratch directory", Min: 9, Ideal: 9, Priority: 1,
				Cell: func(p row, _ *views.Snapshot) Cell { return text(plain(string(p.What)), theme.Dim) },
				Sort: func(p row, _ *views.Snapshot) SortKey { return sortText(string(p.What)) }},
			idColumn(Column[row]{Name: "id", Title: "ID", Help: "its id", Min: 12, Ideal: 24, Flex: 1, Priority: 0},
				theme.Strong, func(p row) backend.ID { return p.ID }),
			numColumn(Column[row]{Name: "sessions", Title: "SESSIONS", Help: "sessions that use it", Min: 8, Ideal: 8, Priority: 0},
				func(p row) SortKey { return SortKey{Num: float64(p.Sessions())} },
				func(p row) string { return countOf(p, p.Sessions()) }, nil),
			numColumn(Column[row]{Name: "workspaces", Title: "WORKSPACES", Brief: "WS", Help: "workspaces that use it", Min: 4, Ideal: 10, Priority: 4},
				func(p row) SortKey { return SortKey{Num: float64(len(p.Users))} },
				func(p row) string { return countOf(p, len(p.Users)) }, nil),
			{Name: "tenants", Title: "TENANTS", Help: "whose sessions they are; ? where that is not named", Min: 8, Ideal: 14, Priority: 1,
				Cell: tenantsCell,
				Sort: func(p row, c *views.Snapshot) SortKey {
					names, _ := p.Tenants(c.State)
					return SortKey{Num: float64(len(names))}
				}},
			{Name: "flag", Title: "FLAG", Help: "shareAcrossSessions of its users: set, unset, set for some, not declared; inherited: inheritWorkspaces", Min: 5, Ideal: 12, Priority: 1,
				Cell: flagCell,
				Sort: func(p row, _ *views.Snapshot) SortKey { return sortText(string(p.Flag())) }},
			{Name: "since", Title: "SINCE", Help: "how long two of the sessions have used it at once: since the second of them started", Align: Right,
				Min: 5, Ideal: 5, Priority: 2,
				Cell:    func(p row, c *views.Snapshot) Cell { return ageOf(BothSince(p, c.State), c.Now, theme.Normal) },
				Sort:    func(p row, c *views.Snapshot) SortKey { return sortAge(BothSince(p, c.State), c.Now) },
				Measure: func(p row, c *views.Snapshot) (float64, bool) { return measured(sortAge(BothSince(p, c.State), c.Now)) }},
			{Name: "design", Title: "BY DESIGN", Help: "yes: it is declared; no: nothing declares it, or tenants differ", Min: 9, Ideal: 9, Priority: 1,
				Cell: designCell,
				Sort: func(p row, c *views.Snapshot) SortKey { return sortText(designCell(p, c).Text.String()) }},
			{Name: "why", Title: "WHY", Help: "what speaks for and against design", Min: 16, Ideal: 40, Flex: 3, Priority: 3,
				Cell: func(p row, c *views.Snapshot) Cell {
					return text(backend.Join(WhyShared(p, c.State, c.Now), "; "), theme.Normal)
				},
				Sort: func(p row, c *views.Snapshot) SortKey {
					return sortText(backend.Join(WhyShared(p, c.State, c.Now), "; ").String())
				}},
			{Name: "users", Title: "USED BY", Help: "the first sessions and workspaces that use it", Min: 16, Ideal: 40, Flex: 2, Priority: 6, Where: Extra,
				Cell: func(p row, _ *views.Snapshot) Cell { return text(usersText(p), theme.Normal) },
				Sort: func(p row, _ *views.Snapshot) SortKey { return sortText(usersText(p).String()) }},
			sourceColumn(func(p row) string { return p.Home }, 5),
		},
	}
}

// ByDesign says in one word how a place's sharing is to be taken: as declared, by one session alone, or as neither.
func ByDesign(p *fleet.SharedStorage, st *fleet.State) (yes bool, why backend.Safe) {
	tenants, _ := p.Tenants(st)
	switch {
	case len(tenants) > 1:
		return false, backend.Textf("%d tenants", len(tenants))
	case len(p.Users) == 1:
		return true, backend.Text("one user")
	case p.Sessions() < 2:
		return true, backend.Text("one session")
	case p.Intended():
		return true, backend.Text("declared")
	}
	return false, backend.Text("not declared")
}

// WhyShared says what speaks for and against design.
func WhyShared(p *fleet.SharedStorage, st *fleet.State, now time.Time) []backend.Safe {
	var why []backend.Safe
	if tenants, unknown := p.Tenants(st); len(tenants) > 1 {
		why = append(why, backend.Text("their tenants differ, which no declaration makes right"))
	} else if unknown && p.Sessions() > 1 {
		why = append(why, backend.Text("not all of their tenants are named"))
	}
	inherits, shares := p.Declared()
	if inherits > 0 {
		why = append(why, backend.Text("inheritWorkspaces: children see their parent's files"))
	}
	if shares > 0 {
		all := backend.Text("shareAcrossSessions is declared for some of them only")
		if p.Intended() && inherits == 0 {
			all = backend.Text("shareAcrossSessions is declared for all of them")
		}
		why = append(why, all)
	}
	of, digits := p.AgentNamed()
	switch named := p.NamedSession(); {
	case p.What == fleet.StorageScratch:
		why = append(why, backend.Text("the directory is mounted writable into several sandboxes"))
	case len(p.Users) == 1 && p.What == fleet.StorageNamespace:
		why = append(why, backend.Text("explicit namespace: every session of that declaration would use it"))
	case len(p.Users) == 1 && digits == "":
		why = append(why, backend.Text("explicit id: every session of that declaration would use it"))
	case p.Sessions() < 2:
		why = append(why, backend.Text("workspaces of one session share it"))
	case digits != "" && len(of) != 1:
		why = append(why, backend.Textf("an agent SDK names a sandbox after its session, and %d of these begin with its digits", len(of)))
	case named.IsZero() && !fleet.ExplicitID(p.ID, backend.ID{}):
	case named.IsZero():
		why = append(why, backend.Text("explicit id: every session of that declaration uses it"))
	default:
		why = append(why, backend.Textf("default id of session %s, which another session was given", named.Safe()))
	}
	if n := isolated(p, st, now); n > 0 {
		why = append(why, backend.Textf("the log says that %d of them got a workspace of their own", n))
	}
	return why
}

// isolated counts the users of which a line of the last hour says that they got a workspace of their own.
func isolated(p *fleet.SharedStorage, st *fleet.State, now time.Time) int {
	var said []backend.Series
	for s := range st.Windows.All(backend.MetricNameCollision) {
		if !s.Session.IsZero() && st.HomeOf(s.Source, s.Session) == p.Home && st.Windows.Over(s, now, fleet.WindowSpan).N > 0 {
			said = append(said, s)
		}
	}
	n := 0
	for _, u := range p.Users {
		if slices.ContainsFunc(said, u.Isolated) {
			n++
		}
	}
	return n
}

// BothSince is when the second of the sessions started; not applicable for one session, unknown where the starts are.
func BothSince(p *fleet.SharedStorage, st *fleet.State) backend.Value[time.Time] {
	if p.Sessions() < 2 {
		return backend.NotApplicable[time.Time]()
	}
	if at := p.SecondStart(st, func(s *backend.Session) time.Time { return s.StartedAt.Or(time.Time{}) }); !at.IsZero() {
		return backend.Known(at)
	}
	return backend.Unknown[time.Time]()
}

func flagCell(p *fleet.SharedStorage, _ *views.Snapshot) Cell {
	switch f := p.Flag(); f {
	case fleet.FlagNone:
		return None()
	case fleet.FlagSet, fleet.FlagUnknown:
		return text(plain(string(f)), theme.Normal)
	case fleet.FlagUnset, fleet.FlagPartly, fleet.FlagInherit:
	}
	return text(plain(string(p.Flag())), theme.Warn)
}

func designCell(p *fleet.SharedStorage, c *views.Snapshot) Cell {
	yes, why := ByDesign(p, c.State)
	if yes {
		return Cell{Text: backend.Textf("yes, %s", why), Short: backend.Text("yes"), Tone: theme.Dim}
	}
	return Cell{Text: backend.Textf("no, %s", why), Short: backend.Text("no"), Tone: theme.Warn}
}

func tenantsCell(p *fleet.SharedStorage, c *views.Snapshot) Cell {
	names, unknown := p.Tenants(c.State)
	switch {
	case len(names) == 0:
		return Cell{Text: backend.Text("?"), Tone: theme.Dim}
	case unknown:
		names = append(slices.Clip(names), backend.Text("?"))
	}
	cell := Cell{Text: backend.Join(names, ", "), Tone: theme.Normal}
	if len(names) > 2 || len(names) == 2 && !unknown {
		cell.Tone = theme.Bad
	}
	return cell
}

// usersText names the first users.
func usersText(p *fleet.SharedStorage) backend.Safe {
	const most = 5
	var names []backend.Safe
	for _, u := range p.Users[:min(len(p.Users), most)] {
		names = append(names, UserKey(p, u).Safe())
	}
	if more := len(p.Users) - most; more > 0 {
		names = append(names, backend.Textf("and %d more", more))
	}
	return backend.Join(names, ", ")
}

// UserKey is the key of the workspace, or of the session where no workspace is named, that uses a place.
func UserKey(p *fleet.SharedStorage, u fleet.StorageUser) backend.Key {
	if u.Workspace.IsZero() {
		return backend.Key{Kind: backend.KindSession, Source: p.Home, ID: u.Session}
	}
	return backend.Key{Kind: backend.KindWorkspace, Source: p.Home, Parent: u.Session, ID: u.Workspace}
}

// countOf writes a number of users, or that there are more where the place keeps no more.
func countOf(p *fleet.SharedStorage, n int) string {
	if len(p.Users) >= fleet.MaxStorageUsers {
		return fmt.Sprintf("%d+", n)
	}
	return kit.Number(n)
}

type placeKind struct{ base }

func (placeKind) listing() Listing { return Sharing().Listing() }
