package cloudflare

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

const (
	needAnalytics   = "Account Analytics Read"
	analyticsEvery  = time.Minute
	analyticsAgain  = 5 * time.Minute // after an answer that is of no use
	analyticsDenied = 10 * time.Minute
	analyticsSpan   = 20 * time.Minute // that is asked for: how far analytics lags is not documented
	analyticsStep   = 5 * time.Minute  // of the dimension datetimeFiveMinutes
	analyticsRows   = 10000            // the most that one answer holds
	leastMemory     = 1 << 20          // below it a figure is no number of bytes
)

// containerMetrics asks what the programs in each container used. The unit of memory is not documented; sums of it are
// byte-seconds, so what could be bytes is taken for bytes.
const containerMetrics wire.Query = `query Containers($account: string!, $since: Time!, $until: Time!, $most: uint64!) {
  viewer {
    accounts(filter: {accountTag: $account}) {
      containersMetricsAdaptiveGroups(limit: $most, filter: {datetime_geq: $since, datetime_leq: $until}) {
        dimensions { applicationId instanceId placementId datetimeFiveMinutes }
        max { memory }
        sum { cpuTimeSec txBytes }
      }
    }
  }
}`

// analytics is what the account's analytics told last. Its limit of requests is another one than that of the account API, so
// its client tells the budget nothing.
type analytics struct {
	client *wire.Client
	next   time.Time
	at     time.Time // of the newest answer; zero: there was none
	said   string    // why the newest request was of no use, or is not whole
	denied bool      // … since the token has no permission for it
	rows   map[string][]figures
}

// figures are what one container used in one step.
type figures struct {
	from      time.Time // by the platform's clock
	mem, sent backend.Value[int64]
	cpu       backend.Value[float64] // seconds
}

func newAnalytics(o *Options, deps backend.Deps) (*analytics, error) {
	c, err := wire.New(wire.Config{Origins: []string{o.URL}, Credential: o.Read, MaxBody: 16_000_000}, deps)
	if err != nil {
		return nil, err
	}
	return &analytics{client: c, rows: map[string][]figures{}}, nil
}

// read asks if it is due. What was told before stays, with its age.
func (a *analytics) read(ctx context.Context, s *Source, now time.Time) {
	if a == nil || now.Before(a.next) {
		return
	}
	a.next, a.denied = now.Add(spread(analyticsEvery)), false
	theirs := now.Add(s.client.Offset().Or(0)).UTC()
	resp, err := a.client.ReadGraphQL(ctx, containerMetrics, map[string]any{"account": s.opt.AccountID, "most": analyticsRows,
		"since": theirs.Add(-analyticsSpan).Truncate(analyticsStep).Format(time.RFC3339), "until": theirs.Format(time.RFC3339)})
	if err != nil {
		a.refused(s, err, now)
		return
	}
	rows, n, what, denied := a.decode(resp)
	switch {
	case denied:
		a.said, a.next, a.denied = what+a.permission(s), now.Add(spread(analyticsDenied)), true
	case what != "":
		a.said, a.next = what, now.Add(spread(analyticsAgain))
	default:
		a.rows, a.at, a.said = rows, now, ""
		if n >= analyticsRows {
			a.said = fmt.Sprintf("an answer holds at most %d figures, so some are missing", analyticsRows)
		}
	}
}

func (s *Source) analyticsRoute() backend.Route {
	return backend.Route{Verb: "POST", Target: strings.TrimRight(s.opt.URL, "/") + "/graphql",
		Why: "CPU, memory and traffic of instances (analytics), every " + backend.Age(analyticsEvery) + "; a query, which changes nothing"}
}

func (a *analytics) permission(s *Source) string {
	return "; give the token (" + s.opt.Read.Origin() + ") the permission " + needAnalytics + ", or set analytics = false"
}

// refused takes over a request that was of no use.
func (a *analytics) refused(s *Source, err error, now time.Time) {
	f := s.failed(err)
	a.said, a.next = f.err.Error(), now.Add(spread(max(analyticsAgain, f.retryAfter)))
	var e *backend.Error
	if errors.As(f.err, &e) {
		a.said = e.Err.Error()
	}
	if f.refused() {
		a.said, a.next, a.denied = a.said+a.permission(s), now.Add(spread(analyticsDenied)), true
	}
}

// decode reads an answer. A GraphQL endpoint refuses with status 200, too.
func (a *analytics) decode(resp *wire.Response) (rows map[string][]figures, n int, what string, denied bool) {
	if resp.Status == http.StatusNotFound {
		return nil, 0, "the account API has no route for it", false
	}
	doc, err := wire.Parse(resp.Body)
	if err != nil {
		return nil, 0, "the answer cannot be read: " + err.Error(), false
	}
	words, denied := backend.GraphQLErrors(resp.Body)
	groups, found := doc.Find("/data/viewer/accounts/0/containersMetricsAdaptiveGroups")
	if !found || groups.Kind() != '[' {
		if len(words) == 0 {
			return nil, 0, "the answer holds no figures of containers", denied
		}
		return nil, 0, "answered: " + strings.Join(words, "; "), denied
	}
	rows = map[string][]figures{}
	for x := range groups.Elements() {
		n++
		d := x.Get("dimensions")
		application, _ := d.Get("applicationId").Text()
		step, _ := d.Get("datetimeFiveMinutes").Text()
		from, err := time.Parse(time.RFC3339, step)
		if err != nil {
			continue
		}
		f := figures{from: from, mem: amount(x.Get("max").Get("memory")), sent: amount(x.Get("sum").Get("txBytes")), cpu: seconds(x.Get("sum").Get("cpuTimeSec"))}
		if m, known := f.mem.Get(); known && m < leastMemory {
			f.mem = backend.Unknown[int64]()
		}
		// Whether an instance has the same id here as in the lists is not documented: it is known under both of its ids.
		for _, dimension := range []string{"instanceId", "placementId"} {
			if instance, _ := d.Get(dimension).Text(); instance != "" {
				key := seriesOf(application, instance)
				rows[key] = append(rows[key], f)
			}
		}
	}
	return rows, n, "", false
}

// plus is what two placements of one instance used in one step: the most memory that one of them used, and the work of both.
func (f figures) plus(o figures) figures {
	f.mem = together(f.mem, o.mem, func(a, b int64) int64 { return max(a, b) })
	f.sent = together(f.sent, o.sent, func(a, b int64) int64 { return a + b })
	f.cpu = together(f.cpu, o.cpu, func(a, b float64) float64 { return a + b })
	return f
}

// together is one value of two, or the one that is known.
func together[T int64 | float64](a, b backend.Value[T], both func(a, b T) T) backend.Value[T] {
	x, first := a.Get()
	y, second := b.Get()
	switch {
	case first && second:
		return backend.Known(both(x, y))
	case second:
		return b
	}
	return a
}

func seriesOf(application, instance string) string {
	return sameID(application) + "/" + sameID(instance)
}

func amount(n wire.Node) backend.Value[int64] {
	if f, ok := n.Float(); ok && f >= 0 && f < 1e18 {
		return backend.Known(int64(f))
	}
	return backend.Unknown[int64]()
}

func seconds(n wire.Node) backend.Value[float64] {
	if f, ok := n.Float(); ok && f >= 0 && f < 1e9 {
		return backend.Known(f)
	}
	return backend.Unknown[float64]()
}

// of is what an instance used in the newest step that tells of its present container, by our clock.
func (a *analytics) of(s *Source, b *box) backend.Value[backend.Usage] {
	if a == nil {
		return backend.NotApplicable[backend.Usage]()
	}
	offset := s.client.Offset().Or(0)
	var out figures
	for _, name := range []string{b.id.Raw(), b.name} {
		if name == "" {
			continue
		}
		var newest figures // under this name: a row may be known under both
		for _, f := range a.rows[seriesOf(b.app.id.Raw(), name)] {
			ended := f.from.Add(analyticsStep)
			whole := !ended.After(a.at.Add(offset)) // a step that goes on counts too little
			mine := !f.from.Before(b.started)       // one that began earlier tells of a former container, too
			if b.entity.Class.Ended() && !b.at.IsZero() {
				whole, mine = f.from.Before(b.at.Add(offset)), mine || b.started.Before(ended)
			}
			switch {
			case !whole || !mine || f.from.Before(newest.from):
			case f.from.Equal(newest.from): // a step has a row for each placement
				newest = newest.plus(f)
			default:
				newest = f
			}
		}
		if newest.from.After(out.from) {
			out = newest
		}
	}
	newest := out
	if newest.from.IsZero() {
		return backend.Unknown[backend.Usage]()
	}
	u := backend.Usage{At: newest.from.Add(analyticsStep - offset), Over: analyticsStep, Mem: newest.mem, MemLimit: b.entity.MemLimit, CPULimit: b.vcpu, Sent: newest.sent}
	if b.entity.Class.Ended() && !b.at.IsZero() && u.At.After(b.at) {
		u.At = b.at
	}
	if used, known := u.Mem.Get(); known && used > 2*u.MemLimit.Or(used) { // these are no bytes
		u.Mem = backend.Unknown[int64]()
	}
	if cpu, known := newest.cpu.Get(); known && !b.entity.Class.Ended() {
		u.CPU = backend.Known(cpu / analyticsStep.Seconds())
	}
	return backend.Known(u)
}

// analyticsWords says what analytics does not tell, and what it tells of instances that no list names.
func (p *poll) analyticsWords() {
	s, a := p.s, p.s.analytics
	if a == nil {
		return
	}
	p.r.Load = p.r.Load.Plus(a.client.TakeLoad())
	switch {
	case a.denied:
		p.problem(backend.Key{}, backend.ErrUnauthorised, s.analyticsRoute().Target, "CPU, memory and traffic of sandboxes (analytics): "+a.said)
	case a.said != "":
		p.note("CPU, memory and traffic of sandboxes (analytics): %s", p.clean(a.said, 300))
	}
	if a.at.IsZero() {
		return
	}
	listed := map[string]bool{}
	for _, b := range s.boxes {
		for _, name := range []string{b.id.Raw(), b.name} {
			listed[seriesOf(b.app.id.Raw(), name)] = true
		}
	}
	for _, key := range s.listed {
		app := s.apps[key]
		named, strange := false, 0
		var memory int64
		for series, all := range a.rows {
			of, _, _ := strings.Cut(series, "/")
			switch {
			case of != key:
			case listed[series]:
				named = true
			default:
				strange++
				for _, f := range all {
					memory = max(memory, f.mem.Or(0))
				}
			}
		}
		if !named && strange > 0 && memory > 0 {
			p.note("analytics names instances of the application %s in another way than its list; the most memory that one of them used in the last %s: %s",
				app.name, backend.Age(analyticsSpan), backend.Bytes(memory))
		}
	}
}
