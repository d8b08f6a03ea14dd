package filter

import (
	"strconv"
	"strings"
)

// dimension is what a quantity measures. Quantities of two dimensions do not compare; a plain number compares with
// each, so that a row may give seconds or bytes.
type dimension string

const (
	plain dimension = ""
	age   dimension = "age"
	size  dimension = "size"
	share dimension = "share"
)

type quantity struct {
	n   float64 // seconds, bytes, percent, or the number itself
	dim dimension
}

func (q quantity) comparable(o quantity) bool {
	return q.dim == o.dim || q.dim == plain || o.dim == plain
}

type unit struct {
	name   string
	dim    dimension
	factor float64
}

// units in the order in which they are tried: of two with one ending, the longer first.
var units = [...]unit{
	{"ms", age, 1e-3}, {"KiB", size, 1 << 10}, {"MiB", size, 1 << 20}, {"GiB", size, 1 << 30}, {"TiB", size, 1 << 40},
	{"kB", size, 1e3}, {"KB", size, 1e3}, {"MB", size, 1e6}, {"GB", size, 1e9}, {"TB", size, 1e12},
	{"K", size, 1e3}, {"M", size, 1e6}, {"G", size, 1e9}, {"T", size, 1e12}, {"B", size, 1},
	{"s", age, 1}, {"m", age, 60}, {"h", age, 3600}, {"d", age, 86400}, {"w", age, 7 * 86400}, {"%", share, 1},
}

// parseQuantity reads "12m", "1h30m", "2d 4h", "64MB", "40 %", "0.5/s" and plain numbers; the "/s" of a rate and a
// leading "~", "≥" or ">" of a bound are passed over.
func parseQuantity(s string) (quantity, bool) {
	s = strings.TrimSuffix(strings.TrimSpace(s), "/s")
	s = strings.TrimSpace(strings.TrimLeft(s, "~≥>"))
	if s == "" {
		return quantity{}, false
	}
	var q quantity
	for parts := 0; s != ""; parts++ {
		end := 0
		for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.' || s[end] == '-' && end == 0 && parts == 0) {
			end++
		}
		n, err := strconv.ParseFloat(s[:end], 64)
		if err != nil {
			return quantity{}, false
		}
		u, rest, ok := cutUnit(strings.TrimLeft(s[end:], " "))
		if !ok || parts > 0 && (u.dim != age || q.dim != age) {
			return quantity{}, false
		}
		q.n += n * u.factor
		q.dim = u.dim
		s = strings.TrimLeft(rest, " ")
	}
	return q, true
}

func cutUnit(s string) (unit, string, bool) {
	if s == "" {
		return unit{factor: 1}, "", true
	}
	for _, u := range units {
		if rest, ok := strings.CutPrefix(s, u.name); ok {
			return u, rest, true
		}
	}
	return unit{}, "", false
}
