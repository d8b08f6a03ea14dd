package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"sandglass/alerts"
	"sandglass/backend"
	"sandglass/backend/logstream"
	"sandglass/views/logview"
)

// reading of logs, as its flags say.
type logFlags struct {
	follow bool
	since  time.Duration
	tail   int
	grep   string
}

const (
	usualTail = 1000
	maxTail   = 1_000_000
)

func (p *Program) logsCommand(s *shared) *cobra.Command {
	var o oneShot
	var f finding
	l := logFlags{tail: usualTail}
	cmd := &cobra.Command{
		Use:   "logs ID",
		Short: "Print the logs of a sandbox, session, workspace, alert or source",
		Long: paragraph("Print the lines that the console shows with l: a sandbox's own log, those of the sandboxes of a session, workspace or alert, and the "+
			"lines of the configured logs that name one. Each line has its time (UTC), and its log where there are several. Secrets are masked, what acts "+
			"on a terminal is harmless.") + `

Exit codes: 0 printed; 3 a log could not be read, or a source is down; 64 no id or
several ids match, or a flag is wrong.`,
		Args:              oneArg("logs needs one id, as check and get print it"),
		ValidArgsFunction: p.completeIDs(s),
		RunE: func(c *cobra.Command, args []string) error {
			filter, err := logview.NewFilter(l.grep)
			switch {
			case err != nil:
				return usage("--grep: %v", err)
			case l.tail < 0 || l.tail > maxTail:
				return usage("--tail must be from 0 to %d", maxTail)
			case l.since < 0:
				return usage("--since must not be below 0s")
			}
			o.asked = args[0]
			return p.reading(c.Context(), *s, o, func(r *reading) error {
				key, err := r.find(args[0], f)
				if err != nil {
					return err
				}
				return p.logs(c.Context(), r, key, l, filter)
			})
		},
	}
	cmd.Flags().BoolVarP(&l.follow, "follow", "f", false, "go on with new lines until interrupted")
	cmd.Flags().DurationVar(&l.since, "since", 0, "only lines of this long ago and since, for example 10m")
	cmd.Flags().IntVar(&l.tail, "tail", l.tail, "at most so many of the newest lines of each log")
	cmd.Flags().StringVar(&l.grep, "grep", "", "only lines with these `WORDS`; !WORD: without it; ~ and a regular expression, up to the next ~ or !; lower case finds both cases")
	f.flags(p, cmd, s)
	o.flags(cmd)
	return cmd
}

func (p *Program) logs(ctx context.Context, r *reading, key backend.Key, l logFlags, filter *logview.Filter) error {
	set := r.LogsOf(key)
	out := &logPrinter{p: p, set: set, filter: filter}
	for _, why := range set.Lacking {
		p.notice("%s", why)
		out.failed = true
	}
	ctx, out.stop = context.WithCancel(ctx)
	defer out.stop()
	q := backend.LogQuery{Tail: l.tail, Follow: l.follow}
	if l.since > 0 {
		q.Since = p.Now().Add(-l.since)
	}
	r.FollowLogs(ctx, set.Logs, q, out)
	switch {
	case out.err != nil:
		return unwritten(out.err)
	case out.failed:
		return exit(alerts.ExitUnknown)
	}
	return p.incomplete(r.state)
}

// logPrinter prints lines as they come, from several goroutines.
type logPrinter struct {
	p      *Program
	set    backend.LogSet
	filter *logview.Filter
	stop   context.CancelFunc

	mu     sync.Mutex
	failed bool  // a log was not read
	err    error // of the output
}

// Line prints a line that the filter chooses, as it is drawn.
func (o *logPrinter) Line(log int, l backend.LogLine) {
	text := logview.Text(o.p.Cleaner, string(l.Text), l.Cut, backend.MaxLogLine).String()
	if o.filter != nil && !o.filter.Matches([]byte(text)) {
		return
	}
	var b strings.Builder
	if !l.At.IsZero() {
		b.WriteString(l.At.UTC().Format("2006-01-02T15:04:05.000Z "))
	}
	if len(o.set.Logs) > 1 {
		fmt.Fprintf(&b, "[%s] ", o.set.Logs[log].Name)
	}
	b.WriteString(text + "\n")
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return
	}
	if _, o.err = io.WriteString(o.p.Stdout, b.String()); o.err != nil {
		o.stop() // whoever read it has gone
	}
}

// State says why a log is not read.
func (o *logPrinter) State(log int, s logstream.State) {
	if s.Err == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = true
	next := ""
	if s.Again > 0 {
		next = fmt.Sprintf("; it is opened again in %s", s.Again.Round(time.Second))
	}
	o.p.notice("%s: %v%s", o.set.Logs[log].Name, s.Err, next)
}
