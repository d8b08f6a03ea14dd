package cli

import (
	"time"

	"github.com/spf13/cobra"

	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/subjects"
	"sandglass/views/text"
)

// diffObserve is for how long diff watches unless it is told otherwise: long enough for a second reading of most sources.
const diffObserve = 30 * time.Second

func (p *Program) diffCommand(s *shared) *cobra.Command {
	var o oneShot
	var f finding
	var format *oneWord
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
			return p.reading(c.Context(), *s, o, func(r *reading) error { return p.diff(r, o.asked, f, format) })
		},
	}
	format = p.output(cmd)
	f.flags(p, cmd, s)
	o.observe = diffObserve
	o.flags(cmd)
	return cmd
}

// diffDoc is `diff -o json`.
type diffDoc struct {
	Schema      int          `json:"schema"`
	Time        views.Time   `json:"time"`
	Environment backend.Safe `json:"environment"`
	Subject     *backend.Key `json:"subject"` // null: everything
	subjects.DiffersJSON
}

// diff prints what differs, of one subject or of everything.
func (p *Program) diff(r *reading, given string, find finding, format *oneWord) error {
	f, title := r.frame(), "what differs"
	doc := diffDoc{Schema: text.Schema, Time: views.At(r.now), Environment: backend.Clean(r.Config.Environment, 200)}
	var key backend.Key
	if given != "" {
		var err error
		if key, err = r.find(given, find); err != nil {
			return err
		}
		title, doc.Subject = subjects.Title(key, f)+": "+title, &key
	}
	if format.word != formatText {
		doc.DiffersJSON = subjects.WhatDiffers(key, f)
		if err := print(p, format, doc, nil); err != nil {
			return err
		}
		return p.incomplete(r.state)
	}
	f.Theme = p.theme()
	page, _ := subjects.Differs(key, f)
	if err := p.writeDoc(title, page, f); err != nil {
		return err
	}
	return p.incomplete(r.state)
}
