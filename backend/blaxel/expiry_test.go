package blaxel

import (
	"cmp"
	"fmt"
	"testing"
	"time"
)

func TestWhenASandboxExpires(t *testing.T) {
	created := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	for _, x := range []struct {
		runtime, lifecycle, more string
		want                     time.Time
		by                       string
	}{
		{`"ttl":"24h"`, `[]`, "", created.Add(24 * time.Hour), "its ttl of 24h from creation"},
		{`"ttl":"2w"`, `[{"type":"ttl-max-age","value":"7d","action":"delete"}]`, "", created.Add(7 * 24 * time.Hour), "its policy of 7d from creation"},
		{`"expires":"2026-11-25T00:00:00Z"`, `[{"type":"date","value":"2026-11-24T00:00:00Z"}]`, "", time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC), "the date of its policy"},
		{`"ttl":"24h"`, `[]`, `,"expiresIn":3588`, created.Add(24 * time.Hour), "its ttl of 24h from creation"}, // 07:00:12 and 59:48
		{``, `[{"type":"ttl-idle","value":"10m"}]`, "", time.Time{}, ""},
		{`"ttl":"1000000w"`, `[]`, "", time.Time{}, ""}, // longer than a time.Duration
		{`"ttl":"soon"`, `[]`, "", time.Time{}, ""},
	} {
		w := newWorld(t, nil)
		row := fmt.Sprintf(`{"metadata":{"name":"a","createdAt":%q},"spec":{"runtime":{%s},"lifecycle":{"expirationPolicies":%s}},"status":"DEPLOYED","state":"RUNNING"%s}`, day, x.runtime, x.lifecycle, x.more)
		w.set("/sandboxes", page("", row))
		if b := sandboxOf(t, w.poll(), "a"); !b.ExpiresAt.Equal(x.want) || b.ExpiresBy.String() != x.by {
			t.Errorf("%s %s %s: %v by %q", x.runtime, x.lifecycle, x.more, b.ExpiresAt, b.ExpiresBy)
		}
	}
}

// TestNoPortsIsTold: a record that declares none is another one than a record that does not tell.
func TestNoPortsIsTold(t *testing.T) {
	for ports, want := range map[string]bool{`[]`: true, `[ ]`: true, `null`: false, `[{"target":3000}]`: false} {
		w := newWorld(t, nil)
		w.set("/sandboxes", page("", fmt.Sprintf(`{"metadata":{"name":"a","createdAt":%q},"spec":{"runtime":{"ports":%s}},"status":"DEPLOYED"}`, day, ports)))
		if b := sandboxOf(t, w.poll(), "a"); b.NoPorts != want {
			t.Errorf("%s: %v", ports, b.NoPorts)
		}
	}
}

// TestNoEnvironmentIsTold: a record that declares no variable is another one than a record that does not tell.
func TestNoEnvironmentIsTold(t *testing.T) {
	for envs, want := range map[string]string{`[]`: "true []", `null`: "false []", `[{"name":"B"},{"name":"A","value":"v"}]`: "false [A B]"} {
		w := newWorld(t, nil)
		w.set("/sandboxes", page("", fmt.Sprintf(`{"metadata":{"name":"a","createdAt":%q},"spec":{"runtime":{"envs":%s}},"status":"DEPLOYED"}`, day, envs)))
		if b := sandboxOf(t, w.poll(), "a"); fmt.Sprint(b.NoEnv, b.EnvNames) != want {
			t.Errorf("%s: %v %v, want %s", envs, b.NoEnv, b.EnvNames, want)
		}
	}
}

// TestWhatRemovesAnIdleSandbox: a limit on idleness is told with its end where that can be counted, else in words, as is each limit
// that cannot be read.
func TestWhatRemovesAnIdleSandbox(t *testing.T) {
	const used = `,"lastUsedAt":"2026-11-21T06:55:00Z"` // it is 07:00:12
	for _, x := range []struct {
		runtime, value, more string
		want                 time.Time
		open                 string
	}{
		{`"ttl":"24h"`, `"10m"`, `,"state":"RUNNING","expiresIn":600`, time.Date(2026, 11, 21, 7, 10, 12, 0, time.UTC), ""},
		{``, `"10m"`, `,"state":"STANDBY"` + used, time.Date(2026, 11, 21, 7, 5, 0, 0, time.UTC), ""},
		{``, `"1m"`, `,"state":"STANDBY"` + used, time.Date(2026, 11, 21, 6, 56, 0, 0, time.UTC), ""}, // any moment now
		{``, `"10m"`, `,"state":"STANDBY"`, time.Time{}, "[its policy of 10m without use: when it was last used is not told]"},
		{``, `"10m"`, `,"state":"RUNNING"` + used, time.Time{}, "[its policy of 10m without use: it counts from waking and falling asleep, and when it last did is not told]"},
		{``, `"10m"`, `,"state":"STANDBY","lastUsedAt":"2026-11-21T05:00:00Z"`, time.Time{}, "[its policy of 10m without use: from its last use that is over, and it is still there: from when the platform counts is not told]"},
		{`"ttl":"rubbish"`, `7`, ``, time.Time{}, "[its ttl of rubbish from creation has no end that is understood its policy ttl-idle of 7 is not understood]"},
		{`"ttl":3600,"expires":"soon"`, `"10m"`, `,"state":"STANDBY","expiresIn":"soon"` + used, time.Date(2026, 11, 21, 7, 5, 0, 0, time.UTC),
			"[its ttl of 3600 from creation has no end that is understood its date of expiry, soon, is not understood the platform's own count of soon s cannot be used]"},
	} {
		w := newWorld(t, nil)
		w.set("/sandboxes", page("", fmt.Sprintf(`{"metadata":{"name":"a","createdAt":%q},"spec":{"runtime":{%s},"lifecycle":{"expirationPolicies":[{"type":"ttl-idle","value":%s}]}},"status":"DEPLOYED"%s}`,
			day, x.runtime, x.value, x.more)))
		b := sandboxOf(t, w.poll(), "a")
		if open := fmt.Sprint(b.OpenLimits); !b.ReapedAt.Equal(x.want) || open != cmp.Or(x.open, "[]") || !b.ReapedAt.IsZero() && b.ReapedBy.String() != "its policy of 10m without use" && x.value == `"10m"` {
			t.Errorf("%s %s %s: %v by %q, %s", x.runtime, x.value, x.more, b.ReapedAt, b.ReapedBy, open)
		}
	}
}

func TestTheExpiryHoldsStill(t *testing.T) {
	w := newWorld(t, nil)
	w.set("/sandboxes", page("", one("a", "DEPLOYED", day, `,"state":"RUNNING","expiresIn":600`)))
	at := sandboxOf(t, w.poll(), "a").ExpiresAt
	w.set("/sandboxes", page("", one("a", "DEPLOYED", day, `,"state":"RUNNING","expiresIn":589`))) // 588 are left
	if b := sandboxOf(t, w.poll(), "a"); !b.ExpiresAt.Equal(at) {
		t.Errorf("%v, then %v", at, b.ExpiresAt)
	}
	w.set("/sandboxes", page("", one("a", "DEPLOYED", day, `,"state":"RUNNING","expiresIn":600`))) // it was used
	if b := sandboxOf(t, w.poll(), "a"); b.ExpiresAt.Sub(at) != 24*time.Second {
		t.Errorf("%v, then %v", at, b.ExpiresAt)
	}
}
