// Sandglass is a terminal operator console for the places where AI agents work.
package main

import (
	"context"
	"os"
	"os/exec"
	"os/user"
	"runtime/debug"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"

	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/backend/changes"
	"sandglass/backend/check"
	"sandglass/backend/docker"
	"sandglass/backend/helix"
	"sandglass/backend/logs"
	"sandglass/backend/promapi"
	"sandglass/backend/prometheus"
	"sandglass/backend/refs"
	"sandglass/backend/tmpdir"
	"sandglass/cli"
	"sandglass/demo"
	"sandglass/ui"
	"sandglass/views/theme"
)

func main() { os.Exit(run(newSystem(), os.Args[1:])) }

func run(sys *system, args []string) int {
	ctx, cancel := ui.Signals(context.Background())
	defer cancel()
	console := &console{sys: sys}
	program := &cli.Program{
		Version:   version(),
		Kinds:     kinds(),
		Acts:      actionKeys(),
		Operator:  operatorKeys(),
		Control:   console.control,
		Cleaning:  console.cleaning(),
		Console:   console.run,
		Demo:      console.demo,
		Scenarios: scenarios(),
		Now:       sys.now,
		Mono:      sys.mono,
		Moment:    sys.moment,
		Journal:   newOrderJournal,
		Audit:     openAudit,
		Spawn:     sys.spawn,
		Cleaner:   backend.NewCleaner(),
		Dial:      sys.dial,
		Command:   command,
		User:      systemUser(),
		Stdout:    os.Stdout,
		Stderr:    os.Stderr,
		Getenv:    os.Getenv,
		Output:    output(),
	}
	console.program = program
	return program.Run(ctx, args)
}

// kinds are the backends that this program can read.
func kinds() []backend.SourceKind {
	return []backend.SourceKind{helix.Kind(), docker.Kind(), tmpdir.Kind(), prometheus.Kind(), promapi.Kind(), logs.Kind(),
		refs.Kind(), changes.Kind(), check.Kind(runbook.Questions())}
}

// scenarios are the demo's, the default one first.
func scenarios() []string {
	var names []string
	for _, s := range demo.Scenarios() {
		names = append(names, s.Name)
	}
	return names
}

// command prepares a configured command: no shell, and none of our own credentials are added to its environment.
func command(ctx context.Context, argv []string) *exec.Cmd {
	return exec.CommandContext(ctx, argv[0], argv[1:]...)
}

// systemUser is whom this process runs as, empty when the system does not say.
func systemUser() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}

func output() cli.Output {
	o := cli.Output{Terminal: term.IsTerminal(os.Stdout.Fd()), Glyphs: theme.GlyphsOf(os.Getenv)}
	if o.Terminal {
		o.Width, _, _ = term.GetSize(os.Stdout.Fd()) // 0 says unknown
		o.Colours = theme.ColoursOf(colorprofile.Detect(os.Stdout, os.Environ()))
	}
	return o
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "unreleased"
}
