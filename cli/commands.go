package cli

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sandglass/app"
	"sandglass/backend"
	"sandglass/config"
	"sandglass/views/text"
)

// shared are the flags that every command takes.
type shared struct {
	config   string
	stateDir string
	focus    string
	readOnly bool
	// hideNames: the console shows hashes instead of names.
	hideNames bool
	// allContainers: every container of a Docker engine is watched, for looking only.
	allContainers bool
	// trace: each request and command that is sent is printed.
	trace  bool
	permit config.Permit // what may be done on a machine without a configuration
}

// flags are the options of this command line that say what is looked at, as another command repeats them.
func (s *shared) flags() string {
	var argv []string
	for _, f := range []struct{ name, value string }{{"--config", s.config}, {"--state-dir", s.stateDir}} {
		if f.value != "" && f.value != "-" {
			argv = append(argv, f.name, f.value)
		}
	}
	if s.allContainers {
		argv = append(argv, "--all-containers")
	}
	return text.CommandLine(argv)
}

// reach is how the commands that this command line prints look at the same.
func (s *shared) reach() backend.Reach { return backend.Reach{Flags: s.flags()} }

// root makes the command tree anew, so that no flag outlives its command line.
func (p *Program) root() *cobra.Command {
	var s shared
	p.given = &s
	version := false
	root := &cobra.Command{
		Use:   "sandglass",
		Short: "See what is broken in the places where AI agents work, why, and what can be done",
		Long: `Sandglass watches workspaces of agent frameworks and the sandboxes behind them.

Without a command it opens the console: on the configured sources, or without a
configuration on what this machine has. Try it with nothing at all: sandglass demo`,
		Args:          noArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(c *cobra.Command, _ []string) error {
			if version {
				return unwrittenIf(p.write(p.versionLine()))
			}
			return p.console(c.Context(), s)
		},
	}
	root.SetIn(p.Stdin)
	root.SetOut(p.Stdout)
	root.SetErr(p.Stderr)
	root.PersistentFlags().StringVar(&s.config, "config", "", "configuration `FILE`; default $SANDGLASS_CONFIG, then $XDG_CONFIG_HOME/sandglass/config.toml")
	root.PersistentFlags().StringVar(&s.stateDir, "state-dir", "", "`DIR` for what is kept between runs; default $XDG_STATE_HOME/sandglass/<environment>")
	root.PersistentFlags().BoolVar(&s.allContainers, "all-containers", false, "watch every container of a Docker engine, with figures and alerts; one that is not a sandbox is for looking only")
	root.PersistentFlags().BoolVar(&s.trace, "trace-requests", false, "print each request and command that is sent, with its result, to the standard error; the console has them under o")
	root.Flags().StringVar(&s.focus, "focus", "", "begin with the subject of this `ID`, as check and get print it")
	p.completeWith(root, "focus", p.completeIDs(&s))
	root.Flags().BoolVar(&s.readOnly, "read-only", false, "never offer anything that changes something")
	root.Flags().BoolVar(&s.hideNames, "hide-names", false, hideNamesHelp)
	root.Flags().BoolVar(&version, "version", false, "print the version")
	p.permitFlags(root, &s)
	root.PersistentPreRunE = noEmpty
	group(root, "look", "What is wrong, and why:", p.demoCommand(&s), p.checkCommand(&s), p.getCommand(&s), p.whyCommand(&s), p.diffCommand(&s), p.logsCommand(&s), p.runbookCommand(&s), p.refsCommand(&s), p.rulesCommand(&s))
	group(root, "say", "Say something about it:", p.ackCommand(&s), p.silenceCommand(&s), p.noteCommand(&s))
	group(root, "act", "Do something about it; each prints a plan first:", p.actingCommands(&s)...)
	group(root, "prove", "What was done, and evidence:", p.doctorCommand(&s), p.auditCommand(&s), p.bundleCommand(&s))
	group(root, "set", "Set it up:", p.configCommand(&s), p.manCommand(), p.versionCommand())
	root.SetHelpCommandGroupID("set")
	root.SetCompletionCommandGroupID("set")
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("completion") // the argument makes cobra add it although nothing was typed yet
	for _, c := range root.Commands() {
		switch c.Name() { // cobra's own, which take any word and exit 0
		case "help":
			c.Args = helpTopic
		case "completion":
			c.Args, c.RunE = noArgs, func(c *cobra.Command, _ []string) error { return c.Help() }
			p.completesWithinQuotes(root, c)
		}
	}
	exemplify(root)
	return root
}

const hideNamesHelp = "show hashes instead of the names of subjects, for a screen that others see; such a console only looks"

// group adds commands that the help lists together.
func group(root *cobra.Command, id, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, c := range commands {
		c.GroupID = id
	}
	root.AddCommand(commands...)
}

// load reads the configuration that the flags and the environment name.
func (p *Program) load(s shared) (*config.Config, error) {
	c, err := config.Load(config.Find(s.config, p.Getenv), p.Known())
	if err == nil && s.allContainers {
		c = c.WithAllContainers(p.Known())
	}
	return c, err
}

func (p *Program) console(ctx context.Context, s shared) error {
	if s.trace {
		return usage("--trace-requests prints lines, and the console draws a screen: press o there")
	}
	x, err := p.open(s, opening{permitted: true, keeps: true, problem: func(error) {}})
	if err != nil {
		return err
	}
	defer x.Close()
	return failed("the console ended", p.Console(ctx, x, app.ConsoleOptions{Focus: s.focus, HideNames: s.hideNames}))
}

// failed gives an error of the console or the demo its exit code.
func failed(effect string, err error) error {
	if err == nil {
		return nil
	}
	if none := (*app.NoScreenError)(nil); errors.As(err, &none) {
		return &failure{code: ExitFailed, what: none.Error()}
	}
	if there := (*app.DemoFileError)(nil); errors.As(err, &there) {
		next := "name another file, or remove this one"
		if there.Lives {
			next = "use it with --config, or name another file"
		}
		return &failure{code: ExitUsage, what: there.Error(), next: next}
	}
	return &failure{code: ExitFailed, what: effect + ": " + err.Error()}
}

func (p *Program) demoCommand(s *shared) *cobra.Command {
	d := app.DemoOptions{Workspaces: 1284, Seed: 1}
	if len(p.Scenarios) > 0 {
		d.Scenario = p.Scenarios[0]
	}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Try everything on an embedded fleet that speaks the real protocols",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			switch {
			case d.Workspaces < 1 || d.Workspaces > app.MaxDemoWorkspaces:
				return usage("--workspaces must be from 1 to %d, not %d", app.MaxDemoWorkspaces, d.Workspaces)
			case !slices.Contains(p.Scenarios, d.Scenario):
				return usage("there is no scenario %q%s", d.Scenario, didYouMean(d.Scenario, p.Scenarios))
			case s.config != "":
				return usage("demo writes its own configuration and takes no --config; to use a demo that runs already, " +
					"start it with --headless --write-config FILE")
			}
			d.StateDir = s.stateDir
			d.Flags = (&shared{config: d.WriteConfig, stateDir: s.stateDir}).flags()
			return failed("the demo ended", p.Demo(c.Context(), d))
		},
	}
	f := cmd.Flags()
	f.IntVar(&d.Workspaces, "workspaces", d.Workspaces, "how many workspaces the fleet has, up to 100000")
	f.Uint64Var(&d.Seed, "seed", d.Seed, "the same seed gives the same fleet")
	f.StringVar(&d.Scenario, "scenario", d.Scenario, "what goes wrong: "+strings.Join(p.Scenarios, ", "))
	f.BoolVar(&d.Headless, "headless", false, "run only the servers, without a screen, until interrupted")
	f.StringVar(&d.WriteConfig, "write-config", "", "write a configuration for this fleet to `FILE`, for any other command's --config")
	f.StringVar(&d.Focus, "focus", "", "begin with the subject of this `ID`")
	f.BoolVar(&d.ReadOnly, "read-only", false, "never offer anything that changes something")
	f.BoolVar(&d.HideNames, "hide-names", false, hideNamesHelp)
	p.complete(cmd, "scenario", p.Scenarios)
	return cmd
}

func (p *Program) complete(cmd *cobra.Command, flag string, words []string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic(err) // the flag's name is misspelt in our own source
	}
}

// versionLine says what this program is.
func (p *Program) versionLine() string {
	return fmt.Sprintf("sandglass %s (%s, %s/%s)\n", p.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func (p *Program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs,
		RunE:  func(*cobra.Command, []string) error { return unwrittenIf(p.write(p.versionLine())) },
	}
}

// maxObserve bounds --observe; whoever wants to watch for longer wants the console.
const maxObserve = time.Hour
