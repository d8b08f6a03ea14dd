package views

import (
	"slices"
	"time"

	"sandglass/backend"
	"sandglass/views/theme"
)

// Pins are the subjects that stay on top of their screens, with what was seen of each while it was pinned. A nil one has none.
type Pins struct {
	Keys []backend.Key // in the order in which they were pinned
	Rev  int           // counts how often they changed
	of   map[backend.Key]*Vitals
}

// Bounds of what is kept.
const (
	MostPins    = 20
	samples     = 48
	SampleEvery = 15 * time.Second // between two samples of one subject
)

// Vitals are the newest samples of one subject, oldest first. CPU is in cores, Mem in bytes; Health is how it stood.
type Vitals struct {
	CPU, Mem []backend.Value[float64]
	Health   []theme.Mark
	Since    time.Time // of the first sample that is kept
	last     time.Time
}

// Sample is what is known of a subject at a moment. CPU and Mem are not applicable where no reading gives them.
type Sample struct {
	CPU, Mem backend.Value[float64]
	Health   theme.Mark
}

// Place is where a subject is pinned, from 0; -1: it is not.
func (p *Pins) Place(k backend.Key) int {
	if p == nil {
		return -1
	}
	return slices.Index(p.Keys, k)
}

// Toggle pins a subject, or takes its pin off; full is true when there are too many.
func (p *Pins) Toggle(k backend.Key) (pinned, full bool) {
	if i := p.Place(k); i >= 0 {
		p.Keys = slices.Delete(slices.Clone(p.Keys), i, i+1)
		delete(p.of, k)
		p.Rev++
		return false, false
	}
	if len(p.Keys) >= MostPins {
		return false, true
	}
	p.Keys = append(slices.Clip(p.Keys), k)
	p.Rev++
	return true, false
}

// Due are the pinned subjects of which a sample is due.
func (p *Pins) Due(now time.Time) (due []backend.Key) {
	for _, k := range p.Keys {
		if v := p.of[k]; v == nil || now.Sub(v.last) >= SampleEvery {
			due = append(due, k)
		}
	}
	return due
}

// Add keeps a sample.
func (p *Pins) Add(k backend.Key, s Sample, now time.Time) {
	v := p.of[k]
	if v == nil {
		v = &Vitals{Since: now}
		if p.of == nil {
			p.of = map[backend.Key]*Vitals{}
		}
		p.of[k] = v
	}
	v.last = now
	v.CPU, v.Mem, v.Health = append(v.CPU, s.CPU), append(v.Mem, s.Mem), append(v.Health, s.Health)
	if n := len(v.Health) - samples; n > 0 {
		v.CPU, v.Mem, v.Health = slices.Delete(v.CPU, 0, n), slices.Delete(v.Mem, 0, n), slices.Delete(v.Health, 0, n)
		v.Since = v.Since.Add(time.Duration(n) * SampleEvery)
	}
}

// Of is what was seen of a pinned subject; nil: nothing yet.
func (p *Pins) Of(k backend.Key) *Vitals { return p.of[k] }
