package test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/app"
	"sandglass/backend"
	"sandglass/backend/backendtest"
	"sandglass/backend/fleet"
	"sandglass/demo"
	"sandglass/views/text"
)

// recordedLine is one line of a recording: an Answer, or the moment at which those before it were folded.
type recordedLine struct {
	Answer *backend.Answer  `json:",omitempty"`
	Fold   *backend.Instant `json:",omitempty"`
}

// concluded is what was known and concluded at one moment.
type concluded struct {
	state  *fleet.State
	board  *alerts.Board
	events []backend.Event
}

// TestTenMinutesOfTheDemoFoldedAgain writes the Answers of ten minutes of the demo as JSON lines, folds what was written
// once more, and gets the same States, Boards, events, saved alerts and documents of check.
func TestTenMinutesOfTheDemoFoldedAgain(t *testing.T) {
	t.Parallel()
	const minutes = 10
	step := 10 * time.Second
	if os.Getenv("SANDGLASS_LONG") != "" { // as CI sets it: a console's step
		step = 5 * time.Second
	}
	start := time.Date(2026, 3, 14, 3, 0, 0, 0, time.UTC)
	at := time.Duration(0)
	clock := make(chan time.Duration, 1) // the demo asks on goroutines of its own
	clock <- at
	since := func() time.Duration { d := <-clock; clock <- d; return d }
	now := func() time.Time { return start.Add(since()) }
	d, err := demo.Start(t.Context(), demo.Options{Workspaces: 150, Seed: 1, Start: start, Clock: since})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	p := testProgram(now)
	// Request budgets live by the clock: where it stands still all requests have to be in the first second's.
	sources, rules := buildConfig(t, p, strings.ReplaceAll(d.Config(), "requests_per_second = 40", "requests_per_second = 1000"))
	engine := alerts.NewEngine(rules, "demo")

	file := filepath.Join(t.TempDir(), "answers.jsonl")
	out, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := json.NewEncoder(out)
	write := func(l recordedLine) {
		if err := lines.Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	var live []concluded
	var board *alerts.Board
	f := fleet.New(fleet.Options{Now: now, Mono: since, Spawn: p.Spawn, LongestOperation: 5 * time.Minute,
		OnAnswer: func(a *backend.Answer) { write(recordedLine{Answer: a}) },
		OnState: func(st *fleet.State) {
			write(recordedLine{Fold: &backend.Instant{Wall: st.Wall, Mono: st.Mono}})
			var told []backend.Event
			board, told = engine.Next(board, st)
			live = append(live, concluded{st, board, told})
		}})
	// The scratch directories are real, and to find their holders in each of 121 polls takes minutes on a busy machine.
	app.AddTo(f, slices.DeleteFunc(sources, func(s app.Source) bool { return s.Config.Kind == "tmpdir" }))
	for i := range int(minutes*time.Minute/step) + 1 {
		<-clock
		clock <- time.Duration(i) * step
		f.PollOnce(t.Context())
		if time.Duration(i)*step == 150*time.Second { // as a probe that proved that commands run
			f.Observe(f.State().Sandboxes.At(3).Key, backendtest.Ran(true, backend.Text("commands run"), now()).Verdicts)
		}
	}
	f.Close()
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	compareRecording(t, file, live, rules)
	mustHaveHappened(t, live)
}

// compareRecording folds a file and compares what comes out with what was concluded when it was written.
func compareRecording(t *testing.T, file string, live []concluded, rules []alerts.Rule) {
	t.Helper()
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	engine, folder := alerts.NewEngine(rules, "demo"), fleet.NewFolder(5*time.Minute)
	var board *alerts.Board
	var answers []backend.Answer
	same := backendtest.NewComparison()
	n := 0
	scan := bufio.NewScanner(in)
	scan.Buffer(nil, 64<<20)
	for scan.Scan() {
		var l recordedLine
		if err := json.Unmarshal(scan.Bytes(), &l); err != nil {
			t.Fatal(err)
		}
		if l.Fold == nil {
			answers = append(answers, *l.Answer)
			continue
		}
		want := live[n]
		st := folder.Fold(answers, *l.Fold)
		var told []backend.Event
		board, told = engine.Next(board, st)
		answers = nil
		what := fmt.Sprintf("after %s: ", st.Mono)
		same.Same(t, what+"the State", st, want.state)
		same.Same(t, what+"the Board", board, want.board)
		same.Same(t, what+"the events", told, want.events)
		if st.Mono%time.Minute == 0 {
			if got, want := checkDocument(t, st, board), checkDocument(t, want.state, want.board); got != want {
				t.Errorf("%scheck -o json prints\n%s\nwant\n%s", what, got, want)
			}
			if got, want := savedAlerts(t, engine, board, st), savedAlerts(t, engine, want.board, want.state); got != want {
				t.Errorf("%ssaved is\n%s\nwant\n%s", what, got, want)
			}
		}
		n++
	}
	if err := scan.Err(); err != nil || n != len(live) {
		t.Fatalf("%d States were folded again, want %d: %v", n, len(live), err)
	}
}

func checkDocument(t *testing.T, st *fleet.State, b *alerts.Board) string {
	t.Helper()
	var out bytes.Buffer
	if err := text.WriteJSON(&out, text.MakeCheck("demo", st, b, st.Wall)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func savedAlerts(t *testing.T, e *alerts.Engine, b *alerts.Board, st *fleet.State) string {
	t.Helper()
	dir := t.TempDir()
	s, err := alerts.OpenStateStore(dir, e)
	if err != nil {
		t.Fatal(err)
	}
	if saved, err := s.Save(b, alerts.ClockReading{Wall: st.Wall, Boot: "test", SinceBoot: st.Mono}); err != nil || !saved {
		t.Fatalf("saved %v: %v", saved, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("saved as %q: %v", files, err)
	}
	raw, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// mustHaveHappened fails when the ten minutes were too quiet to prove anything.
func mustHaveHappened(t *testing.T, live []concluded) {
	t.Helper()
	last := live[len(live)-1]
	changed, gone, failed, told, proved := 0, 0, 0, 0, 0
	for _, c := range live {
		changed, gone, told = changed+len(c.state.Delta.Changed), gone+len(c.state.Delta.Gone), told+len(c.events)
		for _, h := range c.state.Sources {
			if h.Failures > 0 {
				failed++
			}
		}
		for b := range c.state.Sandboxes.All() {
			if b.Observed.IsKnown() {
				proved++
			}
		}
	}
	if changed < 100 || gone < 1 || failed < 1 || told < 10 || proved < 1 || len(last.board.Alerts) < 3 || last.state.Workspaces.Len() < 100 {
		t.Errorf("%d changes, %d departures, %d failed polls, %d events, %d proofs, %d alerts, %d workspaces: too little happened",
			changed, gone, failed, told, proved, len(last.board.Alerts), last.state.Workspaces.Len())
	}
}
