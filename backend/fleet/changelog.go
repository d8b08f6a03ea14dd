package fleet

const (
	// rememberStates is how many States back ChangesSince reaches: a minute or two. Who asks less often reads all again.
	rememberStates = 100
	// rememberKeys bounds the memory of that: past it, older States are forgotten sooner.
	rememberKeys = 50_000
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
	next.keys += d.size()
	for len(next.deltas) > rememberStates || next.keys > rememberKeys && len(next.deltas) > 1 {
		next.keys -= next.deltas[0].size()
		next.deltas = next.deltas[1:]
	}
	return next
}

// size is how many keys a delta holds; a series is as large as two.
func (d *Delta) size() int { return len(d.Changed) + len(d.Gone) + 2*len(d.Series) }

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
