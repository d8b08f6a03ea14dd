package docker

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sandglass/actions"
	"sandglass/backend/workdir"
)

// TestRootOfTheContainerIsNoTarget: a container without a working directory has /, which is always there.
func TestRootOfTheContainerIsNoTarget(t *testing.T) {
	f := newFake(t)
	f.answer = func(w http.ResponseWriter, _ *http.Request, path string) bool {
		if path != "containers/"+boxID+"/json" {
			return false
		}
		_, _ = fmt.Fprintf(w, `{"Id":%q,"Name":"/web-eval-12","State":{"Status":"running","Pid":12725},"HostConfig":{},"Config":{"WorkingDir":""}}`, boxID)
		return true
	}
	c := lookAt(t, f.parts(soon)[actions.Repair], known(sandbox()))
	if !strings.Contains(c.Why.String(), "it has no working directory of its own") || len(f.requests()) != 1 {
		t.Errorf("%q, asked %q", c.Why, f.requests())
	}
}

// TestLinkWhoseEndIsNotSeen: where a link leads nowhere that the engine can show, the engine is not asked, and nothing is
// concluded: it would tell what lies below a mount in memory.
func TestLinkWhoseEndIsNotSeen(t *testing.T) {
	for _, target := range []string{"/mem/ws", ""} {
		f := newFake(t)
		f.mounts = `[{"Type":"image","Source":"x","Destination":"/mem"}]`
		f.answer = func(w http.ResponseWriter, r *http.Request, path string) bool {
			switch {
			case !strings.HasSuffix(path, "/archive"):
				return false
			case r.URL.Query().Get("path") != "/work":
				w.WriteHeader(http.StatusNotFound)
				return true
			}
			answerLink(w, target)
			return true
		}
		c := lookAt(t, f.parts(soon)[actions.Repair], known(sandbox()))
		if !c.Why.IsEmpty() || fact(actions.Target{Identity: c.Identity}, factRoot) != string(workdir.Unseen) || fact(actions.Target{Identity: c.Identity}, factTarget) != target {
			t.Errorf("a link to %q: left out because of %q, identity %v", target, c.Why, c.Identity)
		}
		if asked := f.requests(); len(asked) != 2 {
			t.Errorf("a link to %q: asked %q", target, asked)
		}
	}
}
