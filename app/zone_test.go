package app

import (
	"testing"
	"time"
)

// The zone has the rules of the machine's, and is another location than the process's own and UTC.
func TestLocalZone(t *testing.T) {
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for _, tz := range []string{"", "UTC", "nosuch/zone"} {
		zone := localZone(tz, at)
		if zone == time.Local || zone == time.UTC {
			t.Errorf("%q is %v itself", tz, zone)
		}
		if got, want := at.In(zone).Format("15:04 -0700"), at.Local().Format("15:04 -0700"); got != want && tz == "" {
			t.Errorf("%q: %s, want %s", tz, got, want)
		}
	}
}
