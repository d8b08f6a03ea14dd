package cli

import (
	"context"
	"errors"
	"iter"
	"regexp"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"sandglass/actions"
	"sandglass/actions/audit"
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/fleet"
	"sandglass/views"
	"sandglass/views/filter"
	"sandglass/views/subjects"
	"sandglass/views/text"
	"sandglass/views/theme"
)

// auditFilter are the flags that select records.
type auditFilter struct {
	since, until, user, plan, target string
	verbs, phases, results           []string
	last                             int
}

func (f *auditFilter) flags(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.since, "since", "", "not before this `TIME`: 24h or 7d for that long ago, or 2026-11-21T03:00:00Z")
	fs.StringVar(&f.until, "until", "", "before this `TIME`")
	fs.StringVar(&f.user, "user", "", "of this account or claimed `NAME`")
	fs.StringVar(&f.plan, "plan", "", "of the plan whose `DIGEST` begins so")
	fs.StringVar(&f.target, "target", "", "only records about this `ID`, or about this session's workspaces")
	fs.StringSliceVar(&f.verbs, "verb", nil, "of these `VERBS`: reset, destroy, clean, acknowledge …")
	fs.StringSliceVar(&f.phases, "phase", nil, "of these `PHASES`: intent, outcome, stopped, done, bundle …")
	fs.StringSliceVar(&f.results, "result", nil, "with these `RESULTS`: verified, failed, unknown …")
	fs.IntVar(&f.last, "last", 0, "only the last `N` of them")
}

func (p *Program) filterOf(f auditFilter) (audit.Filter, error) {
	out := audit.Filter{User: f.user, Digest: f.plan, Verbs: words[string](f.verbs), Phases: words[audit.Phase](f.phases), Results: words[audit.Result](f.results)}
	for i, v := range out.Verbs {
		if v == "ack" { // as the command is called
			out.Verbs[i] = string(alerts.OrderAcknowledge)
		}
	}
	for _, x := range out.Phases {
		if !slices.Contains(audit.Phases(), x) {
			return out, usage("--phase %q is not known%s", string(x), didYouMean(string(x), asStrings(audit.Phases())))
		}
	}
	for _, x := range out.Results {
		if !slices.Contains(audit.Results(), x) {
			return out, usage("--result %q is not known%s", string(x), didYouMean(string(x), asStrings(audit.Results())))
		}
	}
	if f.last < 0 {
		return out, usage("--last must not be negative")
	}
	var err error
	if f.target != "" {
		if out.Subject, err = backend.NewID(f.target); err != nil {
			return out, usage("--target: %v", err)
		}
	}
	if out.Since, err = p.moment("--since", f.since); err == nil {
		out.Until, err = p.moment("--until", f.until)
	}
	return out, err
}

// orderVerbs are the verbs of records that no action makes.
var orderVerbs = [...]string{string(alerts.OrderAcknowledge), string(alerts.OrderUnacknowledge), string(alerts.OrderSilence),
	string(alerts.OrderExpire), "note", "bundle", "arm", "disarm"}

// verbs are those that records can have: of all kinds, of the configuration where it can be read, and of orders.
func (p *Program) verbs(s shared) []string {
	all := append(p.Verbs(), orderVerbs[:]...)
	if c, err := p.load(s); err == nil {
		for _, x := range c.Actions {
			all = append(all, x.Name)
		}
	}
	return distinct(all)
}

// journalled refuses verbs that nothing defines and no record has.
func (p *Program) journalled(s shared, asked []string, found []*audit.Record) error {
	for _, v := range asked {
		if known := p.verbs(s); !slices.Contains(known, v) && !slices.ContainsFunc(found, func(r *audit.Record) bool { return r.Verb == v }) {
			return usage("--verb %q is not known%s", v, didYouMean(v, known))
		}
	}
	return nil
}

func (p *Program) auditShowCommand(s *shared) *cobra.Command {
	var f auditFilter
	var format *oneWord
	cmd := &cobra.Command{
		Use:   "show [FILE]",
		Short: "Print records of the journal",
		Long: `Print the records of the audit journal in the state directory, or of FILE, oldest
first. Unproved names follow "claims to be". Plans that were broken
off, or go on now, are named on the standard error.

Exit codes: 0 printed, 1 lines of the journal are no records (they are named; see
sandglass audit verify), 3 the journal cannot be read.`,
		Args: oneFile,
		RunE: func(c *cobra.Command, args []string) error {
			filter, err := p.filterOf(f)
			if err != nil {
				return err
			}
			j, err := p.journal(*s, args)
			if err != nil {
				return err
			}
			var records []*audit.Record
			var damaged []*audit.LineError
			for r, err := range j.Records(c.Context(), filter) {
				line := (*audit.LineError)(nil)
				switch {
				case errors.As(err, &line):
					damaged = append(damaged, line)
				case err != nil:
					return unread(err)
				default:
					records = append(records, &r)
				}
			}
			if err := p.journalled(*s, filter.Verbs, records); err != nil {
				return err
			}
			if f.last > 0 {
				records = records[max(0, len(records)-f.last):]
			}
			if err := p.showRecords(records, format); err != nil {
				return unwritten(err)
			}
			if err := p.brokenOff(c.Context(), j); err != nil {
				return err
			}
			return p.damaged(damaged)
		},
	}
	f.flags(cmd)
	p.completeWith(cmd, "verb", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return p.verbs(*s), cobra.ShellCompDirectiveNoFileComp
	})
	for flag, of := range map[string]func(*audit.Record) []string{
		"user": func(r *audit.Record) []string { return []string{r.Who.User.String(), r.Who.Claimed.String()} },
		"plan": func(r *audit.Record) []string { return []string{r.Digest} },
		"target": func(r *audit.Record) (ids []string) {
			for _, k := range r.Subjects {
				ids = append(ids, k.Path().Raw())
			}
			return ids
		},
	} {
		p.completeWith(cmd, flag, p.completeRecords(s, of))
	}
	format = p.tables(cmd)
	p.complete(cmd, "phase", asStrings(audit.Phases()))
	p.complete(cmd, "result", asStrings(audit.Results()))
	return cmd
}

func asStrings[W ~string](list []W) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}

// maxNamed bounds the damaged lines that are named one by one.
const maxNamed = 10

func (p *Program) damaged(lines []*audit.LineError) error {
	if len(lines) == 0 {
		return nil
	}
	for _, l := range lines[:min(len(lines), maxNamed)] {
		p.notice("%v", l)
	}
	if more := len(lines) - maxNamed; more > 0 {
		p.notice("and %d more lines that are no records", more)
	}
	p.notice("what they said is not shown; run sandglass audit verify")
	return exit(ExitChanged)
}

// brokenOff names the plans that have no end, whatever records were asked for.
func (p *Program) brokenOff(ctx context.Context, j *audit.Journal) error {
	plans, err := j.OpenIntents(ctx)
	if err != nil {
		return unread(err)
	}
	for _, o := range plans {
		p.notice("plan %s of %s: %s", o.Intent.Digest, moments(o.Intent.At), o.Text())
	}
	return nil
}

// auditDocument is what `audit show -o json` prints.
type auditDocument struct {
	Schema  int             `json:"schema"`
	Records []*audit.Record `json:"records"`
}

func (p *Program) showRecords(records []*audit.Record, format *oneWord) error {
	ctx := views.NewSnapshot(p.Now(), nil, nil)
	switch format.word {
	case formatJSON, formatYAML:
		return print(p, format, auditDocument{audit.Schema, append([]*audit.Record{}, records...)}, nil)
	case "jsonl":
		for _, r := range records {
			if err := text.WriteJSONLine(p.Stdout, r); err != nil {
				return err
			}
		}
		return nil
	case "csv":
		return text.WriteCSV(p.Stdout, recordSet(records).Listing(), ctx, filter.Filter{})
	}
	return p.getTables(ctx, format.word == "wide", []subjects.Listing{recordSet(records).Listing()}, []filter.Filter{{}})
}

// recordSet says what a record shows in a table.
func recordSet(records []*audit.Record) *subjects.Set[*audit.Record] {
	col := func(name, title string, priority int, where subjects.Where, show func(*audit.Record) backend.Safe) subjects.Column[*audit.Record] {
		return subjects.Column[*audit.Record]{Name: name, Title: title, Min: 6, Priority: priority, Where: where,
			Cell: func(r *audit.Record, _ *views.Snapshot) subjects.Cell {
				c := subjects.Cell{Text: show(r)}
				switch r.Result {
				case audit.ResultFailed, audit.ResultFailedAgain, audit.ResultUnknown:
					c.Tone = theme.Bad
				case audit.ResultNone, audit.ResultIssued, audit.ResultAccepted, audit.ResultVerified, audit.ResultUnverified,
					audit.ResultEnded, audit.ResultSkipped, audit.ResultRefused:
				}
				return c
			}}
	}
	flex := func(c subjects.Column[*audit.Record], least int, short func(*audit.Record) backend.Safe) subjects.Column[*audit.Record] {
		c.Flex, c.Min = 1, least
		if full := c.Cell; short != nil {
			c.Cell = func(r *audit.Record, ctx *views.Snapshot) subjects.Cell {
				cell := full(r, ctx)
				cell.Short = short(r)
				return cell
			}
		}
		return c
	}
	return &subjects.Set[*audit.Record]{Kind: "audit",
		Rows: func(*fleet.State, *alerts.Board) iter.Seq[*audit.Record] { return slices.Values(records) },
		Key:  func(*audit.Record) backend.Key { return backend.Key{} },
		Text: func(r *audit.Record) string { return r.Verb },
		Columns: []subjects.Column[*audit.Record]{
			col("seq", "SEQ", 5, subjects.Extra, func(r *audit.Record) backend.Safe { return backend.Textf("%d", r.Seq) }),
			flex(col("time", "TIME", 0, subjects.Everywhere, func(r *audit.Record) backend.Safe { return backend.Textf("%s", moments(r.At)) }), 14,
				func(r *audit.Record) backend.Safe { return backend.Textf("%s", r.At.UTC().Format("01-02 15:04:05")) }),
			flex(col("who", "WHO", 2, subjects.Everywhere, func(r *audit.Record) backend.Safe { return r.Who.Text() }), 12, shortWho),
			col("phase", "PHASE", 0, subjects.Everywhere, func(r *audit.Record) backend.Safe { return backend.Textf("%s", string(r.Phase)) }),
			col("verb", "VERB", 0, subjects.Everywhere, func(r *audit.Record) backend.Safe { return backend.Textf("%s", r.Verb) }),
			flex(col("targets", "TARGETS", 1, subjects.Everywhere, targetsText), 12, nil),
			col("result", "RESULT", 1, subjects.Everywhere, func(r *audit.Record) backend.Safe { return backend.Textf("%s", string(r.Result)) }),
			flex(col("reason", "REASON", 3, subjects.Everywhere, func(r *audit.Record) backend.Safe { return r.Reason }), 16, nil),
			col("plan", "PLAN", 4, subjects.Everywhere, func(r *audit.Record) backend.Safe { return backend.Textf("%s", r.Digest) }),
			col("kind", "KIND", 6, subjects.Extra, func(r *audit.Record) backend.Safe { return backend.Textf("%s", r.Kind) }),
			col("detail", "DETAIL", 6, subjects.Extra, func(r *audit.Record) backend.Safe { return r.Detail }),
			col("verification", "VERIFICATION", 6, subjects.Extra, func(r *audit.Record) backend.Safe { return r.Verification }),
			col("facts", "FACTS", 6, subjects.Extra, factsText),
			col("sha256", "SHA256", 6, subjects.Extra, func(r *audit.Record) backend.Safe { return backend.Textf("%s", r.SHA256) }),
		}}
}

// shortWho names the account that a person came from, where there is no room for more.
func shortWho(r *audit.Record) backend.Safe {
	if !r.Who.SudoUser.IsEmpty() {
		return r.Who.SudoUser
	}
	return r.Who.User
}

// targetsText says what a record is about: "7 of 40 done", "s1/w1", "40: s1/w1 …".
func targetsText(r *audit.Record) backend.Safe {
	n := max(r.Targets, len(r.Subjects))
	switch {
	case r.Phase == audit.PhaseStopped || r.Phase == audit.PhaseDone:
		return backend.Textf("%d of %d done", r.Done, n)
	case len(r.Subjects) == 0 && n == 0:
		return orderText(r)
	case len(r.Subjects) == 0:
		return countText(n)
	case n == 1:
		return targetText(r)
	}
	return backend.Textf("%s: %s …", countText(n), targetText(r))
}

// targetText names the first subject, by its name where the record has it. A container's id is shortened as its engine does.
func targetText(r *audit.Record) backend.Safe {
	id := r.Subjects[0].Safe()
	if s := id.String(); containerID.MatchString(s) {
		id = backend.Clean(s[:12], 12)
	}
	if name := factOf(r, actions.NameFact); !name.IsEmpty() && len(r.Subjects) == 1 {
		return backend.Textf("%s (%s)", name, id)
	}
	return id
}

var containerID = regexp.MustCompile(`^[0-9a-f]{64}$`)

// orderText says which alert is acknowledged, or what is silenced.
func orderText(r *audit.Record) backend.Safe {
	var parts []backend.Safe
	for _, name := range []string{"rule", "alert", "matchers", "silence"} {
		if f := factOf(r, name); !f.IsEmpty() {
			parts = append(parts, f)
		}
	}
	return backend.Join(parts, " ")
}

func factOf(r *audit.Record, name string) backend.Safe {
	for _, f := range r.Facts {
		if f.Name.String() == name {
			return f.Value
		}
	}
	return backend.Safe{}
}

func countText(n int) backend.Safe {
	if n == 0 {
		return backend.Safe{}
	}
	return backend.Textf("%s", strconv.Itoa(n))
}

func factsText(r *audit.Record) backend.Safe {
	var parts []backend.Safe
	for _, f := range r.Facts {
		parts = append(parts, backend.Textf("%s=%s", f.Name, f.Value))
	}
	return backend.Join(parts, " ")
}
