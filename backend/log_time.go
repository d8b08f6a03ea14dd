package backend

import (
	"bytes"
	"time"
)

// LogTime reads a time as loggers write it: ISO 8601 (a zone is optional; without one loc is assumed), or an epoch
// number in seconds, milliseconds, microseconds or nanoseconds, told apart by size.
func LogTime(b []byte, loc *time.Location) (time.Time, bool) {
	if t, _, ok := isoTime(b, loc); ok {
		return t, true
	}
	return EpochTime(string(b), 1e8)
}

// LeadingTime reads the time at the start of a plain line, in brackets or not.
func LeadingTime(line []byte, loc *time.Location) (t time.Time, rest []byte, ok bool) {
	trimmed := bytes.TrimLeft(line, " [(")
	t, n, ok := isoTime(trimmed, loc)
	if !ok {
		return time.Time{}, line, false
	}
	return t, bytes.TrimLeft(trimmed[n:], " ])"), true
}

// LeadingTime reads the time at the start of a text; without a zone loc is assumed, and is the time's.
func (s Safe) LeadingTime(loc *time.Location) (t time.Time, rest Safe, ok bool) {
	t, after, ok := LeadingTime([]byte(s.s), loc)
	return t, Safe{s.s[len(s.s)-len(after):]}, ok
}

// isoTime reads YYYY-MM-DD, T or a space, hh:mm:ss, an optional fraction after a point or comma, and an optional zone;
// n is what it took.
func isoTime(b []byte, loc *time.Location) (t time.Time, n int, ok bool) {
	const shape = "dddd-dd-ddtdd:dd:dd"
	if len(b) < len(shape) {
		return time.Time{}, 0, false
	}
	for i := range len(shape) {
		c, digit := b[i], b[i] >= '0' && b[i] <= '9'
		switch shape[i] {
		case 'd':
			ok = digit
		case 't':
			ok = c == 'T' || c == ' ' || c == 't'
		default:
			ok = c == shape[i]
		}
		if !ok {
			return time.Time{}, 0, false
		}
	}
	n = len(shape)
	nanos, took := fraction(b[n:])
	n += took
	zone, took := zoneAt(b[n:], loc)
	n += took
	month, day, hour, minute, second := decimal(b[5:7]), decimal(b[8:10]), decimal(b[11:13]), decimal(b[14:16]), decimal(b[17:19])
	if month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60 {
		return time.Time{}, 0, false
	}
	return time.Date(decimal(b[:4]), time.Month(month), day, hour, minute, second, nanos, zone), n, true
}

func fraction(b []byte) (nanos, n int) {
	if len(b) < 2 || b[0] != '.' && b[0] != ',' {
		return 0, 0
	}
	scale := int(time.Second)
	for n = 1; n < len(b) && b[n] >= '0' && b[n] <= '9'; n++ {
		scale /= 10
		nanos += int(b[n]-'0') * scale
	}
	if n == 1 {
		return 0, 0
	}
	return nanos, n
}

func zoneAt(b []byte, loc *time.Location) (zone *time.Location, n int) {
	if len(b) == 0 {
		return loc, 0
	}
	if b[0] == 'Z' || b[0] == 'z' {
		return time.UTC, 1
	}
	if b[0] != '+' && b[0] != '-' || len(b) < 5 {
		return loc, 0
	}
	minuteAt, n := 3, 5
	if b[3] == ':' {
		minuteAt, n = 4, 6
	}
	if len(b) < n {
		return loc, 0
	}
	for _, c := range [...]byte{b[1], b[2], b[minuteAt], b[minuteAt+1]} {
		if c < '0' || c > '9' {
			return loc, 0
		}
	}
	seconds := decimal(b[1:3])*3600 + decimal(b[minuteAt:minuteAt+2])*60
	if b[0] == '-' {
		seconds = -seconds
	}
	return time.FixedZone("", seconds), n
}

func decimal(b []byte) int {
	n := 0
	for _, c := range b {
		n = n*10 + int(c-'0')
	}
	return n
}
