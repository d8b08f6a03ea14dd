package kit

import (
	"cmp"
	"strings"
)

// CompareNames compares two names as people count: the digits in them as numbers, so that box-2 comes before box-10. Names that
// differ in leading zeros alone are compared as texts. It returns below 0, 0 or above 0.
func CompareNames(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		if !isDigit(x[0]) || !isDigit(y[0]) {
			if x[0] != y[0] {
				return cmp.Compare(x[0], y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		var m, n string
		m, x = number(x)
		n, y = number(y)
		if c := cmp.Or(cmp.Compare(len(m), len(n)), strings.Compare(m, n)); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// number splits off the digits that a text begins with, without leading zeros.
func number(s string) (digits, rest string) {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return strings.TrimLeft(s[:n], "0"), s[n:]
}
