package hostfs

import (
	"errors"
	"io/fs"
	"testing"
	"time"

	"sandglass/backend/backendtest"
)

func TestParseMounts(t *testing.T) {
	table := "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n" +
		"30 22 0:25 / /tmp rw,nosuid - tmpfs tmpfs rw,size=1024k\n" +
		"31 30 8:1 /srv/a\\040b\\134c\\012d /tmp/x\\011y ro shared:1 master:2 propagate_from:3 - ext4 /dev/sda1 rw\n" +
		"32 22 0:5 / /proc rw - proc proc rw,hidepid=2\n" +
		"33 22 0:6 / /bare rw - sysfs sysfs\n"
	m, err := ParseMounts([]byte(table))
	if err != nil || len(m) != 5 {
		t.Fatalf("%d mounts, %v", len(m), err)
	}
	if m[2].Root != "/srv/a b\\c\nd" || m[2].Point != "/tmp/x\ty" || m[2].FSType != "ext4" || m[2].Dev != "8:1" {
		t.Errorf("escapes: %+v", m[2])
	}
	for path, want := range map[string]uint64{"/": 22, "/tmp": 30, "/tmp/ws": 30, "/tmpx": 22, "/tmp/x\ty/z": 31} {
		if at, ok := m.At(path); !ok || at.ID != want {
			t.Errorf("%q lies on mount %d, want %d", path, at.ID, want)
		}
	}
	if got := m[2].Inside("/tmp/x\ty/z/q"); got != "/srv/a b\\c\nd/z/q" {
		t.Errorf("inside: %q", got)
	}
	if got := m[0].Inside("/var"); got != "/var" {
		t.Errorf("inside the root mount: %q", got)
	}
	if v, ok := m[3].SuperOption("hidepid"); !ok || v != "2" {
		t.Errorf("hidepid %q, %v", v, ok)
	}
	if below := m.Below("/tmp"); len(below) != 2 {
		t.Errorf("below /tmp: %+v", below)
	}
	if _, ok := m.ByID(99); ok {
		t.Error("a mount that is not there was found")
	}
	for _, bad := range []string{"x", "1 2 8:1 / / rw", "1 2 8:1 / / rw shared:1 ext4 /dev/x rw", "a 2 8:1 / / rw - t s o", "1 2 81 / / rw - t s o", "1 2 8:1 / / rw - t"} {
		if _, err := ParseMounts([]byte(bad)); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func FuzzParseMounts(f *testing.F) {
	f.Add([]byte("31 30 8:1 /a\\040b /tmp/x\\011 rw shared:1 - ext4 /dev/sda1 rw\n"))
	f.Add([]byte("1 2 8:1 / / rw - t s\n\\"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ParseMounts(b)
		if err != nil && m != nil {
			t.Fatal("a table together with an error")
		}
		for _, x := range m {
			_, _ = x.Inside(x.Point), m.Below(x.Point)
		}
	})
}

func TestHostFacts(t *testing.T) {
	root := t.TempDir()
	p := Proc{Root: root}
	if _, err := p.MemoryPressure(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without pressure accounting: %v", err)
	}
	backendtest.Write(t, root+"/meminfo", "MemTotal:       2000 kB\nMemFree: 1 kB\nMemAvailable:    500 kB\n")
	backendtest.Write(t, root+"/pressure/memory", "some avg10=12.50 avg60=1.00 avg300=0.10 total=1\nfull avg10=3.00 avg60=0.00 avg300=0.00 total=0\n")
	backendtest.Write(t, root+"/vmstat", "nr_free_pages 3\noom_kill 7\n")
	backendtest.Write(t, root+"/stat", "cpu 1 2\nbtime 1700000000\n")
	backendtest.Write(t, root+"/sys/kernel/random/boot_id", "abc-def\n")
	backendtest.Write(t, root+"/sys/kernel/hostname", "build-7\n")
	if m, err := p.Memory(); err != nil || m != (Memory{Total: 2000 << 10, Available: 500 << 10}) {
		t.Errorf("memory %+v, %v", m, err)
	}
	if v, err := p.MemoryPressure(); err != nil || v != 0.125 {
		t.Errorf("pressure %v, %v, want 0.125", v, err)
	}
	if v, err := p.OOMKills(); err != nil || v != 7 {
		t.Errorf("oom kills %v, %v", v, err)
	}
	if v, err := p.BootTime(); err != nil || !v.Equal(time.Unix(1700000000, 0)) {
		t.Errorf("boot %v, %v", v, err)
	}
	id, err1 := p.BootID()
	host, err2 := p.Hostname()
	if id != "abc-def" || host != "build-7" || err1 != nil || err2 != nil {
		t.Errorf("boot id %q, host %q, %v, %v", id, host, err1, err2)
	}
	for name, text := range map[string]string{"meminfo": "MemTotal: 1 kB\n", "vmstat": "oom_kill x\n", "stat": "cpu\n",
		"pressure/memory": "some avg10=900 total=0\n", "sys/kernel/hostname": "\n"} {
		backendtest.Write(t, root+"/"+name, text)
	}
	_, errs := p.Memory()
	_, e2 := p.OOMKills()
	_, e3 := p.BootTime()
	_, e4 := p.MemoryPressure()
	_, e5 := p.Hostname()
	for i, err := range []error{errs, e2, e3, e4, e5} {
		if err == nil {
			t.Errorf("file %d is wrong and was accepted", i)
		}
	}
}
