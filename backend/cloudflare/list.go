package cloudflare

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"sandglass/backend"
)

const (
	endedEvery      = time.Minute
	allEvery        = 5 * time.Minute
	namespacesEvery = 5 * time.Minute
	appsPage        = 500  // the most that the platform gives
	instancesPage   = 1000 // likewise
	namespacesPage  = 1000
	maxPages        = 200 // of one list
	unreadShare     = 5   // a list of which one in so many instances cannot be read is not taken for whole
)

// The lists of an application. The platform's two filters leave out the states unhealthy, inactive and unknown, so all are
// listed now and then.
const (
	listActive = iota
	listEnded
	listAll
)

var filters = [3]string{"active", "not-active", ""}

// list is one filtered list of an application's instances and how far it is read.
type list struct {
	walk *walk
	next time.Time
	from time.Time // when its first page came, of the newest reading that came to an end; zero: none did
	size int       // pages of that reading
	done time.Time // when it was last read to its end, zero: never
	ids  map[backend.ID]bool
	said string // why its newest reading is not whole
	cut  bool   // it is not known to be at its end
	part []read // rows of a reading that broke off: they are as good as any
	err  *failure
}

// walk is one reading of a list in progress.
type walk struct {
	began time.Time // of the poll that began it
	first time.Time // when its first page came
	token string
	pages int
	seen  map[string]bool // tokens of pages
	had   map[string]bool // ids of rows
	rows  []read
	bad   int // rows that cannot be read
	ids   map[backend.ID]bool
	over  bool
}

// read is a row and when it was read.
type read struct {
	row
	at time.Time
}

func (l *list) due(now time.Time) bool { return l.walk != nil || !now.Before(l.next) }

// perPage is how long a list rests for each of its pages: one of many pages is read less often.
const perPage = 2 * time.Second

// after is when a list is due again that was read from a poll on and is of so many pages.
func (s *Source) after(began time.Time, which, pages int) time.Time {
	next := began.Add(sooner([3]time.Duration{s.opt.Inventory.Std(), endedEvery, allEvery}[which]))
	if rested := s.deps.Now().Add(spread(time.Duration(pages) * perPage)); pages > 1 && rested.After(next) {
		return rested
	}
	return next
}

// page adds one page of a list of rows to a walk, of which ids can be read. It reports whether the list is at its end, and why not whole.
func (w *walk) page(a *answer, rows int, ids []string) (end bool, why string) {
	w.pages++
	fresh := len(ids) == 0
	for _, id := range ids {
		fresh = fresh || !w.had[id]
	}
	if w.had == nil {
		w.had = map[string]bool{}
	}
	for _, id := range ids {
		w.had[id] = true
	}
	switch {
	case w.seen[a.next]:
		return true, "the platform gave the same page token twice; it is read again"
	case !fresh:
		return true, "the platform gave the same page twice; it is read again"
	case a.next == "":
		return true, ""
	case w.pages >= maxPages:
		return true, fmt.Sprintf("it has more than %d pages", maxPages)
	case rows == 0:
		return true, "an empty page names a next one; it is read again"
	}
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	w.seen[a.next] = true
	w.token = a.next
	return false, ""
}

// readInstances goes on with one list of an application until its end, an error, or the end of the slice.
func (s *Source) readInstances(ctx, slice context.Context, now time.Time, a *app, which int) {
	l := &a.lists[which]
	if l.walk == nil {
		l.walk = &walk{began: now}
	}
	for {
		if !s.budget.Wait(slice) {
			return
		}
		q := url.Values{"per_page": {strconv.Itoa(instancesPage)}}
		if filters[which] != "" {
			q.Set("state", filters[which])
		}
		if l.walk.token != "" {
			q.Set("page_token", l.walk.token)
		}
		got, f := s.get(ctx, "/instances-v2?"+filters[which], "/containers/applications/"+url.PathEscape(a.id.Raw())+"/instances-v2", q)
		if f == nil && got.result.Kind() != '[' {
			f = &failure{status: http.StatusOK, err: backend.Errorf(backend.ErrInvalid, got.where, "the answer holds no list result; is %s the account API?", s.opt.URL)}
		}
		if f != nil {
			l.part = append(l.part, l.walk.rows...)
			l.walk, l.err, a.unlisted = nil, f, f.is(http.StatusBadRequest)
			l.next = now.Add(sooner(s.opt.Inventory.Std()))
			if a.unlisted {
				l.next = s.deps.Now().Add(spread(allEvery))
			}
			return
		}
		if l.walk.first.IsZero() {
			l.walk.first = got.at
		}
		d, n, ids := s.decoder(), 0, []string(nil)
		l.walk.bad += len(got.bad)
		for x := range got.result.Elements() {
			n++
			if r, ok := d.instance(x); ok {
				l.walk.rows, ids = append(l.walk.rows, read{r, got.at}), append(ids, r.id.Raw())
			} else if x.Kind() != '0' { // a number stands for what is no valid JSON
				l.walk.bad++
			}
		}
		if end, why := l.walk.page(got, n, ids); end {
			l.err, a.unlisted = nil, false
			l.finish(s, which, why)
			return
		}
	}
}

// finish ends a walk whose rows are then taken.
func (l *list) finish(s *Source, which int, why string) {
	l.said, l.cut, l.walk.over = why, why != "", true
	if l.walk.bad > 0 {
		l.said = fmt.Sprintf("%s cannot be read; the others are shown", backend.Counted(l.walk.bad, "instance", "instances"))
		l.cut = l.cut || unreadShare*l.walk.bad >= len(l.walk.had)+l.walk.bad
	}
	l.from, l.size, l.next = l.walk.first, l.walk.pages, s.after(l.walk.began, which, l.walk.pages)
	if l.said == "" {
		l.done = s.deps.Now()
	}
}

func (s *Source) decoder() *decoder {
	return &decoder{source: s.deps.ID, clean: s.client.Cleaner(), offset: s.client.Offset()}
}
