package rules

import (
	"hash/fnv"
	"time"

	"sandglass/alerts"
	"sandglass/backend"
)

func earlierOf(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// recheckOf spreads looking again over time: sessions end without their sandbox changing.
func recheckOf(env *alerts.Env, k backend.Key) time.Time {
	h := fnv.New32a()
	_, _ = h.Write([]byte(k.ID.Raw())) // never fails
	return env.Now.Add(10*time.Second + time.Duration(h.Sum32()%10_000)*time.Millisecond)
}
