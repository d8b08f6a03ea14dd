// Package prometheus reads the counters of evictions and of eviction retries from a /metrics page in the Prometheus
// text format and turns them into increases: resets, series born under observation, and absences are told apart. It
// sends one GET a poll and ignores every other metric.
package prometheus
