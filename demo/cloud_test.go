package demo

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// TestAgentuityOfAStory: a scenario with an Agentuity serves it under its key and writes its Hub's log; others have none.
func TestAgentuityOfAStory(t *testing.T) {
	for _, s := range scripts() {
		d, err := start(t.Context(), Options{Workspaces: 60, Scenario: s.Name, Start: testStart}, func() time.Duration { return 0 })
		if err != nil {
			t.Fatal(err)
		}
		from, has := readConfig(t, d.Config())["agentuity"]
		if has != (s.incidents.agentuity != 0) {
			t.Errorf("%s: %t", s.Name, has)
		}
		if has {
			asksAgentuity(t, s.Name, from)
			lines := ""
			for _, f := range readConfig(t, d.Config())["hub-log"].Files {
				raw, err := os.ReadFile(f)
				if err != nil {
					t.Error(err)
				}
				lines += string(raw)
			}
			if stuck := s.Name == "stuck-queue"; (strings.Count(lines, "\n") < 2) != stuck || !stuck && !strings.Contains(lines, "sbx_") {
				t.Errorf("%s: the Hub logged %q", s.Name, lines)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestCloudflareOfAStory: a scenario with a Cloudflare account serves it under its token; others have none.
func TestCloudflareOfAStory(t *testing.T) {
	for _, s := range scripts() {
		if !s.incidents.edge && s.Name != "calm" {
			continue
		}
		d, err := start(t.Context(), Options{Workspaces: 60, Scenario: s.Name, Start: testStart}, func() time.Duration { return 0 })
		if err != nil {
			t.Fatal(err)
		}
		from, has := readConfig(t, d.Config())["cloudflare"]
		if has != s.incidents.edge {
			t.Errorf("%s: %t", s.Name, has)
		}
		if has {
			asks(t, s.Name, from.URL+"/accounts/"+from.AccountID+"/containers/applications", from.Read.File, http.StatusForbidden)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestBlaxelOfAStory: a scenario with a Blaxel workspace serves it under its key, and saves a state of each session.
func TestBlaxelOfAStory(t *testing.T) {
	for _, s := range scripts() {
		if s.incidents.blaxel == 0 && s.Name != "calm" {
			continue
		}
		d, err := start(t.Context(), Options{Workspaces: 60, Scenario: s.Name, Start: testStart}, func() time.Duration { return 0 })
		if err != nil {
			t.Fatal(err)
		}
		from, has := readConfig(t, d.Config())["blaxel"]
		if has != (s.incidents.blaxel != 0) {
			t.Errorf("%s: %t", s.Name, has)
		}
		if has {
			asksOf(t, s.Name, from.URL+"/sandboxes", from.Read.File, http.StatusUnauthorized, map[string]string{"X-Blaxel-Workspace": from.Workspace})
			if saved, err := os.ReadDir(d.blaxel.states); err != nil || len(saved) != 4 {
				t.Errorf("%s: %d states, %v", s.Name, len(saved), err)
			}
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}

// asks sends a request with the key of a file, which must be answered, and with another one.
func asks(t *testing.T, name, url, file string, refused int) {
	t.Helper()
	asksOf(t, name, url, file, refused, nil)
}

func asksOf(t *testing.T, name, url, file string, refused int, headers map[string]string) {
	t.Helper()
	key, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{strings.TrimSpace(string(key)), "another"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+key)
		for k, v := range headers {
			req.Header.Set(k, v)
		}
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if want := map[bool]int{true: refused, false: 200}[key == "another"]; err != nil || resp.StatusCode != want || !json.Valid(body) {
			t.Errorf("%s: %s: %d %v %s", name, url, resp.StatusCode, err, body)
		}
	}
}

func asksAgentuity(t *testing.T, name string, from sourceRead) {
	t.Helper()
	key, err := os.ReadFile(from.Read.File)
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{strings.ReplaceAll(from.URL, "{region}", from.Regions[0]) + "/sandbox?orgId=" + from.Org, from.APIURL + "/cli/sandbox", from.HubURL + "/api/hub/sessions"} {
		for _, key := range []string{strings.TrimSpace(string(key)), "another"} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+key)
			client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if want := map[bool]int{true: 401, false: 200}[key == "another"]; err != nil || resp.StatusCode != want || !json.Valid(body) {
				t.Errorf("%s: %s: %d %v %s", name, url, resp.StatusCode, err, body)
			}
			if strings.Contains(string(body), "agentuity.cloud") {
				t.Errorf("%s: %s names an address that is not of this machine", name, url)
			}
		}
	}
}
