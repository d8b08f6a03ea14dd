package hostfs

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"
	"time"
)

func TestAsideNamesAreTheWholeRecord(t *testing.T) {
	for _, a := range []Aside{
		{Original: "helix-ws-a1", Moved: time.Unix(1_800_000_000, 0), Grace: 15 * time.Minute, Ino: 1<<64 - 1, Born: time.Unix(1_799_000_000, 999), Plan: "0123456789abcdef"},
		{Original: "a-b-c-d-e-f-g", Moved: time.Unix(0, 0)},
		{Original: "with space\nand \x1b[0m", Moved: time.Unix(5, 0), Grace: time.Second, Ino: 7, Begun: true},
		{Original: strings.Repeat("x", 170), Moved: time.Unix(1_800_000_000, 0), Grace: 900 * time.Second, Ino: 1 << 40, Born: time.Unix(1_799_000_000, 1), Plan: "0123456789abcdef"},
	} {
		name, err := a.Name()
		if err != nil {
			t.Fatalf("%+v: %v", a, err)
		}
		if got, ok := ParseAside(name); !ok || got != a || len(name) > 255 {
			t.Errorf("%q reads as %+v, %v; want %+v", name, got, ok, a)
		}
	}
	for _, a := range []Aside{{}, {Original: "a/b"}, {Original: ".."}, {Original: "a", Plan: "x-y"}, {Original: strings.Repeat("x", 230)}} {
		if name, err := a.Name(); err == nil {
			t.Errorf("%+v has the name %q", a, name)
		}
	}
	if _, err := (Aside{Original: strings.Repeat("x", 230)}).Name(); !errors.Is(err, ErrLongName) {
		t.Errorf("a long name gives %v", err)
	}
}

func TestWhatOnlyLooksLikeAnAsideIsNone(t *testing.T) {
	for _, name := range []string{"", "helix-ws-a", ".sandglass-aside-", ".sandglass-aside-1-1-1-0-0-", ".sandglass-aside-1-1-1-0-0-a/b",
		".sandglass-aside-01-1-1-0-0-a", ".sandglass-aside-1-1-1-0-0-..", ".sandglass-aside--1-1-1-0-0-a", ".sandglass-aside-1-1-A-0-0-a",
		".sandglass-aside-1-1-1-0-x_y-a", ".sandglass-aside-zzzzzzzzzzzzzzzzz-1-1-0-0-a", "x.sandglass-aside-1-1-1-0-0-a"} {
		if a, ok := ParseAside(name); ok {
			t.Errorf("%q was taken for %+v", name, a)
		}
	}
}

func TestAsideIsTheSameDirectory(t *testing.T) {
	born := time.Unix(9, 9)
	a := Aside{Ino: 5, Born: born}
	dir := Stat{ID: FileID{Dev: 1, Ino: 5}, Mode: fs.ModeDir | 0o700, Born: born}
	other, file, later := dir, dir, dir
	other.ID.Ino, file.Mode, later.Born = 6, 0o600, born.Add(1)
	if !a.Is(dir) || a.Is(other) || a.Is(file) || a.Is(later) {
		t.Error("identity is inode, birth time and being a directory")
	}
}

func FuzzAsideNames(f *testing.F) {
	f.Add(".sandglass-aside-1-1-1-0-0-a", "helix-ws-*")
	f.Add(".sandglass-going-tjqdc0-p0-1-0-0-helix-ws-a", "?*")
	f.Fuzz(func(t *testing.T, name, pattern string) {
		a, ok := ParseAside(name)
		if !ok {
			return
		}
		if again, err := a.Name(); err != nil || again != name {
			t.Errorf("%q becomes %q, %v", name, again, err)
		}
		if match, _ := path.Match(pattern, name); match && NeverSetAside(pattern) {
			t.Errorf("pattern %q matches %q", pattern, name)
		}
	})
}

func TestLocks(t *testing.T) {
	got, err := ParseLocks("1: POSIX  ADVISORY  WRITE 699 fd:00:524364 0 EOF\n1: -> POSIX  ADVISORY  WRITE 12 fd:00:524364 0 EOF\n" +
		"2: FLOCK  ADVISORY  WRITE -1 08:1f:77 0 EOF\n3: LEASE  ACTIVE    READ  1234 00:2a:9 0 EOF\n4: POSIX ADVISORY READ 5 <none>:0 0 EOF\n")
	want := []Lock{{"POSIX", 699, "253:0", 524364}, {"POSIX", 12, "253:0", 524364}, {"FLOCK", -1, "8:31", 77}, {"LEASE", 1234, "0:42", 9}}
	if err != nil || len(got) != len(want) {
		t.Fatalf("%+v, %v", got, err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
	for _, bad := range []string{"1: POSIX", "1: POSIX ADVISORY WRITE x 08:01:1 0 EOF", "1: POSIX ADVISORY WRITE 1 08:1 0 EOF", "1: POSIX ADVISORY WRITE 1 zz:01:1 0 EOF"} {
		if l, err := ParseLocks(bad); err == nil {
			t.Errorf("%q reads as %+v", bad, l)
		}
	}
}
