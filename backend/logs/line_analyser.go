package logs

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// lineAnalyser turns lines into counts and events. It is used by one goroutine at a time.
type lineAnalyser struct {
	source  string
	cleaner *backend.Cleaner
	pats    *patterns
	dec     *decoder
	tally   *tally
	rolls   *rollups
	words   *refusedCommands
	refused *rejectionRows
	mems    *memoryReadings
	// sessionPaths are the names under which a session may stand in the event of a tail, dots reaching into objects.
	sessionPaths []string
	budget       float64 // bytes decoded per second

	every  int   // this poll decodes one line in every
	seq    int   // lines since the start, to pick them
	forced int64 // bytes of rollup lines that may still be decoded out of turn in this poll

	file  *tail     // that is read now, nil for a stream
	now   time.Time // when this poll began
	wrote map[string]lastWritten

	events   []backend.Event
	reports  []backend.Report
	joins    []backend.Report // apart from reports: many of them do not crowd out what failed
	lost     []backend.Report // commands for which an agent waits no more
	commands sandboxCommands
	beliefs  map[[2]string]backend.Report  // of this poll: what agents take their sandboxes for, by session and sandbox
	saysDown map[[2]string]bool            // those that said last that theirs does not run
	changes  map[string]time.Time          // when a change of each name was last told
	joined   map[backend.ID]backend.Report // the newest join that was reported of each session
	seen     lineStats                     // of this poll
	ever     lineStats                     // since the start
}

type lineStats struct {
	lines, matched, decoded, cut, offClock, ahead, zoned, untimed, bounded, undated, continued, moreEvents, sampled int
	bytes                                                                                                           int64
	earliest                                                                                                        time.Time // of history: since when it is covered
}

func newAnalyst(opts *Options, deps backend.Deps, covered time.Time) *lineAnalyser {
	a := &lineAnalyser{source: deps.ID, cleaner: deps.Cleaner, pats: newPatterns(opts), rolls: newRollups(), words: &refusedCommands{seen: map[string]map[string]*commandUse{}}, refused: newRejectionRows(), mems: newMemories(), sessionPaths: opts.Fields.Session, tally: newTally(covered),
		dec: newDecoder(opts.Format, opts.Fields, covered.Location()), budget: float64(opts.ByteBudget), every: 1}
	for _, p := range opts.Pattern {
		if p.Field != "" {
			a.dec.follow(p.Field)
		}
	}
	return a
}

// begin starts a poll that will bring about total bytes which came in during elapsed.
func (a *lineAnalyser) begin(total int64, elapsed time.Duration) {
	allowed := a.budget * max(elapsed.Seconds(), 1)
	a.every = max(1, int((float64(total)+allowed-1)/allowed))
	a.forced = int64(allowed)
	a.events, a.reports, a.joins, a.lost, a.beliefs, a.seen = nil, nil, nil, nil, nil, lineStats{}
	a.mems.silent = 0
	a.tally.folded = 0
}

// placement says how the time of a line is found: the line was written between lo and hi, or is history.
type placement struct {
	lo, hi time.Time
	// past: the line is from before we looked. It counts only with a time of its own after lo, or that of the line
	// before it. Otherwise it was written between lo and hi, whatever its own clock says.
	past bool
	// whenUntimed is where lines of the past without any time go; zero drops them. old: they are older than lo.
	whenUntimed time.Time
	old         bool
	before      time.Time // own time of the line before
}

func (p *placement) place(own time.Time, stats *lineStats) (time.Time, bool) {
	if p.past {
		if own.IsZero() {
			own = p.before
		} else {
			p.before = own
		}
		switch {
		case !own.IsZero():
		case p.old:
			return time.Time{}, false
		case p.whenUntimed.IsZero():
			stats.untimed++
			return time.Time{}, false
		default:
			stats.bounded++
			return p.whenUntimed, true
		}
		if stats.earliest.IsZero() || own.Before(stats.earliest) {
			stats.earliest = own
			if own.Before(p.lo) {
				stats.earliest = p.lo
			}
		}
		switch {
		case own.After(p.hi.Add(pastSkew)):
			stats.zoned++
			return time.Time{}, false
		case own.Before(p.lo):
			return time.Time{}, false
		case own.After(p.hi.Add(skew)):
			stats.ahead++
		}
		return earlier(own, p.hi), true
	}
	if !own.IsZero() {
		p.before = own
	}
	switch {
	case own.IsZero():
		return p.hi, true
	case own.Before(p.lo.Add(-skew)), own.After(p.hi.Add(skew)):
		stats.offClock++
		return p.hi, true
	case own.Before(p.lo):
		return p.lo, true
	}
	return earlier(own, p.hi), true
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// line takes one line into account. stamp is the time the transport gave it, zero without one; size counts all its
// bytes, of which data may be only the beginning. of follows the log that the line is of; nil: it stands alone.
func (a *lineAnalyser) line(data []byte, size int, stamp time.Time, p *placement, of *lineage) {
	data = bytes.TrimRight(data, "\r")
	cut := size > len(data)+2
	if data = uncoloured(data); len(data) == 0 {
		return
	}
	if a.tail(data, size, stamp, p) {
		return
	}
	r := a.read(data)
	if !stamp.IsZero() {
		r.at = stamp
	}
	r.part = of.of(data, &r)
	a.commands.gather(data, &r, of)
	a.take(r, data, size, cut, p)
}

// take counts what a line says. cut says that data is only the beginning of it.
func (a *lineAnalyser) take(r record, data []byte, size int, cut bool, p *placement) {
	marked := a.pats.marked(&r)
	untimed := a.seen.untimed
	at, ok := p.place(r.at, &a.seen)
	if !ok {
		if a.seen.untimed > untimed && (marked || a.pats.evidence(&r)) {
			a.seen.undated++
		}
		return
	}
	a.seen.lines++
	a.seen.bytes += int64(size)
	if cut {
		a.seen.cut++
	}
	k := seriesKey{session: string(r.session), workspace: string(r.workspace)}
	a.tally.add(k.of(backend.MetricLogLines), at, 1, false, nil)
	a.tally.add(k.of(backend.MetricLogBytes), at, float64(size), false, nil)
	if k.session != "" {
		a.wroteIn(k.session)
		a.tally.add(seriesKey{metric: backend.MetricNamed, session: k.session}, at, 1, false, nil)
	}
	a.memory(data, k, at)
	a.believes(&r, data, at)
	a.terminalEnded(data, k, at)
	f := a.pats.find(&r)
	p1 := f.pattern
	if p1 == nil || p1.class != ClassHub {
		a.join(data, at)
	}
	if p1 == nil || p1.class != ClassNotStarted {
		a.commandRan(&r, data, at)
	}
	a.named(&r)
	if p1 != nil && p1.class == ClassPTYUnknown && isNumber(k.session) { // of the terminal
		k.session, r.session = "", nil
	}
	if p1 != nil && p1.class.ofTraceback() && r.part.continues && k.session == "" && len(r.part.session) > 0 {
		k.session, r.session = string(r.part.session), r.part.session
	}
	if p1 == nil && !marked {
		if k.session != "" && r.ownError() {
			a.tally.add(k.of(backend.MetricErrorLines), at, 1, false, r.told(data))
			r.heads(k.of(backend.MetricErrorLines), at)
		}
		return
	}
	a.seen.matched++
	if p1 != nil && p1.class.ofTraceback() {
		m, _ := p1.class.metric()
		if f.said {
			m = m.Said()
		}
		if a.again(p1, &r, k.of(m), at) {
			return
		}
	}
	if p1 != nil && p1.class.ofSDK() && k.session != "" && r.ownError() {
		a.tally.add(k.of(backend.MetricErrorLines), at, 1, false, r.told(data))
		r.heads(k.of(backend.MetricErrorLines), at)
	}
	if f.said {
		if r.part.continues {
			a.seen.continued++
		}
		if m, _ := p1.class.metric(); p1.class.accuses() {
			a.tally.add(k.of(m.Said()), at, 1, false, data)
		}
		return
	}
	if marked {
		a.rollup(p1, r, k, at, data)
		return
	}
	if p1.tier == tierConfigured {
		a.tally.add(k.of(backend.PatternLines(p1.name)), at, 1, false, r.told(data))
	}
	if m, counts := p1.class.metric(); counts {
		of := k.of(m)
		if p1.class == ClassRead || p1.class == ClassWrite {
			of.sandbox = string(r.sandbox)
		} else if p1.class == ClassLimitKill { // the kernel knows the container, and no session
			of = seriesKey{metric: m, sandbox: string(p1.causeIn(r.message, nil))}
		}
		sample := p1.sampleOf(r, data)
		a.tally.add(of, at, 1, false, sample)
		a.numbers(p1, of, at, data, sample)
		if p1.class == ClassSDKExec {
			a.lose(&r, k.session, sample, at)
		}
	}
	a.bytes(p1, k, at, data)
	if p1.class == ClassRejection {
		a.rolls.full(rollupName(p1, r), at)
		a.word(r, k, at)
		a.refused.full(r, data, at)
	}
	if p1.class == ClassHub {
		said, ok := a.report(p1, r, data, at)
		if !ok {
			return
		}
		if !said.Session.IsZero() || backend.IsTrace(string(r.session)) {
			r.session = []byte(said.Session.Raw())
		}
	}
	if p1.class == ClassNotStarted && !a.notStarted(&r, data, at) {
		return
	}
	if p1.change == backend.ChangeProtocol {
		a.mismatched(string(r.session), at)
	}
	if p1.event {
		a.event(p1, r, at)
	}
}

func (k seriesKey) of(m backend.Metric) seriesKey {
	k.metric = m
	return k
}

// read decodes a line when it is its turn, or when it is a rollup, whose number must not be lost.
func (a *lineAnalyser) read(data []byte) record {
	turn := a.seq%a.every == 0
	a.seq++
	if !turn && a.forced > 0 && a.pats.holds(data) {
		turn = true
		a.forced -= int64(len(data))
	}
	if turn {
		a.seen.decoded++
		return a.dec.decode(data)
	}
	return a.dec.rough(data)
}

// rollup counts a line that stands for suppressed ones: those are what is counted, not the line.
func (a *lineAnalyser) rollup(p *pattern, r record, k seriesKey, at time.Time, data []byte) {
	metric := backend.MetricRejections // the limiter wraps the guards' warnings
	if p != nil {
		if m, counts := p.class.metric(); counts {
			metric = m
		}
	}
	var row *rejectionRow
	if metric == backend.MetricRejections {
		if k.session == "" {
			k.session = a.refused.ownerOf(r)
			r.session = []byte(k.session)
		}
		row = a.refused.rolled(r, at)
	}
	a.tally.add(k.of(backend.MetricRollups), at, 1, false, data)
	if r.suppressed < 0 {
		a.tally.add(k.of(metric), at, 1, true, data)
		row.add(1, true)
		return
	}
	n, lower, undecided := a.rolls.observe(rollupName(p, r), k.of(metric), r.suppressed, at)
	a.tally.add(k.of(metric), at, n, lower, data)
	row.add(n, lower)
	if metric == backend.MetricRejections {
		a.word(r, k, at)
	}
	if undecided {
		a.rolls.oweTo(row)
		a.tally.undecided(k.of(metric), at)
	}
}

// rollupName is the key under which the limiter groups lines, as far as a line shows it: session, workspace, kind and
// the first word of the command.
func rollupName(p *pattern, r record) string {
	kind := ""
	if p != nil {
		kind = p.name
	}
	word, _, _ := bytes.Cut(bytes.TrimSpace(r.command), []byte(" "))
	word = word[:min(len(word), maxFieldBytes)]
	return strings.Join([]string{string(r.session), string(r.workspace), kind, string(word)}, "\x00")
}

// changeEvery is how long one change stands for all lines of its name in one source.
const changeEvery = 10 * time.Minute

// changed reports whether a line is the first of a change: many lines tell of one.
func (a *lineAnalyser) changed(name string, at time.Time) bool {
	was, is := a.changes[name]
	if is && at.Sub(was).Abs() < changeEvery {
		return false
	}
	if a.changes == nil {
		a.changes = map[string]time.Time{}
	}
	a.changes[name] = at
	return true
}

func (a *lineAnalyser) event(p *pattern, r record, at time.Time) {
	if p.change != "" && !a.changed(p.change, at) {
		return
	}
	place := -1
	if len(a.events) >= maxEvents {
		a.seen.moreEvents++
		if place = oldest(a.events); !at.After(a.events[place].At) {
			return
		}
	}
	text := []backend.Safe{a.cleaner.Clean(p.name, 60)}
	if p.meaning != "" {
		text[0] = a.cleaner.Clean(p.meaning, 200)
	}
	if len(r.session) > 0 {
		text = append(text, backend.Textf("session %s", a.cleaner.Clean(string(r.session), 80)))
	} else if p.class == ClassNotStarted && len(r.sandbox) > 0 && !r.plain {
		text = append(text, backend.Textf("sandbox %s", a.cleaner.Clean(string(r.sandbox), 80)))
	}
	if len(r.workspace) > 0 {
		text = append(text, backend.Textf("workspace %s", a.cleaner.Clean(string(r.workspace), 80)))
	}
	cause := p.causeIn(r.message, r.errText)
	if len(cause) == 0 && p.class == ClassNote {
		cause = r.message
	}
	if len(cause) > 0 {
		text = append(text, a.cleaner.Clean(string(cause[:min(len(cause), maxSample)]), sampleRunes))
	}
	e := backend.Event{Kind: backend.EventPlatform, At: at, SourceAt: r.at, Source: a.source,
		Subject: backend.Key{Kind: backend.KindSource, Source: a.source, ID: backend.MustID(a.source)},
		Name:    p.name, Text: backend.Join(text, " · ")}
	if p.change != "" {
		e.Kind, e.Name = backend.EventChange, p.change
	}
	if place >= 0 {
		a.events[place] = e // the newest are kept
		return
	}
	a.events = append(a.events, e)
}

func oldest(events []backend.Event) int {
	at := 0
	for i := range events {
		if events[i].At.Before(events[at].At) {
			at = i
		}
	}
	return at
}

// finish ends a poll: counts, events and notes go into the reading.
func (a *lineAnalyser) finish(r *backend.Reading, now time.Time) {
	for _, o := range a.rolls.settle() {
		a.tally.settle(o)
		o.row.settle(o)
	}
	a.rolls.forget(now)
	a.words.forget(now)
	a.refused.forget(now)
	r.Rejections = a.refused.list(a.cleaner)
	r.Counts = a.tally.counts(a.source, now, func(b []byte) backend.Safe {
		return a.cleaner.Clean(string(b), backend.MaxTextRunes).LogLine(sampleRunes)
	})
	stable.Sort(a.events, func(x, y backend.Event) int { return x.At.Compare(y.At) })
	r.Events, r.Reports = a.events, slices.Concat(a.joins, a.reports, a.lost, a.ranLast())
	for _, x := range a.beliefs { // those who keep them sort them
		r.Reports = append(r.Reports, x)
	}
	r.Memory = a.mems.take(a.source, now)
	r.Load.Bytes = a.seen.bytes
	a.ever.lines += a.seen.lines
	a.ever.matched += a.seen.matched
	a.ever.sampled += a.seen.sampled
	a.ever.ahead += a.seen.ahead
	a.ever.zoned += a.seen.zoned
	r.Notes = append(r.Notes, a.notes()...)
}

func (a *lineAnalyser) notes() []backend.Safe {
	var out []backend.Safe
	note := func(on bool, f backend.Literal, args ...any) {
		if on {
			out = append(out, backend.Textf(f, args...))
		}
	}
	note(a.every > 1, "1 in %d lines decoded (above the byte budget); every line was searched and counted", a.every)
	if n := a.rolls.note(); !n.IsEmpty() {
		out = append(out, n)
	}
	note(a.seen.cut > 0, "%d lines longer than 1 MiB: only their beginning was searched", a.seen.cut)
	note(a.seen.offClock > 0, "%d lines carry a time that cannot be right: they are counted at the time they were read", a.seen.offClock)
	note(a.ever.ahead > 0, "%d lines of the past carry a time ahead of this computer's clock: they are counted at the time they were read; set the clock of what writes them", a.ever.ahead)
	note(a.ever.zoned > 0, "%d lines of the past are not counted: their time is more than %d minutes ahead of this computer's clock; let the logger write its time zone", a.ever.zoned, int(pastSkew.Minutes()))
	note(a.seen.continued > 0, "%d matching lines do not begin as the lines of this log do: they are taken for text that an agent or a tool wrote", a.seen.continued)
	note(a.tally.folded > 0, "more than %d series: further sessions are counted together", maxSeries)
	note(a.mems.silent > 0, "%d lines should tell the memory of the process and hold no number of bytes; check the pattern", a.mems.silent)
	note(a.refused.unowned > 0, "%d rollup lines name no session and cannot be attributed: full lines of their workspace and command come from no session or from several", a.refused.unowned)
	note(a.refused.more > 0, "%d rejected lines are beyond the %d kinds of rejections that are kept; they are counted", a.refused.more, maxRejections)
	note(a.seen.moreEvents > 0, "%d more events are only counted", a.seen.moreEvents)
	note(a.ever.sampled > 0, "the tail said %d times that it leaves events out because there are too many: counts are lower bounds", a.ever.sampled)
	note(a.ever.lines == 0, "no log line yet; the framework's default logger writes none, so a logger must be configured in the agent server")
	note(a.ever.lines > 0 && a.ever.matched == 0, "no line matched any pattern yet")
	return out
}
