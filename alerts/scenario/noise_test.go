package scenario_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/rules"
	"sandglass/backend"
	"sandglass/backend/fleet"
)

const (
	noisyDay  = 24 * time.Hour
	noisyStep = time.Minute
)

var (
	update    = flag.Bool("update", false, "rewrite the figures in alerts/rules")
	noisyFor  = flag.Duration("noise.for", noisyDay, "end the noisy day after this long, to look into something")
	noisyPoll = flag.Duration("noise.step", noisyStep, "poll the noisy fleet at this interval")
	noisySeed = flag.Uint64("noise.seed", 1, "which noisy day")
)

// figures are what a day of the noisy fleet gave.
type figures struct {
	step          time.Duration
	workspaceDays float64
	seen, states  int      // workspaces of all States, and States
	alarms        []string // false alarms
	suspected     int      // lines that were suspected and never fired
	infos         int      // lines of severity info
	found         []detection
	missed        []string
}

type detection struct {
	rule        string
	took, limit time.Duration
	threshold   time.Duration // of limit: what the rule's own text waits for
}

// ongoing is a trouble that has begun.
type ongoing struct {
	trouble
	name  string
	began time.Time // the earliest moment at which it can have begun
	limit time.Duration
	goOn  func()
	found bool
}

// aftermath is how long after an incident of the whole fleet its alerts may still come and go.
const aftermath = 15 * time.Minute

// noisyRun plays one day.
type noisyRun struct {
	t       *testing.T
	fleet   *noisyFleet
	board   *alerts.Board
	engine  *alerts.Engine
	firing  map[string]bool
	pending map[string]bool
	on      []*ongoing
	figures
}

func playNoise(t *testing.T, seed uint64, step, day time.Duration, size int, list []trouble) figures {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // the day is many short-lived States
	f := newNoisyFleet(seed, step, size)
	r := &noisyRun{t: t, fleet: f, engine: alerts.NewEngine(rules.Defaults(), "test"), firing: map[string]bool{}, pending: map[string]bool{}}
	r.step = step
	began := f.now
	states := fleet.New(fleet.Options{Now: func() time.Time { return f.now }, Mono: func() time.Duration { return f.now.Sub(began) }, Spawn: backend.NewSpawner(nil),
		LongestOperation: 5 * time.Minute, OnState: r.observe})
	for _, id := range noisySources {
		states.Add(noisySource{id, f}, backend.SourceConfig{Kind: "noisy", Interval: step, Deadline: 5 * time.Second})
	}
	between := noisyDay / time.Duration(len(list)+1)
	for n := 0; f.now.Sub(began) < day; {
		f.advance()
		for _, x := range r.on {
			if x.goOn != nil && f.now.Sub(x.began) < troubleLasts {
				x.goOn()
			}
		}
		if n < len(list) && f.now.Sub(began) >= time.Duration(n+1)*between {
			x := &ongoing{trouble: list[n], name: fmt.Sprintf("trouble-%d", n), began: f.now.Add(-step), limit: list[n].after + time.Duration(list[n].polls+1)*step}
			if x.later {
				x.began = f.now
			}
			x.goOn = x.begin(f, x.name)
			if x.goOn != nil {
				x.goOn()
			}
			r.on = append(r.on, x)
			n++
		}
		states.PollOnce(t.Context())
		for id := range f.lost {
			f.lost[id] = max(f.lost[id]-1, 0)
		}
	}
	for _, x := range r.on {
		if !x.found {
			r.missed = append(r.missed, x.rule)
		}
	}
	return r.figures
}

// observe takes account of what a State concludes.
func (r *noisyRun) observe(st *fleet.State) {
	r.seen, r.states = r.seen+st.Workspaces.Len(), r.states+1
	if !slices.ContainsFunc(r.on, func(x *ongoing) bool { return x.wide && st.Wall.Sub(x.began) < troubleLasts+aftermath }) {
		r.workspaceDays += float64(st.Workspaces.Len()) * r.step.Hours() / 24 // nothing is taken for a false alarm meanwhile
	}
	r.board, _ = r.engine.Next(r.board, st)
	now := map[string]bool{}
	for _, a := range r.board.Alerts {
		switch a.State {
		case alerts.StateFiring:
			now[a.ID] = true
			r.fires(st, a)
		case alerts.StatePending:
			if !r.pending[a.ID] && r.cause(st, a) == nil {
				r.pending[a.ID] = true
			}
		case alerts.StateHeld:
			now[a.ID] = r.firing[a.ID]
		case alerts.StateEnded, alerts.StateResolved:
		}
	}
	r.firing = now
	r.suspected = len(r.pending)
}

func (r *noisyRun) fires(st *fleet.State, a *alerts.Alert) {
	r.agrees(st, a)
	for _, x := range r.on {
		if !x.found && a.Rule == x.rule && x.about(a, x.name) {
			x.found = true
			r.found = append(r.found, detection{x.rule, st.Wall.Sub(x.began), x.limit, x.limit - r.step})
		}
	}
	delete(r.pending, a.ID)
	if r.firing[a.ID] || a.Hidden() || r.cause(st, a) != nil {
		return
	}
	if a.Severity == alerts.SeverityInfo {
		r.infos++
		return
	}
	r.alarms = append(r.alarms, fmt.Sprintf("%s %s at %s: %s (%s, since %s to %s)", st.Wall.Format("15:04:05"), a.Rule, a.Source, a.Cause, a.Subjects[0].Label,
		a.Subjects[0].Bounds.Earliest.Format("15:04:05"), a.Subjects[0].Bounds.Latest.Format("15:04:05")))
}

// cause is the trouble that an alert belongs to, nil when there is none.
func (r *noisyRun) cause(st *fleet.State, a *alerts.Alert) *ongoing {
	for _, x := range r.on {
		if (st.Wall.Sub(x.began) < troubleLasts+aftermath || !x.wide) && x.about(a, x.name) {
			return x
		}
	}
	return nil
}

// TestNoisyDay plays a day of 1,000 workspaces that are healthy and busy, with labelled incidents laid into it. The poll step
// is a minute: no rule's threshold in time is shorter than that, so a finer step changes when a poll sees something, not what
// is seen; -noise.step=5s plays it as a console would poll, -noise.seed another day. Where neither SANDGLASS_LONG is set, as
// .ci/run does, nor the figures are written, it ends after six hours, under the race detector after two.
func TestNoisyDay(t *testing.T) {
	day := *noisyFor
	switch {
	case raced:
		day = min(day, 2*time.Hour)
	case !*update && os.Getenv("SANDGLASS_LONG") == "":
		day = min(day, 6*time.Hour)
	}
	r := playNoise(t, *noisySeed, *noisyPoll, day, 1000, troubles())
	if r.states > 0 && r.seen/r.states < 1000 {
		t.Errorf("only %d workspaces on average", r.seen/r.states)
	}
	if float64(len(r.alarms))*1000 > r.workspaceDays {
		t.Errorf("%d false alarms on %.0f workspace-days:\n%s", len(r.alarms), r.workspaceDays, strings.Join(r.alarms, "\n"))
	}
	if len(r.missed) > 0 {
		t.Errorf("not found: %v", r.missed)
	}
	for _, d := range r.found {
		if d.took > d.limit {
			t.Errorf("%s was found after %s, allowed are %s", d.rule, d.took, d.limit)
		}
	}
	if !t.Failed() && day == noisyDay && *noisyPoll == noisyStep && *noisySeed == 1 {
		written(t, page(r))
	}
}

// consolePoll is the console's own interval.
const consolePoll = 5 * time.Second

// TestNoiseOfEachSize plays fleets of four sizes without any incident, polled as the console polls. The largest is played for
// an hour, which is as many workspace-hours as the others' days and takes as long. Where neither SANDGLASS_LONG is set, as
// .ci/run does, nor the figures are written, it plays the first sixth of each.
func TestNoiseOfEachSize(t *testing.T) {
	if testing.Short() || raced {
		t.Skip("takes seconds: the run without -short and without the race detector plays it")
	}
	whole := *update || os.Getenv("SANDGLASS_LONG") != ""
	var b strings.Builder
	fmt.Fprint(&b, "The same work without incidents, polled every 5 seconds, on fleets of four sizes:\n\n"+
		"| Workspaces | Played | Workspace-days | False alarms | Stayed pending | Info |\n|---|---|---|---|---|---|\n")
	for _, x := range []struct {
		size int
		day  time.Duration
	}{{3, 24 * time.Hour}, {10, 24 * time.Hour}, {50, 12 * time.Hour}, {1000, time.Hour}} {
		if !whole {
			x.day /= 6
		}
		r := playNoise(t, *noisySeed, consolePoll, x.day, x.size, nil)
		if len(r.alarms) > 0 {
			t.Errorf("%d workspaces: %d false alarms:\n%s", x.size, len(r.alarms), strings.Join(r.alarms, "\n"))
		}
		fmt.Fprintf(&b, "| %d | %s | %.1f | %d | %d | %d |\n", x.size, x.day.String()[:strings.Index(x.day.String(), "h")+1], r.workspaceDays, len(r.alarms), r.suspected, r.infos)
	}
	if whole && !t.Failed() {
		writtenTo(t, "figures-sizes.md", "TestNoiseOfEachSize", b.String())
	}
}

// written holds the figures of the noisy day.
func written(t *testing.T, want string) { writtenTo(t, "figures.md", "TestNoisyDay", want) }

func writtenTo(t *testing.T, name, test, want string) {
	path := filepath.Join("..", "rules", "testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("the figures in %s are stale; run: go test ./alerts/scenario -run %s -update\n%s", path, test, want)
	}
}

// page writes the figures.
func page(r figures) string {
	var b strings.Builder
	found := slices.Clone(r.found)
	slices.SortFunc(found, func(x, y detection) int { return strings.Compare(x.rule, y.rule) })
	var took, beyond []time.Duration
	named := map[string]bool{}
	for _, d := range found {
		took, beyond = append(took, d.took), append(beyond, d.took-d.threshold)
		named[d.rule] = true
	}
	slices.Sort(took)
	slices.Sort(beyond)
	var without []string
	for _, k := range rules.Kinds() {
		if !named[k.Name] {
			without = append(without, k.Name)
		}
	}
	fmt.Fprintf(&b, `A simulated day of %d workspaces, polled every minute, every rule at its defaults, with ordinary trouble: long rests and builds, passing errors,
recovered evictions, rollouts, sleep, lost polls, crash leftovers. %d incidents, one for a rule.

| | |
|---|---|
`, r.seen/r.states, len(found)+len(r.missed))
	short := func(d time.Duration) string {
		text, err := backend.Duration(d).MarshalText()
		if err != nil {
			return d.String()
		}
		return string(text)
	}
	row := func(what, format string, args ...any) {
		fmt.Fprintf(&b, "| %s | "+format+" |\n", append([]any{what}, args...)...)
	}
	row("workspace-days without fleet-wide incidents", "%.0f", r.workspaceDays)
	row("false alarms per 1,000 workspace-days", "%.1f", float64(len(r.alarms))*1000/r.workspaceDays)
	row("alerts that stayed pending", "%d", r.suspected)
	row("alerts of severity info", "%d", r.infos)
	row("incidents found", "%d of %d", len(found), len(found)+len(r.missed))
	row("time to detection, median and worst", "%s and %s", short(took[len(took)/2]), short(took[len(took)-1]))
	row("of these beyond the rule's own wait", "%s and %s", short(max(beyond[len(beyond)/2], 0)), short(max(beyond[len(beyond)-1], 0)))
	row("rules without an incident", "%s", strings.Join(without, ", "))
	b.WriteString("\n| Rule | The rule waits for | Found after | Allowed |\n|---|---|---|---|\n")
	for _, d := range found {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", d.rule, short(d.threshold), short(d.took), short(d.limit))
	}
	return b.String()
}

// TestEveryTroubleNamesARule keeps the labels honest.
func TestEveryTroubleNamesARule(t *testing.T) {
	names := map[string]bool{}
	for _, k := range rules.Kinds() {
		names[k.Name] = true
	}
	for _, x := range troubles() {
		for _, r := range append([]string{x.rule}, x.also...) {
			if !names[r] {
				t.Errorf("there is no rule %s; there are %v", r, slices.Sorted(maps.Keys(names)))
			}
		}
	}
}
