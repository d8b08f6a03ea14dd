package runbook

import (
	"cmp"
	"slices"
	"strings"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// causeShare is how many of the errors have one cause.
type causeShare struct {
	n       int
	example backend.Safe
}

// causeShares groups the errors of what fails by their cause, the largest group first.
func (s *subjectView) causeShares() (shares []causeShare, total int) {
	at := map[string]int{}
	known := map[backend.Safe]string{}
	for i := range s.errors {
		e := &s.errors[i]
		if e.line || e.ws != nil && !s.failing(e.ws) && !bad(e.ws) {
			continue
		}
		cause, had := known[e.text]
		if !had {
			cause = s.Board.CauseOf(e.text)
			known[e.text] = cause
		}
		n, had := at[cause]
		if !had {
			n = len(shares)
			at[cause] = n
			shares = append(shares, causeShare{example: e.text})
		}
		shares[n].n++
		total++
	}
	stable.Sort(shares, func(a, b causeShare) int { return cmp.Compare(b.n, a.n) })
	return shares, total
}

// bareCause is an error text without the name of its class.
func bareCause(t backend.Safe) string {
	text := strings.TrimSuffix(t.String(), ".")
	if class, rest, ok := strings.Cut(text, ": "); ok && strings.HasSuffix(class, "Error") && !strings.Contains(class, " ") {
		text = rest
	}
	return text
}

// shortCause is the beginning of a cause. No parenthesis stays open in it.
func shortCause(cause string) string {
	short := backend.Clean(cause, 48).String()
	if short != cause && strings.Count(short, "(") > strings.Count(short, ")") {
		short += ")"
	}
	return short
}

// mostShares is how many causes a headline names.
const mostShares = 3

// longestShare bounds the text of one cause: all of them fit into one conclusion.
const longestShare = backend.MaxTextRunes / 4

// concludeShares puts the shares of the causes after a headline that stands for some of them only. Without a majority the
// shares are the headline.
func (s *subjectView) concludeShares(d *Diagnosis) {
	shares, total := s.causeShares()
	if len(shares) < 2 || d.denies {
		return
	}
	var parts, short []string
	for i, x := range shares[:min(len(shares), mostShares)] {
		of := ""
		if i == 0 {
			of = " of " + plural(total, "error")
		}
		share, cause := number(float64(x.n))+of+": ", bareCause(x.example)
		parts, short = append(parts, share+backend.Clean(cause, longestShare).String()), append(short, share+shortCause(cause))
	}
	if rest := len(shares) - mostShares; rest > 0 {
		others := plural(rest, "other cause")
		parts, short = append(parts, others), append(short, others)
	}
	told := backend.Clean(strings.TrimSuffix(strings.Join(parts, "; "), "…"), backend.MaxTextRunes)
	d.told, d.short = told.String(), strings.TrimSuffix(strings.Join(short, "; "), "…")
	recognised := slices.ContainsFunc(d.Checks, func(c Check) bool { return c.errors > 0 && c.Mark == Confirmed && !c.few() })
	if !recognised && 2*shares[0].n <= total {
		d.conclude("No cause has a majority. %s.", told)
		d.do("Treat each cause on its own. Ask about one workspace of each.")
		return
	}
	d.Conclusion = backend.Textf("%s %s.", d.Conclusion, told)
}
