package cli

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/views/kit"
)

// ordering are the flags of commands that say something about alerts.
type ordering struct {
	oneShot
	by     string
	reason string
	last   time.Duration
}

func (o *ordering) flags(cmd *cobra.Command, usual time.Duration) {
	o.oneShot.flags(cmd)
	cmd.Flags().StringVar(&o.reason, "reason", "", "why; the next person on call reads it")
	o.last = usual
	cmd.Flags().Var((*lasting)(&o.last), "for", "how long it holds, at most 24h")
	o.named(cmd)
}

// lasting refuses an order that would not last.
func (o *ordering) lasting() error {
	if o.last < time.Second {
		return usage("--for must be at least 1s, not %s; write it like 30m or 2h", duration(o.last))
	}
	return nil
}

// within refuses an order that lasts longer than the configuration allows.
func (o *ordering) within(r *reading) error {
	if limit := r.Config.LongestOrder; o.last > limit {
		return usage("--for %s is too long: longest_order of the configuration is %s", duration(o.last), duration(limit))
	}
	return nil
}

func (o *ordering) named(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.by, "by", "", "`NAME` of who orders; default $SANDGLASS_USER, $SUDO_USER, $USER or $LOGNAME")
}

// owner is who orders.
func (p *Program) owner(by string) (backend.Safe, error) {
	if by == "" {
		by = p.author()
	}
	name := p.Cleaner.Clean(strings.Join(strings.Fields(by), " "), maxAuthor)
	if name.IsEmpty() {
		return name, usage("--by is empty: name who orders it")
	}
	return name, nil
}

// reason is the text as it is written down.
func (p *Program) reason(text string) (backend.Safe, error) {
	s := p.Cleaner.Clean(strings.Join(strings.Fields(text), " "), maxNote)
	if s.IsEmpty() {
		return s, usage("--reason is missing: the next person on call must know why")
	}
	return s, nil
}

// order reads the fleet, so that it is known what the order is about, and carries it out.
func (p *Program) order(c *cobra.Command, s shared, o oneShot, do func(r *reading) (said string, err error)) error {
	r, err := p.read(c.Context(), s, o)
	if err != nil {
		return err
	}
	said, err := do(r)
	r.end(err)
	var known *failure
	switch {
	case errors.As(err, &known): // it says itself what is wrong
		return err
	case err != nil:
		return &failure{code: ExitFailed, what: "nothing was ordered: " + err.Error()}
	}
	return unwrittenIf(say(p.Stdout, p.clean(said)))
}

func say(w io.Writer, line string) error {
	_, err := fmt.Fprintln(w, line)
	return err
}

func (p *Program) ackCommand(s *shared) *cobra.Command {
	var o ordering
	back := false
	cmd := &cobra.Command{
		Use:   "ack ID",
		Short: "Acknowledge an alert, so that others know that you work on it",
		Long: `Acknowledge the alert with this id, as get alerts -o wide and check print it. Any
part of an id that no other alert has is enough.

It is known on this host only, to every Sandglass with the same state directory.
It ends when the alert resolves, and lapses when its time is over or the alert
becomes more severe or has ten times as many subjects. --back ends it.`,
		ValidArgsFunction: p.completeAlerts(s),
		Args:              oneArg("ack needs the id of one alert; sandglass get alerts -o wide lists them"),
		RunE: func(c *cobra.Command, args []string) error {
			owner, err := p.owner(o.by)
			if err != nil {
				return err
			}
			if back {
				return p.order(c, *s, o.oneShot, func(r *reading) (string, error) {
					id, err := r.alert(args[0])
					if err != nil {
						return "", err
					}
					_, err = r.Alerts.Unacknowledge(id, owner)
					return id + " is not acknowledged any more", err
				})
			}
			reason, err := p.reason(o.reason)
			if err == nil {
				err = o.lasting()
			}
			if err != nil {
				return err
			}
			return p.order(c, *s, o.oneShot, func(r *reading) (string, error) {
				id, err := r.alert(args[0])
				if err == nil {
					err = o.within(r)
				}
				if err != nil {
					return "", err
				}
				x, err := r.Alerts.Acknowledge(id, owner, reason, o.last)
				return fmt.Sprintf("%s on %s is acknowledged by %s for %s, known on this host only", x.Rule, x.Source, owner, backend.Age(x.For)), err
			})
		},
	}
	cmd.Flags().BoolVar(&back, "back", false, "end the acknowledgement")
	o.flags(cmd, alerts.AcknowledgeFor)
	return cmd
}

func oneArg(need string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage("%s", need)
		}
		return nil
	}
}

func (p *Program) silenceCommand(s *shared) *cobra.Command {
	var o ordering
	cmd := &cobra.Command{
		Use:   "silence MATCHERS",
		Short: "Silence alerts that match, or list and end silences",
		Long: `Silence the alerts that match, now and later, for a while. They stay listed and do
not count. Matchers are those of Alertmanager: rule="source-down",
source=~"helix-.*", severity!="critical"; regular expressions are anchored, and
a label that an alert does not have never matches.
Labels: ` + strings.Join(alerts.MatcherLabels(), ", ") + `.`,
		ValidArgsFunction: p.completeMatchers(s),
		Args:              oneArg(`silence needs matchers, such as 'rule="source-down", source="helix-eu"'`),
		RunE: func(c *cobra.Command, args []string) error {
			ms, err := alerts.ParseMatchers(args[0])
			if near := nearCommand(c, args[0]); err != nil && near != "" {
				return usage("%q names no label and no value; did you mean %s?", args[0], near)
			}
			if err != nil {
				return usage("%v", err)
			}
			owner, err := p.owner(o.by)
			if err != nil {
				return err
			}
			reason, err := p.reason(o.reason)
			if err == nil {
				err = o.lasting()
			}
			if err != nil {
				return err
			}
			return p.order(c, *s, o.oneShot, func(r *reading) (string, error) {
				err := o.within(r)
				if err == nil {
					err = r.matchable(ms)
				}
				if err != nil {
					return "", err
				}
				x, n, err := r.Alerts.Silence(ms, owner, reason, o.last)
				said := fmt.Sprintf("silence %s covers %s for %s", x.ID, plural(n, "alert"), backend.Age(x.For))
				if n == 0 {
					said += ": matches none now, so look at the matchers again; sandglass silence end " + x.ID + " ends it"
				}
				return said, err
			})
		},
	}
	o.flags(cmd, alerts.SilenceFor)
	cmd.AddCommand(p.silencesCommand(s), p.expireCommand(s))
	return cmd
}

// matchable refuses matchers with a value that no alert of this configuration can have.
func (r *reading) matchable(ms alerts.Matchers) error {
	for _, m := range ms {
		var known []string
		switch m.Label {
		case alerts.LabelRule:
			known, _ = ruleNames(nil, nil, "")
		case alerts.LabelSource:
			known = r.sources()
		case alerts.LabelSeverity:
			known = []string{string(alerts.SeverityInfo), string(alerts.SeverityWarning), string(alerts.SeverityCritical)}
		case alerts.LabelEnvironment:
			known = []string{r.Config.Environment}
		case alerts.LabelAlert:
			for _, a := range r.board.Alerts {
				known = append(known, a.ID)
			}
		default: // causes, tenants and the like come from the backends
			continue
		}
		if slices.ContainsFunc(known, m.Selects) {
			continue
		}
		if m.Label == alerts.LabelAlert {
			if _, err := r.alert(m.Value); err != nil {
				return err
			}
		}
		return usage("nothing is silenced: there is no %s %q%s", m.Label, backend.Clean(m.Value, 200), didYouMean(m.Value, known))
	}
	return nil
}

// silence is the id of the silence in force that a unique part of an id means.
func (r *reading) silence(given string) (string, error) {
	var ids, parts []string
	for _, s := range r.Alerts.Silences() {
		if ids = append(ids, s.ID.String()); strings.Contains(s.ID.String(), given) {
			parts = append(parts, s.ID.String())
		}
	}
	switch {
	case slices.Contains(ids, given):
		return given, nil
	case len(parts) == 1:
		return parts[0], nil
	case len(parts) > 1:
		return "", usage("%q means %d silences: %s", given, len(parts), strings.Join(parts, ", "))
	}
	return "", usage("no silence %s is in force%s", backend.Clean(given, 80), didYouMean(given, ids))
}

func (p *Program) silencesCommand(s *shared) *cobra.Command {
	var o oneShot
	cmd := &cobra.Command{
		Use: "list", Short: "List the silences in force", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return p.reading(c.Context(), *s, o, func(r *reading) error { return unwrittenIf(writeSilences(p.Stdout, r)) })
		},
	}
	o.flags(cmd)
	return cmd
}

func writeSilences(w io.Writer, r *reading) error {
	list := r.Alerts.Silences()
	if len(list) == 0 {
		return say(w, "nothing is silenced")
	}
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, "%s  %s left  %s\n  covers %s now; %s: %s\n", s.ID, backend.Age(s.Until.Sub(r.now)), backend.Clean(s.Matchers.String(), 2000),
			plural(s.Matches, "alert"), s.Owner, s.Reason)
		if s.Matchers.Outdated() {
			b.WriteString("  it names a cause as a former version of Sandglass did: silence again\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (p *Program) expireCommand(s *shared) *cobra.Command {
	var o ordering
	cmd := &cobra.Command{
		Use: "end ID", Short: "End a silence", Args: oneArg("silence end needs the id of one silence; sandglass silence list has them"),
		ValidArgsFunction: p.completeSilences(s),
		RunE: func(c *cobra.Command, args []string) error {
			owner, err := p.owner(o.by)
			if err != nil {
				return err
			}
			return p.order(c, *s, o.oneShot, func(r *reading) (string, error) {
				id, err := r.silence(args[0])
				if err != nil {
					return "", err
				}
				_, err = r.Alerts.Expire(id, owner)
				return "silence " + id + " is over", err
			})
		},
	}
	o.oneShot.flags(cmd)
	o.named(cmd)
	return cmd
}

// plural writes a number with its noun.
func plural(n int, noun string) string {
	return kit.Count(n, noun, backend.Plural(noun))
}
