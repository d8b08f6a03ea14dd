package cli

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/filter"
	"sandglass/views/subjects"
	"sandglass/views/text"
	"sandglass/views/theme"
)

var getFormats = [...]string{"table", "wide", "json", "yaml", "jsonl", "csv"}

const kindAll = "all"

// getting are the flags of get.
type getting struct {
	oneShot
	filter string
	sort   string
	watch  bool
	format *oneWord
}

func (p *Program) getCommand(s *shared) *cobra.Command {
	var g getting
	kinds := append(listingKinds(), kindAll)
	cmd := &cobra.Command{
		Use:   "get [KIND [ID]]",
		Short: "Print what the screens show, as a table, JSON, YAML or CSV",
		Long: "Print the rows of one kind, or of all, as they are right now. Without a kind: the list of kinds.\n\nKIND is one of\n  " + strings.Join(kinds, ", ") + `
or its singular, or a usual short name such as ws, sb, se or containers.
With an ID, or any part that no other id has: that one. One that has gone is
printed as it was read last.

Filters are those of the screens' /:  word  "two words"  field:part  field=value
field!=value  field~pattern  field>10m  !term. Fields are the names in the header of -o csv, and
--sort-by takes the same; - before the name turns the order round.

With --watch a terminal shows the table as it changes. Elsewhere the rows are
printed once, and again as each of them changes.
Exit code 3 says that a source is down, so that rows may be missing.`,
		ValidArgsFunction: p.completeKindThenID(s, kinds),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 2 {
				return &failure{code: ExitUsage, what: fmt.Sprintf("get takes one kind and one id, but got %q too", args[2]), next: c.CommandPath() + " --help"}
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return p.noKind(c)
			}
			kind, err := kindMeant(args[0])
			if err != nil {
				return err
			}
			if g.format.word == "csv" && kind == kindAll {
				return usage("csv has one header line, so name one kind: %s", strings.Join(listingKinds(), ", "))
			}
			listings, filters, err := pickListings(kind, g.filter)
			if err == nil {
				err = g.order(listings)
			}
			if err != nil {
				return err
			}
			if len(args) == 2 && (kind == kindAll || g.watch) {
				return usage("an id goes with one kind, and not with --watch")
			}
			if g.watch {
				return p.watchRows(c.Context(), *s, g, listings, filters)
			}
			if g.observe > 0 && g.observe < figuresTake && kind == backend.KindSandbox.Spec().List {
				p.notice("cpu needs two samples of each container: --observe %s tells it", duration(figuresTake))
			}
			if len(args) == 2 {
				g.asked = args[1]
			}
			return p.reading(c.Context(), *s, g.oneShot, func(r *reading) error {
				r.state = r.board.Shown(r.state)
				if len(args) == 2 {
					if err := p.only(r, args[1], &listings[0]); err != nil {
						return err
					}
				}
				return p.get(r, g.format, listings, filters)
			})
		},
	}
	g.format = p.tables(cmd)
	cmd.Flags().StringVar(&g.filter, "filter", "", "print only rows that match `EXPRESSION`")
	cmd.Flags().StringVar(&g.sort, "sort-by", "", "order the rows by this `FIELD`; - before it turns the order round")
	cmd.Flags().BoolVarP(&g.watch, "watch", "w", false, "go on printing what changes, until interrupted")
	p.completeWith(cmd, "filter", p.completeFilter(s, func(args []string) string { return firstOf(args) }))
	p.completeWith(cmd, "sort-by", completeFields)
	g.flags(cmd)
	return cmd
}

// figuresTake is how long the figures of a container take: two samples of its processor time.
const figuresTake = 10 * time.Second

// only makes a listing show the one subject that an id means; one that has gone is shown as it was read last.
func (p *Program) only(r *reading, given string, l *subjects.Listing) error {
	if !slices.Contains(subjectNames(), string(l.Of)) {
		return usage("get %s takes no id: choose rows with --filter", l.Kind)
	}
	key, err := r.find(given, finding{kind: string(l.Of)})
	if err != nil {
		return err
	}
	f := r.frame()
	if _, here := r.record(key, f.Snapshot); !here {
		p.notice("%s: %s", subjects.Title(key, f), subjects.GoneSince(key, f.Snapshot))
		if past, ok := r.board.Past(key); ok {
			r.state = r.state.Including(past.Entity)
		}
	}
	all := l.Each
	l.Each = func(s *views.Snapshot) iter.Seq[subjects.Record] {
		return func(yield func(subjects.Record) bool) {
			for rec := range all(s) {
				if rec.Key() == key && !yield(rec) {
					return
				}
			}
		}
	}
	return nil
}

func firstOf(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

func listingKinds() []string {
	var kinds []string
	for _, l := range subjects.Listings() {
		kinds = append(kinds, l.Kind)
	}
	return kinds
}

// usualNames are further names of kinds, as other tools and people have them.
var usualNames = map[string]string{"ws": "workspaces", "wo": "workspaces", "container": "sandboxes", "containers": "sandboxes", "box": "sandboxes", "boxes": "sandboxes",
	"sb": "sandboxes", "vm": "sandboxes", "vms": "sandboxes", "run": "sessions", "runs": "sessions", "exec": "executions", "execs": "executions", "al": "alerts",
	"dir": "tmpdirs", "dirs": "tmpdirs", "scratch": "tmpdirs", "reference": "refs", "references": "refs", "src": "sources", "ev": "events", "timeline": "events",
	"share": "sharing", "shares": "sharing", "rejects": "rejections"}

// kindMeant is the kind of that name, its singular, its short form or a usual name.
func kindMeant(given string) (string, error) {
	kinds := append(listingKinds(), kindAll)
	word := strings.ToLower(given)
	if slices.Contains(kinds, word) {
		return word, nil
	}
	if k := usualNames[word]; k != "" {
		return k, nil
	}
	for _, l := range subjects.Listings() {
		if spec := l.Of.Spec(); word == string(l.Of) || backend.Plural(word) == l.Kind || word == spec.Short && spec.Short != "" {
			return l.Kind, nil
		}
	}
	return "", usage("there is no kind %q%s", given, didYouMean(word, kinds))
}

// noKind lists the kinds. Flags about rows need a kind.
func (p *Program) noKind(c *cobra.Command) error {
	for _, name := range []string{"output", "filter", "sort-by", "watch", "observe", "timeout"} {
		if c.Flags().Changed(name) {
			return &failure{code: ExitUsage, what: fmt.Sprintf("--%s needs a kind: %s", name, strings.Join(append(listingKinds(), kindAll), ", ")), next: "sandglass get workspaces"}
		}
	}
	return p.listKinds()
}

// listKinds prints the kinds with their fields.
func (p *Program) listKinds() error {
	var b strings.Builder
	b.WriteString("The kinds that get prints, and the fields of each for --filter and --sort-by:\n")
	for _, l := range subjects.Listings() {
		b.WriteString("\n" + l.Kind + "\n" + wrap(strings.Join(fieldsOf(l), ", "), 2))
	}
	b.WriteString("\n" + kindAll + "\n  all of them\n")
	return unwrittenIf(p.write(b.String()))
}

func fieldsOf(l subjects.Listing) []string {
	var names []string
	for _, h := range l.Heads {
		if h.Where.Reported() {
			names = append(names, h.Name)
		}
	}
	return names
}

// order makes the listings walk their rows by the field of --sort-by. Listings without it keep their order.
func (g *getting) order(listings []subjects.Listing) error {
	if g.sort == "" {
		return nil
	}
	field, turned := strings.CutPrefix(g.sort, "-")
	found := false
	var known []string
	for i, l := range listings {
		known = append(known, fieldsOf(l)...)
		at := slices.IndexFunc(l.Heads, func(h subjects.Head) bool { return h.Name == strings.ToLower(field) })
		if at < 0 {
			continue
		}
		found = true
		listings[i].Each = func(s *views.Snapshot) iter.Seq[subjects.Record] {
			return l.Sorted(s, at, l.Heads[at].Descending != turned)
		}
	}
	if !found {
		return usage("--sort-by: there is no field %q%s", field, didYouMean(field, distinct(known)))
	}
	return nil
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
	case formatJSON, formatYAML:
		err = p.getDocument(r, ctx, listings, filters, format)
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
	var kinds []backend.Kind
	for _, l := range listings {
		kinds = append(kinds, l.Of)
	}
	return p.incomplete(r.state, kinds...)
}

func (p *Program) getTables(ctx *views.Snapshot, wide bool, listings []subjects.Listing, filters []filter.Filter) error {
	o := text.TableOptions{Wide: wide}
	if p.Output.Terminal {
		o.Width = p.Output.Width
		o.Colour = p.coloured()
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

func (p *Program) getDocument(r *reading, ctx *views.Snapshot, listings []subjects.Listing, filters []filter.Filter, format *oneWord) error {
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
	return print(p, format, d, nil)
}

// incomplete names the sources whose rows may be missing from what was printed: of these kinds, or of any.
func (p *Program) incomplete(st *fleet.State, kinds ...backend.Kind) error {
	down := false
	for _, h := range st.Sources {
		may := len(kinds) == 0 || slices.ContainsFunc(kinds, func(k backend.Kind) bool { return mayList(h, k) })
		unread := h.Status == fleet.StatusDegraded && h.Unfinished || h.WorkspacesUnknown && (len(kinds) == 0 || slices.Contains(kinds, backend.KindWorkspace))
		if may && (unread || h.Status == fleet.StatusDown || h.Status == fleet.StatusStarting) {
			down = true
			p.notice("rows may be missing: source %s is %s: %s; see sandglass get sources", h.Key.Source, h.Status, h.Error)
		}
	}
	if down {
		return exit(alerts.ExitUnknown)
	}
	return nil
}
