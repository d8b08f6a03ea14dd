package logs

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"time"
)

// traceState is where a log without a usual beginning of its lines is in a traceback.
type traceState uint8

const (
	traceNone   traceState = iota
	traceFrames            // after its first line
	traceError             // after the line of its error: what follows belongs to it only as a part of its chain
)

var (
	traceBegins = []byte("Traceback (most recent call last):")
	traceChains = [...][]byte{[]byte("The above exception was the direct cause"), []byte("During handling of the above exception")}
	// traceEnds is the line of an error: its class, with or without its module, and what it says.
	traceEnds = regexp.MustCompile(`^[ |+-]{0,20}(?:[\w.]+\.)?([A-Z]\w*(?:Error|Exception|Exit|Interrupt)\b(?:: ?.*)?)$`)
	waitEnded = regexp.MustCompile(`\b(?:Exec)?TimeoutError\b`)
	errorHead = regexp.MustCompile(`^[ |+-]{0,20}(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception): ?$`)
)

// answered keeps what an error of a chain says of the answer of a platform, for the error that follows from it.
func (l *lineage) answered(text []byte) {
	if !bytes.Contains(text, []byte("Error")) {
		return
	}
	if late := waitEnded.Find(text); late != nil && traceEnds.Match(text) {
		l.late = append(l.late[:0], late...)
	}
	if words := sdkAnswer.Find(text); words != nil {
		l.answer = append(append(append(l.answer[:0], words...), ' '), sdkStatus.Find(text)...)
	}
}

// names keeps the session that a line names, for what continues it.
func (l *lineage) names(r *record) { l.session = append(l.session[:0], r.session...) }

// isNumber reports whether a text is a number, as the SDK calls its terminals.
func isNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// traced says which part of a traceback a line is in a log whose lines have no usual beginning.
func (l *lineage) traced(text []byte, r *record) part {
	begins := bytes.Contains(text, traceBegins)
	chains := len(text) == 0 || bytes.HasPrefix(text, traceChains[0]) || bytes.HasPrefix(text, traceChains[1])
	switch {
	case begins && l.trace == traceNone:
		l.trace, l.answer, l.late = traceFrames, l.answer[:0], l.late[:0]
		if len(r.session) > 0 {
			l.names(r)
		}
	case begins:
		l.trace = traceFrames
	case l.trace == traceFrames && traceEnds.Match(text):
		l.trace = traceError
	case l.trace == traceError && !chains && !traceEnds.Match(text):
		l.trace = traceNone
	}
	if l.trace == traceNone {
		l.names(r)
		l.counted = l.counted[:0]
		return part{counted: &l.counted}
	}
	l.answered(text)
	return part{continues: true, session: l.session, counted: &l.counted, answer: l.answer, late: l.late}
}

// countedClass is what was counted of a line and of what continues it.
type countedClass struct {
	class Class // empty: an error line that says nothing more, such as the one before a traceback
	of    seriesKey
	at    time.Time
	frame *pattern // it was counted by a function that names no error
}

// ofTraceback reports whether each part of a traceback can name what the class is about.
func (c Class) ofTraceback() bool {
	return c == ClassPTYFailed || c == ClassPTYUnknown || c == ClassPersistFailed || c == ClassHydrateFailed || c == ClassPreviewFailed || c == ClassPackageMissing || c.ofSDK()
}

// ofSDK reports whether a class is evidence of what an agent's SDK met, and no trouble of its own.
func (c Class) ofSDK() bool {
	return c == ClassSDKExec || c == ClassSDKFiles || c == ClassSDKMissing || c == ClassSDKDelete || c == ClassSDKNotice
}

// heads notes an error line that a traceback may follow: it tells no other error than that.
func (r *record) heads(of seriesKey, at time.Time) {
	if r.part.counted != nil && !r.part.continues {
		*r.part.counted = append(*r.part.counted, countedClass{of: of, at: at})
	}
}

// again reports whether what a line says was counted already of the line that it continues: each part of a chained traceback has the
// same frames, and an error in them is no other trouble. of is what it counts as.
func (a *lineAnalyser) again(p *pattern, r *record, of seriesKey, at time.Time) bool {
	if r.part.counted == nil {
		return false
	}
	all := *r.part.counted
	if r.part.continues && slices.ContainsFunc(all, func(c countedClass) bool { return c.class == p.class || c.class != "" && p.class.ofSDK() }) {
		a.gaveUp(p, r, all)
		return true
	}
	all = slices.DeleteFunc(all, func(c countedClass) bool { // what was counted before was of this
		_, said := of.metric.Unsaid()
		is := (c.class.ofSDK() || c.class == "" && !said && r.part.continues) && !p.class.ofSDK() || p.class == ClassPTYUnknown && c.class == ClassPTYFailed && c.frame != nil
		if is {
			a.tally.takeBack(c.of, c.at)
		}
		return is
	})
	c := countedClass{class: p.class, of: of, at: at}
	if p.frame {
		c.frame = p
	}
	*r.part.counted = append(all, c)
	return false
}

// gaveUp keeps what ends a snapshot for good in place of what its archive met.
func (a *lineAnalyser) gaveUp(p *pattern, r *record, all []countedClass) {
	if p.frame || p.class != ClassPersistFailed && p.class != ClassHydrateFailed {
		return
	}
	for i := range all {
		if c := &all[i]; c.class == p.class {
			a.tally.resample(c.of, c.at, p.sampleOf(*r, r.message))
			c.frame = nil
		}
	}
}

// named takes the error of a traceback for the sample of what a function in it was counted for.
func (a *lineAnalyser) named(r *record) {
	if !r.part.continues || r.part.counted == nil {
		return
	}
	m := traceEnds.FindSubmatch(bytes.TrimRight(r.message, "\r\n"))
	if m == nil {
		return
	}
	for _, c := range *r.part.counted {
		if c.frame != nil {
			error := *r
			error.message, error.errText = m[1], nil
			a.tally.resample(c.of, c.at, c.frame.sampleOf(error, r.message))
		}
	}
}

// takeBack takes one count back, where it was not told yet.
func (t *tally) takeBack(k seriesKey, at time.Time) {
	if c := t.untold(k, at); c != nil && c.n >= 1 {
		if c.n--; c.n == 0 {
			c.sample = nil
		}
	}
}

// resample changes the sample of a count, where it was not told yet.
func (t *tally) resample(k seriesKey, at time.Time, sample []byte) {
	if c := t.untold(k, at); c != nil {
		c.sample = append(c.sample[:0], sample[:min(len(sample), maxSample)]...)
	}
}

// untold is the bucket of a time, nil where it was told.
func (t *tally) untold(k seriesKey, at time.Time) *cell {
	s := t.series[k]
	if s == nil {
		return nil
	}
	i := slices.IndexFunc(s.buckets, func(c cell) bool { return c.start == at.UnixNano()/int64(bucket) })
	if i < 0 {
		return nil
	}
	return &s.buckets[i]
}
