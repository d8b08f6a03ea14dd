package test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/app"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views/text"
)

// world is one situation of an installation, and what a console has to say about it. The console runs in this process on real
// HTTP and real files; its clock is the world's, and every step is one poll.
type world struct {
	name   string
	proves string // the sentence that it proves
	reads  string // sources: helix, health, docker, host, metrics, logs, refs; empty: helix
	config string // more of the configuration
	limit  string // deadline of a request; empty: the usual one
	lasts  time.Duration
	step   time.Duration // zero: 5s
	cron   bool          // every step is a process of its own
	make   func(*worldSite)
	// A trouble is found by lines that match, each at some step. What ends it must match at the last step; what never may
	// be said must match at none. A line is "rule severity state source: cause; why; evidence; subjects", "source id status:
	// error, problems", "blind rule source: why", "exit code" or "lines" with the number of alerts. An ordinary situation has
	// none of these: nothing may fire.
	finds, ends, never []string
	// Consoles are stopped at these times and started again after being off.
	off []worldOff
}

// worldOff is when a console ends, and how long none looks.
type worldOff struct{ at, long time.Duration }

const worldStepLength = 5 * time.Second

// mostPolls is how many polls of a world are played where the environment does not ask for the long ones. Those beyond are 101 of
// 263, and seven eighths of all polls.
const mostPolls = 150

// alarm is a line that a person has to act on.
var alarm = regexp.MustCompile(`^[a-z-]+ (warning|critical) (firing|held) |^exit [12]$`)

func (s *worldSite) configuration(w world) string {
	reads := w.reads
	if reads == "" {
		reads = "helix"
	}
	url, address := s.server.URL, strings.TrimPrefix(s.server.URL, "http://")
	parts := map[string]string{
		"helix":   fmt.Sprintf("kind = \"helix\"\naggregate_url = %q\nrequests_per_second = 1000.0\n", url+"/operator/workspaces"),
		"health":  fmt.Sprintf("kind = \"helix\"\nurl = %q\nlist_url = %q\nrequests_per_second = 1000.0\n", url+"/healthz/{session}", url+"/operator/sessions"),
		"docker":  fmt.Sprintf("kind = \"docker\"\nhost = %q\n", "tcp://"+address),
		"host":    fmt.Sprintf("kind = \"tmpdir\"\nroots = [%q]\nhost_tree = %q\n", s.scratch(), s.dir),
		"metrics": fmt.Sprintf("kind = \"prometheus\"\nurl = %q\nmemory_limit = \"1GiB\"\n", url+"/metrics"),
		"logs":    fmt.Sprintf("kind = \"logs\"\nfiles = [%q]\nlookback = \"1h\"\n", s.logFile()),
		"refs":    fmt.Sprintf("kind = \"refs\"\nfiles = [%q]\npointers = { sandbox = [\"/ref/containerId\"], saved_at = [\"/savedAt\"] }\n", s.refsFile()),
	}
	var out strings.Builder
	out.WriteString("environment = \"worlds\"\n")
	top, rest, _ := strings.Cut(w.config, "\n[")
	if strings.HasPrefix(w.config, "[") {
		top, rest = "", strings.TrimPrefix(w.config, "[")
	}
	out.WriteString(top + "\n")
	for _, r := range strings.Fields(reads) {
		fmt.Fprintf(&out, "[[source]]\nid = %q\n%s", r, parts[r])
		if w.limit != "" {
			fmt.Fprintf(&out, "deadline = %q\n", w.limit)
		}
	}
	if rest != "" {
		out.WriteString("[" + rest)
	}
	return out.String()
}

// console starts the program on the world, with the state directory of the ones before it.
func (s *worldSite) console(config, state string) *app.Station {
	s.t.Helper()
	p := testProgram(s.now)
	steady := func() time.Time { return s.now().Add(-s.set) } // what nobody can set
	began := steady().Add(-s.slept)
	p.Mono = func() time.Duration { return steady().Add(-s.slept).Sub(began) }
	p.ReadClock = func() alerts.ClockReading {
		return alerts.ClockReading{Wall: s.now(), Boot: "boot", SinceBoot: steady().Sub(worldStart.Add(-40 * 24 * time.Hour))}
	}
	p.Kinds = slices.Clone(p.Kinds)
	for i, k := range p.Kinds {
		if make := k.New; k.Name == "tmpdir" {
			p.Kinds[i].New = func(o backend.Options, d backend.Deps) (backend.Source, error) {
				src, err := make(o, d)
				if err != nil {
					return nil, err
				}
				return &worldMachine{src, s}, nil
			}
		}
	}
	x, err := p.Open(app.StationOptions{Config: parseConfig(s.t, p, config), StateDir: state, Looks: true, Problem: func(err error) { s.t.Error(err) }})
	if err != nil {
		s.t.Fatalf("%v\n%s", err, config)
	}
	return x
}

// outcome is what was said in a world.
type outcome struct {
	w     world
	found map[string]bool
	wrong []string
	last  []string
}

// play lets the world run and listens at every step.
func (w world) play(t *testing.T) outcome {
	t.Helper()
	s := newWorldSite(t)
	w.make(s)
	s.flush()
	o := outcome{w: w, found: map[string]bool{}}
	step := cmp.Or(w.step, worldStepLength)
	config, state := s.configuration(w), t.TempDir()
	x := s.console(config, state)
	off := w.off
	for at := time.Duration(0); ; {
		st := x.Poll(t.Context())
		_, board := x.Alerts.Latest()
		o.hear(at, worldLines(st, board, w.ordinary()))
		if at >= w.lasts {
			o.last = worldLines(st, board, false)
			o.documented(t, text.MakeCheck("worlds", st, board, s.now()))
			break
		}
		by := step
		if len(off) > 0 && at+step > off[0].at {
			x.Close()
			by, off = off[0].long, off[1:]
			s.advance(by)
			x = s.console(config, state)
		} else if w.cron {
			x.Close()
			s.advance(by)
			x = s.console(config, state)
		} else {
			s.advance(by)
		}
		at += by
	}
	x.Close()
	return o
}

func (w world) ordinary() bool { return len(w.finds)+len(w.ends)+len(w.never) == 0 }

// hear takes account of the lines of one step.
func (o *outcome) hear(at time.Duration, lines []string) {
	for _, line := range lines {
		if o.w.ordinary() {
			if alarm.MatchString(line) {
				o.say(at, line)
			}
			continue
		}
		for _, x := range o.w.finds {
			if !o.found[x] && regexp.MustCompile(x).MatchString(line) {
				o.found[x] = true
			}
		}
		for _, x := range o.w.never {
			if regexp.MustCompile(x).MatchString(line) {
				o.say(at, line)
			}
		}
	}
}

// say remembers what should not have been said, each rule once.
func (o *outcome) say(at time.Duration, line string) {
	head, _, _ := strings.Cut(line, ":")
	if !slices.ContainsFunc(o.wrong, func(w string) bool { return strings.Contains(w, " "+head) }) {
		o.wrong = append(o.wrong, fmt.Sprintf("after %s: %s", at, line))
	}
}

// documented holds the document of a check against what the board says.
func (o *outcome) documented(t *testing.T, doc *text.Check) {
	t.Helper()
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		ExitCode int `json:"exit_code"`
	}
	if err := json.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("exit %d", c.ExitCode); !slices.Contains(o.last, want) {
		t.Errorf("the document says %s: %s", want, strings.Join(o.last, "\n"))
	}
}

// err says what is wrong with what was said; nil: all is as expected.
func (o *outcome) err() error {
	wrong := slices.Clone(o.wrong)
	for _, x := range o.w.finds {
		if !o.found[x] {
			wrong = append(wrong, "never said: "+x)
		}
	}
	if o.w.ordinary() && !slices.Contains(o.last, "exit 0") {
		wrong = append(wrong, "the check does not end with exit 0")
	}
	for _, x := range o.w.ends {
		if r := regexp.MustCompile(x); !slices.ContainsFunc(o.last, r.MatchString) {
			wrong = append(wrong, "not said in the end: "+x)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return errors.New(strings.Join(wrong, "\n"))
}

// worldLines is what a console says; only alarms where nothing else counts.
func worldLines(st *fleet.State, b *alerts.Board, alarms bool) []string {
	out := []string{fmt.Sprintf("exit %d", alerts.ExitCode(b, st))}
	for _, a := range b.Alerts {
		if alarms && (a.Severity == alerts.SeverityInfo || a.State != alerts.StateFiring && a.State != alerts.StateHeld) {
			continue
		}
		parts := []string{a.Cause.String(), a.Why.String()}
		for _, e := range a.Evidence {
			parts = append(parts, e.Text.String())
		}
		parts = append(parts, fmt.Sprintf("%d subjects", a.SubjectCount))
		for _, x := range a.Subjects[:min(20, len(a.Subjects))] {
			parts = append(parts, x.Label.String()+" "+x.Detail.String())
		}
		out = append(out, fmt.Sprintf("%s %s %s %s: %s", a.Rule, a.Severity, a.State, a.Source, strings.Join(parts, "; ")))
	}
	if alarms {
		return out
	}
	out = append(out, fmt.Sprintf("lines %d", len(out)-1))
	for _, h := range st.Sources {
		line := fmt.Sprintf("source %s %s: %s", h.Key.Source, h.Status, h.Error)
		for _, p := range h.Problems {
			line += "; " + p.What.String()
		}
		out = append(out, line)
	}
	for _, x := range b.Blind {
		out = append(out, fmt.Sprintf("blind %s %s: %s", x.Rule, x.Source, x.Why))
	}
	return out
}

// TestWorlds plays at least 66 ordinary situations, in which nothing may alarm, and at least 34 troubles, all of which must be
// found.
func TestWorlds(t *testing.T) {
	t.Parallel()
	t.Run("ordinary", func(t *testing.T) { playWorlds(t, ordinaryWorlds(), 66) })
	t.Run("troubled", func(t *testing.T) { playWorlds(t, troubledWorlds(), 34) })
}

// playWorlds plays every world. One that is pending fails the test when it passes, so that the list stays honest.
func playWorlds(t *testing.T, list []world, least int) {
	if len(list) < least {
		t.Errorf("%d worlds, want %d", len(list), least)
	}
	names := map[string]bool{}
	for _, w := range list {
		if names[w.name] || w.proves == "" {
			t.Errorf("%s: a second one, or it proves nothing", w.name)
		}
		names[w.name] = true
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			if n := int(w.lasts / cmp.Or(w.step, worldStepLength)); n > mostPolls && os.Getenv("SANDGLASS_LONG") == "" {
				t.Skipf("%d polls: SANDGLASS_LONG=1, as CI sets it, plays it", n)
			}
			o := w.play(t)
			why, waits := pendingWorlds()[w.name]
			switch err := o.err(); {
			case waits && err == nil:
				t.Errorf("it passes: take it off the pending ones (%s)", why)
			case waits:
				t.Logf("pending, %s: %v", why, err)
			case err != nil:
				t.Errorf("%s\n%v", w.proves, err)
			}
		})
	}
}

// TestPendingWorldsExist keeps the list to worlds that there are.
func TestPendingWorldsExist(t *testing.T) {
	for name := range pendingWorlds() {
		if real, is := strings.CutPrefix(name, "real "); is && slices.ContainsFunc(realBoxes(), func(b realBox) bool { return b.name == real }) {
			continue
		}
		if !slices.ContainsFunc(append(ordinaryWorlds(), troubledWorlds()...), func(w world) bool { return w.name == name }) {
			t.Errorf("there is no world %s", name)
		}
	}
}
