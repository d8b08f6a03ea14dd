package sandbox

import (
	"testing"
	"time"
)

// TestWhatDfPrintedOfAFullDisk: the newest df decides, of the disk that holds the path; a full disk elsewhere, or one of which nothing
// printed tells, is none.
func TestWhatDfPrintedOfAFullDisk(t *testing.T) {
	t.Parallel()
	const head = "Filesystem Size Used Avail Use% Mounted on\n"
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	of := func(command, output string, ago time.Duration) Process {
		return Process{Command: command, Stdout: output, Ended: now.Add(-ago)}
	}
	full := of("df -h", head+"/dev/vda 10G 10G 0 100% /\n", time.Minute)
	running := full
	running.Ended = time.Time{}
	merged := Process{Command: "sh -c 'df -h'", Merged: full.Stdout, Ended: full.Ended}
	for name, c := range map[string]struct {
		all  []Process
		want string
	}{
		"full":                    {[]Process{full}, "/ is 100% full, 0 of 10G free"},
		"in one output":           {[]Process{merged}, "/ is 100% full, 0 of 10G free"},
		"a newer one has room":    {[]Process{full, of("df", head+"/dev/vda 10G 5G 5G 50% /\n", time.Second)}, ""},
		"an older one had room":   {[]Process{of("df", head+"/dev/vda 10G 5G 5G 50% /\n", time.Hour), full}, "/ is 100% full, 0 of 10G free"},
		"a newer one says less":   {[]Process{full, of("df", "df: not found\n", time.Second)}, "/ is 100% full, 0 of 10G free"},
		"it goes on":              {[]Process{running}, ""},
		"no df":                   {[]Process{of("cat pdf ", full.Stdout, time.Minute)}, ""},
		"an image that is full":   {[]Process{of("df -h", head+"/dev/vda 10G 5G 5G 50% /\n/dev/loop0 1G 1G 0 100% /snap/x\n", time.Minute)}, ""},
		"the disk of the root":    {[]Process{of("df -h", head+"/dev/vda 10G 5G 5G 50% /\n/dev/vdb 1G 1G 0 100% /workspace\n", time.Minute)}, "/workspace is 100% full, 0 of 1G free"},
		"another below has room":  {[]Process{of("df -h", head+"/dev/vda 10G 10G 0 100% /\n/dev/vdb 1G 0 1G 0% /workspace\n", time.Minute)}, "/ is 100% full, 0 of 10G free"},
		"both below have room":    {[]Process{of("df -h", head+"/dev/vda 10G 10G 0 100% /\n/dev/vdb 1G 0 1G 0% /workspace\ntmpfs 1G 0 1G 0% /tmp\n", time.Minute)}, ""},
		"no inodes":               {[]Process{of("df -i", "Filesystem Inodes IUsed IFree IUse% Mounted on\n/dev/vda 5000 5000 0 100% /\n", time.Minute)}, "/ has 0 of 5000 inodes left"},
		"what has no size":        {[]Process{of("df -h", head+"none 0 0 0 - /\n", time.Minute)}, ""},
		"a table without df":      {[]Process{of("python table.py", full.Stdout, time.Minute)}, ""},
		"lines before any header": {[]Process{of("df | tail -1", "/dev/vda 10G 10G 0 100% /\n", time.Minute)}, ""},
	} {
		if got, _ := FullDisk(c.all, "/workspace", "/tmp"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
