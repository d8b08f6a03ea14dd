package logs

import (
	"bytes"
	"cmp"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// maxProcesses bounds the pairs of a pattern and a session whose memory is followed; further sessions are taken together.
const maxProcesses = 100

// memoryReadings gathers what lines say of the memory of the process that wrote them.
type memoryReadings struct {
	cells  map[memoryCell]backend.Memory
	known  map[processName]time.Time // when it was last heard of
	silent int                       // lines of this poll that gave no number
}

// processName is a process as far as lines tell it apart.
type processName struct{ pattern, session string }

type memoryCell struct {
	processName
	grain int64
}

func newMemories() *memoryReadings {
	return &memoryReadings{cells: map[memoryCell]backend.Memory{}, known: map[processName]time.Time{}}
}

// memory looks into a whole line for the patterns of class memory: these stand beside what else a line says.
func (a *lineAnalyser) memory(data []byte, k seriesKey, at time.Time) {
	for i := range a.pats.memory {
		p := &a.pats.memory[i]
		j := bytes.Index(data, []byte(p.contains))
		if j < 0 {
			continue
		}
		n, ok := p.bytesIn(data, j)
		if !ok {
			a.mems.silent++
			continue
		}
		a.mems.add(p, k.session, at, n)
	}
}

func (m *memoryReadings) add(p *pattern, session string, at time.Time, n int64) {
	name := processName{p.name, session}
	if _, known := m.known[name]; !known && len(m.known) >= maxProcesses {
		name.session = ""
	}
	if at.After(m.known[name]) {
		m.known[name] = at
	}
	cell := memoryCell{name, at.UnixNano() / int64(backend.MemoryGrain)}
	if old, had := m.cells[cell]; had && old.Bytes >= n {
		return
	}
	x := backend.Memory{At: at, Bytes: n}
	if p.limit > 0 {
		x.Limit = backend.Known(p.limit)
	}
	m.cells[cell] = x
}

// take empties what was gathered, in a stable order.
func (m *memoryReadings) take(source string, now time.Time) []backend.Memory {
	out := make([]backend.Memory, 0, len(m.cells))
	for cell, x := range m.cells {
		x.Of = backend.Process{Source: source, Name: cell.pattern}
		x.Of.Session, _ = backend.NewID(cell.session) // empty: none
		out = append(out, x)
	}
	stable.Sort(out, func(a, b backend.Memory) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Of.Name, b.Of.Name), a.Of.Session.Compare(b.Of.Session))
	})
	for name, at := range m.known {
		if now.Sub(at) > forgetSeries {
			delete(m.known, name)
		}
	}
	clear(m.cells)
	return out
}

// bytesIn reads the number: the first group of the pattern's expression, else what follows its text.
func (p *pattern) bytesIn(data []byte, at int) (int64, bool) {
	text := data[at+len(p.contains):]
	if p.cause != nil {
		m := p.cause.FindSubmatch(data)
		if len(m) < 2 {
			return 0, false
		}
		text = m[1]
	}
	text = bytes.TrimLeft(text, " \t=:\"")
	n := 0
	for n < len(text) && (text[n] >= '0' && text[n] <= '9' || text[n] == '.') {
		n++
	}
	rest := bytes.TrimPrefix(text[n:], []byte(" "))
	unit := 0
	for unit < len(rest) && unit < 3 && (rest[unit] >= 'A' && rest[unit] <= 'Z' || rest[unit] >= 'a' && rest[unit] <= 'z') {
		unit++
	}
	var z backend.Size
	if n > 0 && z.UnmarshalText(append(bytes.Clone(text[:n]), rest[:unit]...)) == nil {
		return int64(z), true
	}
	// What follows the number may be another word: then the number alone counts, in bytes.
	if n == 0 || len(text) > n && text[n] != ' ' && unit > 0 || z.UnmarshalText(text[:n]) != nil {
		return 0, false
	}
	return int64(z), true
}
