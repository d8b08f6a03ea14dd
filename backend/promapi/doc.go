// Package promapi reads the counters of evictions and of eviction retries from a Prometheus server, or from whatever
// else speaks its query API. A poll is a few instant queries of raw series; the first one asks for the past hour too,
// so that a console that just started knows what happened before. Increases are made here and not by the server:
// rate() and increase() extrapolate, and a sum over instances hides resets.
package promapi
