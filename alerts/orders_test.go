package alerts

import (
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/backend/fleet"
)

func ordered(t testing.TB, list ...Order) *Orders {
	t.Helper()
	o, err := NewOrders(list)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func ackOf(a *Alert, at time.Time, d time.Duration) Order {
	return Order{Schema: orderSchema, ID: "0000000a", Kind: OrderAcknowledge, At: at, For: d, Owner: backend.Text("mara"), Reason: backend.Text("on it"),
		Alert: a.ID, Rule: a.Rule, Source: a.Source, Fingerprint: a.Fingerprint, Severity: a.Severity}
}

func silenceOf(id, matchers string, at time.Time, d time.Duration) Order {
	return Order{Schema: orderSchema, ID: id, Kind: OrderSilence, At: at, For: d, Owner: backend.Text("ana"), Reason: backend.Text("deploy"), Matchers: matchers}
}

// order makes orders effective, as a Service does.
func (l *lamp) order(list ...Order) *lamp {
	l.t.Helper()
	board, events := l.engine.Apply(l.board, ordered(l.t, list...))
	l.board = board
	for _, e := range events {
		l.events = append(l.events, e.Name)
	}
	return l
}

// settled is a lamp whose process has been up for long enough to know what is new.
func settled(t testing.TB, m Meta) *lamp { return newLamp(t, m).minutes("off off off off") }

func TestAnAcknowledgementHoldsUntilItsTimeIsOver(t *testing.T) {
	l := settled(t, Meta{}).minutes("on")
	l.order(ackOf(l.board.Alerts[0], l.now, 30*time.Minute))
	a := l.board.Alerts[0]
	if k := a.Acknowledged; k == nil || k.Owner.String() != "mara" || !k.At.Equal(l.now) || !k.Until.Equal(l.now.Add(30*time.Minute)) || !a.Muted() || !a.Counts() {
		t.Fatalf("%+v", a)
	}
	l.minutes(strings.Repeat("on ", 30))
	if l.board.Alerts[0].Acknowledged == nil {
		t.Fatal("it lapsed too early")
	}
	l.minutes("dark")
	a = l.board.Alerts[0]
	if a.Acknowledged != nil || a.Lapsed == nil || a.Lapsed.Why.String() != "it was taken for 30m" || a.Muted() {
		t.Errorf("after its time: %+v", a)
	}
	l.minutes("on on")
	if got := strings.Join(l.events, " "); got != "firing held unacknowledged firing" {
		t.Errorf("events %s", got)
	}
}

func TestAnAcknowledgementIsForOneEpisode(t *testing.T) {
	l := settled(t, Meta{}).minutes("on")
	l.order(ackOf(l.board.Alerts[0], l.now, time.Hour)).minutes("on off on")
	if a := l.board.Alerts[0]; a.Acknowledged != nil || a.Lapsed != nil {
		t.Errorf("what came again is acknowledged: %+v", a)
	}
}

// A new process knows that the episode which was taken is over.
func TestAnAcknowledgementIsForOneEpisodeAcrossARestart(t *testing.T) {
	l := settled(t, Meta{}).minutes("on")
	ack := ackOf(l.board.Alerts[0], l.now, time.Hour)
	l.order(ack).minutes("on off on on on")
	l.now = l.now.Add(-time.Minute) // a restart is of the newest State
	l.restarted(t, time.Minute, nil)
	l.order(ack)
	if a := l.board.Alerts[0]; a.Acknowledged != nil || a.Lapsed != nil {
		t.Errorf("after the restart: %+v", a)
	}
	if a := l.minutes("on on on").board.Alerts[0]; a.Acknowledged != nil || a.Lapsed != nil {
		t.Errorf("some minutes later: %+v", a)
	}
}

// A check that cron starts is a process of one State, always younger than the grace at its start.
func TestAnAcknowledgementIsForOneEpisodeUnderCron(t *testing.T) {
	for _, off := range []int{1, 40} {
		l := newLamp(t, Meta{})
		var orders []Order
		check := func(word string) *Alert {
			if l.board != nil {
				l.now = l.now.Add(-time.Minute) // to the last State
				l.restarted(t, time.Minute, nil)
			}
			l.minutes(word).order(orders...)
			if len(l.board.Alerts) == 0 {
				return nil
			}
			return l.board.Alerts[0]
		}
		check("off")
		a := check("on")
		orders = append(orders, ackOf(a, l.now.Add(-time.Minute+time.Second), 12*time.Hour))
		for range 3 {
			if a = check("on"); a.Acknowledged == nil {
				t.Fatal("a check ends the acknowledgement")
			}
		}
		for range off {
			check("off")
		}
		if a = check("on"); a.Acknowledged != nil || a.Lapsed != nil {
			t.Errorf("off for %d minutes: what came again is acknowledged: %+v", off, a.Acknowledged)
		}
	}
}

// A process that just started knows what it has seen itself.
func TestAnAcknowledgementIsForOneEpisodeInAYoungProcess(t *testing.T) {
	l := newLamp(t, Meta{})
	step := func(word string) *Alert {
		l.minutes(word)
		l.now = l.now.Add(-50 * time.Second)
		if len(l.board.Alerts) == 0 {
			return nil
		}
		return l.board.Alerts[0]
	}
	a := step("on")
	l.order(ackOf(a, l.now.Add(-5*time.Second), time.Hour))
	if a = step("on"); a.Acknowledged == nil {
		t.Fatal("not acknowledged")
	}
	step("off")
	if a = step("on"); a.Acknowledged != nil {
		t.Error("what came again is acknowledged")
	}
}

func TestAnAcknowledgementLapsesWhenSubjectsGrowTenfold(t *testing.T) {
	now := time.Unix(1e9, 0).UTC()
	a := Alert{Rule: "lamp", Source: "s", Fingerprint: "v1:lamp", Severity: SeverityWarning, SubjectCount: 12}
	ack := ackOf(&a, now, time.Hour)
	c := clock{Wall: now, Steady: now.Add(time.Minute)}
	holds := func(count int) (*Acknowledgement, *Lapse) {
		a.SubjectCount = count
		return ordered(t, ack).acknowledged(&c, &a, time.Time{}, worse{}, nil)
	}
	if taken, _ := holds(120); taken == nil {
		t.Error("an order of a former version lapses")
	}
	ack.Subjects = 12
	if taken, lapse := holds(119); taken == nil || lapse != nil {
		t.Error("it lapses below ten times as many")
	}
	if taken, lapse := holds(120); taken != nil || lapse == nil || !strings.Contains(lapse.Why.String(), "had 12 subjects when it was acknowledged and 120 or more since") {
		t.Errorf("%+v, %+v", taken, lapse)
	}
}

// TestALapseIsFinal: an alert that shrinks again asks on, also for the next process.
func TestALapseIsFinal(t *testing.T) {
	l := settled(t, Meta{}).minutes("on")
	ack := ackOf(l.board.Alerts[0], l.now, time.Hour)
	ack.Subjects = 4
	many := func(n int) {
		for _, g := range l.board.memory.rules["lamp"].groups {
			a := *g.alert
			a.SubjectCount = n
			g.alert = &a
		}
	}
	many(4)
	if a := l.order(ack).board.Alerts[0]; a.Acknowledged == nil {
		t.Fatalf("%+v", a)
	}
	many(40)
	board, events := l.engine.Apply(l.board, ordered(t, ack))
	if len(events) != 1 || events[0].Text.String() != "lamp asks again: 40 subjects, acknowledged at 4 by mara" {
		t.Errorf("events %v", events)
	}
	l.board = board
	lapsed := func(when string) {
		t.Helper()
		many(4)
		if a := l.order(ack).board.Alerts[0]; a.Acknowledged != nil || a.Lapsed == nil || !strings.Contains(a.Lapsed.Why.String(), "it had 4 subjects when it was acknowledged and 40 or more since") {
			t.Errorf("%s: %+v", when, a)
		}
	}
	lapsed("4 again")
	lapsed("and later")
	l.restarted(t, time.Minute, nil)
	lapsed("in another process")
	again := ack
	again.ID, again.At = "0000000b", l.now
	if a := l.order(ack, again).board.Alerts[0]; a.Acknowledged == nil {
		t.Errorf("taken again: %+v", a)
	}
}

func TestWhatIsTakenBackDoesNotLapse(t *testing.T) {
	l := settled(t, Meta{}).minutes("on")
	ack := ackOf(l.board.Alerts[0], l.now, time.Hour)
	back := ack
	back.Kind, back.ID, back.At, back.For = OrderUnacknowledge, "0000000b", l.now.Add(time.Second), 0
	l.order(ack, back)
	if a := l.board.Alerts[0]; a.Acknowledged != nil || a.Lapsed != nil {
		t.Errorf("%+v", a)
	}
}

// severe is a lamp rule whose findings are critical while the status is "hot".
type severe struct{ lampRule }

func (r *severe) Judge(env *Env, e backend.Entity, n Note) Verdict {
	s, ok := e.(*backend.Session)
	if !ok || s.Status.String() == "off" {
		return Verdict{Outcome: False}
	}
	cause, fp := env.Cause(backend.Text("lamp"))
	v := Verdict{Outcome: True, Cause: cause, Fingerprint: fp}
	if s.Status.String() == "hot" {
		v.Severity = SeverityCritical
	}
	return v
}

func TestAnAcknowledgementDropsWhenTheSeverityRises(t *testing.T) {
	l := newLamp(t, Meta{})
	l.engine = NewEngine([]Rule{&severe{lampRule{Meta{Name: "lamp", Severity: SeverityWarning}}}}, "test")
	l.minutes("off off off on")
	l.order(ackOf(l.board.Alerts[0], l.now, time.Hour)).minutes("on hot")
	a := l.board.Alerts[0]
	if len(l.board.Alerts) != 1 || a.Severity != SeverityCritical || a.Acknowledged != nil || a.Lapsed == nil || !strings.Contains(a.Lapsed.Why.String(), "acknowledged as warning and is critical") {
		t.Fatalf("%+v", a)
	}
	l.order(ackOf(a, l.now, time.Hour)).minutes("hot on")
	if a := l.board.Alerts[0]; a.Severity != SeverityWarning || a.Acknowledged == nil {
		t.Errorf("less severe than what was taken: %+v", a)
	}
}

// Whoever took a warning was told that it is nobody's any more; it does not come back to them in silence.
func TestADroppedAcknowledgementStaysDropped(t *testing.T) {
	l := newLamp(t, Meta{})
	l.engine = NewEngine([]Rule{&severe{lampRule{Meta{Name: "lamp", Severity: SeverityWarning}}}}, "test")
	l.minutes("off off off on")
	ack := ackOf(l.board.Alerts[0], l.now, time.Hour)
	l.order(ack).minutes("on hot on")
	lapsed := func(when string) {
		t.Helper()
		a := l.board.Alerts[0]
		if a.Severity != SeverityWarning || a.Acknowledged != nil || a.Lapsed == nil || !strings.Contains(a.Lapsed.Why.String(), "acknowledged as warning and was critical") {
			t.Errorf("%s: %+v", when, a)
		}
	}
	lapsed("a warning again")
	l.minutes("on on")
	lapsed("and later")
	l.now = l.now.Add(-time.Minute) // a restart is of the newest State
	l.restarted(t, time.Minute, nil)
	l.order(ack).minutes("on on")
	lapsed("after a restart")
	if got := strings.Join(l.events, " "); strings.Count(got, "unacknowledged") != 1 {
		t.Errorf("events %s", got)
	}
	again := ackOf(l.board.Alerts[0], l.now, time.Hour)
	again.ID = "0000000b"
	l.order(ack, again).minutes("on")
	if a := l.board.Alerts[0]; a.Acknowledged == nil {
		t.Errorf("taken again: %+v", a)
	}
	l.minutes("off on")
	if a := l.board.Alerts[0]; a.Acknowledged != nil || a.Lapsed != nil {
		t.Errorf("another episode: %+v", a)
	}
}

func TestASilenceMutesAndEndsVisibly(t *testing.T) {
	l := settled(t, Meta{}).minutes("on")
	l.order(silenceOf("s1", `rule="lamp", source=~"s|t"`, l.now, 20*time.Minute), silenceOf("s2", `rule="lamp", tenant!="acme"`, l.now, time.Hour))
	a := l.board.Alerts[0]
	if s := a.Silenced; s == nil || s.ID.String() != "s1" || !s.Until.Equal(l.now.Add(20*time.Minute)) || a.Counts() || !a.Muted() {
		t.Fatalf("%+v", a)
	}
	l.minutes(strings.Repeat("on ", 21))
	if l.board.Alerts[0].Silenced != nil || !l.board.Alerts[0].Counts() {
		t.Error("it goes on after its end")
	}
	if got := strings.Join(l.events, " "); got != "firing silence-ends silence-ended" {
		t.Errorf("events %s", got)
	}
}

func TestASilenceMatchesWhatComesLater(t *testing.T) {
	l := settled(t, Meta{})
	l.order(silenceOf("s1", `rule="lamp"`, l.now, time.Hour)).minutes("on")
	if l.board.Alerts[0].Silenced == nil {
		t.Error("a new alert is not silenced")
	}
	expire := Order{Schema: orderSchema, ID: "x", Kind: OrderExpire, At: l.now, Owner: backend.Text("bo"), Silence: "s1"}
	l.order(silenceOf("s1", `rule="lamp"`, l.now.Add(-2*time.Minute), time.Hour), expire)
	l.minutes("on")
	if l.board.Alerts[0].Silenced != nil {
		t.Error("an ended silence goes on")
	}
}

func TestOrdersDoNotFollowTheWallClocksJumps(t *testing.T) {
	l := settled(t, Meta{}).minutes("on")
	began := l.now
	l.order(ackOf(l.board.Alerts[0], began, 30*time.Minute), silenceOf("s1", `rule="lamp"`, began, 30*time.Minute))
	jump := func(wall time.Duration) {
		st := l.state("on")
		st.Wall = st.Wall.Add(wall)
		l.board, _ = l.engine.Next(l.board, st)
		l.now = l.now.Add(time.Minute)
	}
	for range 20 {
		jump(time.Hour)
	}
	a := l.board.Alerts[0]
	if a.Acknowledged == nil || a.Silenced == nil || !a.Acknowledged.Until.Equal(began.Add(90*time.Minute)) {
		t.Fatalf("an hour's jump ended them, or their end does not follow the clock on the wall: %+v", a)
	}
	for range 15 {
		jump(time.Hour)
	}
	if a := l.board.Alerts[0]; a.Acknowledged != nil || a.Silenced != nil {
		t.Errorf("35 minutes later: %+v", a)
	}
	l.order(ackOf(l.board.Alerts[0], l.now.Add(time.Hour), 30*time.Minute))
	jump(time.Hour)
	if a := l.board.Alerts[0]; a.Acknowledged == nil {
		t.Error("what is ordered after the jump does not hold")
	}
}

func TestOrdersThatCannotBeUnderstoodAreReported(t *testing.T) {
	good := silenceOf("good", `rule="lamp"`, time.Unix(1e9, 0), time.Hour)
	noEnd, noOwner, wrong, newer, odd := good, good, good, good, good
	noEnd.For, noOwner.Owner, wrong.Matchers, newer.Schema, odd.Kind = 0, backend.Safe{}, `rule=`, 2, "dance"
	o, err := NewOrders([]Order{noEnd, good, noOwner, wrong, newer, odd})
	if len(o.silences) != 1 || err == nil {
		t.Fatalf("%v, %v", o.silences, err)
	}
	for _, want := range []string{"has no end", "not who ordered", "rule has no value", "schema 2", "of no kind that is known"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %v", want, err)
		}
	}
}

// outageRule notes every session that is "on", and fires for its source when three are.
type outageRule struct {
	meta     Meta
	provider string
}

func (r *outageRule) Meta() *Meta        { return &r.meta }
func (r *outageRule) Kind() backend.Kind { return backend.KindSession }

func (r *outageRule) Judge(_ *Env, e backend.Entity, _ Note) Verdict {
	if s, ok := e.(*backend.Session); ok && s.Status.String() == "on" {
		return Verdict{Outcome: False, Note: NoteOf(new(bool))}
	}
	return Verdict{Outcome: False}
}

func (r *outageRule) Evidence(*Env, *Alert, backend.Entity) []Evidence { return nil }

func (r *outageRule) JudgeFleet(_ *Env, known Known) []Found {
	n := 0
	for k := range known.All {
		if k.Kind == backend.KindSession {
			n++
		}
	}
	v := Verdict{Outcome: False, Source: "s"}
	if n >= 3 {
		v = Verdict{Outcome: True, Source: "s", Provider: backend.Clean(r.provider, 9), Cause: backend.Text("outage"), Fingerprint: "v1:outage", Listing: &Listing{Count: n, Providers: 1}}
	}
	return []Found{{backend.Key{Kind: backend.KindSource, Source: "s", ID: backend.MustID("s")}, v}}
}

// providedLamp tells the lamp's provider, unless the session has none.
type providedLamp struct{ lampRule }

func (r *providedLamp) Judge(env *Env, e backend.Entity, n Note) Verdict {
	v := r.lampRule.Judge(env, e, n)
	if s, ok := e.(*backend.Session); ok {
		v.Provider = s.Tenant // stands in for what the rule would join
	}
	return v
}

func TestAnOutageHidesWhatItExplains(t *testing.T) {
	outage := Meta{Name: "outage", Severity: SeverityCritical, Inhibits: []Inhibition{{Rules: []string{"lamp"}, Equal: []string{LabelSource, LabelProvider}}}}
	for name, c := range map[string]struct {
		on        []string // provider of each session that is on
		provider  string   // that the outage is of
		dark      string   // provider of one that the outage knows nothing of
		severity  Severity // of the parts
		inhibited bool
	}{
		"all are parts":                {on: []string{"p", "p", "p"}, provider: "p", severity: SeverityWarning, inhibited: true},
		"as severe as the outage":      {on: []string{"p", "p", "p"}, provider: "p", severity: SeverityCritical, inhibited: true},
		"too few for an outage":        {on: []string{"p", "p"}, provider: "p", severity: SeverityWarning},
		"another provider":             {on: []string{"q", "q", "q"}, provider: "p", severity: SeverityWarning},
		"several providers":            {on: []string{"p", "p", "q"}, provider: "p", severity: SeverityWarning},
		"absent never matches":         {on: []string{"", "", ""}, provider: "p", severity: SeverityWarning},
		"absent on both never matches": {on: []string{"", "", ""}, severity: SeverityWarning},
		"one is not explained":         {on: []string{"p", "p", "p"}, provider: "p", dark: "p", severity: SeverityWarning},
	} {
		t.Run(name, func(t *testing.T) {
			lamp := Meta{Name: "lamp", Severity: c.severity}
			e := NewEngine([]Rule{&providedLamp{lampRule{lamp}}, &outageRule{outage, c.provider}}, "test")
			st := &fleet.State{Number: 1, Wall: time.Unix(1e9, 0)}
			var all []*backend.Session
			add := func(status, provider string) {
				k := backend.Key{Kind: backend.KindSession, Source: "s", ID: backend.MustID(string(rune('a' + len(all))))}
				x := &backend.Session{Meta: backend.Meta{Key: k}, Status: backend.Clean(status, 9)}
				x.Tenant = backend.Clean(provider, 9)
				all = append(all, x)
			}
			for _, p := range c.on {
				add("on", p)
			}
			if c.dark != "" {
				add("maybe", c.dark)
			}
			st.Sessions = fleet.NewTable(all...)
			b, _ := e.Next(nil, st)
			var part, whole *Alert
			for _, a := range b.Alerts {
				if a.Rule == "lamp" {
					part = a
				} else {
					whole = a
				}
			}
			if got := part.InhibitedBy != ""; got != c.inhibited || got && (part.InhibitedBy != whole.ID || whole.Inhibits != 1 || !part.Hidden() || whole.Hidden()) {
				t.Errorf("part %+v\nwhole %+v", part, whole)
			}
			if len(c.on) != 3 {
				return
			}
			st2 := *st
			st2.Number, st2.Wall = 2, st.Wall.Add(time.Second)
			off := *all[0]
			off.Status = backend.Text("off")
			st2.Sessions = fleet.NewTable(append([]*backend.Session{&off}, all[1:]...)...)
			st2.Delta.Changed = []backend.Key{off.Key}
			if b, _ = e.Next(b, &st2); b.Alerts[0].InhibitedBy != "" || b.Alerts[0].Rule != "lamp" {
				t.Errorf("the outage is over and hides still: %+v", b.Alerts[0])
			}
		})
	}
}

// What is more severe than the outage has a line of its own.
func TestAnOutageHidesNothingMoreSevere(t *testing.T) {
	outage := Meta{Name: "outage", Severity: SeverityWarning, Inhibits: []Inhibition{{Rules: []string{"lamp"}, Equal: []string{LabelSource}}}}
	for severity, hidden := range map[Severity]bool{SeverityInfo: true, SeverityWarning: true, SeverityCritical: false} {
		e := NewEngine([]Rule{&lampRule{Meta{Name: "lamp", Severity: severity}}, &outageRule{outage, "p"}}, "test")
		var all []*backend.Session
		for _, id := range []string{"a", "b", "c"} {
			k := backend.Key{Kind: backend.KindSession, Source: "s", ID: backend.MustID(id)}
			all = append(all, &backend.Session{Meta: backend.Meta{Key: k}, Status: backend.Text("on")})
		}
		b, _ := e.Next(nil, &fleet.State{Number: 1, Wall: time.Unix(1e9, 0), Sessions: fleet.NewTable(all...)})
		for _, a := range b.Alerts {
			if a.Rule == "lamp" && a.Hidden() != hidden {
				t.Errorf("hidden is %v: %+v", a.Hidden(), a)
			}
		}
	}
}

// Two outages that would each hide the other: one line always stands.
func TestOutagesDoNotHideEachOther(t *testing.T) {
	both := []string{"one", "two", "three"}
	var rules []Rule
	for _, name := range both {
		rules = append(rules, &outageRule{Meta{Name: name, Severity: SeverityWarning, Inhibits: []Inhibition{{Rules: both, Equal: []string{LabelSource}}}}, "p"})
	}
	var all []*backend.Session
	for _, id := range []string{"a", "b", "c"} {
		k := backend.Key{Kind: backend.KindSession, Source: "s", ID: backend.MustID(id)}
		all = append(all, &backend.Session{Meta: backend.Meta{Key: k}, Status: backend.Text("on")})
	}
	b, _ := NewEngine(rules, "test").Next(nil, &fleet.State{Number: 1, Wall: time.Unix(1e9, 0), Sessions: fleet.NewTable(all...)})
	standing := map[string]*Alert{}
	for _, a := range b.Alerts {
		if !a.Hidden() {
			standing[a.ID] = a
		}
	}
	if len(b.Alerts) != 3 || len(standing) != 1 {
		t.Fatalf("%d of %d stand", len(standing), len(b.Alerts))
	}
	for _, a := range b.Alerts {
		if a.Hidden() && standing[a.InhibitedBy] == nil {
			t.Errorf("%s is hidden by what is hidden", a.Rule)
		}
	}
	for _, a := range standing {
		if a.Inhibits != 2 {
			t.Errorf("it stands for %d", a.Inhibits)
		}
	}
}

func TestAnAcknowledgementOfAFormerVersionSaysSo(t *testing.T) {
	l := settled(t, Meta{}).minutes("on on")
	a := l.board.Alerts[0]
	ack := ackOf(a, l.now, time.Hour)
	ack.Fingerprint = "v2:0123456789ab"
	l.order(ack)
	if a = l.board.Alerts[0]; a.Acknowledged != nil || a.Lapsed == nil || a.Lapsed.Owner.String() != "mara" ||
		a.Lapsed.Why.String() != "an alert of this rule was acknowledged when causes were compared in another way (v2, now v3): acknowledge again if it was this one" {
		t.Fatalf("%+v %+v", a.Acknowledged, a.Lapsed)
	}
	l.order(ack, ackOf(a, l.now.Add(time.Second), time.Hour))
	if a = l.board.Alerts[0]; a.Acknowledged == nil || a.Lapsed != nil {
		t.Errorf("acknowledged again: %+v %+v", a.Acknowledged, a.Lapsed)
	}
	l.minutes("off off on") // what began later was not meant
	l.order(ack)
	if a = l.board.Alerts[0]; a.Lapsed != nil {
		t.Errorf("a later alert: %+v", a.Lapsed)
	}
}
