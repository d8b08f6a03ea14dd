package test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"sandglass/actions"
	"sandglass/actions/audit"
	"sandglass/app"
	"sandglass/config"
	"sandglass/demo"
)

// commandLines runs the program as main wires it, against a demo of its own.
type commandLines struct {
	t           *testing.T
	config, dir string
	clock       func() time.Time // nil: the machine's
	env         map[string]string
	tries       int // because of processesHidden
}

func newCommandLines(t *testing.T, options demo.Options, change func(config string) string) *commandLines {
	t.Helper()
	d, err := demo.Start(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return &commandLines{t: t, config: writeConfig(t, change(d.Config())), dir: filepath.Join(t.TempDir(), "state")}
}

// planLine is the line of a made plan that names it by its digest.
var planLine = regexp.MustCompile(`(?m)^plan ([0-9a-f]{16})$`)

// processesHidden is what is said while some process of the machine that just ends does not show its files: then whoever
// asks again finds out.
const processesHidden = "unreadable, any of which may use it"

// mostTries is how often a test meets such a moment before it is taken for the truth.
const mostTries = 20

// process is one process's work.
func (c *commandLines) process(args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	p := testProgram(time.Now)
	if c.clock != nil {
		p.Now = c.clock
	}
	if c.env != nil {
		p.Getenv = func(name string) string { return c.env[name] }
	}
	p.Stdout, p.Stderr = &out, &errs
	code = p.Run(c.t.Context(), append(args, "--config", c.config, "--state-dir", c.dir))
	return out.String(), errs.String(), code
}

// run is one command line; want is a regular expression about what it prints.
func (c *commandLines) run(code int, want string, args ...string) (stdout string) {
	c.t.Helper()
	for {
		out, errs, got := c.process(args...)
		switch {
		case got == code && regexp.MustCompile(want).MatchString(out):
			return out
		case strings.Contains(out+errs, processesHidden) && c.tries < mostTries:
			c.tries++
		default:
			c.t.Fatalf("%v: exit code %d, want %d; want %q in\n%s\n%s", args, got, code, want, out, errs)
		}
	}
}

// subjects are the ids of the rows of a kind that match a filter.
func (c *commandLines) subjects(kind, filter string) []string {
	c.t.Helper()
	var document map[string]json.RawMessage
	var rows []struct {
		Key struct{ Parent, ID string }
	}
	if err := json.Unmarshal([]byte(c.run(0, "", "get", kind, "-o", "json", "--filter", filter)), &document); err != nil {
		c.t.Fatal(err)
	}
	if err := json.Unmarshal(document[kind], &rows); err != nil || len(rows) == 0 {
		c.t.Fatalf("no %s match %s (%v)", kind, filter, err)
	}
	var ids []string
	for _, r := range rows {
		ids = append(ids, strings.TrimPrefix(r.Key.Parent+"/"+r.Key.ID, "/"))
	}
	return ids
}

// carryOut plans in one process and carries out in the next.
func (c *commandLines) carryOut(code int, want string, args ...string) {
	c.t.Helper()
	command := args[:1]
	if command[0] == "do" {
		command = args[:2]
	}
	for {
		out := c.run(0, `(?m)^plan [0-9a-f]{16}$`, args...)
		digest := planLine.FindStringSubmatch(out)[1]
		out, errs, got := c.process(append(slices.Clone(command), "--yes-plan", digest, "--reason", "the cause is gone")...)
		if strings.Contains(out, processesHidden) && c.tries < mostTries {
			c.tries++
			continue
		}
		if got != code || !regexp.MustCompile(want).MatchString(out) {
			c.t.Fatalf("%v: exit code %d, want %d; want %q in\n%s\n%s", args, got, code, want, out, errs)
		}
		c.run(4, "^$", append(slices.Clone(command), "--yes-plan", digest, "--reason", "once more")...)
		return
	}
}

// journal checks the chain and returns its records.
func (c *commandLines) journal() []audit.Record {
	c.t.Helper()
	return records(c.t, c.dir)
}

// TestResetFromTheCommandLine resets a workspace of the demo's Helix server, with two command lines and nothing else.
func TestResetFromTheCommandLine(t *testing.T) {
	t.Parallel()
	began := time.Now()
	c := newCommandLines(t, demo.Options{Workspaces: 120, Seed: 1, Scenario: "failed", Start: began.Add(-20 * time.Minute),
		Clock: func() time.Duration { return time.Since(began) + 20*time.Minute }}, func(s string) string { return s })
	id := c.subjects("workspaces", `state:failed error:"did not answer its first command" source:helix-eu`)[0]
	c.run(0, "dry run: 1 of 1 would be acted on", "reset", id, "--dry-run")
	c.carryOut(0, `1 of 1 done: 1 verified`, "reset", id)
	recs := c.journal()
	if first, last := recs[0], recs[len(recs)-1]; first.Phase != audit.PhaseIntent || last.Phase != audit.PhaseDone || last.Result != audit.ResultVerified ||
		first.Reason.String() != "the cause is gone" || last.Who.Claimed.String() != "tester" {
		t.Errorf("the journal begins with %+v and ends with %+v", first, last)
	}
	c.run(4, "(?s)left alone: 1.*refused: there is nothing to act on", "reset", id) // it works again
}

// withHold adds a verb of its own to the configuration: hold does nothing to a session, and nothing can show that.
func withHold(config string) string {
	return strings.ReplaceAll(config, `actions = ["reset"]`, `actions = ["reset", "hold"]`) +
		"\n[[action]]\nname = \"hold\"\nof = \"session\"\neffect = \"nothing\"\ncommand = [\"true\", \"{session}\"]\nverify = \"none\"\n"
}

// TestVerbOfOnesOwnFromTheCommandLine runs a command of the configuration; no reading can show what became of it.
func TestVerbOfOnesOwnFromTheCommandLine(t *testing.T) {
	c := newCommandLines(t, demo.Options{Workspaces: 60, Seed: 1, Scenario: "calm"}, withHold)
	id := c.subjects("sessions", "source:helix-eu")[0]
	c.carryOut(1, "1 of 1 done: 1 unverified", "do", "hold", id)
	c.run(64, "^$", "do", "holt", id)
}

// TestAWordSetsARefusalAsideOnTheCommandLine plans what is refused without it.
func TestAWordSetsARefusalAsideOnTheCommandLine(t *testing.T) {
	began := time.Now()
	c := newCommandLines(t, demo.Options{Workspaces: 120, Seed: 1, Scenario: "failed", Start: began.Add(-20 * time.Minute),
		Clock: func() time.Duration { return time.Since(began) + 20*time.Minute }}, func(s string) string { return s })
	c.run(4, `(?s)refused: a reset does not help, the cause is the configuration.*--override 'cause fixed'`, "reset", "--filter", "state:failed source:helix-eu")
	c.run(0, `(?s)reset 4 workspaces.*overridden: a reset does not help, the cause is the configuration`, "reset", "--filter", "state:failed source:helix-eu", "--override", "cause fixed")
}

// TestHangUpMidPlan hangs up the real program while it waits for the canary of a plan to be verified, which what the
// registry reports never does.
func TestHangUpMidPlan(t *testing.T) {
	r := newSlowRegistry(t)
	r.silent = true
	close(r.letGo)
	config, dir := r.config(), filepath.Join(t.TempDir(), "state")
	cmd := r.program(config, dir, "reset", "--yes-plan", r.planned(config, dir), "--reason", "x")
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	var said strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "batch 1 of 3: verifying") {
			if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait() // the code says how it ended
	if code := cmd.ProcessState.ExitCode(); code != 2 || !strings.Contains(stdout.String(), "stopped: the program is ending") {
		t.Errorf("exit code %d\n%s\n%s", code, stdout.String(), said.String())
	}
	recs := records(t, dir)
	if last := recs[len(recs)-1]; last.Phase != audit.PhaseStopped || last.Done != 1 || last.Targets != 3 || !strings.Contains(last.Detail.String(), "1 of 3 done") {
		t.Errorf("the journal ends with %+v", last)
	}
}

// TestDestroyFromTheCommandLine destroys a container of the demo's engine.
func TestDestroyFromTheCommandLine(t *testing.T) {
	t.Parallel()
	allow := func(s string) string {
		if strings.Contains(s, `"destroy"`) {
			return s
		}
		return strings.Replace(s, "kind = \"docker\"\n", "kind = \"docker\"\nactions = [\"destroy\"]\n", 1)
	}
	c := newCommandLines(t, demo.Options{Workspaces: 120, Seed: 1}, allow)
	var rehearsal struct{ Targets, Excluded []struct{ ID, Why string } }
	if err := json.Unmarshal([]byte(c.run(0, "", "destroy", "--filter", "source:docker-demo", "--dry-run", "-o", "json")), &rehearsal); err != nil {
		t.Fatal(err)
	}
	id, live := rehearsal.Targets[0].ID, ""
	for _, x := range rehearsal.Excluded {
		if strings.Contains(x.Why, "is live") {
			live = x.ID
		}
	}
	c.run(4, "(?s)left alone: 1.*is live", "destroy", live)
	c.carryOut(0, "1 of 1 done: 1 verified", "destroy", id)
	recs := c.journal()
	if last := recs[len(recs)-1]; last.Phase != audit.PhaseDone || last.Verb != "destroy" || last.Result != audit.ResultVerified {
		t.Errorf("the journal ends with %+v", last)
	}
	c.run(64, "^$", "destroy", id) // nobody lists it any more
}

// TestNothingIsMadeThatIsNotAllowed holds that without a permission there is nothing that could act, and with one only
// that.
func TestNothingIsMadeThatIsNotAllowed(t *testing.T) {
	d, err := demo.Start(t.Context(), demo.Options{Workspaces: 60, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	p := testProgram(time.Now)
	parse := func(text string) *config.Config {
		c, err := config.Parse([]byte(text), "demo", p.Known())
		if err != nil {
			t.Fatal(err)
		}
		c.File = ""
		return c
	}
	forbidden := regexp.MustCompile(`(?m)^actions = .*$`).ReplaceAllString(d.Config(), "")
	local, err := config.Local().Permitted(config.Permit{Verbs: []string{"pause"}}, p.Known())
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		config   *config.Config
		readOnly bool
		made     string
	}{
		"nothing allowed":                  {parse(forbidden), false, ""},
		"allowed, but read-only":           {parse(d.Config()), true, ""},
		"without a configuration":          {config.Local(), false, ""},
		"without a configuration, --allow": {local, false, "docker-local pause"},
	} {
		s, err := p.Open(app.StationOptions{Config: x.config, StateDir: t.TempDir(), ReadOnly: x.readOnly})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var made []string
		all := s.Operator(actions.Everything()).All()
		for _, a := range all {
			if a.Part.Targets != nil || a.Part.Verifier != nil || a.Part.Open != nil {
				made = append(made, a.Source+" "+string(a.Spec.Verb))
			} else if a.Denied.IsEmpty() {
				t.Errorf("%s: nothing can %s on %s, and nothing says why", name, a.Spec.Verb, a.Source)
			}
		}
		if got := strings.Join(made, ", "); got != x.made || len(all) < 6 {
			t.Errorf("%s: made for %q, want %q (%d verbs)", name, got, x.made, len(all))
		}
	}
}
