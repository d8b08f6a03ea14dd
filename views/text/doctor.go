package text

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/examine"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

// Doctor is a report of doctor for people, as lines of any width.
func Doctor(r *examine.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (%s), read %s\n\n", doctorVerdict(r), r.Source, r.Kind, backend.Counted(r.Tries, "time", "times"))
	rows := [][]string{{"READ", "ASKED", "ANSWERS", "MIN", "MEDIAN", "MAX", "ROUTE"}}
	for i := range r.Routes {
		rows = append(rows, routeRow(&r.Routes[i]))
	}
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			width[i] = max(width[i], kit.Width(c))
		}
	}
	for i, row := range rows {
		line := ""
		for j, c := range row {
			line += c + strings.Repeat(" ", width[j]-kit.Width(c)+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		if i > 0 {
			routeRemarks(&b, &r.Routes[i-1])
		}
	}
	for _, x := range reportSections(r) {
		section(&b, x.title, x.lines)
	}
	return b.String()
}

// reportSection is a part of a report behind the routes.
type reportSection struct {
	title string
	lines []backend.Safe
}

func reportSections(r *examine.Report) []reportSection {
	var states []backend.Safe
	for _, s := range r.States {
		text := backend.Textf("%s %s: %d", backend.Clean(string(s.Of), 40), s.Reported, s.Count)
		switch {
		case s.Known && s.Class != "" && !strings.EqualFold(string(s.Class), s.Reported.String()):
			text = backend.Textf("%s %s: %d (in the words of its source: %s)", backend.Clean(string(s.Of), 40), backend.Clean(string(s.Class), 40), s.Count, s.Reported)
		case s.Strange():
			text = backend.Textf("%s, a word whose meaning is not known", text)
		case !s.Known:
			text = backend.Textf("%s, judged by its times; states in the configuration can give the word a meaning", text)
		}
		states = append(states, text)
	}
	return []reportSection{{"What to do", remedies(r)}, {"Versions", r.Versions}, {"States", states}, {"Not delivered", r.Missing}, {"Problems", r.Problems}, {"Notes", r.Notes}}
}

func doctorVerdict(r *examine.Report) string {
	if what := misread(r); r.ExitCode == 1 && what != "" {
		return "WARNING: " + what
	}
	return map[int]string{0: "OK: everything that was asked is read", 1: "WARNING: something is not read or not understood",
		2: "CRITICAL: nothing of use can be read", 3: "UNKNOWN: the source does not answer"}[r.ExitCode]
}

// remedies say what each fault costs and what to do about it.
func remedies(r *examine.Report) (out []backend.Safe) {
	add := func(is bool, costs, next backend.Literal) {
		if is {
			out = append(out, backend.Text(costs), backend.Textf("  next: %s", backend.Text(next)))
		}
	}
	denied, odd, fields := false, false, false
	for i := range r.Routes {
		x := &r.Routes[i]
		denied = denied || x.May == examine.MayNotRead
		odd = odd || x.May != examine.MayNotRead && x.Asked > 0 && !x.Problem.IsEmpty()
		fields = fields || len(x.Unknown) > 0
	}
	add(denied, "What a route tells that may not be read is missing everywhere.", "give the reading credential that right, then run doctor again")
	add(odd, "A wrong answer is not used: what it tells is missing.", "ask the route by hand and compare with its line above")
	add(fields, "Fields that are not known are left out; the rest is used.", "write a sample with --out FILE and report it")
	add(slices.ContainsFunc(r.States, examine.State.Strange), "What is in an unknown state counts neither as healthy nor as failed.", "write a sample with --out FILE and report it")
	return out
}

// misread counts what is not read or not understood; each has its line below.
func misread(r *examine.Report) string {
	var parts []string
	add := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, backend.Counted(n, one, many))
		}
	}
	denied, odd, fields, states := 0, 0, map[string]bool{}, 0
	for i := range r.Routes {
		x := &r.Routes[i]
		switch {
		case x.May == examine.MayNotRead:
			denied++
		case x.Asked > 0 && !x.Problem.IsEmpty():
			odd++
		}
		for _, f := range x.Unknown {
			fields[f.String()] = true
		}
	}
	for _, s := range r.States {
		if s.Strange() {
			states++
		}
	}
	add(denied, "route may not be read", "routes may not be read")
	add(odd, "route has a wrong answer", "routes have a wrong answer")
	add(len(fields), "field is not known", "fields are not known")
	add(states, "state is not known", "states are not known")
	add(len(r.Problems), "problem", "problems")
	return strings.Join(parts, ", ")
}

func routeRow(r *examine.Route) []string {
	row := []string{string(r.May), fmt.Sprint(r.Asked), "–", "–", "–", "–", fmt.Sprintf("%s %s", r.Method, r.Target)}
	if r.Asked == 0 {
		row[0] = "–"
	}
	var answers []string
	for _, status := range slices.Sorted(maps.Keys(r.Answers)) {
		word := fmt.Sprint(status)
		if status == 0 {
			word = "none"
		}
		answers = append(answers, fmt.Sprintf("%d× %s", r.Answers[status], word))
	}
	if len(answers) > 0 {
		row[2] = strings.Join(answers, ", ")
	}
	if l := r.Latency; l != nil {
		for i, s := range []float64{l.Min, l.Median, l.Max} {
			row[3+i] = kit.Latency(time.Duration(s * float64(time.Second)))
		}
	}
	return row
}

// shownFields is how many unknown fields the text form lists of one route.
const shownFields = 20

func routeRemarks(b *strings.Builder, r *examine.Route) {
	if r.Asked == 0 && r.Problem.IsEmpty() {
		b.WriteString("    not asked: nothing needed it\n")
	}
	if !r.Problem.IsEmpty() {
		fmt.Fprintf(b, "    %s\n", r.Problem)
	}
	if n := len(r.Known); n > 0 {
		fmt.Fprintf(b, "    %s known\n", backend.Counted(n, "field is", "fields are"))
	}
	if n := len(r.Unknown); n > 0 {
		fmt.Fprintf(b, "    unknown: %s", backend.Join(r.Unknown[:min(n, shownFields)], ", "))
		if n > shownFields {
			fmt.Fprintf(b, " and %d more; -o json lists all", n-shownFields)
		}
		b.WriteString("\n")
	}
}

func section(b *strings.Builder, title string, lines []backend.Safe) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, l := range lines {
		fmt.Fprintf(b, "  %s\n", l)
	}
}

// DoctorDoc is a report of doctor for a screen; sample says where its sample is.
func DoctorDoc(r *examine.Report, sample string) *kit.Doc {
	d := &kit.Doc{}
	tone := theme.Strong
	if r.ExitCode != 0 {
		tone = theme.Warn
	}
	d.Line(kit.Span{Tone: tone, Text: doctorVerdict(r)}, kit.Span{Tone: theme.Dim, Text: fmt.Sprintf("  %s, read %s", r.Kind, backend.Counted(r.Tries, "time", "times"))})
	d.Field("sample", kit.Span{Text: sample})
	for i, m := range examine.Masked() {
		label := ""
		if i == 0 {
			label = "masked"
		}
		d.Field(label, kit.Span{Tone: theme.Dim, Text: m})
	}
	d.Head("Routes")
	for i := range r.Routes {
		route := &r.Routes[i]
		row := routeRow(route)
		d.Field(route.Method.String(), kit.Span{Text: route.Target.String()})
		if route.Asked == 0 {
			d.Field("", kit.Span{Tone: theme.Dim, Text: "not asked: nothing needed it"})
			continue
		}
		said := fmt.Sprintf("readable: %s; %s asked", row[0], backend.Counted(route.Asked, "time", "times"))
		if len(route.Answers) > 0 {
			said = fmt.Sprintf("readable: %s; answers %s", row[0], row[2])
		}
		if route.Latency != nil {
			said += fmt.Sprintf("; %s to %s, median %s", row[3], row[5], row[4])
		}
		d.Field("", kit.Span{Tone: theme.Dim, Text: said})
		var remarks strings.Builder
		routeRemarks(&remarks, route)
		for line := range strings.Lines(remarks.String()) {
			d.Field("", kit.Span{Tone: theme.Dim, Text: strings.TrimSpace(line)})
		}
	}
	for _, s := range reportSections(r) {
		if len(s.lines) > 0 {
			d.Head(s.title)
		}
		for _, l := range s.lines {
			d.Line(kit.Span{Text: l.String()})
		}
	}
	return d
}
