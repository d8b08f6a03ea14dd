package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sandglass/actions/audit"
	"sandglass/backend"
	"sandglass/views/text"
)

// anchorsFrom are the flags that say where heads were kept.
type anchorsFrom struct {
	heads []string
	file  string
	need  bool
}

// noAnchors is the value of --anchors that looks nowhere.
const noAnchors = "none"

func (p *Program) auditVerifyCommand(s *shared) *cobra.Command {
	var from anchorsFrom
	var format *oneWord
	cmd := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Find every line of the journal that was changed, removed, inserted, doubled or moved",
		Long: `Check the audit journal in the state directory, or FILE, from its first line to its
last, and name each line that is not what was written, with the cause.

The journal alone cannot show that its tail was cut off, or that it was replaced as
a whole. Its head goes to the system's log after each action, and is found there
with journalctl. --anchors FILE searches the lines of a file,
- for the standard input, such as a syslog or the output of
  journalctl -t sandglass -o cat
--anchor takes a head that was noted by hand. Without any the journal is called
unanchored.

Exit codes: 0 intact, 1 not what was written, 2 intact but unanchored, with
--require-anchor, 3 it cannot be read.`,
		Args: oneFile,
		RunE: func(c *cobra.Command, args []string) error {
			j, err := p.journal(*s, args)
			if err != nil {
				return err
			}
			anchors, why, err := p.anchors(c, from)
			if err != nil {
				return err
			}
			r, err := j.Verify(c.Context(), anchors...)
			if err != nil {
				return unread(err)
			}
			err = print(p, format, verdictOf(j, &r, why), func(verdict) error { return p.writeVerdict(j, &r, why) })
			switch {
			case err != nil:
				return err
			case !r.Intact():
				return exit(ExitChanged)
			case from.need && r.Anchored == 0:
				return exit(ExitUnanchored)
			}
			return nil
		},
	}
	cmd.Flags().StringArrayVar(&from.heads, "anchor", nil, "a `HEAD` that was noted: NUMBER:HASH or HASH, as verify prints it")
	cmd.Flags().StringVar(&from.file, "anchors", "", "look for heads in the lines of this `FILE`; - is the standard input, none looks nowhere; default: ask journalctl")
	cmd.Flags().BoolVar(&from.need, "require-anchor", false, "exit with 2 if no external anchor confirms the last record")
	format = p.output(cmd)
	return cmd
}

// anchors collects heads that were kept elsewhere; why says why there are none.
func (p *Program) anchors(c *cobra.Command, from anchorsFrom) (all []audit.Anchor, why string, err error) {
	for _, h := range from.heads {
		a, err := audit.ParseAnchor(h)
		if err != nil {
			return nil, "", usage("--anchor: %v", err)
		}
		all = append(all, a)
	}
	var more []audit.Anchor
	switch {
	case from.file == noAnchors, from.file == "" && len(all) > 0:
		return all, "it was not asked for", nil
	case from.file == "":
		more, why = p.askJournalctl(c.Context())
		return append(all, more...), why, nil
	case from.file == "-":
		more, err = audit.ReadAnchors(c.InOrStdin())
	default:
		var f *os.File
		if f, err = os.Open(from.file); err == nil {
			more, err = audit.ReadAnchors(f)
			_ = f.Close() // it was only read
		}
	}
	if err != nil {
		return nil, "", &failure{code: ExitUnread, what: "the anchors cannot be read: " + err.Error()}
	}
	return append(all, more...), "no head of this journal is in " + from.file, nil
}

// journalctlPatience bounds how long the system's log is searched.
const journalctlPatience = 20 * time.Second

// askJournalctl finds the heads that the system's log took.
func (p *Program) askJournalctl(ctx context.Context) (all []audit.Anchor, why string) {
	ctx, cancel := context.WithTimeout(ctx, journalctlPatience)
	defer cancel()
	cmd := p.Command(ctx, []string{"journalctl", "--identifier", audit.Identifier, "--output", "cat", "--no-pager", "--quiet"})
	var said bytes.Buffer
	cmd.Stderr = &limited{w: &said, left: 2000}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, "journald cannot be asked (" + err.Error() + "): give --anchors with a file of the system's log, or --anchor with a head that was noted"
	}
	all, err = audit.ReadAnchors(out)
	if ended := cmd.Wait(); err == nil {
		err = ended
	}
	if err != nil && len(all) == 0 {
		return nil, strings.TrimSpace("journalctl found nothing: " + err.Error() + " " + said.String())
	}
	return all, "no head of this journal is in the system's log, as far as this account may read it"
}

// limited takes the beginning of a text.
type limited struct {
	w    io.Writer
	left int
}

// Write never fails.
func (l *limited) Write(b []byte) (int, error) {
	n := min(len(b), l.left)
	l.left -= n
	_, _ = l.w.Write(b[:n]) // a buffer
	return len(b), nil
}

// verdict is what `audit verify -o json` prints.
type verdict struct {
	Schema   int            `json:"schema"`
	Journal  string         `json:"journal"`
	Intact   bool           `json:"intact"`
	Lines    int            `json:"lines"`
	Records  int            `json:"records"`
	First    text.Time      `json:"first"`
	Last     text.Time      `json:"last"`
	HeadSeq  uint64         `json:"head_seq"`
	HeadHash string         `json:"head_hash"`
	Anchored uint64         `json:"anchored"`             // 0: unanchored
	Why      string         `json:"unanchored,omitempty"` // why, when it is
	Foreign  int            `json:"anchors_of_other_journals"`
	Problems []auditProblem `json:"problems"`
	More     int            `json:"more_problems"`
	Torn     int            `json:"torn_line"`    // 0: none
	Sealed   []int          `json:"sealed_lines"` // a crash left them, and the record behind each vouches for it
}

type auditProblem struct {
	Line int               `json:"line"`
	Kind audit.ProblemKind `json:"kind"`
	What string            `json:"what"`
}

func verdictOf(j *audit.Journal, r *audit.Report, why string) verdict {
	v := verdict{Schema: audit.Schema, Journal: backend.Clean(j.Path(), 1000).String(), Intact: r.Intact(), Lines: r.Lines, Records: r.Records,
		First: text.Time{Time: r.First}, Last: text.Time{Time: r.Last}, HeadSeq: r.Head.Seq, HeadHash: r.Head.Hash, Anchored: r.Anchored,
		Foreign: r.Foreign, More: r.More, Torn: r.Torn, Problems: []auditProblem{}, Sealed: append([]int{}, r.Sealed...)}
	if r.Anchored == 0 {
		v.Why = backend.Clean(why, 1000).String()
	}
	for _, x := range r.Problems {
		v.Problems = append(v.Problems, auditProblem(x))
	}
	return v
}

func (p *Program) writeVerdict(j *audit.Journal, r *audit.Report, why string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "journal   %s\n", p.clean(j.Path()))
	switch {
	case r.Lines == 0:
		b.WriteString("records   none\n")
	case r.Records == 0:
		fmt.Fprintf(&b, "records   none in %s\n", plural(r.Lines, "line"))
	default:
		fmt.Fprintf(&b, "records   %d, from %s to %s\nhead      %d:%s\n", r.Records, moments(r.First), moments(r.Last), r.Head.Seq, r.Head.Hash)
	}
	if r.Intact() {
		b.WriteString("chain     intact\n")
	} else {
		fmt.Fprintf(&b, "chain     BROKEN: this is not what was written\n")
	}
	switch {
	case r.Anchored > 0 && r.Anchored == r.Head.Seq:
		b.WriteString("anchored  up to its end\n")
	case r.Anchored > 0:
		fmt.Fprintf(&b, "anchored  up to record %d; records after %d could be missing at the end\n", r.Anchored, r.Head.Seq)
	case r.Lines > 0 || !r.Intact():
		fmt.Fprintf(&b, "anchored  not: unanchored, a tail that was cut off would not show; %s\n", p.clean(why))
	}
	if r.Foreign > 0 {
		fmt.Fprintf(&b, "          %s of other journals left aside\n", plural(r.Foreign, "anchor"))
	}
	for _, line := range r.Sealed {
		fmt.Fprintf(&b, "line %d: the beginning of a record; a crash or a full disk left it; the record after it confirms that\n", line)
	}
	if r.Torn > 0 {
		fmt.Fprintf(&b, "line %d: the beginning of a record; a crash or a full disk left it, or the file was truncated there\n", r.Torn)
	}
	for _, x := range r.Problems {
		fmt.Fprintf(&b, "line %d: %s: %s\n", x.Line, x.Kind, x.What)
	}
	if r.More > 0 {
		fmt.Fprintf(&b, "and %s more\n", plural(r.More, "problem"))
	}
	if !r.Intact() {
		b.WriteString("next: keep a copy of the file as it is, and compare it with a backup and with the system's log\n")
	}
	_, err := io.WriteString(p.Stdout, b.String())
	return err
}
