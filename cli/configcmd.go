package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sandglass/actions"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sandglass/app"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/config"
)

// Estimator is a source that knows what it would cost its backend at the fleet size it has read.
type Estimator interface {
	EstimateLoad() (requestsPerMinute float64, text backend.Safe)
}

func (p *Program) configCommand(s *shared) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Check, begin or show the configuration",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return &failure{code: ExitUsage, what: "config needs one of: check, init, show", next: "sandglass config --help"}
		},
	}
	cmd.AddCommand(p.configCheckCommand(s), p.configInitCommand(s), p.configShowCommand(s))
	return cmd
}

func (p *Program) configCheckCommand(s *shared) *cobra.Command {
	var explain, offline bool
	timeout := 15 * time.Second
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Say whether the configuration can be used, what it reads and what that costs",
		Long: `Check the configuration file to the last key, then read every source once and
print the load on each backend at today's fleet size. What cannot be reached is
named and is no error of the configuration.

Exit codes: 0 the configuration can be used, 78 it cannot.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := p.load(*s)
			if err != nil {
				return err
			}
			if len(cfg.Sources) == 0 {
				return noSources(p.clean(cfg.File))
			}
			unset := cfg.Unset(p.Getenv)
			if len(unset) > 0 && !explain && !offline {
				return unset
			}
			x, err := p.Open(app.StationOptions{Config: cfg, StateDir: s.stateDir, Stateless: true})
			if err != nil {
				return err
			}
			defer x.Close()
			var b strings.Builder
			p.writeHead(&b, cfg, *s)
			for _, u := range unset {
				fmt.Fprintf(&b, "Warning: %s\n", p.clean(u.Error()))
			}
			for _, w := range p.Warnings(cfg) {
				fmt.Fprintf(&b, "Warning: %s\n", w)
			}
			p.warnOfSharedCredentials(&b, cfg)
			if explain {
				p.explain(&b, x)
			} else {
				var st *fleet.State
				if !offline {
					once, cancel := context.WithTimeout(c.Context(), timeout)
					st = x.Poll(once)
					cancel()
				}
				p.writeSources(&b, x, st)
			}
			if _, err := io.WriteString(p.Stdout, b.String()); err != nil {
				return unwritten(err)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&explain, "explain", false, "print every route, verb and permission that this configuration uses, and contact nothing")
	cmd.Flags().BoolVar(&offline, "offline", false, "check the file alone and contact nothing")
	cmd.Flags().Var((*lasting)(&timeout), "timeout", "give up on sources that have not answered after this long")
	return cmd
}

func (p *Program) writeHead(b *strings.Builder, c *config.Config, s shared) {
	what := "the configuration can be used"
	if c.Local {
		fmt.Fprintf(b, "No configuration file: Sandglass looks at what this machine has. Begin one with: sandglass config init\n")
	} else {
		fmt.Fprintf(b, "%s: %s\n", p.clean(c.File), what)
	}
	kind := ""
	if c.Production {
		kind = ", production"
	}
	fmt.Fprintf(b, "Environment: %s%s\n", p.clean(c.Environment), kind)
	if !c.Local && c.Environment == config.Local().Environment && c.StateDir == "" && s.stateDir == "" {
		b.WriteString("Warning: alerts and journal are shared with every configuration of this environment, and with none at all; set environment\n")
	}
	if dir, err := c.StateDirectory(s.stateDir, p.Getenv); err == nil {
		fmt.Fprintf(b, "State directory: %s\n", p.clean(dir))
	} else {
		fmt.Fprintf(b, "State directory: none; %s\n", p.clean(err.Error()))
	}
}

// writeSources prints what each source is and what reading it costs. st is nil when nothing was read.
func (p *Program) writeSources(b *strings.Builder, x *app.Station, st *fleet.State) {
	abilities := x.Operator(actions.Everything()).All()
	for _, s := range x.Sources {
		c := s.Config
		fmt.Fprintf(b, "\n%s (%s), every %s, %s per request", backend.Clean(c.ID, 200), backend.Clean(c.Kind, 200),
			duration(c.Interval), duration(c.Deadline))
		if len(c.About) > 0 {
			fmt.Fprintf(b, ", about %s", backend.Clean(strings.Join(c.About, ", "), 400))
		}
		b.WriteByte('\n')
		var h *fleet.SourceHealth
		if st != nil {
			h = st.Source(c.ID)
		}
		if h != nil {
			fmt.Fprintf(b, "  now: %s", h.Status)
			if !h.Error.IsEmpty() {
				fmt.Fprintf(b, ", %s", h.Error)
			}
			b.WriteByte('\n')
		}
		if e, ok := s.Source.(Estimator); ok {
			perMinute, why := e.EstimateLoad()
			if why.IsEmpty() {
				why = backend.Textf("about %s requests a minute", number(perMinute))
			}
			fmt.Fprintf(b, "  load: %s\n", why)
		}
		for _, verb := range c.Actions {
			if why := unavailable(abilities, c.ID, verb); !why.IsEmpty() {
				fmt.Fprintf(b, "  Warning: %s is allowed, but not available: %s\n", p.clean(verb), why)
			}
		}
		if h == nil {
			continue
		}
		for _, problem := range h.Problems {
			fmt.Fprintf(b, "  problem: %s: %s\n", problem.Where, problem.What)
		}
		for _, m := range h.Missing {
			fmt.Fprintf(b, "  does not deliver: %s, because %s\n", m.Input, m.Why)
		}
	}
}

func duration(d time.Duration) string {
	text, _ := backend.Duration(d).MarshalText() // never fails
	return string(text)
}

func number(f float64) string {
	if f >= 10 {
		return fmt.Sprintf("%.0f", f)
	}
	return fmt.Sprintf("%.1f", f)
}

// writeNew writes a file that was not there before, unless told to replace it.
func writeNew(path, content string, replace bool) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return &failure{code: ExitFailed, what: "nothing was written: " + err.Error()}
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if replace {
		flags = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return &failure{code: ExitUsage, what: path + " is there already, and nothing was written", next: "name another file, or replace it with --force"}
	}
	if err == nil {
		_, err = f.WriteString(content)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return &failure{code: ExitFailed, what: "the configuration could not be written: " + err.Error()}
	}
	return nil
}

func (p *Program) configShowCommand(s *shared) *cobra.Command {
	return &cobra.Command{
		Use:   "show",
		Short: "Print the configuration as it takes effect, defaults filled in and secrets hidden",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := p.load(*s)
			if err != nil {
				return err
			}
			shown, err := c.Show(p.Known(), p.Cleaner)
			if err != nil {
				return err
			}
			if _, err := io.WriteString(p.Stdout, shown); err != nil {
				return unwritten(err)
			}
			return nil
		},
	}
}
