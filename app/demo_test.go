package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/demo"
)

// serve runs a headless demo that writes its configuration into a file, until end is called; written is what it wrote.
func serve(t *testing.T, file string) (written string, end func()) {
	t.Helper()
	was, _ := os.ReadFile(file) // it may not be there yet
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- new(App).Demo(ctx, DemoOptions{Workspaces: 3, Seed: 1, Scenario: "calm", Headless: true, WriteConfig: file})
	}()
	for range 1000 {
		if raw, err := os.ReadFile(file); err == nil && string(raw) != string(was) && demo.StandOf(raw) == demo.Runs {
			return string(raw), func() {
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
			}
		}
		select {
		case err := <-ended:
			t.Fatalf("the demo ended: %v", err)
		case <-time.After(20 * time.Millisecond):
		}
	}
	t.Fatal("the demo wrote nothing")
	return "", nil
}

// `demo --write-config` once replaced any file, and removed it at its end.
func TestADemoLeavesFilesOfOthersAlone(t *testing.T) {
	dir := t.TempDir()
	demo1 := filepath.Join(dir, "demo.toml")
	running, end := serve(t, demo1)
	link := filepath.Join(dir, "link.toml")
	if err := os.Symlink(filepath.Join(dir, "nowhere.toml"), link); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"prod.toml":    "# my production configuration\n",
		"comment.toml": "# demo: mine\n" + running,
		"foreign.toml": strings.Replace(running, "/sandglass-demo-", "/my-own-", 1),
		"empty.toml":   "",
		"demo.toml":    running,
	} {
		file := filepath.Join(dir, name)
		if file != demo1 {
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		err := new(App).Demo(context.Background(), DemoOptions{Workspaces: 3, Seed: 2, Scenario: "calm", Headless: true, WriteConfig: file})
		there := (*DemoFileError)(nil)
		if !errors.As(err, &there) || there.Lives != (file == demo1) {
			t.Errorf("%s: the demo ended with %v", name, err)
		}
		if is, err := os.ReadFile(file); err != nil || string(is) != content {
			t.Errorf("%s is now %q (%v)", name, is, err)
		}
	}
	err := new(App).Demo(context.Background(), DemoOptions{Workspaces: 3, Seed: 2, Scenario: "calm", Headless: true, WriteConfig: link})
	if there := (*DemoFileError)(nil); !errors.As(err, &there) {
		t.Errorf("a link: the demo ended with %v", err)
	}
	end()
	if _, err := os.Lstat(demo1); !os.IsNotExist(err) {
		t.Errorf("the configuration of a demo that has ended is left behind: %v", err)
	}
}

// A demo that was killed leaves its file; the next one may use the name. What was changed since stays.
func TestADemoReplacesTheFileOfOneThatHasEnded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "demo.toml")
	left, end := serve(t, file)
	end()
	if err := os.WriteFile(file, []byte(left), 0o600); err != nil {
		t.Fatal(err)
	}
	again, end := serve(t, file)
	changed := again + "# a line of mine\n"
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	end()
	if is, err := os.ReadFile(file); err != nil || string(is) != changed {
		t.Errorf("a file that was changed is now %q (%v)", is, err)
	}
}

// Commands that the demo's screen names reach the demo: with the configuration that it wrote, else keys stand for them.
func TestCommandsOfTheDemoReachIt(t *testing.T) {
	const step = "Run: sandglass repair box"
	alone, written := DemoOptions{}, DemoOptions{WriteConfig: "d.toml", Flags: "--config d.toml"}
	if got := backend.CommandsWith(step, alone.reach()); got != "Press w on box" {
		t.Errorf("without a configuration: %q", got)
	}
	if got := backend.CommandsWith(step, written.reach()); got != "Run: sandglass --config d.toml repair box" {
		t.Errorf("with a configuration: %q", got)
	}
}
