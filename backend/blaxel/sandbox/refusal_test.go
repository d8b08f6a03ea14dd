package sandbox

import (
	"net/http"
	"testing"
)

func TestFourShapesOfRefusals(t *testing.T) {
	platform := http.Header{"X-Blaxel-Source": {"platform"}, "X-Blaxel-Error-Code": {"WORKLOAD_NOT_FOUND"}}
	html, plain := http.Header{"Content-Type": {"text/html"}}, http.Header{"Content-Type": {"text/plain"}}
	for _, x := range []struct {
		status       int
		h            http.Header
		body         string
		origin       Origin
		gone, waking bool
		text         string
	}{
		{404, nil, `{"code":404,"error":"Sandbox not found","message":"m"}`, OriginPlatform, true, false, "answered 404 Not Found: Sandbox not found: m"},
		{400, nil, `{"code":"QUOTA_EXCEEDED","message":"m","status_code":400,"step":"s"}`, OriginCreate, false, false, "answered 400 Bad Request: m (QUOTA_EXCEEDED at the step s)"},
		{404, nil, `{"error":{"code":"WORKLOAD_UNAVAILABLE","message":"m","retryable":true}}`, OriginGateway, false, true, "answered 404 Not Found: m (WORKLOAD_UNAVAILABLE)"},
		{404, nil, `{"error":{"code":"WORKLOAD_NOT_FOUND","message":"m"}}`, OriginGateway, true, false, "answered 404 Not Found: m (WORKLOAD_NOT_FOUND)"},
		{404, nil, `{"error":{"code":"ROUTE_NOT_FOUND","message":"m"}}`, OriginGateway, false, false, "answered 404 Not Found: m (ROUTE_NOT_FOUND)"},
		{404, nil, `{"error":"process with Identifier nope not found"}`, OriginInside, false, false, "answered 404 Not Found: process with Identifier nope not found"},
		{404, plain, `404 page not found`, OriginRouter, false, false, "answered 404 Not Found: 404 page not found"},
		{404, platform, ``, OriginGateway, true, false, "answered 404 Not Found (WORKLOAD_NOT_FOUND)"},
		{504, html, `<html>`, OriginEdge, false, false, "answered 504 Gateway Timeout: a web page"},
		{500, nil, `[1]`, OriginUnknown, false, false, "answered 500 Internal Server Error: [1]"},
		{500, nil, `{"code":"`, OriginUnknown, false, false, `answered 500 Internal Server Error: {"code":"`},
	} {
		r := ReadRefusal(x.status, x.h, []byte(x.body))
		if r.Origin != x.origin || r.Gone() != x.gone || r.Waking() != x.waking || r.Text() != x.text {
			t.Errorf("%s: %q gone %v waking %v %q", x.body, r.Origin, r.Gone(), r.Waking(), r.Text())
		}
	}
}

func TestWhereAKeyMayGo(t *testing.T) {
	domains := []string{"bl.run"}
	for _, x := range []struct {
		raw, base string
		ok        bool
	}{
		{"https://sbx-a-acme.us-pdx-1.bl.run", "https://api.blaxel.ai/v0", true},
		{"https://sbx-a-acme.us-pdx-1.bl.run/", "https://api.blaxel.ai/v0", true},
		{"http://sbx-a-acme.us-pdx-1.bl.run", "https://api.blaxel.ai/v0", false},
		{"https://evilbl.run", "https://api.blaxel.ai/v0", false},
		{"https://bl.run.evil.example", "https://api.blaxel.ai/v0", false},
		{"https://u:p@x.bl.run", "https://api.blaxel.ai/v0", false},
		{"https://x.bl.run?token=1", "https://api.blaxel.ai/v0", false},
		{"http://127.0.0.1:8080", "https://api.blaxel.ai/v0", false},
		{"http://127.0.0.1:8080", "http://127.0.0.1:9000/v0", true},
		{"http://localhost:8080", "http://[::1]:9000/v0", true},
		{"http://10.0.0.1:8080", "http://127.0.0.1:9000/v0", false},
		{"nothing", "https://api.blaxel.ai/v0", false},
	} {
		got, err := Address(x.raw, x.base, domains)
		if (err == nil) != x.ok || err == nil && got != x.raw && got+"/" != x.raw {
			t.Errorf("%s beside %s: %q %v", x.raw, x.base, got, err)
		}
	}
}
