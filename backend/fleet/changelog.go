package fleet

const (
	// rememberStates is how many States back ChangesSince reaches.
	rememberStates = 1000
	// rememberKeys bounds the memory of that: past it, older States are forgotten sooner.
	rememberKeys = 300_000
)

// changeLog holds the deltas of the last States, oldest first; the last is that of State number last. It is immutable
// for readers: the single writer only appends behind their length.
type changeLog struct {
	deltas []Delta
	last   uint64
	keys   int
}

func (l *changeLog) with(d Delta, number uint64) *changeLog {
	next := &changeLog{last: number}
	if l != nil {
		next.deltas, next.keys = l.deltas, l.keys
	}
	next.deltas = append(next.deltas, d)
	next.keys += len(d.Changed) + len(d.Gone)
	for len(next.deltas) > rememberStates || next.keys > rememberKeys && len(next.deltas) > 1 {
		next.keys -= len(next.deltas[0].Changed) + len(next.deltas[0].Gone)
		next.deltas = next.deltas[1:]
	}
	return next
}

func (l *changeLog) since(n, number uint64) ([]Delta, bool) {
	if n >= number {
		return nil, true
	}
	missing := int(number - n)
	if missing > len(l.deltas) {
		return nil, false
	}
	return l.deltas[len(l.deltas)-missing:], true
}
