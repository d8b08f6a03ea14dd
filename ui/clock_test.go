package ui

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// One key and one command show every time in local time, with its zone, or in UTC.
func TestLocalTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		zone := time.FixedZone("NPT", 5*3600+45*60)
		s := openViewer(t, incidentFeed(), look{w: 140, h: 30}, func(v *Viewer) { v.Zone = zone })
		header := func() string { return strings.Join(s.rows(area{0, 0, s.w, 2}), "\n") }
		utc, local := time.Now().UTC().Format("15:04Z"), time.Now().In(zone).Format("15:04 NPT")
		for _, step := range []struct {
			press     []string
			want, say string
		}{
			{nil, utc, ""},
			{[]string{"T"}, local, "times are local: NPT, +05:45"},
			{[]string{":", "t", "i", "m", "e", " ", "u", "t", "c", keyEnter}, utc, "times are in UTC"},
			{[]string{":", "t", "i", "m", "e", " ", "x", keyEnter}, utc, "write utc or local"},
		} {
			s.press(step.press...)
			if !strings.Contains(header(), step.want) || !strings.Contains(s.text(), step.say) {
				t.Errorf("%q: no %q, no %q:\n%s", step.press, step.want, step.say, header())
			}
		}
		s.press("T", keyEnter)
		if strings.Contains(s.text(), ":00Z") {
			t.Errorf("a time of the page is in UTC:\n%s", s.text())
		}
		s.close()
	})
}
