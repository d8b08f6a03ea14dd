//go:build unix

package hostfs

import (
	"io/fs"
	"os"
	"runtime"
	"testing"
)

func TestPermits(t *testing.T) {
	dir := Stat{UID: 10, GID: 20, Mode: fs.ModeDir | 0o735}
	for _, c := range []struct {
		name        string
		a           Account
		ok, decided bool
	}{
		{"owner", Account{UID: 10, GroupsKnown: true}, true, true},
		{"group", Account{UID: 11, Groups: []uint32{5, 20}, GroupsKnown: true}, true, true},
		{"other", Account{UID: 11, Groups: []uint32{5}, GroupsKnown: true}, false, true},
		{"unknown groups decide", Account{UID: 11}, false, false},
	} {
		if ok, decided := permits(dir, c.a, 0o3); ok != c.ok || decided != c.decided {
			t.Errorf("%s: %v, decided %v, want %v, %v", c.name, ok, decided, c.ok, c.decided)
		}
	}
	// The owner's bits count for the owner even where others have more.
	if ok, _ := permits(Stat{UID: 10, Mode: fs.ModeDir | 0o077}, Account{UID: 10, GroupsKnown: true}, 0o3); ok {
		t.Error("an owner without rights was let in by the others' bits")
	}
	if ok, decided := permits(Stat{UID: 10, Mode: fs.ModeDir | 0o777}, Account{UID: 11}, 0o3); !ok || !decided {
		t.Error("groups do not matter where everybody may write")
	}
}

func TestWritableAndFilesystemOfARealDirectory(t *testing.T) {
	root := t.TempDir()
	d := openDir(t, root)
	if ok, decided, err := d.Writable(Account{Self: true}); !ok || !decided || err != nil {
		t.Errorf("our own directory: %v, %v, %v", ok, decided, err)
	}
	if ok, decided, err := d.Writable(Account{UID: 0}); !ok || !decided || err != nil {
		t.Errorf("root: %v, %v, %v", ok, decided, err)
	}
	if runtime.GOOS == "linux" {
		if err := os.Chmod(root, 0o700); err != nil {
			t.Fatal(err)
		}
		stranger := Account{UID: 987654, Groups: []uint32{987654}, GroupsKnown: true}
		if ok, decided, err := openDir(t, root).Writable(stranger); ok || !decided || err != nil {
			t.Errorf("a stranger: %v, %v, %v", ok, decided, err)
		}
	}
	fsys, err := d.Filesystem()
	if err != nil || fsys.Bytes <= 0 || fsys.BytesFree > fsys.Bytes || fsys.ReadOnly {
		t.Errorf("%+v, %v", fsys, err)
	}
}
