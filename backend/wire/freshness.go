package wire

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	datesKept = 64 // of one route; a copy that is served again and again stays among them
	// dateStep is how long a Date may stay the same: it has whole seconds, and answers take time.
	dateStep = 2 * time.Second
)

// routeDates are the Date headers that the answers of one route carried. A Date that comes again later is that of a copy.
type routeDates struct {
	seen   []seenDate // the one that was seen last comes last
	polled bool       // answered since the last TakeLoad
	age    time.Duration
	by     string // the header that proves the age, empty while it is 0
	date   string // the newest body's, of those since the last TakeLoad
}

type seenDate struct {
	date  string
	first time.Time // our time
}

// observe takes one answer and returns how old its body is: by its Age, or since its Date was first seen.
func (d *routeDates) observe(h http.Header, now time.Time) time.Duration {
	var age time.Duration
	by := ""
	if s, err := strconv.ParseInt(strings.TrimSpace(h.Get("Age")), 10, 32); err == nil && s > 0 {
		age, by = time.Duration(s)*time.Second, "Age"
	}
	date := h.Get("Date")
	if date != "" {
		first := now
		if i := slices.IndexFunc(d.seen, func(x seenDate) bool { return x.date == date }); i >= 0 {
			first = d.seen[i].first
			d.seen = slices.Delete(d.seen, i, i+1)
		} else if len(d.seen) >= datesKept {
			d.seen = slices.Delete(d.seen, 0, 1)
		}
		d.seen = append(d.seen, seenDate{date, first})
		if stood := now.Sub(first).Round(time.Second); stood > dateStep && stood > age { // the headers have whole seconds
			age, by = stood, "Date"
		}
	}
	if !d.polled || age < d.age {
		d.age, d.by, d.date = age, by, date
	}
	d.polled = true
	return age
}

// aged notes the age of an answer's body.
func (c *Client) aged(route string, h http.Header, now time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.dates == nil {
		c.dates = map[string]*routeDates{}
	}
	d := c.dates[route]
	if d == nil {
		if len(c.dates) >= datesKept {
			return 0
		}
		d = &routeDates{}
		c.dates[route] = d
	}
	return d.observe(h, now)
}

// oldestBody is the age of the newest body of the route whose newest body is oldest, of the answers since it was asked last.
// The caller holds the lock.
func (c *Client) oldestBody() (age time.Duration, by, route, date string) {
	for r, d := range c.dates {
		if d.polled && (d.age > age || route == "" || d.age == age && r < route) {
			age, by, route, date = d.age, d.by, r, d.date
		}
		d.polled = false
	}
	return age, by, route, date
}
