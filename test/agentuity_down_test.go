package test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/backend/fleet"
	"sandglass/demo"
)

// platformProxy stands before the demo's Agentuity, and answers in its place while down holds something.
type platformProxy struct {
	down atomic.Pointer[http.HandlerFunc]
}

// before makes the sources of a configuration of the demo ask the proxy.
func (p *platformProxy) before(t *testing.T, config string) string {
	t.Helper()
	m := regexp.MustCompile(`\nkind = "agentuity"\n(?s:.*?)\nurl = "(http://127\.0\.0\.1:\d+)/`).FindStringSubmatch(config)
	if m == nil {
		t.Fatalf("no address in\n%s", config)
	}
	to, err := url.Parse(m[1])
	if err != nil {
		t.Fatal(err)
	}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if f := p.down.Load(); f != nil {
			(*f)(w, r)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return strings.ReplaceAll(config, m[1], srv.URL)
}

// fails has the platform answer so from now on; nil: as it does.
func (p *platformProxy) fails(f http.HandlerFunc) {
	if p.down.Store(nil); f != nil {
		p.down.Store(&f)
	}
}

// ways are how a platform does not answer.
func ways() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"500": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"message":"Internal Server Error"}`, 500)
		},
		"hung up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"nothing": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"success":true}`)) },
	}
}

// TestCommandsHoldTheAlertsOfAPlatformThatIsDown: what fired is held by later processes while the platform does not answer, with the
// reason, and is the same alert once it answers again.
func TestCommandsHoldTheAlertsOfAPlatformThatIsDown(t *testing.T) {
	t.Parallel()
	for scenario, rule := range map[string]string{"zombie": "contradiction", "no-checkpoint": "no-checkpoint"} {
		p := &platformProxy{}
		w := newCommandLines(t, demo.Options{Workspaces: 10, Seed: 1, Scenario: scenario}, func(config string) string { return p.before(t, config) })
		fired := regexp.MustCompile(`critical ` + rule + ` on agentuity, firing.*(alert [0-9a-f]{10})`).FindStringSubmatch(w.run(2, "", "check", "--observe", "1s"))
		if fired == nil {
			t.Fatalf("%s does not fire", rule)
		}
		for name, way := range ways() {
			p.fails(way)
			out, _, code := w.process("check")
			if code == 0 || !regexp.MustCompile(`critical `+rule+` on agentuity, held.*`+fired[1]+`\n(?s:.*?)\n  last confirmed: .*\n  held: agentuity is down: `).MatchString(out) {
				t.Errorf("%s, %s: exit code %d\n%s", rule, name, code, out)
			}
			if events, _, _ := w.process("get", "events"); regexp.MustCompile(rule + ` (resolved|ended)`).MatchString(events) {
				t.Errorf("%s, %s: resolved:\n%s", rule, name, events)
			}
		}
		p.fails(nil)
		w.run(2, `critical `+rule+` on agentuity, firing.*`+fired[1], "check")
	}
}

// TestTheConsoleHoldsTheAlertsOfAPlatformThatIsDown: the same in one process that goes on.
func TestTheConsoleHoldsTheAlertsOfAPlatformThatIsDown(t *testing.T) {
	t.Parallel()
	for scenario, rule := range map[string]string{"zombie": "contradiction", "no-checkpoint": "no-checkpoint"} {
		p := &platformProxy{}
		const from, to = 4 * time.Minute, 5 * time.Minute
		var first *alerts.Alert
		n, at := 0, time.Duration(0)
		watchDemoBy(t, scenario, 6*time.Minute, func(config string) string { return p.before(t, config) }, func(st *fleet.State, b *alerts.Board) {
			at = time.Duration(n) * 5 * time.Second
			n++
			var now *alerts.Alert
			for _, a := range b.Alerts {
				if a.Rule == rule && a.Source == "agentuity" {
					now = a
				}
			}
			switch {
			case at == from:
				if first = now; first == nil || first.State != alerts.StateFiring {
					t.Fatalf("%s: %s does not fire: %+v", scenario, rule, now)
				}
				p.fails(ways()["500"])
			case at == to:
				p.fails(nil)
			}
			if first == nil {
				return
			}
			if now == nil || now.ID != first.ID || !now.Active.Equal(first.Active) {
				t.Fatalf("%s: at %s: %+v", rule, at, now)
			}
			switch {
			case at > from+15*time.Second && at <= to:
				if now.State != alerts.StateHeld || !strings.HasPrefix(now.Why.String(), "agentuity is down: ") {
					t.Errorf("%s: at %s: %s, %q", rule, at, now.State, now.Why)
				}
				if h := st.Source("agentuity"); h.Status != fleet.StatusDown {
					t.Errorf("at %s: %s", at, h.Status)
				}
			case at > to+30*time.Second && now.State != alerts.StateFiring:
				t.Errorf("%s: at %s: %s", rule, at, now.State)
			}
		})
		if at != 6*time.Minute {
			t.Errorf("the story ended at %s", at)
		}
	}
}
