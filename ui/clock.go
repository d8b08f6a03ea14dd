package ui

import (
	"strings"
	"time"

	"sandglass/views"
)

// now reads the clock of this viewer: UTC, or their local time.
func now(m *Model) time.Time {
	if m.viewer.LocalTime && m.viewer.Zone != nil {
		return m.viewer.Now().In(m.viewer.Zone)
	}
	return m.viewer.Now().UTC()
}

// clockOf is the time of day, in minutes, with its zone.
func clockOf(f *views.Frame) string {
	if views.Zoned(f.Now) {
		return f.Now.Format("15:04 MST")
	}
	return views.Minutes(f.Now, f.Now)
}

// setTime shows times in UTC or in local time; without a word the other of the two.
func (x *scope) setTime(word string) reply {
	switch word = strings.ToLower(strings.TrimSpace(word)); {
	case x.viewer.Zone == nil:
		return reply{Say: "times are in UTC: the local time zone is not known here"}
	case word == "":
		x.viewer.LocalTime = !x.viewer.LocalTime
	case word == "utc" || word == "local":
		x.viewer.LocalTime = word == "local"
	default:
		return reply{Say: "write utc or local: :time local"}
	}
	if x.viewer.LocalTime {
		return reply{Say: "times are local: " + x.viewer.Now().In(x.viewer.Zone).Format("MST, -07:00"), Refresh: true}
	}
	return reply{Say: "times are in UTC", Refresh: true}
}
