package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"sandglass/actions/audit"
	"sandglass/alerts"
	"sandglass/app"
	"sandglass/backend"
	"sandglass/cli"
)

// noon is when everything in these tests happens.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// hostile is a name that would take over a terminal, reorder the line and run in a spreadsheet.
const hostile = "=\x1b]0;pwned\x07\u009b31m\u202e"

const secret = "hunter2-and-more"

type fakeOptions struct {
	Mode    string   `toml:"mode" doc:"ok, degraded, down, hang or absent"`
	Failing int      `toml:"failing" doc:"workspaces that failed 40 minutes ago"`
	Working int      `toml:"working" doc:"workspaces that work"`
	Hostile bool     `toml:"hostile" doc:"whether names attack whoever prints them"`
	Refs    []int    `toml:"refs" doc:"schema versions of stored references, one a session; 0 = none"`
	Token   string   `toml:"token" doc:"a secret"`
	Roots   []string `toml:"roots" doc:"a list"`
	Read    fakeRead `toml:"read" doc:"the reading credential"`
}

type fakeRead struct {
	Header string `toml:"header" doc:"the header"`
	Env    string `toml:"env" doc:"environment variable"`
}

type fakeSource struct {
	id      string
	o       fakeOptions
	cleaner *backend.Cleaner
}

func fakeKind(name string) backend.SourceKind {
	return backend.SourceKind{Name: name, Summary: "a fake", Defaults: func() any { return &fakeOptions{Mode: "ok"} },
		New: func(o backend.Options, d backend.Deps) (backend.Source, error) {
			f := &fakeSource{id: d.ID, o: fakeOptions{Mode: "ok"}, cleaner: d.Cleaner}
			if err := o.Decode(&f.o); err != nil {
				return nil, err
			}
			if name == "docker" && d.Getenv("FAKE_ENGINE") != "" {
				f.o.Mode = d.Getenv("FAKE_ENGINE")
			}
			switch f.o.Mode {
			case "ok", "degraded", "down", "hang", "absent":
			default:
				return nil, o.Refuse("mode", "%q is none of ok, degraded, down, hang, absent", f.o.Mode)
			}
			return f, nil
		}}
}

func (f *fakeSource) ID() string { return f.id }

func (f *fakeSource) Poll(ctx context.Context) (backend.Reading, error) {
	switch f.o.Mode {
	case "down":
		return backend.Reading{}, &backend.Error{Kind: backend.ErrUnreachable, Source: f.id, Where: "http://127.0.0.1:1/", Err: errors.New("connection refused")}
	case "absent":
		return backend.Reading{}, &backend.Error{Kind: backend.ErrAbsent, Source: f.id, Where: "/run/docker.sock", Err: errors.New("there is no such socket")}
	case "hang":
		<-ctx.Done()
		return backend.Reading{}, ctx.Err()
	}
	r := backend.Reading{Schema: backend.ReadingSchema, Source: f.id, Started: noon, At: noon,
		Scopes:   []backend.Scope{{Kind: backend.KindWorkspace, Complete: true}, {Kind: backend.KindSandbox, Complete: true}},
		Inputs:   []backend.Input{backend.InputRegistry},
		Registry: backend.RegistryAnswers}
	if f.o.Mode == "degraded" {
		r.Degraded = backend.Text("no log file can be read")
	}
	session := "s1"
	if f.o.Hostile {
		session = hostile
	}
	for i := range f.o.Failing + f.o.Working {
		w := &backend.Workspace{Named: true, Reported: backend.Text("ready"), Class: backend.ClassHealthy,
			LastAttemptAt: backend.Known(noon.Add(-time.Second)), LastSuccessAt: backend.Known(noon.Add(-time.Second))}
		w.Key = backend.Key{Kind: backend.KindWorkspace, Source: f.id, Parent: backend.MustID(session), ID: backend.MustID(fmt.Sprintf("w%04d", i))}
		w.ReadAt = noon
		if i < f.o.Failing {
			w.Reported, w.Class, w.LastError = backend.Text("failed"), backend.ClassFailed, backend.Text("bucket is gone")
			w.LastAttemptAt, w.LastSuccessAt = backend.Known(noon.Add(-40*time.Minute)), backend.Known(noon.Add(-time.Hour).In(time.FixedZone("CET", 3600)))
			if f.o.Hostile {
				w.LastError = f.cleaner.Clean(hostile+"token="+secret, 200)
			}
		}
		r.Workspaces = append(r.Workspaces, w)
	}
	for i, v := range f.o.Refs {
		session := backend.MustID(fmt.Sprintf("ref-%d", i))
		x := &backend.Ref{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindRef, Source: f.id, Parent: session, ID: backend.MustID("box")}}, Session: session,
			SchemaVersion: backend.Known(v)}
		if v == 0 {
			x.SchemaVersion = backend.NotApplicable[int]()
		}
		tenant := backend.Clean([]string{"acme", "globex"}[i%2], 20)
		r.Refs, r.Inputs = append(r.Refs, x), append(r.Inputs, backend.InputRefs)
		r.Sessions = append(r.Sessions, &backend.Session{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindSession, Source: f.id, ID: session}}, SessionFacts: backend.SessionFacts{Tenant: tenant}})
	}
	return r, nil
}

func (f *fakeSource) Routes() []backend.Route {
	return []backend.Route{{Verb: "GET", Target: "http://127.0.0.1/" + f.id, Why: "what is there"}}
}

func (f *fakeSource) EstimateLoad() (float64, backend.Safe) {
	return 12.5, backend.Textf("%d workspaces", f.o.Failing+f.o.Working)
}

// program is the fake wiring.
func program(stdout, stderr io.Writer, getenv func(string) string) *cli.Program {
	said := func(what string, v any) error {
		_, err := fmt.Fprintf(stdout, "%s %+v\n", what, v)
		return err
	}
	return &cli.Program{
		App: &app.App{
			Version: "v0.0.0-test",
			Kinds:   []backend.SourceKind{fakeKind("docker"), fakeKind("fake").Delivering(backend.InputRegistry), fakeKind("tmpdir")},
			Cleaner: backend.NewCleaner(secret),
			Machine: app.Machine{
				Now:       func() time.Time { return noon },
				Mono:      func() time.Duration { return time.Minute },
				ReadClock: func() alerts.ClockReading { return alerts.ClockReading{Wall: noon} },
				Who:       audit.Who{User: backend.Text("mara"), Host: backend.Text("build-7"), Claimed: backend.Text("Mara L")},
				Spawn:     backend.NewSpawner(nil),
				Dial: func(context.Context, string, string) (net.Conn, error) {
					return nil, errors.New("these tests dial nothing")
				},
				Command: func(ctx context.Context, argv []string) *exec.Cmd {
					return exec.CommandContext(ctx, argv[0], argv[1:]...)
				},
				Getenv: getenv,
			},
		},
		Console: func(_ context.Context, s *app.Station, o app.ConsoleOptions) error {
			if o.Focus == "break" {
				return errors.New("no terminal")
			}
			return said("console", fmt.Sprintf("environment=%s sources=%d rules=%d focus=%s read-only=%v local=%v",
				s.Config.Environment, len(s.Sources), len(s.Rules), o.Focus, s.ReadOnly, s.Config.Local))
		},
		Demo:      func(_ context.Context, d app.DemoOptions) error { return said("demo", d) },
		Scenarios: []string{"all", "calm"},
		Stdout:    stdout, Stderr: stderr,
	}
}

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"journalctl": journalctl, "sandglass": func() {
		p := program(os.Stdout, os.Stderr, os.Getenv)
		if w, err := strconv.Atoi(os.Getenv("FAKE_TERMINAL_WIDTH")); err == nil {
			p.Output = cli.Output{Terminal: true, Width: w, Colours: 2}
		}
		os.Exit(p.Run(context.Background(), os.Args[1:]))
	}})
}

// journalctl prints the file that stands for the system's log, and fails without one.
func journalctl() {
	log, err := os.ReadFile(os.Getenv("FAKE_LOG"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "no journal files were found")
		os.Exit(1)
	}
	fmt.Print(string(log))
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: func(e *testscript.Env) error {
		e.Setenv("HOME", e.WorkDir+"/home")
		return nil
	}, Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "once": once}})
}

// once holds that the standard output has a text exactly one time.
func once(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: once TEXT")
	}
	if out := ts.ReadFile("stdout"); strings.Count(out, args[0]) != 1 {
		ts.Fatalf("%q is %d times in the output, not once", args[0], strings.Count(out, args[0]))
	}
}

// exits runs `exits CODE sandglass …` and compares the exit code; output is then there for stdout and stderr checks.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE program arguments…")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("%v: exit code %d, want %s", args[1:], code, args[0])
	}
}

// run executes one command line in this process.
func run(t *testing.T, config string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	dir := t.TempDir()
	file := dir + "/sandglass.toml"
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	p := program(&out, &errs, func(string) string { return "" })
	code = p.Run(t.Context(), append(args, "--config", file, "--state-dir", dir+"/state"))
	return out.String(), errs.String(), code
}
