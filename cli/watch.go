package cli

import (
	"bytes"
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"sandglass/app"
	"sandglass/backend"
	"sandglass/views"
	"sandglass/views/filter"
	"sandglass/views/kit"
	"sandglass/views/subjects"
	"sandglass/views/text"
)

// redraw bounds how often --watch prints.
const redraw = time.Second

// clearScreen puts the cursor at the top of an empty terminal.
const clearScreen = "\x1b[H\x1b[2J"

// watchRows prints the rows now and as they change, until ctx ends.
func (p *Program) watchRows(ctx context.Context, s shared, g getting, listings []subjects.Listing, filters []filter.Filter) error {
	if g.format.word == "csv" || g.format.word == formatJSON || g.format.word == formatYAML {
		return usage("--watch prints rows one after the other: use -o table, wide or jsonl")
	}
	return p.reading(ctx, s, g.oneShot, func(r *reading) error {
		w := &rowWatch{p: p, seen: map[backend.Key]string{}, format: g.format, listings: listings, filters: filters}
		if err := w.print(r); err != nil {
			return err
		}
		stop := r.Start(ctx, false)
		defer stop()
		changed, unsubscribe := r.Alerts.Subscribe()
		defer unsubscribe()
		pause := time.NewTicker(redraw)
		defer pause.Stop()
		reread := time.NewTicker(app.RereadEvery)
		defer reread.Stop()
		reload := r.Rereads()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-changed:
			case <-reread.C:
				if reload == nil || !w.reloaded(r, reload()) {
					continue
				}
			}
			if err := w.print(r.again()); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return nil
			case <-pause.C:
			}
		}
	})
}

// again is what is known now.
func (r *reading) again() *reading {
	next := *r
	next.state, next.board = r.Alerts.Latest()
	next.events, next.now = r.Events(), r.clock()
	return &next
}

// reloaded tells what became of another configuration, and reports whether there is something to tell.
func (w *rowWatch) reloaded(r *reading, is *app.Reread) bool {
	switch {
	case is == nil:
		return false
	case !is.Refused:
		r.local = is.Runbook
	}
	if w.said = is.Said; !w.redraws() {
		w.p.notice("%s", w.said)
	}
	return true
}

// redraws reports whether the table is drawn again in its place.
func (w *rowWatch) redraws() bool {
	return w.p.Output.Terminal && w.p.movesCursor() && w.format.word != "jsonl"
}

// rowWatch prints tables on a terminal, and elsewhere the rows that changed.
type rowWatch struct {
	p        *Program
	seen     map[backend.Key]string // the row as it was printed last, without when it was read
	format   *oneWord
	listings []subjects.Listing
	filters  []filter.Filter
	said     string // of the configuration, when it was read last
}

// movesCursor reports whether the terminal can be cleared.
func (p *Program) movesCursor() bool {
	kind := p.Getenv("TERM")
	return kind != "" && kind != "dumb"
}

func (w *rowWatch) print(r *reading) error {
	ctx := views.NewSnapshot(r.now, r.board.Shown(r.state), r.board)
	ctx.Events = slices.Clone(r.events)
	slices.Reverse(ctx.Events)
	if w.redraws() {
		var b bytes.Buffer
		screen := *w.p
		screen.Stdout, screen.Output = &b, w.p.Output.now()
		if err := screen.getTables(ctx, w.format.word == "wide", w.listings, w.filters); err != nil {
			return unwritten(err)
		}
		head := ""
		if w.said != "" {
			head = strings.Join(kit.Wrap(w.p.clean(w.said), cmp.Or(screen.Output.Width, unknownWidth)), "\n") + "\n"
		}
		return unwrittenIf(w.p.write(clearScreen + head + topOf(b.String(), screen.Output.Height-strings.Count(head, "\n"))))
	}
	first := len(w.seen) == 0
	for i, l := range w.listings {
		changed := map[backend.Key]bool{}
		for rec := range l.Each(ctx) {
			row, err := rec.JSON()
			if err != nil {
				return err
			}
			k, now := rec.Key(), string(volatile.ReplaceAll(row, nil))
			if w.seen[k] == now || !w.filters[i].Match(rec) {
				continue
			}
			w.seen[k], changed[k] = now, true
			if w.format.word == "jsonl" {
				if err := w.p.write(string(row) + "\n"); err != nil {
					return unwritten(err)
				}
			}
		}
		if w.format.word == "jsonl" || len(changed) == 0 && !first {
			continue
		}
		o := text.TableOptions{Wide: w.format.word == "wide", Only: func(k backend.Key) bool { return changed[k] }, Headless: !first}
		if err := text.WriteTable(w.p.Stdout, l, ctx, w.filters[i], o); err != nil {
			return unwritten(err)
		}
	}
	return nil
}

// topOf is what fits on a screen of that height, which then says how much is below it. A screen shows the end of longer text.
func topOf(s string, height int) string {
	lines := strings.SplitAfter(s, "\n")
	if len(lines) <= height || height < minWatched { // the last one is empty: the cursor stands there
		return s
	}
	room := height - 1
	return strings.Join(lines[:room], "") + plural(len(lines)-1-room, "more line") + " below; --filter or a taller window shows them"
}

// unknownWidth is taken for the width of a terminal that does not tell it.
const unknownWidth = 80

// minWatched is the height below which a terminal shows no table: 0 says that it is not known.
const minWatched = 4

// volatile are the fields that change with each reading although the subject did not.
var volatile = regexp.MustCompile(`"(?:read_at|first_seen|confirmed|at|last_ok_at|last_try_at|next_poll_at|age_seconds|p50_seconds|p95_seconds|requests_per_minute|bytes_per_minute|rev)":(?:"[^"]*"|[0-9.e+-]+|null),?`)
