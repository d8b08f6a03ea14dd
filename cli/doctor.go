package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/examine"
	"sandglass/config"
	"sandglass/views/kit"
)

// doctorCommand examines the read routes of a source.
func (p *Program) doctorCommand(s *shared) *cobra.Command {
	var out string
	var format *oneWord
	timeout := 55 * time.Second
	cmd := &cobra.Command{
		Use:   "doctor SOURCE",
		Short: "Try every read route of a source: answers, fields, states, latency, permissions",
		Long: `Try every read route of a source as the adapter asks it, up to three times, and
tell what each answers: fields that Sandglass knows and does not know, states,
versions, latency and permissions. It changes nothing.

--out writes a sample that can be sent to others: one answer of each route, in
which every text but times and single state words is masked.

Exit codes: 0 everything that was asked is read and understood, 1 a route, a
state or an answer is not, 2 nothing of use can be read, 3 the source does not
answer, 64 wrong flag, 78 wrong configuration.`,
		Args: oneArg("doctor needs the id of one source; sandglass get sources lists them"),
		RunE: func(c *cobra.Command, args []string) error {
			if timeout <= 0 {
				return usage("--timeout must be longer than 0s")
			}
			if err := newFile("--out", out); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), timeout)
			defer cancel()
			return p.doctor(ctx, *s, args[0], out, format)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write a redacted sample to the new `FILE`, which only you can read")
	cmd.Flags().Var((*lasting)(&timeout), "timeout", "give up on a source that has not answered after this long")
	format = p.output(cmd)
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		c, err := p.load(*s)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return sourceIDs(c), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

func (p *Program) doctor(ctx context.Context, s shared, source, out string, format *oneWord) error {
	c, err := p.load(s)
	if err != nil {
		return err
	}
	if c.Source(source) == nil {
		return usage("there is no source %q%s", source, didYouMean(source, sourceIDs(c)))
	}
	if unset := c.Unset(p.Getenv); len(unset) > 0 {
		return unset
	}
	r, err := p.Examine(ctx, c, source)
	var wrong config.Errors
	switch {
	case errors.As(err, &wrong):
		return wrong
	case err != nil:
		return &failure{code: alerts.ExitUnknown, what: err.Error()}
	}
	if out != "" {
		if err := writeSample(out, r); err != nil {
			return &failure{code: alerts.ExitUnknown, what: "the sample was not written: " + err.Error(), next: "name a file that does not exist yet with --out"}
		}
		p.notice("wrote %s (only you can read it); masked: %s", out, strings.Join(examine.Masked(), "; "))
	}
	if err := print(p, format, r, p.doctorText); err != nil {
		return err
	}
	if r.ExitCode != 0 {
		return exit(r.ExitCode)
	}
	return nil
}

// writeSample writes a new file of mode 0600.
func writeSample(path string, r *examine.Report) error {
	var b bytes.Buffer
	if err := r.WriteSample(&b); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already", path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	return errors.Join(err, f.Close())
}

// doctorText prints a report for people.
func (p *Program) doctorText(r *examine.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (%s), read %s\n\n", doctorVerdict(r), r.Source, r.Kind, backend.Counted(r.Tries, "time", "times"))
	rows := [][]string{{"READ", "ASKED", "ANSWERS", "MIN", "MEDIAN", "MAX", "ROUTE"}}
	for i := range r.Routes {
		rows = append(rows, routeRow(&r.Routes[i]))
	}
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			width[i] = max(width[i], kit.Width(c))
		}
	}
	for i, row := range rows {
		line := ""
		for j, c := range row {
			line += c + strings.Repeat(" ", width[j]-kit.Width(c)+2)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		if i > 0 {
			routeRemarks(&b, &r.Routes[i-1])
		}
	}
	section(&b, "Versions", r.Versions)
	var states []backend.Safe
	for _, s := range r.States {
		text := backend.Textf("%s %s: %d", backend.Clean(string(s.Of), 40), s.Reported, s.Count)
		if !s.Known {
			text = backend.Textf("%s, a word whose meaning is not known", text)
		}
		states = append(states, text)
	}
	section(&b, "States", states)
	section(&b, "Not delivered", r.Missing)
	section(&b, "Problems", r.Problems)
	section(&b, "Notes", r.Notes)
	return p.write(b.String())
}

func doctorVerdict(r *examine.Report) string {
	return map[int]string{0: "OK: everything that was asked is read", 1: "WARNING: something is not read or not understood",
		2: "CRITICAL: nothing of use can be read", 3: "UNKNOWN: the source does not answer"}[r.ExitCode]
}

func routeRow(r *examine.Route) []string {
	row := []string{string(r.May), fmt.Sprint(r.Asked), "–", "–", "–", "–", fmt.Sprintf("%s %s", r.Method, r.Target)}
	if r.Asked == 0 {
		row[0] = "–"
	}
	var answers []string
	for _, status := range slices.Sorted(maps.Keys(r.Answers)) {
		word := fmt.Sprint(status)
		if status == 0 {
			word = "none"
		}
		answers = append(answers, fmt.Sprintf("%d× %s", r.Answers[status], word))
	}
	if len(answers) > 0 {
		row[2] = strings.Join(answers, ", ")
	}
	if l := r.Latency; l != nil {
		for i, s := range []float64{l.Min, l.Median, l.Max} {
			row[3+i] = kit.Latency(time.Duration(s * float64(time.Second)))
		}
	}
	return row
}

// shownFields is how many unknown fields the text form lists of one route.
const shownFields = 20

func routeRemarks(b *strings.Builder, r *examine.Route) {
	if !r.Problem.IsEmpty() {
		fmt.Fprintf(b, "    %s\n", r.Problem)
	}
	if n := len(r.Known); n > 0 {
		fmt.Fprintf(b, "    %s known\n", backend.Counted(n, "field is", "fields are"))
	}
	if n := len(r.Unknown); n > 0 {
		fmt.Fprintf(b, "    unknown: %s", backend.Join(r.Unknown[:min(n, shownFields)], ", "))
		if n > shownFields {
			fmt.Fprintf(b, " and %d more; -o json lists all", n-shownFields)
		}
		b.WriteString("\n")
	}
}

func section(b *strings.Builder, title string, lines []backend.Safe) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, l := range lines {
		fmt.Fprintf(b, "  %s\n", l)
	}
}
