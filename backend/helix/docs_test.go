package helix

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"sandglass/backend/wire"
)

// TestDocumentedRoutes reads every 200 answer in the operators' documentation, so that the contract and the reader
// cannot drift apart.
func TestDocumentedRoutes(t *testing.T) {
	text, err := os.ReadFile("../../docs/helix-operator-routes.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```\nGET ([^\n]+)\n200 (.*?)```").FindAllStringSubmatch(string(text), -1)
	read := map[string]int{}
	for _, b := range blocks {
		route, body := b[1], []byte(b[2])
		if strings.HasPrefix(route, "/healthz/") {
			all, err := decodeAll(testDecoder(), string(body))
			if err != nil {
				t.Errorf("%s: %v", route, err)
			}
			read[route] = len(all)
			continue
		}
		rig := newRig(t, say(http.StatusNotFound, ""), func(o *Options, url string) { o.AggregateURL = url })
		page, err := rig.source.readPage(&wire.Response{Body: body, At: noon}, strings.Contains(route, "workspaces"))
		if err != nil || len(page.bad) > 0 {
			t.Errorf("%s: %v %v", route, err, page)
			continue
		}
		read[route] = len(page.listed) + len(page.sessions)
		if strings.Contains(route, "work") && len(page.listed) > 0 {
			if x := page.listed[0].work; len(x.executions) != 2 || len(x.jobs) != 1 || x.left != 0 {
				t.Errorf("%s: the first session has %+v", route, x)
			}
		} else if len(page.listed) > 0 && page.listed[0].facts.Versions().String() != "7.1.0, SDK 0.10.3" {
			t.Errorf("%s: the first session runs %q", route, page.listed[0].facts.Versions())
		}
	}
	for route, want := range map[string]int{"/healthz/s-4711": 2, "/operator/sessions": 2, "/operator/sessions?with=work": 2, "/operator/workspaces": 2} {
		if read[route] != want {
			t.Errorf("%s: read %d, want %d", route, read[route], want)
		}
	}
}
