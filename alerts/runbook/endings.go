package runbook

import (
	"slices"
	"strings"

	"sandglass/backend"
)

// ending is what a diagnosis can come to: when, the sentence, and what follows from it.
type ending struct {
	any     []string // checks one of which must be confirmed; none: always
	without string   // a check that must be ruled out
	word    Ending

	conclude backend.Literal
	denies   bool // the sentence says that there is no such trouble, or that nothing is known of it
	quotes   bool // the sentence ends with the fact of the check that is confirmed
	do, dont backend.Literal
	noReset  backend.Literal
}

// holds reports whether the checks lead here, and which of them says so.
func (e *ending) holds(d *Diagnosis) (check string, ok bool) {
	if e.without != "" && d.Mark(e.without) != RuledOut {
		return "", false
	}
	if i := slices.IndexFunc(e.any, d.mainly); i >= 0 {
		return e.any[i], true
	}
	return "", len(e.any) == 0
}

// end takes the first ending that the checks lead to, and returns the check that does, if one does.
func (d *Diagnosis) end(list []ending) (led string) {
	for i := range list {
		e := &list[i]
		check, ok := e.holds(d)
		if !ok {
			continue
		}
		d.Ending, d.Conclusion, d.denies = e.word, backend.Text(e.conclude), e.denies
		if fact := d.fact(check); e.quotes && !strings.Contains(fact.String(), " reports: ") {
			d.Conclusion = backend.Textf("%s: %s.", backend.Text(e.conclude), fact)
		} else if e.quotes { // the cause line has the error
			d.Conclusion = backend.Textf("%s.", backend.Text(e.conclude))
		}
		for _, x := range []struct {
			to   *[]backend.Safe
			text backend.Literal
		}{{&d.Do, e.do}, {&d.Dont, e.dont}} {
			if x.text != "" {
				*x.to = append(*x.to, backend.Text(x.text))
			}
		}
		if e.noReset != "" {
			d.NoReset = backend.Text(e.noReset)
		} else {
			d.refuseFew(list)
		}
		return check
	}
	return ""
}

// refuseFew says why some entries must not be reset, where the headline is about the others.
func (d *Diagnosis) refuseFew(list []ending) {
	for i := range list {
		for _, c := range d.Checks {
			if list[i].noReset != "" && c.Mark == Confirmed && c.named > 0 && c.few() && slices.Contains(list[i].any, c.Name) {
				d.NoReset = backend.Textf("of %d of them %s", c.named, backend.Text(list[i].noReset))
				return
			}
		}
	}
}

// fact is what a check found.
func (d *Diagnosis) fact(name string) backend.Safe {
	for _, c := range d.Checks {
		if c.Name == name {
			return c.Fact
		}
	}
	return backend.Safe{}
}
