package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"sandglass/alerts"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/filter"
	"sandglass/views/subjects"
	"sandglass/views/text"
	"sandglass/views/theme"
)

var getFormats = [...]string{"table", "wide", "json", "jsonl", "csv"}

const kindAll = "all"

func (p *Program) getCommand(s *shared) *cobra.Command {
	var o oneShot
	var expression string
	var format *oneWord
	kinds := append(listingKinds(), kindAll)
	cmd := &cobra.Command{
		Use:   "get KIND",
		Short: "Print what the screens show, as a table, JSON or CSV",
		Long: "Print the rows of one kind, or of all, as they are right now.\n\nKIND is one of\n  " + strings.Join(kinds, ", ") + `

Filters are those of the screens' /:  word  "two words"  field:part  field=value
field!=value  field>10m  !term. Fields are the names in the header of -o csv.
Exit code 3 says that a source is down, so that rows may be missing.`,
		ValidArgs: kinds,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(kinds, args[0]) {
				return usage("get needs one of: %s", strings.Join(kinds, ", "))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if format.word == "csv" && args[0] == kindAll {
				return usage("csv has one header line, so name one kind: %s", strings.Join(listingKinds(), ", "))
			}
			listings, filters, err := pickListings(args[0], expression)
			if err != nil {
				return err
			}
			return p.reading(c.Context(), *s, o, func(r *reading) error { return p.get(r, format, listings, filters) })
		},
	}
	format = p.tables(cmd)
	cmd.Flags().StringVar(&expression, "filter", "", "print only rows that match `EXPRESSION`")
	o.flags(cmd)
	return cmd
}

func listingKinds() []string {
	var kinds []string
	for _, l := range subjects.Listings() {
		kinds = append(kinds, l.Kind)
	}
	return kinds
}

// pickListings are the kinds to print, each with the filter. Of all kinds, those that lack a field of the filter have
// no matching row; a field that no kind has is an error.
func pickListings(kind, expression string) ([]subjects.Listing, []filter.Filter, error) {
	var listings []subjects.Listing
	var filters []filter.Filter
	var names []string
	for _, l := range subjects.Listings() {
		if kind != kindAll && kind != l.Kind {
			continue
		}
		listings = append(listings, l)
		for _, h := range l.Heads {
			if !slices.Contains(names, h.Name) {
				names = append(names, h.Name)
			}
		}
	}
	f, err := filter.Parse(expression, names...)
	if err != nil {
		return nil, nil, usage("%v", err)
	}
	for range listings {
		filters = append(filters, f)
	}
	return listings, filters, nil
}

func (p *Program) get(r *reading, format *oneWord, listings []subjects.Listing, filters []filter.Filter) error {
	ctx := views.NewSnapshot(r.now, r.state, r.board)
	ctx.Events = slices.Clone(r.events)
	slices.Reverse(ctx.Events)
	var err error
	switch format.word {
	case "json":
		err = p.getJSON(r, ctx, listings, filters)
	case "jsonl":
		for i, l := range listings {
			if err == nil {
				err = text.Matching(l, ctx, filters[i], func(rec subjects.Record) error {
					line, err := rec.JSON()
					if err == nil {
						_, err = p.Stdout.Write(append(line, '\n'))
					}
					return err
				})
			}
		}
	case "csv":
		err = text.WriteCSV(p.Stdout, listings[0], ctx, filters[0])
	default:
		err = p.getTables(ctx, format.word == "wide", listings, filters)
	}
	if err != nil {
		return unwritten(err)
	}
	return p.incomplete(r.state)
}

func (p *Program) getTables(ctx *views.Snapshot, wide bool, listings []subjects.Listing, filters []filter.Filter) error {
	o := text.TableOptions{Wide: wide}
	if p.Output.Terminal {
		o.Width = p.Output.Width
		o.Colour = p.Getenv("NO_COLOR") == "" && p.Output.Colours != theme.NoColours
		o.Theme = theme.New(p.Output.Colours, p.Output.Glyphs)
		if wide {
			o.Width = 0
		}
	}
	for i, l := range listings {
		if len(listings) > 1 {
			title := strings.ToUpper(l.Kind) + "\n"
			if i > 0 {
				title = "\n" + title
			}
			if _, err := fmt.Fprint(p.Stdout, title); err != nil {
				return err
			}
		}
		if err := text.WriteTable(p.Stdout, l, ctx, filters[i], o); err != nil {
			return err
		}
	}
	return nil
}

func (p *Program) getJSON(r *reading, ctx *views.Snapshot, listings []subjects.Listing, filters []filter.Filter) error {
	d := text.Document{Time: r.now, Environment: r.Config.Environment, Rows: make(map[string][][]byte)}
	for i, l := range listings {
		d.Kinds = append(d.Kinds, l.Kind)
		err := text.Matching(l, ctx, filters[i], func(rec subjects.Record) error {
			row, err := rec.JSON()
			d.Rows[l.Kind] = append(d.Rows[l.Kind], row)
			return err
		})
		if err != nil {
			return err
		}
	}
	return text.WriteJSON(p.Stdout, d)
}

// incomplete names the sources whose rows may be missing from what was printed.
func (p *Program) incomplete(st *fleet.State) error {
	down := false
	for _, h := range st.Sources {
		if h.Status == fleet.StatusDown || h.Status == fleet.StatusStarting {
			down = true
			p.notice("rows may be missing: source %s is %s: %s; see sandglass get sources", h.Key.Source, h.Status, h.Error)
		}
	}
	if down {
		return exit(alerts.ExitUnknown)
	}
	return nil
}
