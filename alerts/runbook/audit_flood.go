package runbook

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

// diagnoseAuditFlood is for rejected commands that flood the agents' audit log.
func diagnoseAuditFlood(s *subjectView) Diagnosis {
	r := s.release()
	d := Diagnosis{Release: r, Checks: s.answers(
		s.flood(),
		s.oneSession(),
		s.looping(r),
		r.check(question{"before-5", "Is the framework older than round 5, which began to collect repeats?",
			"lastAttemptAt in a snapshot, or rollup lines in the log"}, 5),
		s.logVolume(),
		s.stillWorks(),
		question{"window", "Was the collecting window changed?", "securityWindowMs in the deployment; 60 s is what the framework describes"}.
			unsure("no source reports it"),
	)}
	s.adviseAuditFlood(&d)
	return d
}

// rejectionWindow is how far back the sessions and commands behind rejections are looked for.
func (s *subjectView) rejectionWindow() time.Duration {
	d, _ := s.span(floodProbeOver)
	return d
}

// flood asks what the rule audit-saturation concludes.
func (s *subjectView) flood() Check {
	q := question{"flood", "Are commands rejected at a rate?", "a log source that reads the agents' log"}
	v := s.verdict("audit-saturation", s.namesSession)
	over, known := s.span(floodOver)
	if !known {
		return q.off(floodOver)
	}
	t := s.tally(backend.MetricRejections, over)
	rate, read := t.in.Rate(over)
	told := backend.Textf("%s rejections in %s", number(t.in.N), s.watched(t, over))
	if read {
		told = s.rejectedRate(t, over, v.alert)
	}
	if v.fires() {
		c := q.saysAlert(v.alert)
		if t.in.N > 0 {
			c.Fact = beside(c.Fact, told)
		}
		if first := s.firstRejected(); first != nil {
			c.Fact = backend.Textf("%s; the first line, %s ago: %s", c.Fact, backend.Age(s.now.Sub(first.FirstAt)), first.First.LogLine(300))
		} else if !t.in.Sample.IsEmpty() {
			c.Fact = backend.Textf("%s; the newest line: %s", c.Fact, backend.Clean(t.in.Sample.String(), 160))
		}
		return c
	}
	if c, open := v.unproved(q, told); open {
		return c
	}
	limit, _ := s.number(floodRejections)
	switch hour := s.tally(backend.MetricRejections, time.Hour); {
	case read && rate < limit:
		return q.no(t.from, "%s; the alert needs %s a second of one session", told, number(limit))
	case read:
		return q.unsure("%s; no alert judges it for this subject", told)
	case hour.looked:
		return q.no(hour.from, "%s rejections in the last %s, none at a rate now", number(hour.in.N), s.watched(hour, time.Hour))
	}
	return q.unsure("no log source is read, or it says nothing; the framework writes no lines unless a Logger is configured")
}

// rejectedRate is the rate of rejections: the alert's where it measured this subject, else that of the span that was watched.
func (s *subjectView) rejectedRate(t tally, over time.Duration, a *alerts.Alert) backend.Safe {
	if a != nil {
		if e := measured(a, "1/s"); e != nil && (a.SubjectCount <= 1 || strings.HasPrefix(e.Text.String(), s.Subject.Safe().String()+":")) {
			return e.Text
		}
		return backend.Textf("%s%s rejections a second over %s", leastWord(t.in), rateText(t.in.N/over.Seconds()), spanText(over))
	}
	span := s.spanOf(t, over)
	if span < time.Second {
		span = over
	}
	return backend.Textf("%s%s rejections a second over %s", leastWord(t.in), rateText(t.in.N/span.Seconds()), spanText(span.Round(time.Second)))
}

func leastWord(in fleet.Increase) backend.Safe {
	if in.LowerBound {
		return backend.Text("at least ")
	}
	return backend.Safe{}
}

// rateText writes events a second as rules do.
func rateText(f float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0")
}

// rejected walks the rejected commands that speak about the subject, or about its session where it has one.
func (s *subjectView) rejected(yield func(*backend.Rejection) bool) {
	for _, h := range s.State.Sources {
		if !s.speaksHere(h.Key.Source) {
			continue
		}
		for _, x := range h.Rejections {
			if (s.sessionID.IsZero() || x.Session == s.sessionID) && !yield(x) {
				return
			}
		}
	}
}

// firstRejected is the row whose first full line is the oldest, nil when no full line was read.
func (s *subjectView) firstRejected() *backend.Rejection {
	var first *backend.Rejection
	for x := range s.rejected {
		if !x.First.IsEmpty() && (first == nil || x.FirstAt.Before(first.FirstAt)) {
			first = x
		}
	}
	return first
}

// unattributed says why lines that name no session are nobody's, empty where nothing more is known than that.
func (s *subjectView) unattributed() backend.Safe {
	rows, fits := 0, 0
	for _, h := range s.State.Sources {
		for _, x := range h.Rejections {
			if s.speaksHere(h.Key.Source) && x.Session.IsZero() {
				rows++
				fits = max(fits, x.Fits)
			}
		}
	}
	switch {
	case rows == 0:
		return backend.Safe{}
	case fits > 1:
		return backend.Textf("and cannot be attributed: %d sessions have full lines of the same workspace and first word", fits)
	}
	return backend.Text("and cannot be attributed: no session has a full line of their workspace and first word")
}

// flooding lists the sessions about which the rule audit-saturation fires.
func (s *subjectView) flooding() []backend.ID {
	var out []backend.ID
	s.verdict("audit-saturation", func(a *alerts.Alert) bool {
		for i := range a.Subjects {
			if k := a.Subjects[i].Key; a.State == alerts.StateFiring && k.Kind == backend.KindSession && !slices.Contains(out, k.ID) {
				out = append(out, k.ID)
			}
		}
		return false
	})
	return out
}

// oneSession asks whether one session is behind the flood, or behind all rejections where there is no flood.
func (s *subjectView) oneSession() Check {
	q := question{"one-session", "Is it one session?", "log lines that name their session"}
	total, unnamed := 0.0, 0.0
	var top backend.ID
	var o origin
	by := map[backend.ID]float64{}
	var whole fleet.Increase
	for x := range s.State.Windows.All(backend.MetricRejections) {
		in := s.State.Windows.Over(x, s.now, s.rejectionWindow())
		if in.N == 0 || !s.speaksHere(x.Source) {
			continue
		}
		total += in.N
		whole = whole.Add(in)
		o = origin{x.Source, in.Last}
		if x.Session.IsZero() {
			unnamed += in.N
			continue
		}
		if by[x.Session] += in.N; by[x.Session] > by[top] {
			top = x.Session
		}
	}
	over := s.watched(tally{in: whole, from: o}, s.rejectionWindow())
	flooding := s.flooding()
	if len(flooding) == 1 {
		top = flooding[0]
	}
	switch {
	case total == 0:
		return q.unsure("no rejections were counted in the last %s", over)
	case len(flooding) == 1, by[top] == total:
		return q.yes(o, "session %s has %s of %s rejections of the last %s", top.Safe(), number(by[top]), number(total), over)
	case len(flooding) == 0 && unnamed > 0:
		if why := s.unattributed(); !why.IsEmpty() {
			return q.unsure("%s of %s rejections name no session %s", number(unnamed), number(total), why)
		}
		return q.unsure("%s of %s rejections name no session", number(unnamed), number(total))
	}
	return q.no(o, "%d sessions share them, %s with the most has %.0f %%", len(by), top.Safe(), 100*by[top]/total)
}

// looping tells a loop from probing as far as lines allow: repeats are collected into rollups, different commands not.
func (s *subjectView) looping(r Release) Check {
	q := question{"loop", "Does it repeat one rejected command?", "rollup lines with suppressedCount (round 5 or later), or the distinct first words of the rejected commands"}
	probing, judged := s.number(floodProbing)
	if !judged {
		return q.off(floodProbing)
	}
	window := s.rejectionWindow()
	most, _ := s.number(floodLoop)
	rollups, rejected, words := s.tally(backend.MetricRollups, window), s.tally(backend.MetricRejections, window), s.tally(backend.MetricRejectedWords, window)
	over, newest := s.watched(rejected, window), backend.Safe{}
	if !words.in.Sample.IsEmpty() {
		newest = backend.Textf(", the newest begins with %q", words.in.Sample.String())
	}
	v := s.verdict("audit-saturation", s.namesSession)
	switch {
	case words.in.N >= probing:
		return q.no(words.from, "%s different commands in %s%s: that looks like probing", number(words.in.N), over, newest)
	case words.in.N > 0 && s.tally(backend.MetricRejectedWords, time.Hour).in.N <= most && rejected.in.N > words.in.N:
		return q.yes(words.from, "%s rejections in %s of %s%s", number(rejected.in.N), over, plural(int(words.in.N), "command"), newest)
	case rollups.in.N > 0:
		return q.yes(rollups.from, "%s for %s rejections in %s: the same command again and again", plural(int(rollups.in.N), "rollup"), number(rejected.in.N), over)
	case v.fires() && r.AtLeast >= 5:
		return q.no(rejected.from, "%s rejections in %s and no rollup, though this release collects repeats: the commands differ, which looks like probing", number(rejected.in.N), over)
	case rejected.in.N > 0:
		return q.unsure("%s rejections in %s; this release may not collect repeats, so lines alone do not tell", number(rejected.in.N), over)
	}
	return q.unsure("no rejections were counted in the last %s", over)
}

func (s *subjectView) logVolume() Check {
	q := question{"volume", "Does it fill the log?", "a log source that counts bytes"}
	over, judged := s.span(floodOver)
	if !judged {
		return q.off(floodOver)
	}
	limit, _ := s.number(floodBytes)
	t := s.tally(backend.MetricLogBytes, over)
	rate, ok := t.in.Rate(over)
	switch {
	case ok && rate > limit:
		return q.yes(t.from, "%s a second", bytesText(int64(rate)))
	case ok:
		return q.no(t.from, "%s a second", bytesText(int64(rate)))
	}
	return q.unsure("bytes of this subject are not counted")
}

// stillWorks asks whether the session gets anywhere beside its rejections.
func (s *subjectView) stillWorks() Check {
	q := question{"works", "Does the session still get its work done?", "lastSuccessAt in a snapshot of the session"}
	last := s.lastSuccess()
	recent, judged := s.span(triedAfter)
	switch {
	case last.IsZero():
		return q.unsure("no success of this subject is known")
	case !judged:
		return q.off(triedAfter)
	case s.now.Sub(last) < recent:
		return s.settle(q.yes(s.newest(), "its last success was %s ago", backend.Age(s.now.Sub(last))), q)
	}
	return s.settle(q.no(s.newest(), "its last success was %s ago", backend.Age(s.now.Sub(last))), q)
}

func (s *subjectView) adviseAuditFlood(d *Diagnosis) {
	switch {
	case d.Mark("flood") == RuledOut:
		d.deny("Rejections are few; there is no flood.")
	case d.Mark("loop") == RuledOut:
		d.conclude("The guards reject many different commands. It looks like probing.")
		d.do("Hand it to security: probing is more urgent than a loop. Keep the lines.")
		d.dont("Don't raise securityWindowMs. It does not collect different commands, and evidence gets thinner.")
	case d.is("before-5"):
		d.conclude("A loop fills the log. This release writes one line per rejection.")
		d.do("Upgrade to round 5 or later, which collects repeats.")
	case d.is("loop"):
		d.conclude("It looks like a loop: one rejected command is repeated. An attack is not excluded.")
		d.do("Look at the prompt and the tool's description. The agent ignores the rejection.")
	case d.is("flood"):
		d.conclude("The guards reject commands at a high rate. A loop and probing look alike so far.")
		d.do("Read the rejected commands: sandglass get rejections. If all begin with one word, it is a loop. Many words are probing.")
	default:
		d.deny("Cannot tell: no source reads rejection lines.")
		d.do("Configure a Logger in the framework and a log source here.")
	}
	if d.is("one-session") {
		who := backend.Text("one session")
		if name, _, named := strings.Cut(d.fact("one-session").String(), " has "); named {
			who = backend.Clean(name, 100)
		}
		d.Do = append([]backend.Safe{backend.Textf("Stop the agent's %s in the app that started it. Other sessions are not touched.", who)}, d.Do...)
	}
	if d.is("flood") && d.Mark("before-5") == RuledOut {
		d.do("Set log alerts on the summary lines. This release writes one about every 5 s, however large the flood is.")
	}
	d.dont("Don't silence the logger or widen the allowlist. The lines are the only trace if it is an attack.")
	d.NoReset = backend.Text("the workspace works; a reset does not change what the agent asks for")
}
