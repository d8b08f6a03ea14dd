package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sandglass/alerts/runbook"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/subjects"
	"sandglass/views/text"
	"sandglass/views/theme"
)

func (p *Program) whyCommand(s *shared) *cobra.Command {
	var o oneShot
	cmd := &cobra.Command{
		Use:   "why ID",
		Short: "Print everything about one thing: its state, the alerts that name it, and the diagnosis",
		Long: paragraph("Print all that is known about one %s, and what the runbook makes of it. ID is what check and get print. "+
			"An id that no source shows is taken for a session that is no longer listed.", anySubject("alert")) + `

Exit code 3 says that a source is down, so that something may be missing.`,
		Args: oneArg("why needs one id, as check and get print it"),
		RunE: func(c *cobra.Command, args []string) error {
			id, err := backend.NewID(args[0])
			if err != nil {
				return usage("%v", err)
			}
			return p.reading(c.Context(), *s, o, func(r *reading) error { return p.why(r, id) })
		},
	}
	o.flags(cmd)
	return cmd
}

// anySubject lists the nouns of all kinds, and more: "workspace, session or alert".
func anySubject(more ...string) string {
	var nouns []string
	for _, k := range backend.SubjectKinds() {
		nouns = append(nouns, k.Name)
	}
	nouns = append(nouns, more...)
	last := len(nouns) - 1
	return strings.Join(nouns[:last], ", ") + " or " + nouns[last]
}

// paragraph is a part of a help text.
func paragraph(format string, args ...any) string {
	return strings.Join(kit.Wrap(fmt.Sprintf(format, args...), 79), "\n")
}

// why prints what is known of one thing, and what the runbook makes of it.
func (p *Program) why(r *reading, id backend.ID) error {
	f := r.frame()
	f.Theme = p.theme()
	var key backend.Key
	if a := alertWith(r.board, id.Raw()); a != nil {
		key = views.AlertKey(a)
	} else {
		var err error
		if key, err = subjectOf(r, id); err != nil {
			return err
		}
	}
	page, ok := subjects.PageOf(key, f)
	if ok && page.Incident != "" {
		d := r.diagnosis(page.Question)
		f.Diagnoses[page.Question] = &d
	}
	about := func(f *views.Frame) (*kit.Doc, []backend.Key) { return subjects.Doc(key, f) }
	if err := p.writeDoc(subjects.Title(key, f), about, f); err != nil {
		return err
	}
	if ok {
		if err := p.writeDoc(page.Title(f), page.Doc, f); err != nil {
			return err
		}
	}
	return p.incomplete(r.state)
}

// subjectOf is the one thing that an id on the command line means.
func subjectOf(r *reading, id backend.ID) (backend.Key, error) {
	keys := runbook.SubjectsOf(r.state, r.board, id)
	if len(keys) == 1 {
		return keys[0], nil
	}
	var all []string
	for _, k := range keys[:min(len(keys), 5)] {
		all = append(all, fmt.Sprintf("%s %s on %s", k.Kind.Spec().Name, k.Path().Safe(), k.Source))
	}
	if more := len(keys) - len(all); more > 0 {
		all = append(all, fmt.Sprintf("%d more", more))
	}
	return backend.Key{}, usage("%d things have the id or name %s: %s. Give the whole id of one.", len(keys), id.Safe(), strings.Join(all, "; "))
}

// theme is what the standard output can draw.
func (p *Program) theme() *theme.Theme {
	if !p.Output.Terminal {
		return theme.New(theme.NoColours, theme.Unicode)
	}
	return theme.New(p.Output.Colours, p.Output.Glyphs)
}

// writeDoc prints a document under its title.
func (p *Program) writeDoc(title string, write func(*views.Frame) (*kit.Doc, []backend.Key), f *views.Frame) error {
	doc, _ := write(f)
	o := text.TableOptions{Width: p.width(), Theme: f.Theme}
	o.Colour = p.Output.Terminal && p.Getenv("NO_COLOR") == "" && p.Output.Colours != theme.NoColours
	return unwrittenIf(text.WriteDoc(p.Stdout, title, doc, o))
}
