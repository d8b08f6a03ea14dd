package docker

import (
	"cmp"
	"context"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// visibleEvery is the shortest time between two samples of a container that is looked at. One sample that another machine has
// to answer costs a 20.10 engine about 2.6 ms of CPU, so that 50 rows cost it 1.6 s a minute.
const visibleEvery = 5 * time.Second

// maxVisible bounds the samples of one poll that attention asks for; more rows take turns, oldest figures first.
const maxVisible = 50

// samplers is how many samples are taken at once. An engine answers one only after up to a second, so they are taken
// between polls, and enough of the requests in flight are left for inspections.
const samplers = 8

// sampleBatch is one round of samples. It runs beside the polls; the poll after its samples merges them.
type sampleBatch struct {
	running bool
	done    []sampleResult
}

type sampleResult struct {
	id      backend.ID
	pid     int                      // of its first process, 0: none
	started backend.Value[time.Time] // of the container when the sample was asked for
	tried   time.Time
	at      time.Time
	sample  *sample
	err     error
}

// figures merges the samples that were taken since the last poll and starts the next round.
func (p *poll) figures() {
	s := p.s
	s.mu.Lock()
	done, running := s.batch.done, s.batch.running
	s.batch.done = nil
	s.mu.Unlock()
	for _, r := range done {
		if e := s.entries[r.id.Raw()]; e != nil && e.started() == r.started {
			p.sampled(e, r)
		}
	}
	if running {
		return
	}
	due, looked := p.due()
	if len(due) == 0 {
		return
	}
	jobs := make(chan sampleResult, len(due))
	for _, e := range due {
		e.sampled = p.r.Started
		j := sampleResult{id: e.id, started: e.started(), tried: p.r.Started}
		if e.ins != nil {
			j.pid = e.ins.place.PID
		}
		jobs <- j
	}
	close(jobs)
	left := min(samplers, len(due))
	s.mu.Lock()
	s.batch.running = true
	s.mu.Unlock()
	for range left {
		s.deps.Spawn.Go("sample "+s.deps.ID, func() {
			for j := range jobs {
				s.takeSample(p.eng, j)
			}
			s.mu.Lock()
			left--
			last, changed := left == 0, s.changed
			s.batch.running = !last
			s.mu.Unlock()
			if last && looked && changed != nil {
				changed()
			}
		})
	}
}

// takeSample reads one sample from this machine's kernel, or asks the engine for it. It ends with its deadline or with the source.
func (s *Source) takeSample(eng engine, j sampleResult) {
	if j.sample = s.kernelSample(j.pid, j.id.Raw()); j.sample == nil {
		select {
		case s.slots <- struct{}{}:
		case <-s.life.Done():
			return
		}
		ctx, cancel := context.WithTimeout(s.life, s.deadline(s.life))
		j.sample, j.err = eng.stats(ctx, j.id.Raw())
		cancel()
		<-s.slots
	}
	j.at = s.deps.Now()
	s.mu.Lock()
	s.batch.done = append(s.batch.done, j)
	s.mu.Unlock()
}

// due chooses whom to sample: what is looked at, then a slice of the rest. looked says that somebody waits for it.
func (p *poll) due() (due []*cachedContainer, looked bool) {
	now := p.r.Started
	p.s.mu.Lock()
	attn := p.s.attn
	p.s.mu.Unlock()
	sweep := p.s.opt.StatsSweep.Std()
	often := max(p.s.interval(), visibleEvery)
	slack := often / 10 // polls are not exactly an interval apart
	var seen, rest []*cachedContainer
	population := 0
	for _, e := range p.s.entries {
		if !e.alive() {
			continue
		}
		age := now.Sub(e.sampled) // of a never sampled one: centuries
		judged := p.s.judged(e)
		if judged {
			population++
		}
		switch {
		case e.sampleFail > 0 && age < p.s.backOff(e.sampleFail):
		case attn[e.id]:
			if age >= often-slack {
				seen = append(seen, e)
			}
		case judged && sweep > 0 && age >= sweep-slack && p.s.polls > 1:
			rest = append(rest, e)
		}
	}
	oldest := func(a, b *cachedContainer) int { return cmp.Or(a.sampled.Compare(b.sampled), a.id.Compare(b.id)) }
	stable.Sort(seen, oldest)
	stable.Sort(rest, oldest)
	quota := 1
	if sweep > 0 { // spread over the sweep, so that the engine's work has no peaks
		quota = max(1, int((int64(population)*int64(p.s.interval())+int64(sweep)-1)/int64(sweep)))
	}
	due = append(seen[:min(len(seen), maxVisible)], rest[:min(len(rest), quota)]...)
	return due, len(seen) > 0
}

// sampled makes figures of one sample.
func (p *poll) sampled(e *cachedContainer, r sampleResult) {
	if r.err != nil {
		if k := backend.KindOf(r.err); k != backend.ErrGone { // one that has just ended is no problem
			e.sampleFail++
			p.problem(backend.Problem{Kind: k, Subject: p.s.key(e.id), At: r.at, Where: backend.Textf("GET /containers/%s/stats", e.id),
				What: backend.Join([]backend.Safe{backend.Text("its figures cannot be read and stay as old as they are"), p.s.reason(r.err)}, ": ")})
			p.listNext()
		}
		return
	}
	e.sampleFail = 0
	if r.sample == nil {
		return
	}
	limit := int64(0)
	if e.ins != nil {
		limit = e.ins.memLimit
	}
	e.usage = backend.Known(usage(e.last, r.sample, limit, r.at))
	e.idle = e.last != nil && e.last.cpu == r.sample.cpu
	e.last, e.touched = r.sample, true
}
