package app

import (
	"context"
	"fmt"
	"os"

	"sandglass/backend"
	"sandglass/config"
	"sandglass/demo"
	"sandglass/ui"
)

// DemoOptions are what the embedded fleet is started with.
type DemoOptions struct {
	Workspaces  int // 1 to MaxDemoWorkspaces
	Seed        uint64
	Scenario    string
	Headless    bool
	WriteConfig string // file to write the configuration of the demo to; empty: none
	StateDir    string // as given by --state-dir; empty: the demo's own
	Focus       string
	Flags       string // with which other commands look at this fleet, as a printed command repeats them
	ReadOnly    bool
	HideNames   bool
}

// reach is how other commands look at this fleet: with the configuration that was written. Without one none can, and keys
// of the screen stand for them.
func (o *DemoOptions) reach() backend.Reach {
	if o.WriteConfig == "" {
		return backend.Reach{Flags: o.Flags, Keys: ui.CommandKeys()}
	}
	return backend.Reach{Flags: o.Flags}
}

// MaxDemoWorkspaces bounds `demo --workspaces`.
const MaxDemoWorkspaces = 100_000

// Scenarios are the demo's, the default one first.
func Scenarios() []string {
	var names []string
	for _, s := range demo.Scenarios() {
		names = append(names, s.Name)
	}
	return names
}

// Demo starts the embedded fleet and shows it, or only serves it.
func (a *App) Demo(ctx context.Context, o DemoOptions) error {
	d, err := demo.Start(ctx, demo.Options{Workspaces: o.Workspaces, Seed: o.Seed, Scenario: o.Scenario})
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	if o.WriteConfig != "" {
		if err := writeDemo(o.WriteConfig, d.Config()); err != nil {
			return err
		}
		defer removeDemo(o.WriteConfig, d.Config()) // its addresses end with the demo
	}
	if o.Headless {
		fmt.Fprintf(os.Stderr, "sandglass: the demo's servers run until interrupted; %s\n", whereConfig(o.WriteConfig))
		<-ctx.Done()
		return d.Wait()
	}
	c, err := config.Parse([]byte(d.Config()), "demo", a.Known())
	if err != nil {
		return err
	}
	c.File = ""   // it was read from none
	c.Digest = "" // its ports are others at each start, and that is not a change worth a marker
	s, err := a.Open(StationOptions{Config: c, StateDir: o.StateDir, Reach: o.reach(), ReadOnly: o.ReadOnly})
	if err != nil {
		return err
	}
	defer s.Close()
	return a.Console(ctx, s, ConsoleOptions{Focus: o.Focus, HideNames: o.HideNames, Armed: !o.ReadOnly, Instead: demoHeadless})
}

func whereConfig(file string) string {
	if file == "" {
		return "with --write-config FILE they also write a configuration for other commands"
	}
	return "use them with --config " + file
}
