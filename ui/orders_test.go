package ui

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/actions"
	"sandglass/alerts"
	"sandglass/backend"
)

var (
	_ Orders   = (*alerts.Service)(nil) // what the wiring hands to New
	_ Silences = (*alerts.Service)(nil)
	_ History  = (*alerts.Service)(nil)
)

// orderFeed takes orders and remembers them.
type orderFeed struct {
	*fixedFeed
	lock  sync.Mutex
	taken []string
	fail  error
	muted []alerts.Silencing
}

func (f *orderFeed) take(format string, args ...any) error {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.taken = append(f.taken, fmt.Sprintf(format, args...))
	return f.fail
}

func (f *orderFeed) orders() string {
	f.lock.Lock()
	defer f.lock.Unlock()
	return strings.Join(f.taken, "\n")
}

func (f *orderFeed) Acknowledge(id string, owner, reason backend.Safe, d time.Duration) (alerts.Order, error) {
	return alerts.Order{}, f.take("acknowledge %s as %s for %s: %s", id, owner, d, reason)
}

func (f *orderFeed) Unacknowledge(id string, owner backend.Safe) (alerts.Order, error) {
	return alerts.Order{}, f.take("unacknowledge %s as %s", id, owner)
}

func (f *orderFeed) Silence(ms alerts.Matchers, owner, reason backend.Safe, d time.Duration) (alerts.Order, int, error) {
	return alerts.Order{}, f.Matching(ms), f.take("silence %s as %s for %s: %s", ms, owner, d, reason)
}

func (f *orderFeed) Expire(id string, owner backend.Safe) (alerts.Order, error) {
	return alerts.Order{}, f.take("expire %s as %s", id, owner)
}

func (f *orderFeed) Matching(ms alerts.Matchers) int {
	n := 0
	_, b := f.Latest()
	for _, a := range b.Alerts {
		if ms.Match(map[string]string{alerts.LabelRule: a.Rule, alerts.LabelSource: a.Source, alerts.LabelFingerprint: a.Fingerprint}) {
			n++
		}
	}
	return n
}

func (f *orderFeed) Silences() []alerts.Silencing { return f.muted }

func mute(now time.Time, id, matchers, owner, reason string, left time.Duration, n int) alerts.Silencing {
	ms, err := alerts.ParseMatchers(matchers)
	if err != nil {
		panic(err)
	}
	return alerts.Silencing{Silence: alerts.Silence{ID: safe(id), Owner: safe(owner), Reason: safe(reason), Until: now.Add(left)}, At: now.Add(-time.Hour), Matchers: ms, Matches: n}
}

func orderly() *orderFeed {
	now := time.Now()
	s, b := incident(now)
	b.Alerts[2].Silenced = &alerts.Silence{ID: safe("5e1"), Owner: safe("ann"), Reason: safe("bucket is being moved"), Until: now.Add(8 * time.Minute)}
	b.Alerts[3].Lapsed = &alerts.Lapse{Acknowledgement: alerts.Acknowledgement{Owner: safe("ann"), Reason: safe("looking")}, Why: safe("it was taken for 30m")}
	return &orderFeed{fixedFeed: newFeed(s, b), muted: []alerts.Silencing{
		mute(now, "5e1", `rule="hammered-and-failing", source="helix-eu"`, "ann", "bucket is being moved", 8*time.Minute, 1),
		mute(now, "5e2", `source=~"helix-us.*", severity!="critical"`, "mara", "region is down for maintenance until tomorrow, see the calendar", 3*time.Hour, 0),
	}}
}

func orderlyFeed() Feed { return orderly() }

func TestOrderScreens(t *testing.T) {
	screens := map[string][]string{
		"silences": {"M", "j"}, "acknowledge": {"a", "on it"}, "silence": {"m", "moved to another bucket"}, "muted": {"j", "j"}, "lapsed": {"j", "j", "j", keyEnter},
		"nothing-filled-in": {"a", keyEnter, keyEnter},
	}
	for name, press := range screens {
		sizedShots(t, name, orderlyFeed, andSmall(), press...)
		if name != "lapsed" && name != "nothing-filled-in" {
			tieredShots(t, name+"-tiers", orderlyFeed, tiers(), press...)
		}
	}
	t.Run("no-silences", func(t *testing.T) { shot(t, incidentFeed, look{w: 80, h: 24}, "M") })
}

// What a dialog orders is what stands in it, under the viewer's name; enter alone orders nothing.
func TestOrders(t *testing.T) {
	for _, c := range []struct {
		name  string
		press []string
		want  string // orders
		says  string // on the screen
	}{
		{"acknowledge", []string{"a", "on it", keyEnter, keyEnter}, "acknowledge a1 as mara for 30m0s: on it", "eviction-storm is yours for 30m"},
		{"another time", []string{"a", "on it", keyEnter, "\x7f\x7f\x7f", "2h", keyEnter}, "acknowledge a1 as mara for 2h0m0s: on it", "is yours for 2h"},
		{"no time", []string{"a", "on it", keyEnter, "x", keyEnter}, "", `"30mx" is not a time`},
		{"enter alone", []string{"a", keyEnter, keyEnter, keyEnter, keyEnter}, "", "reason is empty"},
		{"blanks are no reason", []string{"a", "   ", keyEnter, keyEnter}, "", "reason is empty"},
		{"left", []string{"a", "on it", keyEnter, "\x03"}, "", "1 Alerts"},
		{"pasted", []string{"a", "\x1b[200~on\nit\r\n\x1b[201~", keyEnter, keyEnter}, "acknowledge a1 as mara for 30m0s: on it", ""},
		{"paste orders nothing", []string{"a", "on it", keyEnter, "\x1b[200~\r\n\r\n\x1b[201~"}, "", "acknowledge eviction-storm"},
		{"from a workspace that it names", []string{"2", "G", "a", "on it", keyEnter, keyEnter}, "", ""},
		{"give back", []string{"j", "A"}, "unacknowledge a2 as mara", "failed-too-long is not acknowledged any more"},
		{"give back what nobody has", []string{"A"}, "", "is not acknowledged"},
		{"of an ended one", []string{"G", "a"}, "", "is over"},
		{"silence", []string{"m", "moved", keyEnter, keyEnter}, `silence {rule="eviction-storm", source="helix-eu", cause_fingerprint="v1:a1"} as mara for 1h0m0s: moved`, "1 alert silenced for 1h"},
		{"silence without a reason", []string{"m", keyEnter, keyEnter, keyEnter}, "", "reason is empty"},
		{"silence of nothing", []string{"m", "\x1b[Z", "\x15", "rule=none", keyEnter, "x", keyEnter, keyEnter}, "silence {rule=\"none\"} as mara for 1h0m0s: x", "it matches no alert"},
		{"silence of what is not understood", []string{"m", "x", "\x1b[Z", "\x15", "rool=none", keyEnter, keyEnter, keyEnter}, "", "rool"},
		{"end a silence", []string{"M", "j", "x", "x"}, "expire 5e2 as mara", "the silence is over"},
		{"once is not enough", []string{"M", "x"}, "", "x once more"},
		{"nor on another", []string{"M", "x", "j", "x"}, "", "x once more"},
		{"by its name", []string{":", "acknow", keyEnter, "on it", keyEnter, keyEnter}, "acknowledge a1 as mara for 30m0s: on it", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				feed := orderly()
				s := open(t, feed, look{w: 120, h: 40})
				s.press(c.press...)
				want := c.want
				if c.name == "from a workspace that it names" {
					if n := feed.orders(); strings.Contains(n, "acknowledge a1") != (s.model.frame.Alert(s.model.screen().Cursor(&s.model.frame)) != nil) {
						t.Errorf("orders %q", n)
					}
					want = feed.orders()
				}
				if got := strings.NewReplacer("{", "", "}", "").Replace(feed.orders()); got != strings.NewReplacer("{", "", "}", "").Replace(want) {
					t.Errorf("orders\n%s\nwant\n%s", got, want)
				}
				if !strings.Contains(s.text(), c.says) {
					t.Errorf("does not say %q:\n%s", c.says, s.text())
				}
				s.close()
			})
		})
	}
}

// An order that was refused stays in its dialog with the reason; nothing that was typed is lost.
func TestRefusedOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		feed := orderly()
		feed.fail = errors.New("not done, because it cannot be stored: disk is full")
		s := open(t, feed, look{w: 80, h: 24})
		s.press("a", "on it", keyEnter, keyEnter)
		if text := s.text(); !strings.Contains(text, "disk is full") || !strings.Contains(text, "on it") {
			t.Errorf("the refusal or the text is lost:\n%s", text)
		}
		s.press("A", keyEsc) // in the dialog A is a letter
		time.Sleep(time.Second)
		s.settle()
		s.press("j", "A")
		if text := s.text(); !strings.Contains(text, "not done") {
			t.Errorf("a refusal without a dialog is not said:\n%s", text)
		}
		s.close()
	})
}

// A viewer who only looks sees silences and orders nothing.
func TestLookingOrdersNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		feed := orderly()
		s := open(t, feed, look{w: 120, h: 40, may: &actions.Permissions{}})
		for _, keys := range [][]string{{"a"}, {"j", "A"}, {"m"}, {"M", "x"}, {"x"}} {
			s.press(keys...)
			if _, opened := over[*form](s.model); opened || !strings.Contains(s.text(), "mara may only look here; ask the operator of") {
				t.Errorf("%v: not refused:\n%s", keys, s.text())
			}
		}
		if !strings.Contains(s.text(), "bucket is being moved") {
			t.Errorf("the silences are not there to look at:\n%s", s.text())
		}
		if feed.orders() != "" {
			t.Errorf("ordered %s", feed.orders())
		}
		s.close()
	})
}
