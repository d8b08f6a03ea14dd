package subjects

import (
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

// Alerts are the lines of the home screen, in the Board's order.
func Alerts() *Set[*alerts.Alert] {
	type row = *alerts.Alert
	return &Set[row]{
		Kind: "alerts",
		Rows: func(_ *fleet.State, b *alerts.Board) iter.Seq[row] { return slices.Values(b.Alerts) },
		Key:  views.AlertKey,
		Text: func(a row) string {
			return a.Rule + " " + a.Cause.String() + " " + a.Variants.Text().String() + " " + a.Source + " " + string(a.Severity) + " " + string(a.State)
		},
		JSON: func(a row, c *views.Snapshot) ([]byte, error) {
			doc := NewAlertJSON(a, c)
			doc.Trim()
			return views.JSON(doc)
		},
		Columns: []Column[row]{
			{Name: "severity", Title: "SEVERITY", Brief: "SEV", Help: "critical, warning or info", Min: 6, Ideal: 10, Priority: 0, Descending: true, Where: WideOnly,
				Cell: func(a row, _ *views.Snapshot) Cell { return SeverityCell(a) },
				Sort: func(a row, _ *views.Snapshot) SortKey { return SortKey{Num: float64(a.Severity.Rank())} }},
			{Name: "sev", Title: "SEV", Help: "the severity in short", Min: 6, Ideal: 6, Priority: 0, Descending: true, Where: NarrowOnly,
				Cell: func(a row, _ *views.Snapshot) Cell { return SeverityCell(a) },
				Sort: func(a row, _ *views.Snapshot) SortKey { return SortKey{Num: float64(a.Severity.Rank())} }},
			{Name: "alert", Title: "ALERT", Help: "the rule", Min: 20, Ideal: 23, Priority: 0,
				Cell: func(a row, _ *views.Snapshot) Cell { return Cell{Text: plain(a.Rule), Tone: quiet(a, theme.Strong)} },
				Sort: func(a row, _ *views.Snapshot) SortKey { return sortText(a.Rule) }},
			{Name: "cause", Title: "CAUSE", Help: "what the findings have in common", Min: briefest, Ideal: 34, Flex: 1, Priority: 0, Where: WideOnly,
				Cell: func(a row, _ *views.Snapshot) Cell { return causeCell(a) },
				Sort: func(a row, _ *views.Snapshot) SortKey { return sortText(a.Cause.String()) }},
			{Name: "whose", Title: "CAUSE", Help: "the cause; under the line of another source with the same one, the source", Min: briefest, Ideal: 22, Flex: 1, Priority: 0, Where: NarrowOnly,
				Cell: whoseCell,
				Sort: func(a row, _ *views.Snapshot) SortKey { return sortText(a.Cause.String()) }},
			slim(wide(sourceColumn(func(a row) string { return a.Source }, 3))),
			{Name: "owner", Title: "OWNER", Help: "who acknowledged it", Min: 6, Ideal: 8, Priority: 6, Where: Reports,
				Cell: func(a row, _ *views.Snapshot) Cell {
					switch {
					case a.Acknowledged != nil:
						return Cell{Text: a.Acknowledged.Owner}
					case a.Lapsed != nil:
						return Cell{Text: backend.Textf("was %s", a.Lapsed.Owner), Tone: theme.Warn}
					}
					return None()
				},
				Sort: func(a row, _ *views.Snapshot) SortKey {
					if a.Acknowledged == nil {
						return SortKey{Unknown: true}
					}
					return sortText(a.Acknowledged.Owner.String())
				}},
			{Name: "runbook", Title: "RUNBOOK", Help: "page of the runbook", Align: Right, Min: 7, Ideal: 7, Priority: 9, Where: Reports,
				Cell: func(a row, _ *views.Snapshot) Cell { return text(plain(a.Runbook), theme.Normal) },
				Sort: func(a row, _ *views.Snapshot) SortKey { return sortText(a.Runbook) }},
			{Name: "subjects", Title: "AFFECTED", Help: "the subject, or how many there are", Align: Right, Descending: true, Min: affectedWidth, Ideal: 24, Priority: 1,
				Cell:    affectedCell,
				Sort:    func(a row, _ *views.Snapshot) SortKey { return SortKey{Num: float64(a.SubjectCount)} },
				Measure: func(a row, _ *views.Snapshot) (float64, bool) { return float64(a.SubjectCount), true }},
			{Name: "state", Title: "STATE", Help: "firing, held (true when last seen), pending or ended", Min: 9, Ideal: 9, Priority: 2, Where: Reports,
				Cell: alertStateCell,
				Sort: func(a row, _ *views.Snapshot) SortKey { return SortKey{Num: float64(stateRank(a.State))} }},
			{Name: "standing", Title: "STATE", Help: "the state, or who has it", Min: 9, Ideal: 9, Priority: 2, Where: WideScreens,
				Cell: standingCell,
				Sort: func(a row, _ *views.Snapshot) SortKey { return SortKey{Num: float64(stateRank(a.State))} }},
			{Name: "since", Title: "SINCE", Help: "how long it has been true, of many subjects for the first one: ≥ 40m at least, ≤ 3h at most", Align: Right, Min: 7, Ideal: 8, Priority: 2, Where: WideOnly,
				Cell: func(a row, c *views.Snapshot) Cell {
					return Cell{Text: plain(Onset(first(a, c), c.Now)), Tone: quiet(a, theme.Normal)}
				},
				Sort:    func(a row, c *views.Snapshot) SortKey { return sortAge(known(began(a)), c.Now) },
				Measure: func(a row, c *views.Snapshot) (float64, bool) { return measured(sortAge(known(began(a)), c.Now)) }},
			{Name: "life", Title: "SINCE", Help: "the state and its age in one word", Align: Right, Min: 9, Ideal: 13, Priority: 0, Where: NarrowOnly,
				Cell: lifeCell,
				Sort: func(a row, c *views.Snapshot) SortKey { return sortAge(known(began(a)), c.Now) }},
			{Name: "inhibited_by", Title: "PART OF", Help: "the alert about the outage that it is a part of: its rule and id", Min: 8, Ideal: 14, Priority: 8, Where: Reports,
				Cell: func(a row, c *views.Snapshot) Cell { return text(partOf(a, c), theme.Dim) },
				Sort: func(a row, _ *views.Snapshot) SortKey { return sortText(a.InhibitedBy) }},
			{Name: "id", Title: "ID", Help: "the alert's short stable id", Min: 8, Ideal: 10, Priority: 9, Where: Extra,
				Cell: func(a row, _ *views.Snapshot) Cell { return text(plain(a.ID), theme.Dim) },
				Sort: func(a row, _ *views.Snapshot) SortKey { return sortText(a.ID) }},
		},
	}
}

// partOf names the alert about the outage that an alert is a part of; its id alone when that is not on the Board.
func partOf(a *alerts.Alert, c *views.Snapshot) backend.Safe {
	if a.InhibitedBy == "" {
		return backend.Safe{}
	}
	for _, x := range c.Board.Alerts {
		if x.ID == a.InhibitedBy {
			return backend.Textf("%s %s", plain(x.Rule), plain(x.ID))
		}
	}
	return plain(a.InhibitedBy)
}

// alertTone is the colour of an alert: its severity while it fires, quieter otherwise.
func alertTone(a *alerts.Alert) theme.Tone {
	if a.State != alerts.StateFiring || a.Silenced != nil {
		switch {
		case a.State == alerts.StateEnded || a.State == alerts.StateResolved || a.Silenced != nil:
			return theme.Dim
		case a.Severity == alerts.SeverityCritical: // not proved yet, and yet not as grey as a note
			return theme.Bad
		}
		return theme.Normal
	}
	switch a.Severity {
	case alerts.SeverityCritical:
		return theme.Critical
	case alerts.SeverityWarning:
		return theme.Warn
	case alerts.SeverityInfo:
	}
	return theme.Normal
}

func quiet(a *alerts.Alert, tone theme.Tone) theme.Tone {
	if alertTone(a) == theme.Dim {
		return theme.Dim
	}
	return tone
}

// SeverityCell is how an alert's severity is shown.
func SeverityCell(a *alerts.Alert) Cell {
	c := Cell{Text: plain(string(a.Severity)), Tone: alertTone(a)}
	switch a.Severity {
	case alerts.SeverityCritical:
		c.Short, c.Mark = a.Severity.Short(), theme.MarkCritical
	case alerts.SeverityWarning:
		c.Short, c.Mark = a.Severity.Short(), theme.MarkWarn
	case alerts.SeverityInfo:
		c.Short = a.Severity.Short()
	}
	switch a.State {
	case alerts.StateHeld:
		c.Mark = theme.MarkHeld
	case alerts.StatePending:
		c.Mark = theme.MarkSuspect
	case alerts.StateEnded, alerts.StateResolved:
		c.Mark = theme.MarkIdle
	case alerts.StateFiring:
	}
	return c
}

// whoseCell is causeCell for a screen without room for a column of sources: a line that follows one of another source with the
// same rule names its source, and not its cause again where that reads the same.
func whoseCell(a *alerts.Alert, c *views.Snapshot) Cell {
	cell := causeCell(a)
	b := c.After(a)
	if b == nil || b.Source == a.Source || a.Source == "" {
		return cell
	}
	if c.Under(a) && shortest(cell) == shortest(causeCell(b)) {
		return Cell{Text: backend.Textf("same cause on %s", plain(a.Source)), Short: backend.Textf("same on %s", plain(a.Source)), Tone: cell.Tone}
	}
	return Cell{Text: backend.Textf("%s, %s", cell.Text, plain(a.Source)), Short: backend.Textf("%s, %s", shortest(cell), plain(a.Source)), Brief: cell.Brief, Tone: cell.Tone}
}

// shortest is the cause of a row in the fewest words.
func shortest(c Cell) backend.Safe {
	if c.Brief.IsEmpty() {
		return c.Short
	}
	return c.Brief
}

// causeCell is an alert's cause: with how much it explains where there is room, and a brief form where there is little.
func causeCell(a *alerts.Alert) Cell {
	c := Cell{Text: a.Cause, Short: plain(BareError(a.Cause.String())), Brief: brief(a.Cause.String()), Tone: quiet(a, errorCell(a.Cause).Tone)}
	words := shortest(c)
	v := a.Variants
	switch {
	case a.Folds > 0:
		c.Brief = backend.Textf("%d held", a.Folds)
		if a.Folded.Severity != "" {
			c.Brief = backend.Textf("%d held, worst %s", a.Folds, a.Folded.Severity.Short())
		}
		c.Text, c.Short = backend.Textf("%s: %s", c.Brief, a.Cause), backend.Textf("%s: %s", c.Brief, words)
	case !v.IsZero():
		c.Brief = backend.Textf("%d variants: %s", v.Count, words)
		c.Text, c.Short = backend.Textf("%s; %s", a.Cause, v.Text()), backend.Textf("%d variants: %s", v.Count, c.Short)
	case a.Inhibits > 0: // said where there is room; the details always list them
		c.Text = backend.Textf("%s (+%d of this outage)", c.Text, a.Inhibits)
	}
	if a.Rule == "possible-leak" && a.Tenants > 1 {
		c.Brief = backend.Textf("shared by %d tenants", a.Tenants)
	}
	if a.Rule == "eviction-storm" && c.Brief.IsEmpty() {
		if _, what, named := strings.Cut(BareError(a.Cause.String()), ": "); named && !strings.Contains(what, "://") { // behind the provider
			c.Brief = plain(what)
		}
	}
	return c
}

// StateWord is the word for an alert's state, as in JSON.
func StateWord(s alerts.AlertState) string { return string(s) }

// silenceEnds is when a silence's end is counted down in the table.
const silenceEnds = 10 * time.Minute

func silencedCell(s *alerts.Silence, now time.Time) Cell {
	if left := s.Until.Sub(now); !s.Until.IsZero() && left < silenceEnds {
		return Cell{Text: plain("silent " + backend.Age(max(left, 0))), Tone: theme.Warn}
	}
	return Cell{Text: backend.Text("silenced"), Tone: theme.Dim}
}

func alertStateCell(a *alerts.Alert, c *views.Snapshot) Cell {
	switch {
	case a.Silenced != nil:
		return silencedCell(a.Silenced, c.Now)
	case a.Flapping && a.State == alerts.StateFiring:
		return Cell{Text: backend.Text("flapping"), Tone: quiet(a, theme.Normal)}
	}
	return Cell{Text: plain(StateWord(a.State)), Tone: quiet(a, theme.Normal)}
}

// standingCell is the state of an alert, or who has it: that is what the others in the call want to know.
func standingCell(a *alerts.Alert, c *views.Snapshot) Cell {
	switch {
	case a.Silenced != nil || a.State == alerts.StateEnded || a.State == alerts.StateResolved:
	case a.Acknowledged != nil:
		return Cell{Text: backend.Textf("ack %s", a.Acknowledged.Owner), Tone: quiet(a, theme.Normal)}
	case a.Lapsed != nil:
		return Cell{Text: backend.Textf("was %s", a.Lapsed.Owner), Tone: theme.Warn}
	}
	return alertStateCell(a, c)
}

func stateRank(s alerts.AlertState) int {
	return slices.Index([]alerts.AlertState{alerts.StateFiring, alerts.StateHeld, alerts.StatePending, alerts.StateEnded,
		alerts.StateResolved}, s)
}

// lifeCell carries what must not be lost on a narrow screen: who has it, or what state it is in and since when.
func lifeCell(a *alerts.Alert, c *views.Snapshot) Cell {
	age := Onset(first(a, c), c.Now)
	tone := quiet(a, theme.Normal)
	switch {
	case a.Silenced != nil:
		return silencedCell(a.Silenced, c.Now)
	case a.Acknowledged != nil:
		return Cell{Text: backend.Textf("ack %s", a.Acknowledged.Owner), Tone: tone}
	case a.State == alerts.StateFiring, a.State == alerts.StatePending: // a pending one has a glyph of its own
		return Cell{Text: plain(age), Tone: tone}
	}
	return Cell{Text: plain(string(a.State) + " " + age), Tone: tone}
}

// began is the likeliest moment at which what the alert says became true.
func began(a *alerts.Alert) time.Time {
	switch {
	case !a.Bounds.Earliest.IsZero():
		return a.Bounds.Earliest
	case !a.Bounds.Latest.IsZero():
		return a.Bounds.Latest
	}
	return a.Since
}

// Onset is how long what an alert says has been true, as in span. A held or ended alert gives the age of that state.
func Onset(a *alerts.Alert, now time.Time) string {
	early, late := a.Bounds.Earliest, a.Bounds.Latest
	if a.State == alerts.StateHeld || a.State == alerts.StateEnded || early.IsZero() && late.IsZero() {
		return backend.Age(now.Sub(a.Since))
	}
	return span(early, late, now)
}

// first is the alert, begun no later than the alerts that it explains, and for the line above those of other sources no later
// than them: a cause is not younger than its effects.
func first(a *alerts.Alert, c *views.Snapshot) *alerts.Alert {
	full := a.Rule == "capacity" // evictions that stand under it are its effect
	top := !c.Under(a)
	if a.Inhibits == 0 && !full && !top {
		return a
	}
	whole := *a
	b := &whole.Bounds
	for _, x := range c.Board.Alerts {
		effect := x.InhibitedBy == a.ID || full && x.Rule == "eviction-storm" && x.Source == a.Source && c.SameOutage(x, a)
		effect = effect || top && a.Fingerprint != "" && sameOutage(a, x) && x.State == a.State
		if late := x.Bounds.Latest; effect && !late.IsZero() && (b.Latest.IsZero() || late.Before(b.Latest)) {
			b.Latest = late
		}
	}
	if !b.Latest.IsZero() && b.Latest.Before(b.Earliest) {
		b.Earliest = time.Time{}
	}
	return &whole
}

// affectedWidth is the least width of the column of subjects, affectedIdeal the one in which most names are whole.
const (
	affectedWidth = 14
	affectedIdeal = 20
)

// affectedCell is the name of an alert's only subject, or how many there are.
func affectedCell(a *alerts.Alert, c *views.Snapshot) Cell {
	switch {
	case a.Rule == "eviction-storm" && len(a.Subjects) > 0 && a.Subjects[0].Key.Kind == backend.KindSource:
		return Cell{Text: backend.Text("not known"), Short: backend.Text("?"), Tone: theme.Dim} // it is counted, not named
	case onlyOne(a):
		name := named(&a.Subjects[0], c)
		return Cell{Text: plain(name), Short: plain(shortName(name, affectedIdeal)), Brief: plain(shortName(name, affectedWidth))}
	}
	return Cell{Text: plain(SubjectCount(a)), Short: plain(kit.Number(a.SubjectCount))}
}

// shortName is a name in at most w cells: its beginning, and as much of its end as tells it apart. Of "session/workspace" the
// session's end goes first.
func shortName(name string, w int) string {
	if kit.Width(name) <= w {
		return name
	}
	if at := strings.LastIndexByte(name, '/'); at > 0 && name[0] != '/' && kit.Width(name[at:]) <= w/2 {
		return kit.Cut(name[:at], w-kit.Width(name[at:])) + name[at:]
	}
	if isUUID(name) { // an agent's SDK names the sandbox of a session by its first digits
		return kit.Cut(name, w)
	}
	tail := strings.TrimPrefix(kit.CutLeft(name, w*3/5+1), "…")
	if at := strings.LastIndexAny(tail, "/-_.:"); at > 0 && at < len(tail)-3 {
		tail = tail[at:]
	}
	return kit.Cut(name, w-kit.Width(tail)) + tail
}

// isUUID reports whether a name has the form of a UUID.
func isUUID(name string) bool {
	if len(name) != 36 {
		return false
	}
	for i, c := range name {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && !strings.ContainsRune("0123456789abcdefABCDEF", c) {
			return false
		}
	}
	return true
}

// SubjectCount is the number of subjects with their kind: "212 workspaces".
func SubjectCount(a *alerts.Alert) string {
	if len(a.Subjects) == 0 {
		return kit.Number(a.SubjectCount)
	}
	if kind := a.Subjects[0].Key.Kind; kind != backend.KindTmpdir {
		return counted(a.SubjectCount, kind)
	}
	return kit.Count(a.SubjectCount, "directory", "directories")
}
