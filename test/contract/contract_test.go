// Package contract holds the demo's Blaxel to the vendor's Go client. It is a module of its own, so that the program does not
// depend on that client.
package contract

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	blaxel "github.com/blaxel-ai/sdk-go"
	"github.com/blaxel-ai/sdk-go/option"

	demo "sandglass/demo/blaxel"
)

const key = "contract-key-0123456789"

// TestTheVendorsClientReadsTheDemo lists, reads and deletes through the vendor's client: both planes answer what it understands.
func TestTheVendorsClientReadsTheDemo(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home) // it would read and write ~/.blaxel
	for _, name := range []string{"BL_API_KEY", "BL_WORKSPACE", "BL_API_URL", "BL_CLIENT_CREDENTIALS", "BL_ENV", "BL_REGION"} {
		t.Setenv(name, "") // which puts it back at the end
		if err := os.Unsetenv(name); err != nil {
			t.Fatal(err)
		}
	}
	url := ""
	p := demo.NewPlatform(key, time.Now, func() string { return url }, func(time.Duration) {})
	srv := httptest.NewServer(p)
	defer srv.Close()
	url = srv.URL
	box := p.Add("agents-0a1b2c3d4e5f", time.Now().Add(-time.Hour))
	box.Previews = []*demo.Preview{{Name: "port-3000", Port: 3000, Tokens: map[string]time.Time{"token-1": time.Now().Add(time.Hour)}}}
	p.Add("agents-112233445566", time.Now().Add(-2*time.Hour))
	box.Server.Start("loop", "sleep 900", "/workspace", time.Now())

	options := []option.RequestOption{option.WithBaseURL(url + "/v0/"), option.WithAPIKey(key), option.WithWorkspace(demo.Workspace), option.WithMaxRetries(0)}
	client := blaxel.NewClient(options...)
	ctx := t.Context()

	names := map[string]bool{}
	pages := client.Sandboxes.ListAutoPaging(ctx, blaxel.SandboxListParams{Limit: blaxel.Int(1)})
	for pages.Next() {
		names[pages.Current().Metadata.Name] = true
	}
	if err := pages.Err(); err != nil || len(names) != 2 {
		t.Fatalf("listed %v, %v", names, err)
	}
	got, err := client.Sandboxes.Get(ctx, box.Name, blaxel.SandboxGetParams{})
	if err != nil || got.Metadata.Name != box.Name || string(got.Status) != "DEPLOYED" || got.Metadata.URL != url+"/sbx/"+box.Name {
		t.Fatalf("%+v %v", got, err)
	}
	previews, err := client.Sandboxes.Previews.List(ctx, box.Name)
	if err != nil || len(*previews) != 1 || (*previews)[0].Metadata.Name != "port-3000" {
		t.Errorf("previews: %v %v", previews, err)
	}
	tokens, err := client.Sandboxes.Previews.Tokens.Get(ctx, "port-3000", blaxel.SandboxPreviewTokenGetParams{SandboxName: box.Name})
	if err != nil || len(*tokens) != 1 {
		t.Errorf("tokens: %v %v", tokens, err)
	}
	if _, err := client.Sandboxes.Previews.Tokens.Delete(ctx, "token-1", blaxel.SandboxPreviewTokenDeleteParams{SandboxName: box.Name, PreviewName: "port-3000"}); err != nil || len(box.Previews[0].Tokens) != 0 {
		t.Errorf("a token was not revoked: %v", err)
	}

	inside, err := client.Sandboxes.GetInstance(ctx, box.Name)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := inside.FS.LS(ctx, "/workspace")
	if err != nil || len(dir.Files) != 1 || dir.Files[0].Name != "hello.txt" {
		t.Errorf("listed %+v, %v", dir, err)
	}
	if text, err := inside.FS.Read(ctx, "/workspace/hello.txt"); err != nil || text != "hello\n" {
		t.Errorf("read %q, %v", text, err)
	}
	all, err := inside.Process.List(ctx)
	if err != nil || len(*all) != 1 || (*all)[0].Name != "loop" {
		t.Errorf("processes: %v %v", all, err)
	}
	if _, err := inside.Process.Get(ctx, "nope"); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("a process that is not there: %v", err)
	}
	if _, err := inside.Process.Kill(ctx, "loop"); err != nil {
		t.Errorf("kill: %v", err)
	}
	if _, err := client.Sandboxes.Delete(ctx, box.Name); err != nil {
		t.Errorf("delete: %v", err)
	}
	if _, err := client.Sandboxes.Get(ctx, "nobody", blaxel.SandboxGetParams{}); err == nil || !strings.Contains(err.Error(), "404") {
		t.Errorf("a sandbox that is not there: %v", err)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) > 0 {
		t.Errorf("the client wrote into its home: %v %v", left, err)
	}
}
