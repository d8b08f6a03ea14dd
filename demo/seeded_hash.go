package demo

import (
	"math/bits"
	"time"
)

// salt keeps the random choices of different questions apart.
type salt uint64

const (
	saltSession salt = iota + 1
	saltWorkspace
	saltProvider
	saltRhythm
	saltTrouble
	saltJitter
	saltText
	saltBox
	saltBoxID
	saltStats
	saltLog
	saltScratch
	saltShuffle
	saltFacts
	saltWork
)

// scramble is the finaliser of splitmix64 (Steele, Lea, Flood 2014): a
// bijection that spreads neighbouring inputs over all 64 bits.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// seededHash makes random values by hashing. The value for one entity does not
// depend on which entities were asked about before.
type seededHash uint64

func (d seededHash) value(s salt, i int, k int64) uint64 {
	return scramble(uint64(d) ^ scramble(uint64(s)<<56^uint64(i)<<24^scramble(uint64(k))))
}

// between maps a hash onto [lo, hi).
func between(h uint64, lo, hi time.Duration) time.Duration {
	if hi <= lo {
		return lo
	}
	return lo + time.Duration(below(h, uint64(hi-lo)))
}

// below maps a hash onto [0, n). It hashes again, so that a shifted hash, whose
// high bits are zero, is as good as a whole one.
func below(h, n uint64) uint64 {
	high, _ := bits.Mul64(scramble(h), n)
	return high
}

// percent maps a hash onto 0..99.
func percent(h uint64) int { return int(below(h, 100)) }

// floorDiv counts whole periods up to t, also before zero.
func floorDiv(t, period time.Duration) int64 {
	k := int64(t / period)
	if t%period < 0 {
		k--
	}
	return k
}
