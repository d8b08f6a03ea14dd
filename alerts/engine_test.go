package alerts

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

// lampRule is true for a session whose status is "on"; other words stand for the other outcomes.
type lampRule struct{ meta Meta }

func (r *lampRule) Meta() *Meta        { return &r.meta }
func (r *lampRule) Kind() backend.Kind { return backend.KindSession }

func (r *lampRule) Judge(env *Env, e backend.Entity, _ Note) Verdict {
	s, ok := e.(*backend.Session)
	if !ok {
		return Verdict{Outcome: NotApplicable}
	}
	cause, fp := env.Cause(backend.Text("lamp"))
	switch s.Status.String() {
	case "on":
		return Verdict{Outcome: True, Cause: cause, Fingerprint: fp}
	case "maybe":
		return Verdict{Outcome: True, Suspected: true, Cause: cause, Fingerprint: fp}
	case "shared":
		return Verdict{Outcome: True, Suspected: true, Corroborable: true, Cause: cause, Fingerprint: fp}
	case "off":
		return Verdict{Outcome: False}
	case "none":
		return Verdict{Outcome: NotApplicable, Why: backend.Text("no lamp")}
	}
	return Verdict{Outcome: NoData, Why: backend.Text("dark")}
}

func (r *lampRule) Evidence(env *Env, _ *Alert, _ backend.Entity) []Evidence {
	return []Evidence{{Text: backend.Text("the lamp is on"), Source: "s", At: env.Display(env.Now)}}
}

// lamp is one session's sequence of States.
type lamp struct {
	t      testing.TB
	engine *Engine
	board  *Board
	number uint64
	now    time.Time
	seen   []string
	events []string
}

func newLamp(t testing.TB, m Meta) *lamp {
	m.Name, m.Severity = "lamp", SeverityWarning
	return &lamp{t: t, engine: NewEngine([]Rule{&lampRule{m}}, "test"), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func (l *lamp) state(word string) *fleet.State {
	l.number++
	k := backend.Key{Kind: backend.KindSession, Source: "s", ID: backend.MustID("a")}
	h := &fleet.SourceHealth{Key: backend.Key{Kind: backend.KindSource, Source: "s", ID: backend.MustID("s")}, Status: fleet.StatusOK, LastOK: l.now}
	st := &fleet.State{Number: l.number, Wall: l.now, Mono: time.Duration(l.now.UnixNano()), Sources: []*fleet.SourceHealth{h}}
	switch word {
	case "gone":
		st.Delta.Gone = []fleet.Departure{{Key: k, Why: backend.Text("closed")}}
		return st
	case "vanished":
		last := &backend.Session{Meta: backend.Meta{Key: k}, ListedRunning: backend.Known(true)}
		st.Delta.Gone = []fleet.Departure{{Key: k, Last: last, Why: backend.Text("absent from two complete lists"), Absent: true}}
		return st
	case "silent":
		h.Unlisted = []backend.Unlisted{{Session: k.ID, Why: backend.Text("answered 502")}}
		return st
	case "away":
		return st
	case "error":
		h.Status, h.Error = fleet.StatusDown, backend.Text("refused")
		word = "on"
	default:
		st.Delta.Changed = []backend.Key{k}
	}
	st.Sessions = fleet.NewTable(&backend.Session{Meta: backend.Meta{Key: k, ReadAt: l.now}, Status: backend.Clean(word, 20)})
	return st
}

// minutes plays words, one a minute, and notes the alert's state after each: "-" for none.
func (l *lamp) minutes(words string) *lamp {
	for _, word := range strings.Fields(words) {
		board, events := l.engine.Next(l.board, l.state(word))
		l.board = board
		state := "-"
		if len(board.Alerts) > 0 {
			state = string(board.Alerts[0].State)
		}
		l.seen = append(l.seen, state)
		for _, e := range events {
			l.events = append(l.events, e.Name)
		}
		l.now = l.now.Add(time.Minute)
	}
	return l
}

func (l *lamp) want(states, events string) {
	l.t.Helper()
	if got := strings.Join(l.seen, " "); got != states {
		l.t.Errorf("states\n%q, want\n%q", got, states)
	}
	if got := strings.Join(l.events, " "); got != events {
		l.t.Errorf("events %q, want %q", got, events)
	}
}

func TestLifeCycle(t *testing.T) {
	for name, c := range map[string]struct {
		meta                 Meta
		words, states, event string
	}{
		"never active":                     {Meta{For: time.Minute}, "off off", "- -", ""},
		"for zero fires at once":           {Meta{}, "on off on", "firing - firing", "firing resolved firing"},
		"for below the interval":           {Meta{For: time.Second}, "on on", "pending firing", "pending firing"},
		"for of two minutes":               {Meta{For: 2 * time.Minute}, "on on on on", "pending pending firing firing", "pending firing"},
		"pending to inactive":              {Meta{For: 2 * time.Minute}, "on on off on on on", "pending pending - pending pending firing", "pending cleared pending firing"},
		"a gap pauses the clock":           {Meta{For: 5 * time.Minute}, "on on on on error error on on", "pending pending pending pending pending pending pending firing", "pending firing"},
		"no data pauses too":               {Meta{For: 2 * time.Minute}, "on dark dark dark on on", "pending pending pending pending pending firing", "pending firing"},
		"a gap resets the clock":           {Meta{For: 2 * time.Minute, Gap: GapReset}, "on on dark on on on", "pending pending - pending pending firing", "pending cleared pending firing"},
		"a gap counts":                     {Meta{For: 2 * time.Minute, Gap: GapCount}, "on dark on", "pending pending firing", "pending firing"},
		"a gap holds":                      {Meta{}, "on dark error on off", "firing held held firing -", "firing held firing resolved"},
		"not applicable holds":             {Meta{}, "on none off", "firing held -", "firing held resolved"},
		"not applicable never starts":      {Meta{}, "none dark error", "- - -", ""},
		"held resolves on false alone":     {Meta{}, "on dark off", "firing held -", "firing held resolved"},
		"keep firing":                      {Meta{KeepFiringFor: 2 * time.Minute}, "on off off off", "firing firing firing -", "firing resolved"},
		"a new match cancels keep firing":  {Meta{KeepFiringFor: 2 * time.Minute}, "on off on off off off", "firing firing firing firing firing -", "firing resolved"},
		"suspicion never fires":            {Meta{}, "maybe maybe maybe on", "pending pending pending firing", "pending firing"},
		"suspicion does not count for for": {Meta{For: time.Minute}, "maybe maybe on on", "pending pending pending firing", "pending firing"},
		"what fired stays on suspicion":    {Meta{}, "on maybe dark maybe off", "firing firing held firing -", "firing held firing resolved"},
		"gone ends":                        {Meta{}, "on gone", "firing ended", "firing ended"},
		"gone ends what is held":           {Meta{}, "on dark gone", "firing held ended", "firing held ended"},
		"gone drops what is pending":       {Meta{For: time.Hour}, "on gone", "pending -", "pending cleared"},
		"back after it ended":              {Meta{}, "on gone on off", "firing ended firing -", "firing ended firing resolved"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newLamp(t, c.meta).minutes(c.words).want(c.states, c.event)
		})
	}
}

// TestCorroboratedSuspicionWaitsForItsTime holds that company replaces the proof, not the rule's `for`.
func TestCorroboratedSuspicionWaitsForItsTime(t *testing.T) {
	play := func(m Meta, minutes int, word string, still bool) string {
		m.Corroborate = 2
		l := newLamp(t, m)
		for i := range minutes {
			st := l.state(word)
			other := *st.Sessions.At(0)
			other.Key.ID = backend.MustID("b")
			st.Sessions = fleet.NewTable(st.Sessions.At(0), &other)
			if st.Delta.Changed = append(st.Delta.Changed, other.Key); still && i > 0 {
				st.Delta.Changed = nil
			}
			l.board, _ = l.engine.Next(l.board, st)
			if a := l.board.Alerts[0]; a.SubjectCount != 2 {
				t.Fatalf("%d subjects", a.SubjectCount)
			}
			l.seen = append(l.seen, string(l.board.Alerts[0].State))
			l.now = l.now.Add(time.Minute)
		}
		return strings.Join(l.seen, " ")
	}
	for name, c := range map[string]struct {
		meta  Meta
		word  string
		still bool
		want  string
	}{
		"at once without a for":        {Meta{}, "shared", false, "firing firing firing firing"},
		"after its for":                {Meta{For: 2 * time.Minute}, "shared", false, "pending pending firing firing"},
		"after its for, if all stands": {Meta{For: 2 * time.Minute}, "shared", true, "pending pending firing firing"},
		"nothing else is proved so":    {Meta{}, "maybe", false, "pending pending pending pending"},
	} {
		if got := play(c.meta, 4, c.word, c.still); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestEndedStaysFifteenMinutes(t *testing.T) {
	l := newLamp(t, Meta{}).minutes("on gone")
	for range 14 {
		l.state("gone")
		l.minutes("gone")
	}
	if l.seen[len(l.seen)-1] != "ended" {
		t.Errorf("after 14 minutes: %v", l.seen)
	}
	l.minutes("gone")
	if l.seen[len(l.seen)-1] != "-" {
		t.Errorf("after 15 minutes: %v", l.seen)
	}
}

func TestNextIsPure(t *testing.T) {
	l := newLamp(t, Meta{For: 3 * time.Minute}).minutes("on on")
	before := fmt.Sprintf("%+v", *l.board.Alerts[0])
	st := l.state("on")
	a, _ := l.engine.Next(l.board, st)
	b, _ := l.engine.Next(l.board, st)
	if !reflect.DeepEqual(a, b) {
		t.Error("the same Board and State gave two different Boards")
	}
	if after := fmt.Sprintf("%+v", *l.board.Alerts[0]); after != before {
		t.Errorf("the former Board was changed:\n%s\n%s", before, after)
	}
}

func TestUnchangedAlertsAreShared(t *testing.T) {
	l := newLamp(t, Meta{}).minutes("on")
	was := l.board
	st := l.state("on")
	st.Delta = fleet.Delta{}
	st.Sessions = fleet.NewTable(&backend.Session{Meta: backend.Meta{
		Key: backend.Key{Kind: backend.KindSession, Source: "s", ID: backend.MustID("a")}, ReadAt: was.At}, Status: backend.Text("on")})
	next, _ := l.engine.Next(was, st)
	if next.Alerts[0] != was.Alerts[0] {
		t.Error("an alert of which nothing changed was made anew")
	}
}

func TestIdentityHoldsNoMeasuredValue(t *testing.T) {
	a := newLamp(t, Meta{}).minutes("on").board.Alerts[0]
	b := newLamp(t, Meta{}).minutes("off off on").board.Alerts[0]
	if a.ID != b.ID || len(a.ID) != 10 {
		t.Errorf("ids %q and %q", a.ID, b.ID)
	}
	other := newLamp(t, Meta{})
	other.engine = NewEngine(other.engine.Rules(), "prod")
	if other.minutes("on").board.Alerts[0].ID == a.ID {
		t.Error("the environment is part of the identity")
	}
}

func TestSubjectsAreCutAndCountedExactly(t *testing.T) {
	engine := NewEngine([]Rule{&lampRule{Meta{Name: "lamp", Severity: SeverityWarning}}}, "test")
	var all []*backend.Session
	for i := range 1500 {
		all = append(all, &backend.Session{
			Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: "s", ID: backend.MustID(fmt.Sprintf("s%04d", i))}}, Status: backend.Text("on")})
	}
	st := &fleet.State{Number: 1, Wall: time.Unix(1e9, 0), Sessions: fleet.NewTable(all...)}
	b, events := engine.Next(nil, st)
	if a := b.Alerts[0]; len(a.Subjects) != MaxSubjects || a.SubjectCount != 1500 {
		t.Errorf("%d listed, %d counted", len(a.Subjects), a.SubjectCount)
	}
	if len(events) != 1 || len(events[0].About) != maxAbout || events[0].Subject != (backend.Key{}) || events[0].About[0] != b.Alerts[0].Subjects[0].Key {
		t.Errorf("its transition is about %+v", events)
	}
}

// Time after the last answer of a source that is out does not count towards `for`.
func TestTimeOfAnOutageDoesNotCount(t *testing.T) {
	l := newLamp(t, Meta{For: 4 * time.Minute}).minutes("on on") // 1m is proved
	st := l.state("error")
	st.Sources[0].LastOK = l.now.Add(-time.Minute)
	l.board, _ = l.engine.Next(l.board, st) // it answered last at the State before
	l.now = l.now.Add(time.Minute)
	l.minutes("on on on") // the clock goes on: 1m, 2m, 3m
	if a := l.board.Alerts[0]; a.State != StatePending {
		t.Errorf("after 3m that were read it is %s", a.State)
	}
	if a := l.minutes("on").board.Alerts[0]; a.State != StateFiring {
		t.Errorf("after 4m that were read it is %s", a.State)
	}
}
