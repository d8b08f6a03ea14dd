package blaxel

import (
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
)

// TestSamples replays every answer of testdata and says what must be read from it. A file without a line here fails.
func TestSamples(t *testing.T) {
	says := map[string]func(t *testing.T, w *world, r reply){
		"control_plane_list_page": func(t *testing.T, w *world, a reply) {
			w.setFunc("/sandboxes", func(q url.Values) reply {
				if q.Get("cursor") == "opaque-cursor" {
					return page("", one("last", "DEPLOYED", "2026-11-20T08:00:00Z", `,"state":"RUNNING"`))
				}
				return a
			})
			r := w.poll()
			runs, sleeps := sandboxOf(t, r, "agents-0a1b2c3d4e5f"), sandboxOf(t, r, "agents-112233445566")
			sandboxOf(t, r, "last")
			if runs.Class != backend.SandboxRunning || sleeps.Class != backend.SandboxAsleep || runs.Reported.String() != "DEPLOYED RUNNING" || sleeps.Power.String() != "STANDBY" {
				t.Errorf("states: %v %v %v %v", runs.Class, sleeps.Class, runs.Reported, sleeps.Power)
			}
			if runs.Region.String() != "us-pdx-1" || runs.Org.String() != "acme" || runs.Image.String() != "blaxel/base-image:latest" || runs.MemLimit.Or(0) != 4096<<20 || len(runs.Ports) != 1 || runs.Ports[0].String() != "3000/http" ||
				len(runs.Labels) != 1 || runs.Labels[0].Value.String() != "agents" || runs.Address.String() != "https://sbx-agents-0a1b2c3d4e5f-acme.us-pdx-1.bl.run" {
				t.Errorf("%+v", runs)
			}
			created := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
			if !runs.CreatedAt.Or(time.Time{}).Equal(created) || !runs.LastUsedAt.Equal(time.Date(2026, 11, 21, 7, 0, 0, 0, time.UTC)) {
				t.Errorf("created %v, used %v", runs.CreatedAt, runs.LastUsedAt)
			}
			if want := created.Add(24 * time.Hour); !runs.ExpiresAt.Equal(want) && runs.ExpiresAt.Sub(w.clock.Now().Add(time.Hour)).Abs() > time.Minute || runs.ExpiresBy.IsEmpty() || runs.TTL.String() != "24h" {
				t.Errorf("it expires at %v by %v, ttl %q", runs.ExpiresAt, runs.ExpiresBy, runs.TTL)
			}
			if !r.Whole(backend.KindSandbox) {
				t.Error("both pages were read, and the list is not whole")
			}
		},
		"control_plane_get_failed": func(t *testing.T, w *world, a reply) {
			w.set("/sandboxes", page("", one("agents-deadbeef0001", "FAILED", "2026-11-20T08:00:00Z", "")))
			w.set("/sandboxes/agents-deadbeef0001", a)
			b := sandboxOf(t, w.poll(), "agents-deadbeef0001")
			if b.Class != backend.SandboxDead || b.StartError.String() != "invented reason (VM_NETWORK_FAILURE)" || len(b.Lifecycle) != 2 ||
				b.Lifecycle[1].Type.String() != "deployment FAILED: vm did not start" || b.LifecycleAt.IsZero() || !b.FinishedAt.Or(time.Time{}).Equal(time.Date(2026, 11, 20, 8, 0, 9, 0, time.UTC)) {
				t.Errorf("%v %q %+v %v", b.Class, b.StartError, b.Lifecycle, b.FinishedAt)
			}
		},
		"control_plane_error_404": func(t *testing.T, w *world, a reply) {
			w.set("/sandboxes", page("", one("nope", "DEPLOYED", "2026-11-20T08:00:00Z", `,"state":"RUNNING"`), one("other", "DEPLOYED", "2026-11-20T08:00:00Z", `,"state":"RUNNING"`)))
			w.poll()
			w.set("/sandboxes", page("", one("other", "DEPLOYED", "2026-11-20T08:00:00Z", `,"state":"RUNNING"`)))
			w.set("/sandboxes/nope", a)
			r := w.poll()
			if len(r.Ended) != 1 || r.Ended[0].ID.Raw() != "nope" || len(r.Sandboxes) != 1 {
				t.Errorf("ended %v, %d sandboxes", r.Ended, len(r.Sandboxes))
			}
		},
		"control_plane_create_error": func(t *testing.T, w *world, a reply) {
			w.set("/sandboxes", a)
			if got := w.fails().Error(); !strings.Contains(got, "answered 400 Bad Request: invented text (INVALID_IMAGE at the step validate_and_prepare)") {
				t.Error(got)
			}
		},
		"gateway_error_workload_unavailable": func(t *testing.T, w *world, a reply) { // it exists: nothing ends
			b := one("wakes", "DEPLOYED", "2026-11-20T08:00:00Z", `,"state":"STANDBY"`)
			w.set("/sandboxes", page("", b))
			w.set("/sandboxes/wakes", ok(b))
			w.poll()
			w.set("/sandboxes", page(""))
			w.set("/sandboxes/wakes", a)
			r := w.poll()
			if len(r.Ended) != 0 || r.Whole(backend.KindSandbox) {
				t.Errorf("ended %v, whole %v", r.Ended, r.Whole(backend.KindSandbox))
			}
			sandboxOf(t, r, "wakes")
			if got := problems(r); !strings.Contains(got, "(WORKLOAD_UNAVAILABLE); it exists and does not answer yet") {
				t.Error(got)
			}
		},
	}
	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range files {
		name, is := strings.CutSuffix(f.Name(), ".json")
		if !is {
			continue
		}
		seen++
		check := says[name]
		if check == nil {
			t.Errorf("nothing says what is read from %s", f.Name())
			continue
		}
		t.Run(name, func(t *testing.T) { check(t, newWorld(t, nil), readSample(t, name)) })
	}
	if seen != len(says) {
		t.Errorf("%d files, %d lines", seen, len(says))
	}
}
