// Package scenario plays stories about a fleet to the alert engine and compares what it concludes with what the story
// expects. The files are documented in docs/rule-tests.md.
package scenario

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"sandglass/backend"
)

// File is one scenario file.
type File struct {
	Name string `toml:"-"` // as given to Read, for messages
	// Rules are evaluated in every scenario that names none of its own.
	Rules     []string         `toml:"rules"`
	Interval  backend.Duration `toml:"interval"` // between two steps; default 1m
	Start     time.Time        `toml:"start"`    // of the first step; default the Unix epoch
	Scenarios []Scenario       `toml:"scenario"`
}

// Scenario is one story.
type Scenario struct {
	Name  string   `toml:"name"`
	Case  string   `toml:"case"` // one of Cases, empty: none
	Rules []string `toml:"rules"`
	// Interval and Start replace those of the file.
	Interval backend.Duration `toml:"interval"`
	Start    time.Time        `toml:"start"`
	// LongestOperation is how long one operation may take before it counts as stuck; default 5m.
	LongestOperation backend.Duration `toml:"longest_operation"`
	// Watch is when the console starts. The fleet changes from the first step on; the console sees it from Watch on.
	Watch backend.Duration `toml:"watch"`
	// Classes says what states mean besides failed and evicted.
	Classes map[string]backend.StateClass `toml:"classes"`

	Sources    []Source    `toml:"source"`
	Sessions   []Session   `toml:"session"`
	Workspaces []Workspace `toml:"workspace"`
	Sandboxes  []Sandbox   `toml:"sandbox"`
	Executions []Work      `toml:"execution"`
	Jobs       []Work      `toml:"job"`
	Counts     []Count     `toml:"count"`
	Hosts      []Host      `toml:"host"`
	Tmpdirs    []Tmpdir    `toml:"tmpdir"`
	Refs       []Ref       `toml:"ref"`
	Events     []Event     `toml:"event"`
	Memories   []Memory    `toml:"memory"`
	Reports    []Report    `toml:"report"`
	Restarts   []Restart   `toml:"restart"`
	Expect     []Expect    `toml:"expect"`
}

// Source is one source, polled at every step.
type Source struct {
	ID       string          `toml:"id"`
	Inputs   []backend.Input `toml:"inputs"`
	About    []string        `toml:"about"`
	Registry Words           `toml:"registry"` // words: answers, all-idle, no-route, wrong-path, none; the last one stays
	Outages  []Outage        `toml:"outage"`
	Troubles []Trouble       `toml:"trouble"`
}

// Outage is a span in which a source fails. From is the first failing poll, To the first that succeeds again; To zero:
// never.
type Outage struct {
	From  backend.Duration  `toml:"from"`
	To    backend.Duration  `toml:"to"`
	Kind  backend.ErrorKind `toml:"kind"` // default unreachable; absent is no failure
	Error string            `toml:"error"`
}

// Session is one agent run.
type Session struct {
	ID     string `toml:"id"`
	Source string `toml:"source"` // default: the first source
	Tenant string `toml:"tenant"`
	// States are words: running and idle also say whether the list route calls it running; the last one stays.
	States Words            `toml:"states"`
	Answer Words            `toml:"answer"` // words: ok, idle, no-route, wrong-path, invalid, failed, none; what its health route answered
	Ends   backend.Duration `toml:"ends"`   // its owner says that it ended, and its workspaces with it; zero: never
	// Started is how long before the first step it began, zero: not known.
	Started backend.Duration `toml:"started"`
	SessionFacts
	HubFacts
}

// Workspace is one entry of a session's registry.
type Workspace struct {
	ID       string `toml:"id"` // session/name
	Source   string `toml:"source"`
	Provider string `toml:"provider"`
	States   Words  `toml:"states"` // the reported states; the last one stays
	// Attempts are words: ok and fail are an attempt at that step, - is none; after its end there are no more.
	Attempts Words `toml:"attempts"`
	// Error is the lastError that is reported while it is failed or evicted or its newest attempt failed.
	Error string `toml:"error"`
	// Attempted and Succeeded are how long before the first step its last attempt and success were, zero: never.
	Attempted backend.Duration `toml:"attempted"`
	Succeeded backend.Duration `toml:"succeeded"`
	WorkspaceFacts
}

// Sandbox is the machine behind a workspace.
type Sandbox struct {
	ID        string `toml:"id"`
	Source    string `toml:"source"`
	Session   string `toml:"session"`
	Provider  string `toml:"provider"`
	States    Words  `toml:"states"` // words of backend.SandboxClass; the last one stays
	ExitCode  int    `toml:"exit_code"`
	OOMKilled bool   `toml:"oom_killed"` // once it is exited
	SandboxFacts
	CloudFacts
}

// Count is what a source counts. Exactly one of Counter and Each is given.
type Count struct {
	Source    string         `toml:"source"`
	Metric    backend.Metric `toml:"metric"`
	Provider  string         `toml:"provider"`
	Session   string         `toml:"session"`
	Workspace string         `toml:"workspace"`
	Sandbox   string         `toml:"sandbox"`
	Counter   string         `toml:"counter"` // running total: what is counted is its increase, from the second sample on
	Each      string         `toml:"each"`    // what is counted at each step: log lines
	Sample    string         `toml:"sample"`  // a line behind the number
}

// Restart ends the console after the step at At and starts another one at the first step after Down.
type Restart struct {
	At   backend.Duration `toml:"at"`
	Down backend.Duration `toml:"down"`
}

// Expect is what one rule has concluded after the step at At. Each list that is given is complete: subjects as ids,
// workspaces as session/name.
type Expect struct {
	At       backend.Duration `toml:"at"`
	Rule     string           `toml:"rule"`
	Pending  *[]string        `toml:"pending"`
	Firing   *[]string        `toml:"firing"`
	Held     *[]string        `toml:"held"`
	Ended    *[]string        `toml:"ended"`
	Resolved *[]string        `toml:"resolved"` // fired once, and their alert resolved and did not come back
	Quiet    bool             `toml:"quiet"`    // no alert of the rule is listed
	Alerts   *int             `toml:"alerts"`   // number of alert lines
	// Transitions are all those of the rule so far: "firing", or with the offset "1m10s firing".
	Transitions *[]string `toml:"transitions"`
	// Severity is that of every alert of the rule; Cause, Why and Evidence are parts of the text of every one.
	Severity string   `toml:"severity"`
	Cause    string   `toml:"cause"`
	Why      string   `toml:"why"`
	Evidence []string `toml:"evidence"`
}

// Cases are the situations for which every rule has a scenario.
func Cases() []string { return []string{"fires", "does not fire", "gap", "cold start", "restart"} }

// plainly says what is wrong with a value without the names of our types.
func plainly(err *toml.DecodeError) string {
	text := strings.TrimPrefix(err.Error(), "toml: ")
	if into := strings.Index(text, " of type "); strings.HasPrefix(text, "cannot decode TOML ") && into >= 0 {
		key := strings.Join(err.Key(), ".")
		if strings.HasPrefix(text[into:], " of type []") {
			return fmt.Sprintf("%s is a list: write its values between [ and ]", cmp.Or(key, "this"))
		}
		return fmt.Sprintf("%s has another form; docs/rule-tests.md describes it", cmp.Or(key, "this"))
	}
	return text
}

// Read decodes a scenario file and refuses what it does not know, with the position in the file.
func Read(name string, data []byte) (*File, error) {
	f := &File{Name: name}
	err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(f)
	var strict *toml.StrictMissingError
	var wrong *toml.DecodeError
	switch {
	case errors.As(err, &strict):
		var lines []string
		for _, e := range strict.Errors {
			row, col := e.Position()
			lines = append(lines, fmt.Sprintf("%s:%d:%d: there is no key %q", name, row, col, strings.Join(e.Key(), ".")))
		}
		return nil, errors.New(strings.Join(lines, "\n"))
	case errors.As(err, &wrong):
		row, col := wrong.Position()
		return nil, fmt.Errorf("%s:%d:%d: %s", name, row, col, plainly(wrong))
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(f.Scenarios) == 0:
		return nil, fmt.Errorf("%s: there is no [[scenario]] in it, so it would test nothing", name)
	}
	for i := range f.Scenarios {
		f.Scenarios[i].inherit(f)
	}
	return f, nil
}

func (s *Scenario) inherit(f *File) {
	if len(s.Rules) == 0 {
		s.Rules = f.Rules
	}
	for _, from := range []backend.Duration{f.Interval, backend.Duration(time.Minute)} {
		if s.Interval == 0 {
			s.Interval = from
		}
	}
	if s.Start.IsZero() {
		s.Start = f.Start
	}
	if s.Start.IsZero() {
		s.Start = time.Unix(0, 0)
	}
	s.Start = s.Start.UTC()
	if s.LongestOperation == 0 {
		s.LongestOperation = backend.Duration(5 * time.Minute)
	}
	for i := range s.Sources {
		for j := range s.Sources[i].Outages {
			if o := &s.Sources[i].Outages[j]; o.Kind == "" {
				o.Kind = backend.ErrUnreachable
			}
		}
	}
}
