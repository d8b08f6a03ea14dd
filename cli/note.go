package cli

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"sandglass/backend"
)

const (
	maxNote   = 500 // characters
	maxAuthor = 60
)

// noteCommand puts a remark on the timeline of an environment. It needs no source to answer, and a console that runs
// on the same state directory shows the note within seconds.
func (p *Program) noteCommand(s *shared) *cobra.Command {
	by := ""
	cmd := &cobra.Command{
		Use:   "note TEXT",
		Short: "Add a note to the timeline",
		Long: `Put a note on the timeline of the environment that the configuration names.

The timeline keeps it for 7 days, beside alerts, actions and changes; the audit
journal keeps it for good. Do not write secrets into it; what looks like one is masked.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("there is nothing to write down: sandglass note TEXT")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if by == "" {
				by = p.author()
			}
			return p.note(*s, by, strings.Join(args, " "))
		},
	}
	cmd.Flags().StringVar(&by, "by", "", "`NAME` of who writes; default $SANDGLASS_USER, $SUDO_USER, $USER or $LOGNAME")
	return cmd
}

// author is who the environment, or else the system, says runs the program. It is a name for colleagues, no proof.
func (p *Program) author() string {
	for _, name := range []string{"SANDGLASS_USER", "SUDO_USER", "USER", "LOGNAME"} {
		if who := p.Getenv(name); who != "" {
			return who
		}
	}
	if p.User != "" {
		return p.User
	}
	return "unknown"
}

func (p *Program) note(s shared, by, text string) error {
	text = strings.Join(strings.Fields(text), " ")
	switch n := utf8.RuneCountInString(text); {
	case text == "":
		return usage("there is nothing to write down: the text is empty")
	case n > maxNote:
		return usage("a note has at most %d characters, this one has %d", maxNote, n)
	}
	x, err := p.open(s, opening{keeps: true, sourceless: true, problem: func(err error) { p.notice("%v", err) }})
	if err != nil {
		return err
	}
	err = x.Forgets
	if err == nil {
		err = x.Note(p.Cleaner.Clean(by, maxAuthor), p.Cleaner.Clean(text, 2*maxNote))
	}
	x.Close()
	if err != nil {
		return failed("the note was not written down", err)
	}
	_, err = io.WriteString(p.Stdout, fmt.Sprintf("written down on the timeline of %s\n", backend.Clean(x.Config.Environment, 100)))
	return err
}
