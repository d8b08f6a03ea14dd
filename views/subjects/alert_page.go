package subjects

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// AlertPane writes the short form that stands beside or below the list: what is known, since when, what to do next. Where it has
// room, its parts have headings and the first subjects follow.
func AlertPane(a *alerts.Alert, f *views.Frame, subjects int) *kit.Doc {
	w := &writer{Doc: &kit.Doc{}, f: f, headed: subjects > 0}
	w.short(a, "enter shows the subjects")
	if subjects > 0 {
		w.folded(a)
		w.subjects(a, subjects)
	}
	return w.Doc
}

func (w *writer) short(a *alerts.Alert, how string) {
	w.Firm(keepDiagnosis)
	w.headline(a)
	w.Keep(keepHead)
	w.section(headWhat)
	w.cause(a)
	w.whole(a)
	w.since(a)
	w.Field("impact", normal(impact(a, w.f.Snapshot)))
	w.Keep(keepImpact)
	w.orders(a)
	d, asked := w.diagnosed(a)
	waits := a.State == alerts.StatePending && a.Severity == alerts.SeverityInfo
	w.part(headDo, func() {
		switch {
		case waits:
			w.Field("first", kit.Span{Tone: theme.Strong, Text: "Wait: nothing needs you now. It may end by itself."})
			w.KeepSentences(keepDo)
		case d != nil:
			w.firstSteps(d)
		}
		if d := w.answered(); d != nil {
			w.warnings(d)
		}
	})
	w.section(headWhy)
	w.concluded(a, d, asked)
	w.standing(a)
	w.evidence(a, d)
	switch {
	case d == nil:
	case w.page != nil:
		w.quotes(w.page.Question)
		w.examined(d, runbook.Confirmed, runbook.RuledOut, runbook.CannotTell)
	default:
		w.checked(d)
	}
	w.part(headThen, func() {
		if d != nil && !waits {
			w.furtherSteps(d)
		}
		w.next(a, d, asked, how)
	})
}

// alert writes everything.
func (w *writer) alert(a *alerts.Alert) {
	w.short(a, "tab goes through the subjects")
	w.folded(a)
	w.dominoes(a)
	w.variants(a)
	w.subjects(a, len(a.Subjects))
	if d := w.answered(); d != nil && w.f.Printed {
		w.settings(d)
	} else if d != nil && len(d.Knobs) > 0 {
		var names []string
		for _, k := range d.Knobs {
			names = append(names, k.Knob.Name.String())
		}
		w.Blank()
		w.Field("settings", normal(strings.Join(names, ", ")), dim(": R says where they are set and what they cost"))
	}
	w.Head("Identity")
	w.Field("id", normal(a.ID))
	if a.Fingerprint != "" {
		w.Field("fingerprint", dim(a.Fingerprint))
	}
}

// meanings say what the name of a rule does not tell a newcomer.
var meanings = [...][2]string{
	{"audit-saturation", "commands are rejected over and over"},
	{"capability-mismatch", "a configuration error"},
	{"contradiction", "reported well, observed otherwise"},
	{"hammered-and-failing", "each use fails"},
	{"misclassified-transient", "retried in vain"},
	{"reaped-soon", "the platform removes it soon"},
	{"preview-token-expiring", "a private address cannot be opened"},
	{"public-preview", "an address opens without a token"},
	{"sandbox-expiring", "the platform removes it soon"},
	{"registry-not-published", "no route lists its workspaces"},
	{"wont-terminate", "its session is not listed as running"},
}

// meaning is what a rule's name does not tell, as its alert has it: what no platform lists is not reported well.
func meaning(a *alerts.Alert) string {
	how, _, differs := strings.Cut(a.Cause.String(), ", but ")
	if a.Rule == "contradiction" && differs {
		for _, x := range [...][2]string{{"reported well or not at all", "reported well or not at all, observed otherwise"}, {"not reported", "not reported, observed to fail"}} {
			if strings.HasSuffix(how, x[0]) {
				return x[1]
			}
		}
	}
	s, _ := ofRule(meanings[:], a.Rule)
	return s
}

// ofRule is what a table says of a rule.
func ofRule(table [][2]string, rule string) (string, bool) {
	for _, x := range table {
		if x[0] == rule {
			return x[1], true
		}
	}
	return "", false
}

func (w *writer) headline(a *alerts.Alert) {
	c := SeverityCell(a)
	spans := []kit.Span{w.state(c), normal("  "), {Tone: theme.Strong, Text: a.Rule}, normal("  " + StateWord(a.State))}
	if s := meaning(a); s != "" {
		spans = append(spans, dim("  "+s))
	}
	if !a.Confirmed.IsZero() && w.f.Now.Sub(a.Confirmed) >= time.Minute {
		spans = append(spans, dim(", confirmed "+backend.Age(w.f.Now.Sub(a.Confirmed))+" ago"))
	}
	w.Line(spans...)
}

// varies finds what differs between errors of one cause: an address, a path, a time, an id.
var varies = regexp.MustCompile(`://|/\w|\d(ms|s)\b|[0-9a-f]{8}`)

// longPath is a path of which the end tells it from others, and the beginning where it is.
var longPath = regexp.MustCompile(`([ '"])(/[^/ '"]+)/[^ '"]{12,}(/[^/ '"]+)`)

// refusedPath is a path behind an address that refuses connections: it was never asked for.
var refusedPath = regexp.MustCompile(`(connection refused at https?://[^/ ]+)/[^ ]*`)

// answered is what an address answered: the answer says more than the address, which may be long.
var answered = regexp.MustCompile(`^(https?://\S+) (answered .+)$`)

func (w *writer) cause(a *alerts.Alert) {
	if !a.Cause.IsEmpty() {
		text := answered.ReplaceAllString(refusedPath.ReplaceAllString(BareError(a.Cause.String()), "$1"), "$2 ($1)")
		spans := []kit.Span{{Tone: theme.Strong, Text: text}}
		if OfOne(a, w.f.State) {
			if !w.headed { // the subjects have the whole paths
				spans[0].Text = longPath.ReplaceAllString(text, "$1$2/…$3")
			}
			spans = append([]kit.Span{dim("one of " + kit.Number(affected(a, w.f.Snapshot)) + ": ")}, spans...)
		}
		w.Field("cause", spans...)
		w.KeepMiddleCut(keepCause, 3-len(spans)) // what differs needs no second line
		w.tellError(a.Cause)
	}
	if v := a.Variants; !v.IsZero() {
		w.Field("errors", normal(v.Text().String()))
		w.KeepMiddleCut(keepFact, 1)
	}
}

// variants lists all variants of the cause that the short form does not name.
func (w *writer) variants(a *alerts.Alert) {
	if len(a.Variants.List) <= alerts.ShownVariants {
		return
	}
	w.Head("Variants of the cause")
	for _, v := range a.Variants.List {
		w.Line(normal("  "+v.Text(true).String()), dim("  "+kit.Number(v.Subjects)))
	}
	if rest := a.Variants.Count - len(a.Variants.List); rest > 0 {
		w.Line(dim("  and " + kit.Number(rest) + " more"))
	}
}

// life says the state of an alert and for how long it has had it.
func life(a *alerts.Alert, now time.Time) string {
	age := backend.Age(now.Sub(a.Since))
	s := StateWord(a.State) + " for " + age
	if late := a.Bounds.Latest; a.State == alerts.StateFiring && !late.IsZero() && a.Since.Sub(late) >= time.Minute {
		s = StateWord(a.State) + "; Sandglass has seen it for " + age
	}
	if a.State == alerts.StateFiring && !a.Active.IsZero() && a.Since.Sub(a.Active) >= time.Second {
		s += ", pending " + backend.Age(a.Since.Sub(a.Active)) + " before"
	}
	return s
}

func (w *writer) standing(a *alerts.Alert) {
	if w.headed || a.State == alerts.StateHeld {
		w.Field("state", normal(life(a, w.f.Now)))
	}
	if name := "why"; !a.Why.IsEmpty() {
		switch a.State {
		case alerts.StatePending:
			name = "decides"
		case alerts.StateHeld:
			name = "held because"
		case alerts.StateFiring, alerts.StateEnded, alerts.StateResolved:
		}
		w.Field(name, normal(a.Why.String()))
		w.Keep(keepFact)
	}
}

func (w *writer) evidence(a *alerts.Alert, d *runbook.Diagnosis) {
	n, from, said := 0, "", []string{a.Cause.String(), scope(a, w.f.Snapshot)}
	if d != nil {
		said = append(said, w.conclusion(d))
	}
	for _, e := range a.Evidence {
		text := e.Text.String()
		if strings.HasPrefix(text, SubjectCount(a)+" with this cause") {
			continue // that is the scope
		}
		if !saysMore(strings.TrimPrefix(text, SubjectCount(a)+": "), said...) && len(e.Trend) < 2 {
			continue
		}
		if strings.HasPrefix(text, "lastError: ") && w.news(text) != text {
			continue // the cause says it
		}
		spans := []kit.Span{normal(text)}
		if e.Source != "" && e.Source != a.Source && e.Source != from && !backend.HoldsWord(text, e.Source) {
			spans = append(spans, dim(", from "+e.Source))
		}
		from = e.Source
		if a.State == alerts.StateHeld && e.Value.IsKnown() && !e.At.IsZero() { // of then, not of now
			spans = append(spans, kit.Span{Tone: theme.Warn, Text: "  measured " + backend.Age(w.f.Now.Sub(e.At)) + " ago"})
		}
		if len(e.Trend) > 1 {
			spans = append(spans, kit.Span{Tone: theme.Accent, Text: "  " + kit.Sparkline(w.f.Theme, e.Trend, 40)}, dim("  "+backend.Age(e.TrendSpan)))
		}
		n++
		w.Field(label(n, "evidence"), spans...)
		if n <= mostKept {
			w.Keep(keepEvidence)
		}
	}
	if len(a.Trend) > 1 {
		w.Field("trend", kit.Span{Tone: theme.Accent, Text: kit.Sparkline(w.f.Theme, a.Trend, 40)},
			dim("  last "+backend.Age(a.TrendSpan)))
	}
	if l, ok := lineOf(a, w.f.State); ok {
		day(w.Doc, "day", l, w.f)
	}
}

// whole writes the scope.
func (w *writer) whole(a *alerts.Alert) {
	source := len(a.Subjects) == 1 && a.Subjects[0].Key.Kind == backend.KindSource
	spans := []kit.Span{normal(scope(a, w.f.Snapshot) + extent(a, w.f.Snapshot) + others(a, w.f.Snapshot) + unevaluated(a, w.f.Snapshot))}
	if name := localhost(w.f.State.Source(a.Source)); source && name != "" {
		spans = append(spans, normal("; "+name+" is the machine of Sandglass"))
	}
	if text := a.Direction.Text(); !text.IsEmpty() {
		spans = append(spans, kit.Span{Tone: theme.Warn, Text: ", " + text.String()})
	}
	w.Field("scope", spans...)
	w.Keep(keepScope)
	if a.Folds > 0 {
		w.Field("held", normal(number(a.Folds, "alert")+": not known if they still hold"))
		w.Keep(keepFact)
	}
	if a.Inhibits > 0 {
		w.Field("explains", normal(number(a.Inhibits, "alert")+w.explained(a)))
		w.Keep(keepFact)
	}
	if text, mixed := Versions(w.f.State, a.Source); mixed && a.Source != "" {
		w.Field("runs", kit.Span{Tone: theme.Warn, Text: text.String()})
	}
}

// mostRules is how many rules of explained alerts are named.
const mostRules = 3

// explained names the rules of the alerts that one explains, empty where the Board does not list them.
func (w *writer) explained(a *alerts.Alert) string {
	var rules []string
	for _, x := range w.f.Board.Alerts {
		if x.InhibitedBy == a.ID && len(rules) < mostRules && !slices.Contains(rules, x.Rule) {
			rules = append(rules, x.Rule)
		}
	}
	if len(rules) == 0 {
		return ""
	}
	return ": " + strings.Join(rules, ", ")
}

// number writes a count with its noun.
func number(n int, noun string) string {
	return kit.Count(n, noun, backend.Plural(noun))
}

// orders says who has acknowledged or silenced the alert.
func (w *writer) orders(a *alerts.Alert) {
	if x := a.Acknowledged; x != nil {
		w.Field("ack by", normal(x.Owner.String()), dim(until(x.Until, w.f.Now)+"  "+x.Reason.String()))
		w.Keep(keepFact)
	}
	if x := a.Lapsed; x != nil {
		w.Field("was ack by", normal(x.Owner.String()), kit.Span{Tone: theme.Warn, Text: ", not any more: " + x.Why.String()})
		w.Keep(keepFact)
	}
	if x := a.Silenced; x != nil {
		w.Field("silenced by", normal(x.Owner.String()), dim(until(x.Until, w.f.Now)+"  "+x.Reason.String()))
		w.Keep(keepFact)
	}
}

func until(t, now time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ", " + backend.Age(t.Sub(now)) + " left"
}

// next is what can be done from here, and what to read first. It says nothing that the alert's evidence does not carry.
func (w *writer) next(a *alerts.Alert, d *runbook.Diagnosis, advised bool, how string) {
	live := a.State == alerts.StateFiring || a.State == alerts.StatePending
	if w.headed && live {
		w.offers(subjectsOf(a), d)
	}
	sources := "9 Sources"
	if w.f.Printed {
		sources, how = w.f.Pasted("sandglass get sources"), ""
	}
	step := how
	if len(a.Subjects) > 0 && a.Subjects[0].Key.Kind == backend.KindSource {
		step = both(sources+" says what it answers and when it is tried next", how)
	}
	switch a.State {
	case alerts.StateHeld:
		step = "see " + sources + ": it is not known whether this still holds"
	case alerts.StateEnded, alerts.StateResolved:
		step = "nothing: its subjects are no more"
	case alerts.StatePending:
		if step = how; !advised {
			step = both("wait for what decides", how)
		}
	case alerts.StateFiring:
	}
	if a.State == alerts.StateFiring && w.hasPage(a) {
		w.reading(a.Runbook, step)
	} else if step != "" {
		w.Field("next", normal(step))
	}
	if !advised {
		w.Keep(keepNext) // an alert with a diagnosis says what to do above
	}
}

// both joins two steps, either of which may be empty.
func both(first, then string) string {
	if first == "" || then == "" {
		return first + then
	}
	return first + "; " + then
}

func (w *writer) folded(a *alerts.Alert) {
	w.behind("Alerts held under it", a.Folds, func(x *alerts.Alert) bool { return x.FoldedUnder == a.ID })
	w.behind("Alerts of the same outage", a.Inhibits, func(x *alerts.Alert) bool { return x.InhibitedBy == a.ID })
}

// mostBehind is how many alerts are listed that stand behind another.
const mostBehind = 200

// behind lists n alerts, or as many of them as there is a list of.
func (w *writer) behind(title string, n int, is func(*alerts.Alert) bool) {
	if n == 0 {
		return
	}
	w.Head(title)
	var list []*alerts.Alert
	for _, x := range w.f.Board.Alerts {
		if is(x) && len(list) < mostBehind {
			list = append(list, x)
		}
	}
	w.alerts(list, n, func(*alerts.Alert) string { return "" })
}

// alerts lists the first of n alerts in columns, each with a word of its own before its cause.
func (w *writer) alerts(list []*alerts.Alert, n int, word func(*alerts.Alert) string) {
	severity, rule, subjects, own := column{}, column{}, column{}, column{}
	for _, x := range list {
		severity.fit(SeverityCell(x).Text.String())
		rule.fit(x.Rule)
		subjects.fit(SubjectCount(x))
		own.fit(word(x))
	}
	for _, x := range list {
		cause := BareError(x.Cause.String())
		if short := brief(x.Cause.String()); !w.f.Printed && !short.IsEmpty() {
			cause = short.String()
		}
		c := SeverityCell(x)
		gap := severity.gap(c.Text.String())
		w.to(views.AlertKey(x))
		w.Line(w.state(c), kit.Span{Tone: theme.Strong, Text: gap + rule.text(x.Rule)}, normal(subjects.right(SubjectCount(x))),
			dim(own.text(word(x))+cause))
	}
	if rest := n - len(list); rest > 0 {
		w.Line(dim("  and " + kit.Number(rest) + " more"))
	}
}

func (w *writer) subjects(a *alerts.Alert, most int) {
	if len(a.Subjects) == 0 {
		return
	}
	w.Head("Subjects, with their state and how long it was seen")
	shown := a.Subjects[:min(most, len(a.Subjects))]
	name, state := column{}, column{}
	for i := range shown {
		name.fit(named(&shown[i], w.f.Snapshot))
		state.fit(w.aged(shown[i].State, shown[i].Since))
	}
	for i := range shown {
		s := &shown[i]
		w.to(s.Key)
		w.Line(normal("  "+name.text(named(s, w.f.Snapshot))), dim(state.text(w.aged(s.State, s.Since))), normal(w.news(s.Detail.String())))
	}
	if rest := a.SubjectCount + a.Pending - len(shown); rest > 0 {
		w.Line(dim("  and " + kit.Number(rest) + " more"))
	}
}

// named is what a subject is called: its name, or its id.
func named(s *alerts.Subject, c *views.Snapshot) string { return NameOf(s.Key, c).String() }

// aged is a state and how long it has held, in one word each.
func (w *writer) aged(state alerts.AlertState, since time.Time) string {
	return StateWord(state) + " " + backend.Age(w.f.Now.Sub(since))
}

type alertKind struct{ base }

func (alertKind) listing() Listing { return Alerts().Listing() }

func (alertKind) title(k backend.Key, f *views.Frame) string {
	if a := views.FindAlert(f.Board, k); a != nil {
		return "alert " + a.Rule
	}
	return pastTitle(k, f.Snapshot)
}

func (alertKind) details(w *writer, k backend.Key) bool {
	return write(w, views.FindAlert(w.f.Board, k), w.alert)
}

// GoneAlert says what became of an alert whose line left the table while the cursor was on it.
func GoneAlert(f *views.Frame, a *alerts.Alert, at time.Time) *kit.Doc {
	w := &writer{Doc: &kit.Doc{}, f: f}
	ago := backend.Age(f.Now.Sub(at)) + " ago"
	now := views.FindAlert(f.Board, views.AlertKey(a))
	switch {
	case now == nil && a.State == alerts.StateEnded:
		w.Line(dim(f.Theme.Mark(theme.MarkIdle) + " ended " + ago + "  " + a.Rule))
	case now == nil:
		w.Line(dim(f.Theme.Mark(theme.MarkIdle) + " resolved " + ago + "  " + a.Rule))
	case now.Hidden():
		w.Line(dim(a.Rule + " is counted by another alert since " + ago))
	default:
		w.Line(dim(a.Rule + " is hidden by the filter"))
	}
	w.Field("cause", dim(a.Cause.String()))
	w.Field("scope", dim(scope(a, w.f.Snapshot)))
	return w.Doc
}
