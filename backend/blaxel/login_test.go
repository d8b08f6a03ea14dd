package blaxel

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandglass/backend/backendtest"
)

// TestClientCredentialsStopNothing: they are not exchanged, which the source says when it reads. A key of the vendor's CLI is used beside
// them, and a file of it that cannot be read is named where it is missed.
func TestClientCredentialsStopNothing(t *testing.T) {
	for name, c := range map[string]struct{ file, workspace, refused, down string }{
		"no other key":         {"", "acme", "", "BL_CLIENT_CREDENTIALS would have to be exchanged for a token"},
		"a key of the CLI":     {"context: {workspace: acme}\nworkspaces: [{name: acme, credentials: {apiKey: k}}]\n", "", "", ""},
		"a file that is none":  {"context: [1,\n", "", "config.yaml is no valid YAML", ""},
		"no file, no words":    {"", "", "nothing says which workspace: give workspace, or set BL_WORKSPACE", ""},
		"none, with a context": {"context: [1,\n", "acme", "", "config.yaml is no valid YAML"},
	} {
		w := newWorld(t, nil)
		w.set("/sandboxes", page("", one("a", "DEPLOYED", day, "")))
		home := t.TempDir()
		if c.file != "" {
			if err := os.MkdirAll(filepath.Join(home, ".blaxel"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home, ".blaxel", "config.yaml"), []byte(c.file), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		src, err := Kind().New(backendtest.Options[Options](func(o *Options) { o.URL = w.url }), w.deps(map[string]string{envClient: "abc", envWorkspace: c.workspace, "HOME": home}))
		if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		_, err = src.Poll(t.Context())
		if (err == nil) != (c.down == "") || err != nil && !strings.Contains(err.Error(), c.down) {
			t.Errorf("%s: it reads: %v", name, err)
		}
	}
}
