package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sandglass/alerts/runbook"
	"sandglass/app"
	"sandglass/views"
	"sandglass/views/subjects"
	"sandglass/views/text"
	"sandglass/views/theme"
)

// sitesText is what the site adds to a page. The page stands without a configuration too.
func (p *Program) sitesText(s shared, page *runbook.Page) runbook.Local {
	c, err := p.load(s)
	if err == nil {
		conditions, refused := app.MakeRules(c)
		if len(refused) == 0 {
			return runbook.LocalOf(app.LocalRunbook(conditions, c), page.Number)
		}
		err = refused
	}
	p.notice("what this site adds to the page is missing, since the configuration cannot be used: %v", err)
	return runbook.Local{}
}

// pageWidth is how wide text is laid out where no terminal tells.
const pageWidth = 100

func (p *Program) width() int {
	if p.Output.Terminal && p.Output.Width > 0 {
		return p.Output.Width
	}
	return pageWidth
}

func (p *Program) runbookCommand(s *shared) *cobra.Command {
	var o oneShot
	var subject string
	var find finding
	var format *oneWord
	cmd := &cobra.Command{
		Use:   "runbook [N|NAME]",
		Short: "Print a page of the runbook, and with --subject or --config what it says about the fleet now",
		Long: `Print a page of the runbook: what to check, what to do and what not to do.
Without a number or name: the list of pages. The pages with numbers follow the
framework's runbook. The pages with names are Sandglass's own.

` + paragraph("With --subject ID the sources are read and the page's checks are answered for that %s; with --config and no subject for everything. "+
			"No alert is needed.", anySubject()),
		ValidArgsFunction: runbookPages,
		RunE: func(c *cobra.Command, args []string) error {
			if subject == "" && (find.kind != "" || find.source != "") {
				return usage("--kind and --source belong to --subject: name it too")
			}
			if len(args) == 0 && subject == "" {
				return p.listPages(format)
			}
			if len(args) != 1 {
				return usage("runbook needs one number or name of %s; sandglass runbook lists them", strings.Join(runbook.Numbers(), ", "))
			}
			page, ok := runbook.Incident(args[0])
			if !ok {
				return usage("the runbook has no page %q%s", args[0], didYouMean(args[0], runbook.Numbers()))
			}
			doc := text.Runbook{Incident: page.Number, Title: page.Title}
			if subject == "" && s.config == "" {
				doc.Text = p.pasted(page.Markdown(p.sitesText(*s, page)))
				return p.writeRunbook(doc, nil, format)
			}
			o.asked = subject
			return p.reading(c.Context(), *s, o, func(r *reading) error { return p.diagnose(r, page, subject, find, doc, format) })
		},
	}
	cmd.Flags().StringVar(&subject, "subject", "", "answer its questions for the subject of this `ID`, as get prints it")
	format = p.output(cmd)
	find.flags(p, cmd, s)
	p.completeWith(cmd, "subject", p.completeIDs(s))
	o.flags(cmd)
	return cmd
}

// runbookPages completes the page.
func runbookPages(_ *cobra.Command, args []string, _ string) (pages []string, _ cobra.ShellCompDirective) {
	for _, page := range runbook.All() {
		if len(args) == 0 {
			pages = append(pages, page.Number+"\t"+page.Title.String())
		}
	}
	return pages, cobra.ShellCompDirectiveNoFileComp
}

func (p *Program) listPages(format *oneWord) error {
	var list []text.Runbook
	for _, page := range runbook.All() {
		list = append(list, text.Runbook{Incident: page.Number, Title: page.Title})
	}
	return print(p, format, list, func(l []text.Runbook) error { return text.WritePages(p.Stdout, l) })
}

// diagnose answers the page's checks on what was read and prints both.
func (p *Program) diagnose(r *reading, page *runbook.Page, subject string, find finding, doc text.Runbook, format *oneWord) error {
	q := views.Question{Incident: page.Number}
	rule := ""
	if subject != "" {
		key, err := r.find(subject, find)
		if err != nil {
			return err
		}
		q.Subject = key
		if a := views.FindAlert(r.board, key); a != nil {
			asked, _ := subjects.Asked(a)
			q.Subject, q.Alert, rule = asked.Subject, asked.Alert, a.Rule
		} else if past, over := subjects.PastAlertOf(key.ID.Raw(), r.frame().Events); over && key.Kind == views.KindAlert && len(past.Subjects) > 0 {
			q.Subject = past.Subjects[0]
		}
	}
	r.state = r.board.Shown(r.state)
	f := r.frame()
	at := subjects.Page{Question: q, Rule: rule}
	if subject != "" && rule == "" {
		if named, ok := subjects.PageOf(q.Subject, f); ok && named.Incident == q.Incident {
			at.Rule = named.Rule
		}
	}
	d := r.diagnosis(q)
	f.Diagnoses[q] = &d
	doc.Text, doc.Diagnosis = at.Markdown(f), &d
	if err := p.writeRunbook(doc, func() error {
		found, _ := at.Doc(f)
		return p.writeDoc(at.Title(f), found, f)
	}, format); err != nil {
		return err
	}
	return p.incomplete(r.state)
}

func (p *Program) writeRunbook(doc text.Runbook, before func() error, format *oneWord) error {
	if format.word != formatText {
		return print(p, format, doc, nil)
	}
	if before != nil {
		if err := before(); err != nil {
			return err
		}
	}
	return unwrittenIf(text.WritePage(p.Stdout, doc, p.width(), before != nil))
}

// frame is what documents about single things are written from.
func (r *reading) frame() *views.Frame {
	c := views.NewSnapshot(r.now, r.state, r.board)
	c.Events = slices.Clone(r.events)
	slices.Reverse(c.Events)
	return &views.Frame{Snapshot: c, Theme: theme.New(theme.NoColours, theme.Unicode), Printed: true, Summary: views.Summarise(c),
		Diagnoses: map[views.Question]*runbook.Diagnosis{}, Local: r.local}
}

func (r *reading) diagnosis(q views.Question) runbook.Diagnosis {
	c := runbook.Case{State: r.state, Board: r.board, Subject: q.Subject, Alert: q.Alert, Events: r.events}
	return c.Diagnose(q.Incident)
}

func unwrittenIf(err error) error {
	if err == nil {
		return nil
	}
	return unwritten(err)
}
