package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sandglass/alerts"
	"sandglass/app"
	"sandglass/backend/examine"
	"sandglass/config"
	"sandglass/views/text"
)

// doctorCommand examines the read routes of a source.
func (p *Program) doctorCommand(s *shared) *cobra.Command {
	var out string
	var format *oneWord
	timeout := 55 * time.Second
	cmd := &cobra.Command{
		Use:   "doctor SOURCE",
		Short: "Try every read route of a source: answers, fields, states, latency, permissions",
		Long: `Try every read route of a source as the adapter asks it, up to three times, and
tell what each answers: fields that Sandglass knows and does not know, states,
versions, latency and permissions. It changes nothing.

--out writes a sample that can be sent to others: one answer of each route, in
which every text but times and single state words is masked.

Exit codes: 0 everything that was asked is read and understood, 1 a route, a
state or an answer is not, 2 nothing of use can be read, 3 the source does not
answer, 64 wrong flag, 78 wrong configuration.`,
		Args: oneArg("doctor needs the id of one source; sandglass get sources lists them"),
		RunE: func(c *cobra.Command, args []string) error {
			if timeout <= 0 {
				return usage("--timeout must be longer than 0s")
			}
			if err := newFile("--out", out); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), timeout)
			defer cancel()
			return p.doctor(ctx, *s, args[0], out, format)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write a redacted sample to the new `FILE`, which only you can read")
	cmd.Flags().Var((*lasting)(&timeout), "timeout", "give up on a source that has not answered after this long")
	format = p.output(cmd)
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		c, err := p.load(*s)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return sourceIDs(c), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func (p *Program) doctor(ctx context.Context, s shared, source, out string, format *oneWord) error {
	c, err := p.load(s)
	if err != nil {
		return err
	}
	if c.Source(source) == nil {
		return usage("there is no source %q%s", source, didYouMean(source, sourceIDs(c)))
	}
	if unset := c.Unset(p.Getenv); len(unset) > 0 {
		return unset
	}
	r, err := p.Examine(ctx, c, source)
	var wrong config.Errors
	switch {
	case errors.As(err, &wrong):
		return wrong
	case err != nil:
		return &failure{code: alerts.ExitUnknown, what: err.Error()}
	}
	if out != "" {
		if err := app.WriteSample(out, r); err != nil {
			return &failure{code: alerts.ExitUnknown, what: "the sample was not written: " + err.Error(), next: "name a file that does not exist yet with --out"}
		}
		p.notice("wrote %s (only you can read it); masked: %s", out, strings.Join(examine.Masked(), "; "))
	}
	if err := print(p, format, r, func(r *examine.Report) error { return p.write(text.Doctor(r)) }); err != nil {
		return err
	}
	if r.ExitCode != 0 {
		return exit(r.ExitCode)
	}
	return nil
}
