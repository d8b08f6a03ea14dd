package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sandglass/actions/audit"
	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/text"
)

// Evidence writes bundles; the command and the console's key use the same one.
type Evidence struct {
	Journal              *audit.Journal
	Who                  audit.Who
	Version, Environment string
	Cleaner              *backend.Cleaner
	Now                  func() time.Time
}

// Saved is a bundle that was written.
type Saved struct {
	audit.BundleFile
	About []backend.Key // what it is evidence about, what was asked for first
}

// Save writes down what the desk knows about an entity or an alert (views.AlertKey), with the hash of the file in the
// journal, and tells the timeline. The file lies in the state directory, or is out, which must not exist.
func (e Evidence) Save(ctx context.Context, desk *alerts.Service, key backend.Key, out string) (Saved, error) {
	now := e.Now()
	state, board := desk.Latest()
	if state == nil || board == nil {
		return Saved{}, errors.New("nothing was read yet")
	}
	events := slices.Clone(desk.Timeline(recentEvents))
	slices.Reverse(events)
	b := text.Bundle{Key: key, Snapshot: views.NewSnapshot(now, state, board), Environment: e.Environment, Version: e.Version,
		Events: events, Cleaner: e.Cleaner}
	if incident, subject, ok := b.Question(); ok {
		d := runbook.Case{State: state, Board: board, Subject: subject, Events: events}.Diagnose(incident)
		b.Diagnosis = &d
	}
	s := Saved{About: b.Subjects()}
	if len(s.About) == 0 {
		return s, errors.New("the alert names nothing that evidence could be about")
	}
	var err error
	if s.BundleFile, err = e.Journal.WriteBundle(ctx, audit.Bundle{Subjects: s.About, Text: b.Markdown(), Out: out}, now, e.Who); err != nil {
		return s, err
	}
	return s, desk.Record(backend.Event{Kind: backend.EventAction, At: now, Source: key.Source, Subject: s.About[0], Name: alerts.EventBundle,
		Text: e.Cleaner.Clean(fmt.Sprintf("%s wrote evidence about %s to %s", e.Who.User, s.About[0].Safe(), s.Path), 500)})
}

func (p *Program) bundleCommand(s *shared) *cobra.Command {
	var o oneShot
	out := ""
	cmd := &cobra.Command{
		Use:   "bundle ID",
		Short: "Write down the evidence about one thing or alert, ready to be a vendor's issue",
		Long: `Write one Markdown file with all that is known about one workspace, session,
sandbox, scratch directory, host, source or alert, and what is joined to it: full
ids, evidence, events, raw readings, trace ids, the diagnosis. ID is what check and
get print. Secrets are masked; names and paths are not.

The file goes to bundles/ in the state directory, or to --out, with its SHA-256 in
the audit journal. Actions that destroy what a possible leak left behind ask for it.

Exit codes: 0 written, 1 not written, 3 written, but a source is down, so that
something may be missing.`,
		Args: oneArg("bundle needs one id, as check and get print it"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := backend.NewID(args[0])
			if err != nil {
				return usage("%v", err)
			}
			r, closeDesk, err := p.open(c.Context(), *s, o)
			defer closeDesk()
			if err != nil {
				return err
			}
			return p.bundle(c.Context(), *s, r, id, out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write this `FILE`, which must not exist")
	o.flags(cmd)
	return cmd
}

// maxListed bounds the things that the command names.
const maxListed = 10

func (p *Program) bundle(ctx context.Context, s shared, r *reading, id backend.ID, out string) error {
	dir, err := r.config.StateDirectory(s.stateDir, p.Getenv)
	if err != nil {
		return usage("%v", err)
	}
	e := Evidence{Version: p.Version, Environment: r.config.Environment, Cleaner: p.Cleaner, Now: p.Now}
	if p.Audit == nil {
		return failed("nothing was written", errors.New("this program keeps no journal"))
	}
	if e.Journal, e.Who, err = p.Audit(dir, r.config.Digest); err != nil {
		return failed("nothing was written", err)
	}
	key := runbook.SubjectOf(r.state, id)
	if a := alertWith(r.board, id.Raw()); a != nil {
		key = views.AlertKey(a)
	}
	saved, err := e.Save(ctx, r.desk, key, out)
	if err != nil {
		return failed("not everything was done", err)
	}
	var about []string
	for _, k := range saved.About[:min(len(saved.About), maxListed)] {
		about = append(about, fmt.Sprintf("%s %s", k.Kind, k.Safe()))
	}
	if more := len(saved.About) - maxListed; more > 0 {
		about = append(about, fmt.Sprintf("%d more", more))
	}
	if _, err := io.WriteString(p.Stdout, fmt.Sprintf("wrote %s\nsha256 %s\nabout %s\nnext: read it through before you give it to others; names and paths of your systems are in it\n",
		p.clean(saved.Path), saved.SHA256, p.clean(strings.Join(about, ", ")))); err != nil {
		return unwritten(err)
	}
	return p.incomplete(r.state)
}
