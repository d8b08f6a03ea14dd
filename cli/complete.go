package cli

import (
	"cmp"
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"sandglass/internal/stable"

	"github.com/spf13/cobra"

	"sandglass/actions/audit"
	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/config"
	"sandglass/views"
	"sandglass/views/kit"
	"sandglass/views/subjects"
)

// completion offers words for an argument or a flag.
type completion = cobra.CompletionFunc

// Bounds of what a completion reads and offers.
const (
	completeWithin = 3 * time.Second
	mostOffered    = 1000
	widestValue    = 40 // cells; longer values of a column are nothing to choose from
)

func (p *Program) completeWith(cmd *cobra.Command, flag string, f completion) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag's name is misspelt in our own source
	}
}

func sourceIDs(c *config.Config) (ids []string) {
	for _, x := range c.Sources {
		ids = append(ids, x.ID)
	}
	return ids
}

// offer reads the fleet once, in silence, and offers what words says. Without a reading it offers nothing.
func (p *Program) offer(s *shared, directive cobra.ShellCompDirective, words func(r *reading, args []string, begun string) []string) completion {
	return func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		quiet := *p
		quiet.Stderr = io.Discard
		ctx := c.Context()
		if ctx == nil {
			ctx = context.Background()
		}
		var out []string
		_ = quiet.reading(ctx, *s, oneShot{timeout: completeWithin, completes: true}, func(r *reading) error {
			for _, w := range words(r, args, begun) {
				if rest, is := strings.CutPrefix(w, begun); is && w != "" && typable(rest, strings.ContainsAny(begun, ` "`)) && len(out) < mostOffered {
					out = append(out, w)
				}
			}
			return nil
		})
		return out, directive
	}
}

// typable reports whether shells take a word as it is, or within single quotes, and a terminal too. A description follows a tab.
func typable(word string, quoted bool) bool {
	word, _, _ = strings.Cut(word, "\t")
	special := "'\"\\`$&|;<>(){}*?!~ "
	if quoted {
		special = "'\\"
	}
	return !strings.ContainsFunc(word, func(r rune) bool {
		return r < ' ' || backend.Unsafe(r) || strings.ContainsRune(special, r)
	})
}

// completeIDs offers the ids of these kinds, or of all and of the alerts.
func (p *Program) completeIDs(s *shared, kinds ...backend.Kind) completion {
	return p.offer(s, cobra.ShellCompDirectiveNoFileComp, func(r *reading, args []string, begun string) []string {
		var out []string
		for _, n := range r.live() {
			id := n.path[len(n.path)-1]
			if n.key.Kind == backend.KindSandbox && len(n.own) > 2 && !strings.HasPrefix(id, begun+" ") && (begun == "" || !strings.HasPrefix(id, begun)) {
				id = n.own[len(n.own)-2] // its name
			}
			if len(kinds) > 0 && !slices.Contains(kinds, n.key.Kind) || slices.Contains(args, id) {
				continue
			}
			about := string(n.key.Kind)
			if n.key.Kind != backend.KindSource {
				about += " on " + n.key.Source
			}
			out = append(out, id+"\t"+about)
		}
		for _, a := range r.board.Alerts {
			if at := slices.Index(out, a.ID+"\talert on "+a.Source); at >= 0 {
				out[at] = alertOffer(a)
			}
		}
		return out
	})
}

func alertOffer(a *alerts.Alert) string {
	return a.ID + "\t" + string(a.Severity) + " " + a.Rule + " on " + backend.Clean(a.Source, 80).String()
}

// completeRecords offers what the records of the journal hold.
func (p *Program) completeRecords(s *shared, of func(*audit.Record) []string) completion {
	return func(c *cobra.Command, args []string, begun string) (out []string, _ cobra.ShellCompDirective) {
		j, err := p.journal(*s, args)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		for r, err := range j.Records(c.Context(), audit.Filter{}) {
			if err != nil {
				continue
			}
			for _, word := range of(&r) {
				if strings.HasPrefix(word, begun) && typable(word, false) && len(out) < mostOffered {
					out = append(out, word)
				}
			}
		}
		return distinct(out), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeKindThenID offers the kinds that get prints, then the ids of the kind that is given.
func (p *Program) completeKindThenID(s *shared, kinds []string) completion {
	return func(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return kinds, cobra.ShellCompDirectiveNoFileComp
		}
		of := listingsOf(args[0])
		if len(args) > 1 || len(of) != 1 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return p.completeIDs(s, of[0].Of)(c, nil, begun)
	}
}

// completeAlerts offers the ids of the alerts.
func (p *Program) completeAlerts(s *shared) completion {
	return p.offer(s, cobra.ShellCompDirectiveNoFileComp, func(r *reading, args []string, _ string) (out []string) {
		for _, a := range r.board.Alerts {
			if len(args) == 0 && a.State != alerts.StateEnded {
				out = append(out, alertOffer(a))
			}
		}
		return out
	})
}

// completeSilences offers the ids of the silences in force.
func (p *Program) completeSilences(s *shared) completion {
	return p.offer(s, cobra.ShellCompDirectiveNoFileComp, func(r *reading, args []string, _ string) (out []string) {
		for _, x := range r.Alerts.Silences() {
			out = append(out, x.ID.String()+"\t"+backend.Clean(x.Matchers.String(), 80).String())
		}
		return out
	})
}

// completeMatchers offers labels, then the values that alerts have, for the last matcher: in quotes where they are begun.
func (p *Program) completeMatchers(s *shared) completion {
	return p.offer(s, cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace, func(r *reading, args []string, begun string) (out []string) {
		if len(args) > 0 {
			return nil
		}
		last := strings.LastIndexByte(begun, ',') + 1
		last += len(begun[last:]) - len(strings.TrimLeft(begun[last:], " "))
		stem := begun[:last]
		label, value, valued := strings.Cut(begun[last:], "=")
		if !valued {
			for _, l := range alerts.MatcherLabels() {
				out = append(out, stem+l+"=")
			}
			return out
		}
		label, end := strings.TrimSuffix(label, "!"), ""
		before := begun[:len(begun)-len(value)]
		if strings.HasPrefix(value, `"`) {
			before, end = before+`"`, `"`
		}
		for _, v := range r.labelValues(label) {
			v, about, described := strings.Cut(v, "\t")
			if v = before + v + end; described {
				v += "\t" + about
			}
			out = append(out, v)
		}
		return out
	})
}

// labelValues are the values of a label that alerts have here.
func (r *reading) labelValues(label string) (out []string) {
	switch label {
	case alerts.LabelRule:
		out, _ = ruleNames(nil, nil, "")
	case alerts.LabelSource:
		out = r.sources()
	case alerts.LabelSeverity:
		out = []string{string(alerts.SeverityInfo), string(alerts.SeverityWarning), string(alerts.SeverityCritical)}
	case alerts.LabelEnvironment:
		out = []string{r.Config.Environment}
	case alerts.LabelAlert:
		for _, a := range r.board.Alerts {
			out = append(out, alertOffer(a))
		}
	}
	return out
}

func prefixed(before string, words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = before + w
	}
	return out
}

// completeFields offers the fields of the kind that is named, for --sort-by.
func completeFields(_ *cobra.Command, args []string, begun string) (out []string, _ cobra.ShellCompDirective) {
	turned := ""
	if strings.HasPrefix(begun, "-") {
		turned = "-"
	}
	for _, l := range listingsOf(firstOf(args)) {
		out = append(out, prefixed(turned, fieldsOf(l))...)
	}
	return slices.Compact(slices.Sorted(slices.Values(out))), cobra.ShellCompDirectiveNoFileComp
}

// listingsOf are those of a kind that a command line names; of all where it names none.
func listingsOf(kind string) []subjects.Listing {
	kind, err := kindMeant(cmp.Or(kind, kindAll))
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(subjects.Listings(), func(l subjects.Listing) bool { return kind != kindAll && kind != l.Kind })
}

// completeFilter offers how the last term of a filter can go on: with a field, then with a value that the field has.
func (p *Program) completeFilter(s *shared, kindOf func(args []string) string) completion {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	values := p.offer(s, directive, func(r *reading, args []string, begun string) []string {
		stem, field, op := filterField(begun)
		ctx := views.NewSnapshot(r.now, r.state, r.board)
		count := map[string]int{}
		for _, l := range listingsOf(kindOf(args)) {
			at := slices.IndexFunc(l.Heads, func(h subjects.Head) bool { return h.Name == field })
			if at < 0 {
				continue
			}
			for rec := range l.Each(ctx) {
				if v := rec.Cell(at).Text.String(); v != "" && v != "–" && kit.Width(v) <= widestValue {
					count[v]++
				}
			}
		}
		return prefixed(stem+field+op, stable.Sorted(maps.Keys(count), func(a, b string) int { return cmp.Or(count[b]-count[a], strings.Compare(a, b)) }))
	})
	return func(c *cobra.Command, args []string, begun string) (out []string, _ cobra.ShellCompDirective) {
		stem, field, op := filterField(begun)
		if op != "" {
			return values(c, args, begun)
		}
		for _, l := range listingsOf(kindOf(args)) {
			for _, name := range fieldsOf(l) {
				if strings.HasPrefix(name, field) {
					out = append(out, stem+name+"=")
				}
			}
		}
		return slices.Compact(slices.Sorted(slices.Values(out))), directive
	}
}

// filterField parts a filter at its last term: what stands before it, its field, and its operator where it has one.
func filterField(text string) (stem, field, op string) {
	start := strings.LastIndexByte(text, ' ') + 1
	for start < len(text) && text[start] == '!' {
		start++
	}
	stem, term := text[:start], text[start:]
	at := strings.IndexAny(term, ":=!<>")
	if at < 0 {
		return stem, strings.ToLower(term), ""
	}
	end := at
	for end < len(term) && strings.IndexByte(":=!<>", term[end]) >= 0 {
		end++
	}
	return stem, strings.ToLower(term[:at]), term[at:end]
}
