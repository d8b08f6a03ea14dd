package cli

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sandglass/actions/audit"
	"sandglass/backend"
)

// The exit codes of `audit`.
const (
	ExitChanged    = 1 // the journal is not what was written
	ExitUnanchored = 2 // it is intact as far as it can tell, and nothing outside of it vouches for its end
	ExitUnread     = 3 // it could not be read
)

func (p *Program) auditCommand(s *shared) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Show or verify the journal of what people did through Sandglass",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return &failure{code: ExitUsage, what: "audit needs one of: show, verify", next: "sandglass audit --help"}
		},
	}
	cmd.AddCommand(p.auditShowCommand(s), p.auditVerifyCommand(s))
	return cmd
}

func oneFile(c *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usage("%s takes at most one file, but got %d", c.CommandPath(), len(args))
	}
	return nil
}

// journal is the one that a command is about: the named file, else that of the state directory.
func (p *Program) journal(s shared, args []string) (*audit.Journal, error) {
	if len(args) == 1 {
		if _, err := os.Stat(args[0]); err != nil {
			return nil, &failure{code: ExitUnread, what: "the journal cannot be read: " + err.Error()}
		}
		return audit.At(args[0]), nil
	}
	c, err := p.load(s)
	if err != nil {
		return nil, err
	}
	dir, err := c.StateDirectory(s.stateDir, p.Getenv)
	if err != nil {
		return nil, usage("%v", err)
	}
	return audit.At(filepath.Join(dir, audit.File)), nil
}

func unread(err error) error {
	return &failure{code: ExitUnread, what: "the journal cannot be read: " + err.Error()}
}

// moment reads a time: how long ago ("24h", "7d"), or a day or moment in UTC or with its own offset. Empty: the zero
// time.
func (p *Program) moment(flag, given string) (time.Time, error) {
	if given == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if t, err := time.Parse(layout, given); err == nil {
			return t, nil
		}
	}
	var d backend.Duration
	if d.UnmarshalText([]byte(given)) != nil {
		return time.Time{}, usage("%s %q is not a time; write for example 24h or 7d for that long ago, 2026-11-21, or 2026-11-21T03:00:00Z", flag, given)
	}
	return p.Now().Add(-d.Std()), nil
}

// words is a list of words as flags take it: repeated, or with commas between.
func words[W ~string](given []string) []W {
	var out []W
	for _, g := range given {
		for w := range strings.SplitSeq(g, ",") {
			if w = strings.TrimSpace(w); w != "" {
				out = append(out, W(w))
			}
		}
	}
	return out
}

// moments writes when something was, in UTC.
func moments(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }
