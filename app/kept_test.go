package app

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sandglass/ui"
)

// Consoles of one user that run at once lose nothing of each other.
func TestKeptByTwoConsoles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "console.json")
	a := &keptFile{path: path}
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			if err := a.change(func(k *ui.Kept) { k.Views = append(k.Views, ui.View{Name: string(rune('a' + i)), Screen: "alerts"}) }); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	kept, err := (&keptFile{path: path}).read()
	if err != nil || len(kept.Views) != 8 {
		t.Errorf("%d views, %v", len(kept.Views), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: others can read it", info, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A damaged file is set aside, said once, and in the way of nothing.
func TestKeptFileIsDamaged(t *testing.T) {
	for name, text := range map[string]string{"cut": `{"views":[{"na`, "empty": "", "other": `[1]`, "binary": "\x00\xff"} {
		path := filepath.Join(t.TempDir(), "console.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		k := &keptFile{path: path}
		kept, err := k.read()
		if err == nil || !strings.Contains(err.Error(), "is damaged and was renamed") || len(kept.Views) > 0 {
			t.Errorf("%s: %v, %v", name, kept, err)
		}
		if aside, err := os.ReadFile(path + ".damaged"); err != nil || string(aside) != text {
			t.Errorf("%s: set aside is %q, %v", name, aside, err)
		}
		if err := k.change(func(k *ui.Kept) { k.Views = []ui.View{{Name: "x", Screen: "alerts"}} }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if kept, err := k.read(); err != nil || len(kept.Views) != 1 {
			t.Errorf("%s: %v, %v", name, kept, err)
		}
	}
}

func TestKeptFileIsAnother(t *testing.T) {
	if placeOf("/etc/a.toml") == placeOf("/etc/b.toml") || placeOf("") == placeOf("/etc/a.toml") || fileName("../x y") != ".._x_y" {
		t.Error(placeOf("/etc/a.toml"), placeOf(""), fileName("../x y"))
	}
	k := &keptFile{path: filepath.Join(t.TempDir(), "console.json")}
	if kept, err := k.read(); err != nil || kept.Views != nil {
		t.Errorf("no file: %v, %v", kept, err)
	}
	if err := os.Mkdir(k.path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := k.read(); err == nil {
		t.Error("a directory was read")
	}
}
