package logs

import (
	"bytes"
	"cmp"
	"maps"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// rejectionRows remembers the rejected commands of the last hour by session, workspace, first word and metacharacter, each
// with its first full line.
type rejectionRows struct {
	rows    map[rejectionName]*rejectionRow
	owners  map[rejectionName]map[string]int // rows with full lines by session, of a workspace and a word
	unowned int                              // rollups whose session nothing tells
	more    int                              // lines beyond maxRejections
}

type rejectionName struct{ session, workspace, word, metachar string }

type rejectionRow struct {
	backend.Rejection
	line  []byte // the first full line, until it is told
	owed  int    // rollups whose count is partly held back
	shown *backend.Rejection
}

func newRejectionRows() *rejectionRows {
	return &rejectionRows{rows: map[rejectionName]*rejectionRow{}, owners: map[rejectionName]map[string]int{}}
}

// nameOf is the row of a line.
func nameOf(r record) rejectionName {
	word, _, _ := bytes.Cut(bytes.TrimSpace(r.command), []byte(" "))
	return rejectionName{session: string(r.session), workspace: string(r.workspace), word: string(word[:min(len(word), maxFieldBytes)]), metachar: metacharOf(r)}
}

// metacharOf is the metacharacter that a guard refused: what the line says, else the first in the command that such a guard
// refuses.
func metacharOf(r record) string {
	if len(r.metachar) > 0 {
		return string(r.metachar[:min(len(r.metachar), 16)])
	}
	set := ""
	switch {
	case bytes.Contains(r.message, []byte("metacharacter")):
		set = ";|&$`<>()\\\n"
	case bytes.Contains(r.message, []byte("glob")), bytes.Contains(r.message, []byte("brace")):
		set = "*?[]{}"
	default:
		return ""
	}
	if i := bytes.IndexAny(r.command, set); i >= 0 {
		return string(r.command[i : i+1])
	}
	return ""
}

// anywhere is a row's workspace and word, of whatever session.
func (n rejectionName) anywhere() rejectionName {
	return rejectionName{workspace: n.workspace, word: n.word}
}

func (x *rejectionRows) row(n rejectionName, at time.Time) *rejectionRow {
	row := x.rows[n]
	if row == nil {
		if len(x.rows) >= maxRejections {
			x.more++
			return nil
		}
		row = &rejectionRow{}
		row.FirstSeen = at
		row.Session, _ = backend.NewID(n.session)
		row.Workspace, _ = backend.NewID(n.workspace)
		x.rows[n] = row
	}
	row.shown = nil
	if at.Before(row.FirstSeen) {
		row.FirstSeen = at
	}
	if at.After(row.LastSeen) {
		row.LastSeen = at
	}
	return row
}

// full counts a line that is written in full, and keeps the first of its row.
func (x *rejectionRows) full(r record, data []byte, at time.Time) {
	n := nameOf(r)
	row := x.row(n, at)
	if row == nil {
		return
	}
	if row.Lines == 0 && n.session != "" && n.word != "" {
		of := x.owners[n.anywhere()]
		if of == nil {
			of = map[string]int{}
			x.owners[n.anywhere()] = of
		}
		of[n.session]++
	}
	row.Lines++
	if row.FirstAt.IsZero() || at.Before(row.FirstAt) {
		row.First, row.FirstAt = backend.Safe{}, at
		row.line = append(row.line[:0], data[:min(len(data), maxSample)]...)
	}
}

// ownerOf is the session of a rollup that names none: the only one whose full lines have its workspace and first word;
// empty where none or several have.
func (x *rejectionRows) ownerOf(r record) string {
	n := nameOf(r)
	if of := x.owners[n.anywhere()]; len(of) == 1 && n.word != "" {
		for session := range of {
			return session
		}
	}
	x.unowned++
	return ""
}

// rolled finds the row of a rollup. A rollup that names no metacharacter belongs to the only row of its session, workspace
// and word.
func (x *rejectionRows) rolled(r record, at time.Time) *rejectionRow {
	n := nameOf(r)
	if n.metachar == "" && x.rows[n] == nil {
		fits := 0
		found := n
		for other := range x.rows {
			if other.session == n.session && other.anywhere() == n.anywhere() {
				fits++
				found = other
			}
		}
		if fits == 1 {
			n = found
		}
	}
	return x.row(n, at)
}

func (row *rejectionRow) add(n float64, lower bool) {
	if row != nil {
		row.Suppressed += n
		row.LowerBound = row.LowerBound || lower
	}
}

// settle adds what was held back while the meaning of suppressedCount was open.
func (row *rejectionRow) settle(o pendingCount) {
	if row != nil {
		row.owed--
		row.shown = nil
		row.add(max(o.n, 0), o.before)
	}
}

func (x *rejectionRows) forget(now time.Time) {
	for n, row := range x.rows {
		if now.Sub(row.LastSeen) <= forgetWord {
			continue
		}
		delete(x.rows, n)
		of := x.owners[n.anywhere()]
		if row.Lines == 0 || of == nil {
			continue
		}
		if of[n.session]--; of[n.session] <= 0 {
			delete(of, n.session)
		}
		if len(of) == 0 {
			delete(x.owners, n.anywhere())
		}
	}
}

// list tells all rows. One that did not change is told by the same pointer as before.
func (x *rejectionRows) list(clean *backend.Cleaner) []*backend.Rejection {
	names := stable.Sorted(maps.Keys(x.rows), func(a, b rejectionName) int {
		return cmp.Or(strings.Compare(a.session, b.session), strings.Compare(a.workspace, b.workspace), strings.Compare(a.word, b.word), strings.Compare(a.metachar, b.metachar))
	})
	var out []*backend.Rejection
	for _, n := range names {
		row := x.rows[n]
		fits := 0
		if n.session == "" && n.word != "" {
			fits = len(x.owners[n.anywhere()])
		}
		if row.shown == nil || row.shown.Fits != fits {
			if row.Word.IsEmpty() {
				row.Word, row.Metacharacter = clean.Clean(n.word, 80), clean.Clean(n.metachar, 16)
			}
			if len(row.line) > 0 {
				row.First, row.line = clean.Clean(string(row.line), backend.MaxTextRunes), nil
			}
			told := row.Rejection
			told.Fits, told.LowerBound = fits, row.LowerBound || row.owed > 0
			row.shown = &told
		}
		out = append(out, row.shown)
	}
	return out
}
