package kit

import (
	"math"
	"strconv"
	"time"

	"sandglass/backend"
)

// Number writes a count with thousands separators: "1,284".
func Number[N ~int | ~int64](n N) string {
	return backend.Grouped(int64(n))
}

// Count writes a number of things: "1 row", "1,284 rows".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + many
}

// Rate writes a number per second or minute: "0", "0.3", "41", "1.9k".
func Rate(f float64) string {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return "–"
	case f < 0:
		return "-" + Rate(-f)
	case f == 0:
		return "0"
	case f < 0.05:
		return "<0.1"
	case f < 999.5:
		return backend.Digits(f)
	case f < 999_500:
		return backend.Digits(f/1e3) + "k"
	}
	return backend.Digits(min(f/1e6, 999)) + "M"
}

// Percent writes a share between 0 and 1: "0 %", "<1 %", "42 %".
func Percent(share float64) string {
	if share > 0 && share < 0.005 {
		return "<1 %"
	}
	return strconv.Itoa(int(math.Round(share*100))) + " %"
}

// Latency writes a request's time: "340µs" reads "<1ms", then "12ms", "1.2s".
func Latency(d time.Duration) string {
	switch {
	case d <= 0:
		return "–"
	case d < time.Millisecond:
		return "<1ms"
	case d < time.Second:
		return strconv.Itoa(int(d/time.Millisecond)) + "ms"
	case d < time.Minute:
		return backend.Digits(d.Seconds()) + "s"
	}
	return backend.Age(d)
}
