package wire

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"sandglass/backend"
)

const (
	budgetFloor   = 64               // the budget is never cut below 1/64 of what is configured
	halveEvery    = 10 * time.Second // answers to requests in flight together count as one complaint
	restoreAfter  = 30 * time.Second // quiet time before a cut budget grows, and between steps
	restoreFactor = 1.25
	p95Window     = 40                    // latencies per judgement
	p95Noise      = 50 * time.Millisecond // a p95 below this is never a complaint, whatever it was before
)

// Budget bounds how many requests per second a source may send: a token bucket that holds one second's worth. It is
// halved when the server complains (429, 503) or when its 95th percentile of latency doubles, and grows back by a
// quarter every 30 quiet seconds. It is safe for concurrent use.
type Budget struct {
	now func() time.Time

	mu        sync.Mutex
	limiter   *rate.Limiter
	hold      float64 // seconds of requests that are kept while they are not used
	base      float64
	current   float64
	changed   time.Time // last cut or growth
	why       backend.Safe
	until     time.Time // Retry-After
	latencies []time.Duration
	usual     time.Duration // p95 of ordinary times
}

// NewBudget allows perSecond requests per second; values below 0.01 count as 0.01.
func NewBudget(perSecond float64, now func() time.Time) *Budget {
	return newBudget(perSecond, time.Second, now)
}

func newBudget(perSecond float64, hold time.Duration, now func() time.Time) *Budget {
	perSecond = max(perSecond, 0.01)
	b := &Budget{now: now, hold: hold.Seconds(), base: perSecond, current: perSecond}
	b.limiter = rate.NewLimiter(rate.Limit(perSecond), b.burst(perSecond))
	return b
}

func (b *Budget) burst(perSecond float64) int { return max(1, int(perSecond*b.hold)) }

// Take uses one request when the budget has one now.
func (b *Budget) Take() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	b.restore(now)
	return !now.Before(b.until) && b.limiter.AllowN(now, 1)
}

// Wait uses one request, waiting for it at most until the deadline of ctx; it reports false when that would come first
// or when the server asked for silence longer than that.
func (b *Budget) Wait(ctx context.Context) bool {
	b.mu.Lock()
	now := b.now()
	b.restore(now)
	reservation := b.limiter.ReserveN(now, 1)
	delay := max(reservation.DelayFrom(now), b.until.Sub(now))
	if deadline, ok := ctx.Deadline(); ok && delay > 0 && time.Until(deadline) < delay {
		reservation.CancelAt(now)
		b.mu.Unlock()
		return false
	}
	b.mu.Unlock()
	if delay <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Observe learns from an answer: its status (0 when there was none), its latency, and the Retry-After it carried.
func (b *Budget) Observe(status int, latency, retryAfter time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	switch {
	case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
		if until := now.Add(retryAfter); until.After(b.until) {
			b.until = until
		}
		b.cut(now, backend.Textf("the server answered %d", status))
		return
	case status == 0:
		return
	}
	b.latencies = append(b.latencies, latency)
	if len(b.latencies) < p95Window {
		return
	}
	slices.Sort(b.latencies)
	p95 := b.latencies[p95Window*95/100-1]
	b.latencies = b.latencies[:0]
	switch {
	case b.usual == 0:
		b.usual = p95
	case p95 > 2*b.usual && p95 > p95Noise:
		b.cut(now, backend.Textf("95 %% of its answers take up to %v, usually %v",
			p95.Round(time.Millisecond), b.usual.Round(time.Millisecond)))
		b.usual += b.usual / 10 // a server that stays slower becomes the usual one in time
	default:
		b.usual = min(max(p95, b.usual/2), b.usual+b.usual/10+time.Millisecond)
	}
}

// Quiet keeps to a time until which another process was asked to wait.
func (b *Budget) Quiet(until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if until.After(b.until) {
		b.until = until
	}
}

func (b *Budget) cut(now time.Time, why backend.Safe) {
	if !b.changed.IsZero() && b.current < b.base && now.Sub(b.changed) < halveEvery {
		return
	}
	b.set(now, max(b.current/2, b.base/budgetFloor))
	b.why = why
}

func (b *Budget) restore(now time.Time) {
	if b.current < b.base && now.Sub(b.changed) >= restoreAfter && !now.Before(b.until) {
		b.set(now, min(b.current*restoreFactor, b.base))
	}
	if b.current >= b.base {
		b.why = backend.Safe{}
	}
}

func (b *Budget) set(now time.Time, perSecond float64) {
	b.current, b.changed = perSecond, now
	b.limiter.SetLimitAt(now, rate.Limit(perSecond))
	b.limiter.SetBurstAt(now, b.burst(perSecond))
}

// BudgetState is what a budget allows now.
type BudgetState struct {
	Configured float64       // requests per second
	Current    float64       // requests per second
	Silence    time.Duration // what is left of a Retry-After, 0 when nothing
	Why        backend.Safe  // why Current is below Configured, empty otherwise
}

// State shows the budget, for the Sources screen.
func (b *Budget) State() BudgetState {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now()
	b.restore(now)
	return BudgetState{Configured: b.base, Current: b.current, Silence: max(b.until.Sub(now), 0), Why: b.why}
}
