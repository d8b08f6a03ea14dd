package text

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/views/subjects"
	"sandglass/views/theme"
)

// shownSubjects is how many subjects the text form lists per alert.
const shownSubjects = 5

// WriteCheck prints the document for people: the verdict first, then the alerts, the worst first, then the sources.
// On a terminal the words that say how bad it is are coloured.
func WriteCheck(w io.Writer, c *Check, o TableOptions) error {
	var b strings.Builder
	stand, behind := folded(c.Alerts)
	fmt.Fprintf(&b, "%s: %s\n", verdict(c.ExitCode), headline(c, stand, behind))
	whole, brief := parted(stand)
	for _, a := range whole {
		writeAlert(&b, a, c)
		writeExplained(&b, behind[a.ID])
	}
	c.writeBrief(&b, brief, behind)
	c.writeSources(&b)
	_, err := io.WriteString(w, o.coloured(b.String()))
	return err
}

// pasted gives the commands of our own text the flags of this run.
func (c *Check) pasted(text string) string {
	if c.snapshot == nil {
		return text
	}
	return c.snapshot.Pasted(text)
}

// Of more alerts than fewAlerts, the text form details the worst wholeAlerts.
const (
	fewAlerts   = 8
	wholeAlerts = 3
)

// parted chooses the alerts that are detailed: the first that are neither silenced nor acknowledged. The rest keep their order.
func parted(stand []subjects.AlertJSON) (whole, brief []subjects.AlertJSON) {
	if len(stand) <= fewAlerts {
		return stand, nil
	}
	for _, a := range stand {
		if len(whole) < wholeAlerts && a.Silenced == nil && a.Acknowledged == nil {
			whole = append(whole, a)
		} else {
			brief = append(brief, a)
		}
	}
	return whole, brief
}

// Advise adds to the text form what the runbook says of the alerts that it details; answer may return nil.
func (c *Check) Advise(answer func(alert string) *runbook.Diagnosis) {
	stand, _ := folded(c.Alerts)
	whole, _ := parted(stand)
	c.advice = map[string]*runbook.Diagnosis{}
	for _, a := range whole {
		c.advice[a.ID] = answer(a.ID)
	}
}

// writeAdvice says why an alert fires, what to do first and what not to do.
func writeAdvice(b *strings.Builder, d *runbook.Diagnosis) {
	if d == nil {
		return
	}
	fmt.Fprintf(b, "  diagnosis: %s\n", d.Conclusion)
	for i, step := range d.Steps() {
		fmt.Fprintf(b, "  %s: %s\n", [...]string{"first", "then"}[min(i, 1)], step)
	}
	if len(d.Dont) > 0 {
		fmt.Fprintf(b, "  don't: %s\n", strings.TrimPrefix(d.Dont[0].String(), "Don't "))
	}
}

// writeBrief gives each alert one line.
func (c *Check) writeBrief(b *strings.Builder, list []subjects.AlertJSON, behind map[string][]subjects.AlertJSON) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s, one line each. %s\n", plural(len(list), "more alert"),
		c.pasted("sandglass why ID shows one in full; sandglass check -o json shows all."))
	for _, a := range list {
		writeHead(b, a, c.Time.Time, c.subjectName(a))
		if a.Acknowledged != nil {
			b.WriteString(", acknowledged")
		}
		if a.Silenced != nil {
			b.WriteString(", silenced")
		}
		if n := len(behind[a.ID]); n > 0 {
			fmt.Fprintf(b, ", explains %d more", n)
		}
		if !a.Cause.IsEmpty() {
			fmt.Fprintf(b, ": %s", a.Cause)
		}
		b.WriteByte('\n')
	}
}

// tones are the colours of the words that lines of a verdict begin with.
var tones = map[string]theme.Tone{"OK": theme.Good, "WARNING": theme.Warn, "CRITICAL": theme.Bad, "UNKNOWN": theme.Warn, "critical": theme.Bad, "warning": theme.Warn,
	"info": theme.Dim, "ok": theme.Good, "degraded": theme.Warn, "down": theme.Bad, "absent": theme.Dim, "starting": theme.Dim}

// coloured colours the word that a line begins with, where it says how bad something is.
func (o TableOptions) coloured(s string) string {
	if !o.Colour || o.Theme == nil {
		return s
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		text := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(text)]
		end := strings.IndexAny(text, " :\n")
		tone, known := tones[text[:max(end, 0)]]
		if known && (indent == "" || indent == "  ") {
			line = indent + o.open(tone) + text[:end] + theme.Reset + text[end:]
		}
		b.WriteString(line)
	}
	return b.String()
}

// folded parts the alerts that have lines of their own from those that an outage among these explains, by its id. What
// counts towards the exit code never stands behind an outage that is silenced.
func folded(all []subjects.AlertJSON) (stand []subjects.AlertJSON, behind map[string][]subjects.AlertJSON) {
	outages := map[string]*subjects.AlertJSON{}
	for i := range all {
		if a := &all[i]; a.InhibitedBy == "" {
			outages[a.ID] = a
			for _, id := range a.Joined {
				outages[id] = a
			}
		}
	}
	behind = map[string][]subjects.AlertJSON{}
	for _, a := range all {
		if o := outages[a.InhibitedBy]; o != nil && (o.Silenced == nil || a.Silenced != nil) {
			behind[o.ID] = append(behind[o.ID], a)
		} else {
			stand = append(stand, a)
		}
	}
	return stand, behind
}

// writeExplained says which alerts stand behind the outage above.
func writeExplained(b *strings.Builder, behind []subjects.AlertJSON) {
	if len(behind) == 0 {
		return
	}
	counts := map[string]int{}
	for _, a := range behind {
		counts[a.Rule]++
	}
	var parts []string
	for _, rule := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, fmt.Sprintf("%d %s", counts[rule], rule))
	}
	fmt.Fprintf(b, "  explains %s, which -o json lists: %s\n", plural(len(behind), "more alert"), strings.Join(parts, ", "))
}

func verdict(code int) string {
	switch code {
	case alerts.ExitOK:
		return "OK"
	case alerts.ExitWarning:
		return "WARNING"
	case alerts.ExitCritical:
		return "CRITICAL"
	}
	return "UNKNOWN"
}

// headline says in one line what is wrong, by the alerts that stand by themselves, and how much of the fleet was seen.
func headline(c *Check, stand []subjects.AlertJSON, behind map[string][]subjects.AlertJSON) string {
	counts := map[alerts.AlertState]int{}
	silenced, explained := 0, 0
	var outages []string
	for _, a := range stand {
		if counts[a.State]++; a.Silenced != nil {
			silenced++
		}
		if n := len(behind[a.ID]); n > 0 {
			explained += n
			outages = append(outages, a.Rule)
		}
	}
	var parts []string
	for _, s := range []struct {
		state alerts.AlertState
		word  string
	}{{alerts.StateFiring, "firing"}, {alerts.StateHeld, "held"}, {alerts.StatePending, "pending"}, {alerts.StateEnded, "ended"}} {
		if n := counts[s.state]; n > 0 {
			parts = append(parts, plural(n, "alert")+" "+s.word)
		}
	}
	if silenced > 0 {
		parts = append(parts, fmt.Sprintf("%d of them silenced", silenced))
	}
	if explained > 0 {
		slices.Sort(outages)
		parts = append(parts, fmt.Sprintf("%d more explained by %s", explained, strings.Join(slices.Compact(outages), ", ")))
	}
	unsure := unread(c)
	switch {
	case c.ExitCode != alerts.ExitUnknown && len(parts) == 0:
		parts = append(parts, "no alert fires")
	case c.ExitCode == alerts.ExitUnknown && len(parts) == 0:
		parts = append(parts, "no alert fires, but "+unsure)
	case c.ExitCode == alerts.ExitUnknown:
		parts = append(parts, unsure)
	}
	ok, undated := 0, 0
	for _, s := range c.Sources {
		if !s.Undated.IsEmpty() {
			undated++
		}
		if s.Status == "ok" {
			ok++
		}
	}
	seen := c.seen()
	if c.unwatched > 0 && !c.framework {
		seen += fmt.Sprintf(", %d more not watched (all_containers = true watches them)", c.unwatched)
	}
	if seen != "" {
		seen += ", "
	}
	tail := fmt.Sprintf("; %s%d of %s ok", seen, ok, plural(len(c.Sources), "source"))
	if undated > 0 {
		tail += fmt.Sprintf(", %s with log lines that could not be dated", plural(undated, "source"))
	}
	if c.unevaluated > 0 {
		tail += fmt.Sprintf(", %s not evaluated on some source", plural(c.unevaluated, "rule"))
	}
	return strings.Join(parts, ", ") + tail
}

// mostUnread is how many sources the verdict names.
const mostUnread = 3

// unread names the sources that are down or degraded: what they do not tell is unknown.
func unread(c *Check) string {
	var of []string
	for _, x := range c.snapshot.Board.Unread(c.snapshot.State) {
		of = append(of, x.String())
	}
	if more := len(of) - mostUnread; more > 0 {
		of = append(of[:mostUnread], fmt.Sprintf("%d more", more))
	}
	return strings.Join(of, ", ")
}

// plural writes a number with its noun.
func plural(n int, noun string) string {
	return backend.Counted(n, noun, backend.Plural(noun))
}

// writeHead begins an alert's first line.
func writeHead(b *strings.Builder, a subjects.AlertJSON, now time.Time, about string) {
	fmt.Fprintf(b, "%s %s on %s, %s", a.Severity, a.Rule, a.Source, a.State)
	if held := now.Sub(a.Since.Time); held >= time.Second {
		fmt.Fprintf(b, " for %s", backend.Age(held))
	}
	fmt.Fprintf(b, ", %s", about)
	if milder := a.Milder.Text(); milder != "" {
		fmt.Fprintf(b, " (%s)", milder)
	}
	if a.Runbook != nil {
		fmt.Fprintf(b, ", runbook %s", *a.Runbook)
	}
	fmt.Fprintf(b, ", alert %s", a.ID)
}

// ofOne begins a cause whose text is that of one of the alert's subjects.
func (c *Check) ofOne(id string) string {
	if c.snapshot == nil {
		return ""
	}
	for _, x := range c.snapshot.Board.Alerts {
		if x.ID == id && subjects.OfOne(x, c.snapshot.State) {
			return fmt.Sprintf("one of %d: ", x.SubjectCount)
		}
	}
	return ""
}

func writeAlert(b *strings.Builder, a subjects.AlertJSON, c *Check) {
	now := c.Time.Time
	b.WriteByte('\n')
	writeHead(b, a, now, subjectCount(a))
	b.WriteByte('\n')
	if !a.Cause.IsEmpty() {
		fmt.Fprintf(b, "  cause: %s%s\n", c.ofOne(a.ID), a.Cause)
	}
	if a.Variants != nil {
		fmt.Fprintf(b, "  %s\n", a.Variants.Text)
	}
	writeBounds(b, a.SinceBounds, now)
	if c.snapshot != nil {
		for _, x := range c.snapshot.Board.Alerts {
			if x.ID == a.ID {
				fmt.Fprintf(b, "  impact: %s\n", subjects.Impact(x, c.snapshot))
			}
		}
	}
	writeWhy(b, a, now)
	writeAdvice(b, c.advice[a.ID])
	if k := a.Acknowledged; k != nil {
		fmt.Fprintf(b, "  acknowledged by %s: %s\n", k.Owner, k.Reason)
	}
	if s := a.Silenced; s != nil {
		fmt.Fprintf(b, "  silenced by %s until %s: %s\n", s.Owner, s.Until.UTC().Format(time.RFC3339), s.Reason)
	}
	if l := a.Lapsed; l != nil {
		fmt.Fprintf(b, "  not acknowledged any more: %s had it; %s\n", l.Owner, l.Why)
	}
	if a.Flapping {
		b.WriteString("  flapping: it goes on and off\n")
	}
	if a.InhibitedBy != "" {
		fmt.Fprintf(b, "  a part of the outage that alert %s is about\n", a.InhibitedBy)
	}
	if d := a.Direction; d != nil {
		b.WriteString("  direction: " + direction(d) + "\n")
	}
	for i, s := range slices.All(a.Subjects) {
		if i == shownSubjects {
			fmt.Fprintf(b, "  and %d more\n", a.SubjectCount+a.Pending-shownSubjects)
			break
		}
		fmt.Fprintf(b, "  %s %s\n", subjects.NounOf(s.Kind), s.Name(c.snapshot))
	}
	for _, e := range a.Evidence {
		if subjects.Echoes(a.Cause, e.Text) {
			continue
		}
		fmt.Fprintf(b, "  - %s", e.Text)
		if a.State == alerts.StateHeld && e.Value.IsKnown() && !e.At.IsZero() { // of then, not of now
			fmt.Fprintf(b, ", measured at %s", e.At.UTC().Format("15:04:05Z"))
		}
		if !e.Source.IsEmpty() {
			fmt.Fprintf(b, " (%s)", e.Source)
		}
		b.WriteByte('\n')
	}
}

// writeWhy says what decides or what is missing, and how old the newest proof of what nobody knows now is.
func writeWhy(b *strings.Builder, a subjects.AlertJSON, now time.Time) {
	word := "now"
	switch a.State {
	case alerts.StatePending:
		word = "decides"
	case alerts.StateHeld:
		word = "held"
		if !a.Confirmed.IsZero() {
			fmt.Fprintf(b, "  last confirmed: %s ago\n", backend.Age(now.Sub(a.Confirmed.Time)))
		}
	case alerts.StateFiring, alerts.StateEnded, alerts.StateResolved:
	}
	if !a.Why.IsEmpty() {
		fmt.Fprintf(b, "  %s: %s\n", word, a.Why)
	}
}

func direction(d *subjects.DirectionJSON) string {
	x := alerts.Direction{Heading: d.Heading}
	if d.Seconds != nil {
		x.Time = time.Duration(*d.Seconds * float64(time.Second))
	}
	return x.Text().String()
}

// subjects counts them by their kind, where they are all of one.
func subjectCount(a subjects.AlertJSON) string {
	word, more := "subject", ""
	if a.Pending > 0 {
		more = fmt.Sprintf(", %d more pending", a.Pending)
	}
	for i, s := range a.Subjects {
		if i > 0 && word != subjects.NounOf(s.Kind) {
			return plural(a.SubjectCount, "subject") + more
		}
		word = subjects.NounOf(s.Kind)
	}
	return plural(a.SubjectCount, word) + more
}

// subjectName names the one subject of an alert that has a single line: its cause may be that of many. Of a source, the line has the id.
func (c *Check) subjectName(a subjects.AlertJSON) string {
	if a.SubjectCount != 1 || len(a.Subjects) != 1 || a.Subjects[0].Kind == backend.KindSource {
		return subjectCount(a)
	}
	return fmt.Sprintf("%s %s", subjects.NounOf(a.Subjects[0].Kind), a.Subjects[0].Name(c.snapshot))
}

// writeBounds says between which moments it began.
func writeBounds(b *strings.Builder, bounds subjects.BoundsJSON, now time.Time) {
	at := func(t time.Time) string { return t.UTC().Format(time.RFC3339) }
	if text := subjects.Began(bounds.Earliest.Time, bounds.Latest.Time, now, at); text != "" {
		fmt.Fprintf(b, "  since: %s\n", text)
	}
}
