package runbook

import (
	"time"

	"sandglass/backend"
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

const (
	floodWindow = time.Minute
	// probing is from how many different commands within ten minutes it is no loop; the rule audit-saturation has the
	// same number as its default.
	probing = 8
)

func (s *subjectView) flood() Check {
	q := question{"flood", "Are commands rejected at a rate?", "a log source that reads the agents' log"}
	t := s.tally(backend.MetricRejections, floodWindow)
	rate, ok := t.in.Rate(floodWindow)
	least := ""
	if t.in.LowerBound {
		least = "at least "
	}
	switch {
	case ok && rate >= 1:
		if t.in.Sample.IsEmpty() {
			return q.yes(t.from, "%s%.1f rejections a second over the last minute", backend.Clean(least, 20), rate)
		}
		return q.yes(t.from, "%s%.1f rejections a second over the last minute; the newest line: %s", backend.Clean(least, 20), rate, backend.Clean(t.in.Sample.String(), 160))
	case ok:
		return q.no(t.from, "%s rejections in the last minute", number(t.in.N))
	case s.tally(backend.MetricRejections, time.Hour).looked:
		hour := s.tally(backend.MetricRejections, time.Hour)
		return q.no(hour.from, "%s rejections in the last hour, none at a rate now", number(hour.in.N))
	}
	return q.unsure("no log source is read, or it says nothing; the framework writes no lines unless a Logger is configured")
}

// oneSession asks whether one session does most of it.
func (s *subjectView) oneSession() Check {
	q := question{"one-session", "Is it one session?", "log lines that name their session"}
	total, top, unnamed := 0.0, 0.0, 0.0
	var who backend.ID
	var o origin
	by := map[backend.ID]float64{}
	for x := range s.State.Windows.All(backend.MetricRejections) {
		if !s.speaksHere(x.Source) {
			continue
		}
		in := s.State.Windows.Over(x, s.now, 10*floodWindow)
		if in.N == 0 {
			continue
		}
		total += in.N
		o = origin{x.Source, in.Last}
		if x.Session.IsZero() {
			unnamed += in.N
			continue
		}
		if by[x.Session] += in.N; by[x.Session] > top {
			top, who = by[x.Session], x.Session
		}
	}
	switch {
	case total == 0:
		return q.unsure("no rejections were counted in the last 10 minutes")
	case top >= 0.8*total:
		return q.yes(o, "session %s has %s of %s rejections of the last 10 minutes", who.Safe(), number(top), number(total))
	case unnamed > total/2:
		return q.unsure("%s of %s lines name no session", number(unnamed), number(total))
	}
	return q.no(o, "%d sessions share them, %s with the most has %.0f %%", len(by), who.Safe(), 100*top/total)
}

// looping tells a loop from probing as far as lines allow: repeats are collected into rollups, different commands not.
func (s *subjectView) looping(r Release) Check {
	q := question{"loop", "Does it repeat one rejected command?", "rollup lines with suppressedCount (round 5 or later), or the distinct first words of the rejected commands"}
	rollups := s.tally(backend.MetricRollups, 10*floodWindow)
	rejected := s.tally(backend.MetricRejections, 10*floodWindow)
	words := s.tally(backend.MetricRejectedWords, 10*floodWindow)
	switch {
	case words.in.N >= probing:
		return q.no(words.from, "%s different commands in 10m, the newest begins with %s: that looks like probing", number(words.in.N), words.in.Sample)
	case words.in.N > 0 && s.tally(backend.MetricRejectedWords, time.Hour).in.N <= mostIdentical && rejected.in.N >= 10:
		return q.yes(words.from, "%s rejections in 10m of %s, the newest begins with %s", number(rejected.in.N), plural(int(words.in.N), "command"), words.in.Sample)
	case rollups.in.N > 0:
		return q.yes(rollups.from, "%s rollups for %s rejections in 10m: the same command again and again", number(rollups.in.N), number(rejected.in.N))
	case rejected.in.N >= 50 && r.AtLeast >= 5:
		return q.no(rejected.from, "%s rejections in 10m and no rollup, though this release collects repeats: the commands differ, which looks like probing", number(rejected.in.N))
	case rejected.in.N > 0:
		return q.unsure("%s rejections in 10m; this release may not collect repeats, so lines alone do not tell", number(rejected.in.N))
	}
	return q.unsure("no rejections were counted in the last 10 minutes")
}

func (s *subjectView) logVolume() Check {
	q := question{"volume", "Does it fill the log?", "a log source that counts bytes"}
	t := s.tally(backend.MetricLogBytes, floodWindow)
	rate, ok := t.in.Rate(floodWindow)
	switch {
	case ok && rate >= 100_000:
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
	switch {
	case last.IsZero():
		return q.unsure("no success of this subject is known")
	case s.now.Sub(last) < 5*time.Minute:
		return s.settle(q.yes(s.newest(), "its last success was %s ago", ago(s.now.Sub(last))), q)
	}
	return s.settle(q.no(s.newest(), "its last success was %s ago", ago(s.now.Sub(last))), q)
}

func (s *subjectView) adviseAuditFlood(d *Diagnosis) {
	switch {
	case d.Mark("flood") == RuledOut:
		d.conclude("Rejections are few; nothing floods.")
	case d.Mark("loop") == RuledOut:
		d.conclude("Many different commands are rejected: somebody or something probes the guards.")
		d.do("Hand it to security as one level more urgent than a loop; keep the lines.")
		d.dont("Don't raise securityWindowMs: different commands are not collected by it anyway, and evidence gets thinner.")
	case d.is("before-5"):
		d.conclude("This release writes one line per rejection; a loop fills the log.")
		d.do("Upgrade to round 5 or later, which collects repeats.")
	case d.is("loop"):
		d.conclude("A loop: one rejected command is tried again and again.")
		d.do("Look at the prompt and the tool's description: the agent does not learn from the rejection.")
	case d.is("flood"):
		d.conclude("Commands are rejected at a rate; whether it is a loop or probing no reading tells.")
		d.do("Read the rejected commands: one first word is a loop, many are probing.")
	default:
		d.conclude("Cannot tell: no rejection lines are read.")
		d.do("Configure a Logger in the framework and a log source here.")
	}
	if d.is("one-session") {
		d.do("Stop or pause that one session; the others go on.")
	}
	if d.is("flood") {
		d.do("Alert on rollups: since round 5 a flood is one line in five seconds.")
	}
	d.dont("Don't silence the logger or filter these lines away: they are the only trace of an attack.")
	d.dont("Don't widen the allowlist to make them stop.")
	d.NoReset = backend.Text("the workspace works; a reset does not change what the agent asks for")
}
