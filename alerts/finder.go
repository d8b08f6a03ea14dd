package alerts

import "sandglass/backend"

// finder looks records up in about the order of their keys: it guesses from how far apart the ones before lay, since
// every look into a record far away costs more than the comparison.
type finder struct {
	rs    []*record // sorted by key
	at, n int       // where the last one was, and how many were looked up
}

func (f *finder) get(k backend.Key) *record {
	if len(f.rs) == 0 {
		return nil
	}
	guess := f.at
	if f.n > 0 {
		guess += f.at / f.n
	}
	guess = min(guess, len(f.rs)-1)
	lo, hi := 0, len(f.rs) // the first that is not less lies within
	if f.rs[guess].Key.Compare(k) < 0 {
		lo = guess + 1
		for d := 1; lo+d < len(f.rs); d *= 2 {
			if f.rs[lo+d].Key.Compare(k) >= 0 {
				hi = lo + d + 1
				break
			}
			lo += d + 1
		}
	} else {
		hi = guess
		for d := 1; hi-d > 0; d *= 2 {
			if f.rs[hi-d].Key.Compare(k) < 0 {
				lo = hi - d + 1
				break
			}
			hi -= d
		}
	}
	i := lo + searchRecords(f.rs[lo:hi], k)
	f.at, f.n = i, f.n+1
	if i < len(f.rs) && f.rs[i].Key == k {
		return f.rs[i]
	}
	return nil
}
