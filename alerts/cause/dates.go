package cause

import "strings"

// datePart is what a token of a date is.
type datePart uint8

const (
	dateWeekday datePart = 1 << iota
	dateMonth
	dateDay
	dateYear
	dateTime
	dateZone
	dateWhole // with day, month and year in one token
)

// beginsDate are the bytes with which a date can begin: digits, and the capitals of months and weekdays.
var beginsDate = func() (t [256]bool) {
	for c := range t {
		t[c] = isDigit(byte(c)) || c != 0 && strings.IndexByte("MTWFSJADNO", byte(c)) >= 0
	}
	return t
}()

var (
	weekdays = setOf("Mon Tue Tues Wed Thu Thur Thurs Fri Sat Sun Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
	months   = setOf("Jan Feb Mar Apr May Jun Jul Aug Sep Sept Oct Nov Dec January February March April June July August September October November December")
	zones    = setOf("GMT UTC UT Z CET CEST WET WEST EET EEST BST IST MSK EST EDT CST CDT MST MDT PST PDT AEST AEDT JST AM PM am pm a.m p.m")
)

// dateEnd is where the date or the time of day that begins at i ends, 0 when none begins: RFC 1123, RFC 850, asctime, RFC 3339, syslog and other
// orders of these parts. coded says that a number at i belongs to the word before it.
func dateEnd(s string, i int, coded func() bool) int {
	var seen, last datePart
	end := 0
	for at := i; ; {
		kind, to := datePartAt(s, at)
		if kind == 0 || seen&kind != 0 && kind != dateDay || !fitsDate(s, kind, to, seen, last) {
			break
		}
		if kind == dateDay && seen&dateDay != 0 { // the year of two digits in 13 Nov 24 10:11:12
			if last == dateMonth && seen == dateDay|dateMonth && coded() {
				return 0 // code 1 Nov 13 10:11:12: the date begins behind the code
			}
			if last != dateMonth || to-at != 2 || partAfter(s, to) != dateTime {
				break
			}
			kind = dateYear
		}
		seen |= kind
		last, end = kind, to
		at = nextPart(s, to)
		if at < 0 {
			break
		}
	}
	if seen == dateDay|dateMonth && isDigit(s[i]) && coded() {
		return 0
	}
	if seen&(dateWhole|dateTime) != 0 || seen&dateMonth != 0 && seen&(dateDay|dateYear) != 0 {
		return end
	}
	return 0
}

// fitsDate reports whether a part that ends at to belongs to a date of which these parts were seen.
func fitsDate(s string, kind datePart, to int, seen, last datePart) bool {
	switch kind {
	case dateDay:
		return last == dateMonth || seen&(dateMonth|dateWhole|dateTime) == 0 && s[min(to, len(s)-1)] == ' ' && partAfter(s, to) == dateMonth
	case dateMonth:
		next := partAfter(s, to)
		return seen&dateWhole == 0 && (last == dateDay || next == dateDay || next == dateYear)
	case dateYear:
		return seen&dateMonth != 0
	case dateWhole:
		return seen&(dateMonth|dateDay) == 0
	case dateZone:
		return seen&(dateTime|dateWhole) != 0
	case dateWeekday:
		return last == 0
	case dateTime:
		return true
	}
	return true
}

// nextPart is where the next part of a date may begin, behind blanks and commas; -1: nowhere.
func nextPart(s string, at int) int {
	from := at
	for at < len(s) && at < from+3 && (s[at] == ' ' || s[at] == ',' || s[at] == '.') {
		at++
	}
	if at == from || at == len(s) {
		return -1
	}
	return at
}

func partAfter(s string, to int) datePart {
	at := nextPart(s, to)
	if at < 0 {
		return 0
	}
	kind, _ := datePartAt(s, at)
	return kind
}

// datePartAt is the part of a date at i and where it ends.
func datePartAt(s string, i int) (datePart, int) {
	end := i
	for end < len(s) && end-i < 40 && (inToken[s[end]] && s[end] < 0x80) {
		end++
	}
	if end < len(s) && s[end] >= 0x80 && strange(s, end) == 0 {
		return 0, 0
	}
	tok := strings.TrimRight(s[i:end], ".:-/")
	if tok == "" {
		return 0, 0
	}
	kind := datePartOf(tok)
	end = i + len(tok)
	if (kind == dateTime || kind == dateWhole) && end+4 <= len(s) && s[end] == ',' && digitsAt(s, end+1) == 3 { // 10:11:12,123
		end += 4
	}
	return kind, end
}

// datePartOf is what a whole token is in a date, 0: nothing.
func datePartOf(tok string) datePart {
	if !isDigit(tok[0]) {
		switch {
		case weekdays[tok]:
			return dateWeekday
		case months[tok]:
			return dateMonth
		case zones[tok], isOffset(strings.TrimPrefix(strings.TrimPrefix(tok, "GMT"), "UTC")):
			return dateZone
		}
		return 0
	}
	n := digitsAt(tok, 0)
	rest := tok[n:]
	switch {
	case rest == "" && n <= 2:
		if dayNumber(tok) {
			return dateDay
		}
	case rest == "" && n == 4:
		if tok[:2] == "19" || tok[:2] == "20" {
			return dateYear
		}
	case n <= 2 && (rest == "st" || rest == "nd" || rest == "rd" || rest == "th"):
		return dateDay
	case n <= 2 && rest[:min(1, len(rest))] == ":" && timeOfDay(tok):
		return dateTime
	case wholeDate(tok, n):
		return dateWhole
	}
	return 0
}

// dayNumber accepts 1 to 31.
func dayNumber(tok string) bool {
	return len(tok) == 1 && tok[0] != '0' || len(tok) == 2 && (tok[0] < '3' && tok != "00" || tok == "30" || tok == "31")
}

// wholeDate accepts 2024-11-13, 2024/11/13, 20241113T101112Z, 13-Nov-2024, 13/Nov/24, 11/13/2024 and 13.11.2024, each with or without a time behind it.
func wholeDate(tok string, n int) bool {
	if n == 8 && len(tok) > 9 && tok[8] == 'T' {
		return digitsAt(tok, 9) == 6 || digitsAt(tok, 9) == 4
	}
	if n != 1 && n != 2 && n != 4 || n == len(tok) || strings.IndexByte("-/.", tok[n]) < 0 {
		return false
	}
	sep, at := tok[n], n+1
	named := at+3 <= len(tok) && months[tok[at:at+3]]
	if named {
		at += 3
	} else if d := digitsAt(tok, at); d == 1 || d == 2 {
		at += d
	} else {
		return false
	}
	if at >= len(tok) || tok[at] != sep {
		return false
	}
	last := digitsAt(tok, at+1)
	if n == 4 && (last < 1 || last > 2) || n < 4 && last != 4 && (last != 2 || !named) || sep == '.' && n == 4 {
		return false
	}
	rest := tok[at+1+last:]
	return rest == "" || len(rest) > 1 && strings.IndexByte("T:t_", rest[0]) >= 0 && timeOfDay(rest[1:])
}

// timeOfDay accepts 10:11, 10:11:12, and fractions of a second and a zone behind them.
func timeOfDay(tok string) bool {
	n := digitsAt(tok, 0)
	if n < 1 || n > 2 || n+3 > len(tok) || tok[n] != ':' || digitsAt(tok, n+1) != 2 || n == 2 && tok[0] > '2' {
		return false
	}
	rest := tok[n+3:]
	if len(rest) >= 3 && rest[0] == ':' && digitsAt(rest, 1) == 2 {
		rest = rest[3:]
		if len(rest) > 1 && rest[0] == '.' {
			rest = rest[1+digitsAt(rest, 1):]
		}
	}
	return rest == "" || rest == "Z" || rest == "z" || isOffset(rest)
}

// isOffset accepts +0000, +00:00, -07 and +5:30.
func isOffset(tok string) bool {
	if len(tok) < 2 || tok[0] != '+' && tok[0] != '-' {
		return false
	}
	n := digitsAt(tok, 1)
	rest := tok[1+n:]
	return rest == "" && n <= 4 || n <= 2 && len(rest) == 3 && rest[0] == ':' && digitsAt(rest, 1) == 2
}

// digitsAt counts the digits from i on.
func digitsAt(s string, i int) int {
	n := 0
	for i+n < len(s) && isDigit(s[i+n]) {
		n++
	}
	return n
}
