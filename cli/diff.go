package cli

import (
	"time"

	"github.com/spf13/cobra"

	"sandglass/backend"
	"sandglass/views/subjects"
)

// diffObserve is for how long diff watches unless it is told otherwise: long enough for a second reading of most sources.
const diffObserve = 30 * time.Second

func (p *Program) diffCommand(s *shared) *cobra.Command {
	var o oneShot
	var f finding
	cmd := &cobra.Command{
		Use:   "diff [ID]",
		Short: "Watch for a while, and print what differs then: statuses, counts, rates, alerts, and of one subject its fields",
		Long: paragraph("Watch the sources, and print what differs at the end: statuses, counts, rates, alerts and changes, or with an ID what two "+
			"readings of that one %s say differently, field by field. It compares with what this run read; d in the console compares with 30 minutes before.", anySubject("alert")) + `

Exit codes: 0 printed; 3 a source is down, so that something may be missing; 64 no
id or several ids match.`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: p.completeIDs(s),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.asked = args[0]
			}
			return p.reading(c.Context(), *s, o, func(r *reading) error { return p.diff(r, o.asked, f) })
		},
	}
	f.flags(p, cmd, s)
	o.observe = diffObserve
	o.flags(cmd)
	return cmd
}

// diff prints what differs, of one subject or of everything.
func (p *Program) diff(r *reading, given string, find finding) error {
	var key backend.Key
	title := subjects.DiffersTitle
	f := r.frame()
	if given != "" {
		var err error
		if key, err = r.find(given, find); err != nil {
			return err
		}
		title = subjects.Title(key, f) + ": " + title
	}
	f.Theme = p.theme()
	doc, _ := subjects.Differs(key, f)
	if err := p.writeDoc(title, doc, f); err != nil {
		return err
	}
	return p.incomplete(r.state)
}
