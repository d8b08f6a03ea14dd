package backend

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is a time.Duration that configuration files write as "90s", "10m", "48h" or "7d".
type Duration time.Duration

// UnmarshalText reads the forms of time.ParseDuration and whole days ("7d"). Negative durations are refused.
func (d *Duration) UnmarshalText(b []byte) error {
	s := string(b)
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil || !(n >= 0 && n <= 36500) {
			return fmt.Errorf("%q is not a duration; write for example 90s, 10m, 48h or 7d", s)
		}
		*d = Duration(n * 24 * float64(time.Hour))
		return nil
	}
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a duration; write for example 90s, 10m, 48h or 7d", s)
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes the form that UnmarshalText reads, without needless zero parts.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String writes it as people do: "1h", not "1h0m0s".
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return s
}

// Std returns the time.Duration.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// Lifespan reads how long a sandbox lives at most, as Blaxel writes it: a number with one of the units s, m, h, d and w.
func Lifespan(s string) (time.Duration, bool) {
	if len(s) < 2 {
		return 0, false
	}
	unit := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}[s[len(s)-1]]
	n := 0
	for _, c := range s[:len(s)-1] {
		if c < '0' || c > '9' || n > 1e6 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	const most = 200 * 365 * 24 * time.Hour // what is longer does not end, and no time.Duration holds it
	return time.Duration(n) * unit, unit > 0 && n > 0 && n <= 1e6 && time.Duration(n) <= most/unit
}

// Size is a number of bytes that configuration files write as "100kB", "64MB", "1GiB" or a plain number.
type Size int64

var sizeUnits = [...]struct {
	suffix string
	factor int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// UnmarshalText reads decimal (kB, MB, GB, TB) and binary (KiB, MiB, GiB, TiB) units and plain bytes.
func (z *Size) UnmarshalText(b []byte) error {
	s, factor := string(b), int64(1)
	for _, u := range sizeUnits {
		if n, ok := strings.CutSuffix(s, u.suffix); ok {
			s, factor = n, u.factor
			break
		}
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(v >= 0) || v*float64(factor) > 1<<62 {
		return fmt.Errorf("%q is not a size; write for example 100kB, 64MB or 1GiB", b)
	}
	*z = Size(v * float64(factor))
	return nil
}

// MarshalText writes the largest decimal unit that loses nothing.
func (z Size) MarshalText() ([]byte, error) {
	for _, u := range []struct {
		suffix string
		factor Size
	}{{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}} {
		if z >= u.factor && z%u.factor == 0 {
			return fmt.Appendf(nil, "%d%s", z/u.factor, u.suffix), nil
		}
	}
	return fmt.Appendf(nil, "%dB", z), nil
}

// Age writes a duration coarsely in at most four characters: seconds under a minute, minutes under an hour, hours under two
// days, then days and years. A negative one reads 0s: clocks differ.
func Age(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d/time.Hour)) + "h"
	case d < 1000*24*time.Hour:
		return strconv.Itoa(int(d/(24*time.Hour))) + "d"
	}
	return strconv.Itoa(int(min(d/(365*24*time.Hour), 999))) + "y"
}

// AgeAtMost writes a duration as Age does, rounded up: an upper limit that is rounded down is wrong.
func AgeAtMost(d time.Duration) string {
	unit := 24 * time.Hour
	switch {
	case d <= 0:
		return Age(d)
	case d < time.Minute:
		unit = time.Second
	case d < time.Hour:
		unit = time.Minute
	case d < 48*time.Hour:
		unit = time.Hour
	case d >= 1000*24*time.Hour:
		unit *= 365
	}
	return Age((d + unit - 1).Truncate(unit))
}

// Bytes writes a size with a decimal unit and at most three digits: "0 B", "3.1 MB", "118 MB".
func Bytes(n int64) string {
	if n < 0 {
		return "-" + Bytes(-max(n, math.MinInt64+1))
	}
	if n < 1000 {
		return strconv.FormatInt(n, 10) + " B"
	}
	byteUnits := [...]string{"B", "kB", "MB", "GB", "TB", "PB", "EB"}
	f, unit := float64(n), 0
	for f >= 999.5 && unit < len(byteUnits)-1 {
		f /= 1000
		unit++
	}
	return Digits(f) + " " + byteUnits[unit]
}

// Counted writes a number of things: "1 process", "0 processes".
func Counted[N ~int | ~int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Grouped(int64(n)) + " " + many
}

// Grouped writes a number with a comma between each three digits: "1,284".
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Digits writes a positive number below 1000 with one decimal below 10.
func Digits(f float64) string {
	if f < 9.95 {
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return strconv.FormatFloat(f, 'f', 0, 64)
}
