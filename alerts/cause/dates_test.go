package cause

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// dateForms are the usual forms of a date, with and without weekday, year and zone, and in other orders.
var dateForms = []string{
	time.RFC1123, time.RFC1123Z, time.RFC850, time.ANSIC, time.UnixDate, time.RubyDate, time.RFC822, time.RFC822Z, time.RFC3339, time.RFC3339Nano, time.DateTime, time.DateOnly, time.Stamp, time.StampMilli,
	"Mon, 2 Jan 2006 15:04:05", "2 Jan 2006", "02 January 2006 15:04", "January 2, 2006", "Jan 2, 2006 3:04:05 PM", "Jan 02 15:04:05 2006", "2006-01-02 15:04:05 UTC", "2006-01-02 15:04:05,000",
	"2006-01-02 15:04:05.999 -0700", "02/Jan/2006:15:04:05 -0700", "2006/01/02 15:04:05", "01/02/2006 15:04", "02.01.2006 15:04:05", "20060102T150405Z", "Mon Jan 2 2006 15:04:05 GMT-0700",
	"Monday, January 2, 2006", "Monday, 02-Jan-06 15:04:05 MST", "02-Jan-2006", "15:04:05", "15:04", "Mon Jan _2 15:04:05", "2006-01-02T15:04Z", "Jan 2006",
}

// TestDatesAreNoVariants: behind a code or a status a date is one value that is no variant, and the code stays one.
func TestDatesAreNoVariants(t *testing.T) {
	for _, around := range []struct{ form, want string }{
		{"process %[1]s exited with exit code 137 at %[2]s", "code 137"}, {"exit code 1, %[2]s", "code 1"}, {"exit code 1 %[2]s", "code 1"}, {"HTTP 503 at %[2]s", "http 503"}, {"HTTP 503 on %[2]s.", "http 503"},
		{"token refused with code 401 (%[2]s)", "code 401"}, {"%[2]s: connection refused, errno 13", "errno 13"}, {"[%[2]s] write failed: errno 28", "errno 28"}, {"errno 28 on '%[2]s' during write", "errno 28"},
		{`exit code 137 at "%[2]s"`, "code 137"}, {"refused with code=401 date=%[2]s", "code 401"}, {"the lease ended at %[2]s with exit code 9", "code 9"}, {"exit code 1 %[2]s, exit code 1", "code 1"},
	} {
		for _, form := range dateForms {
			if form == "Jan 2006" && strings.Contains(around.form, "1 %[2]s") {
				continue // reads as the first of January
			}
			words := ""
			for k := range 60 {
				at := time.Date(2023, 1, 5, 1, 2, 3, 4_000_000, time.UTC).Add(time.Duration(k) * (19*24*time.Hour + 3*time.Hour + 7*time.Minute + 11*time.Second))
				x := fmt.Sprintf(around.form, "web-"+string(rune('a'+k%26)), at.Format(form))
				var r Reader
				r.Read(x)
				var got []string
				for _, v := range Values(string(r.Values)) {
					if v.Tells() == TellsNumber {
						got = append(got, v.Label+" "+v.Text)
					} else if !strings.HasPrefix(v.Text, "web") {
						got = append(got, "also "+v.Label+" "+v.Text)
					}
				}
				if g := strings.Join(got, ", "); g != around.want {
					t.Errorf("%q: %q, want %q", x, g, around.want)
					break
				}
				if words == "" {
					words = string(r.Words)
				}
				if string(r.Words) != words {
					t.Errorf("%q has the words %q, want %q", x, r.Words, words)
					break
				}
			}
		}
	}
}

// TestNumbersThatAreNoDates: what only looks like the part of one stays what it is.
func TestNumbersThatAreNoDates(t *testing.T) {
	for x, want := range map[string]string{
		"listen on port 2024 failed": "port 2024", "exit code 13": "code 13", "HTTP 503 Mon failed": "http 503", "connect ECONNREFUSED 10.1.2.3:443": "port 443", "image version 1.2.0 refused": "version 1.2.0",
		"exit code 12, May is gone": "code 12", "upstream answered 503": "status 503", "exit code 137 after 3 attempts, at 1731492672": "code 137", "ref schemaVersion 4 is outside the supported range 1-3": "schemaVersion 4",
	} {
		var r Reader
		r.Read(x)
		if v := Values(string(r.Values)); len(v) != 1 || !strings.EqualFold(v[0].Label+" "+v[0].Text, want) {
			t.Errorf("%q: %+v, want %q", x, v, want)
		}
	}
}
