package sandbox

import (
	"regexp"
	"strings"
	"time"
)

// dfCommand is a command that shows how full disks are.
var dfCommand = regexp.MustCompile(`(?:^|[\s;&|'"(/])df(?:\s|$)`)

// DiskTold is for how long what df printed counts: it tells of its own time only.
const DiskTold = 30 * time.Minute

// FullDisk is what the newest df among processes printed of a disk that has no room and holds one of some paths, with when it ended, by the
// clock of the sandbox; empty: it printed none. A disk that holds another one of them below it does not hold that path.
func FullDisk(all []Process, paths ...string) (line string, at time.Time) {
	newest := -1
	for i := range all {
		p := &all[i]
		if !p.Over() || !dfCommand.MatchString(p.Command) || newest >= 0 && !p.Ended.After(all[newest].Ended) {
			continue
		}
		if len(disksOf(p.printed())) > 0 {
			newest = i
		}
	}
	if newest < 0 {
		return "", time.Time{}
	}
	disks := disksOf(all[newest].printed())
	for _, path := range paths {
		held := -1
		for i, d := range disks {
			if within(path, d.mount) && (held < 0 || len(d.mount) > len(disks[held].mount) || d.mount == disks[held].mount && d.full) {
				held = i
			}
		}
		if held >= 0 && disks[held].full {
			return disks[held].said, all[newest].Ended
		}
	}
	return "", time.Time{}
}

func (p *Process) printed() string {
	if p.Stdout == "" {
		return p.Merged
	}
	return p.Stdout
}

func within(path, mount string) bool {
	return mount == "/" || path == mount || strings.HasPrefix(path, mount+"/")
}

// disk is a line of df.
type disk struct {
	mount, said string
	full        bool
}

// disksOf reads what df printed: each line below a header that ends with the mount. Lines that have another form are left out.
func disksOf(output string) (out []disk) {
	header, inodes := false, false
	for line := range strings.Lines(output) {
		f := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Filesystem"):
			header, inodes = true, strings.Contains(line, "Inodes")
		case header && len(f) == 6 && strings.HasPrefix(f[5], "/") && (strings.HasSuffix(f[4], "%") || f[4] == "-"):
			d := disk{mount: f[5], full: f[4] == "100%" || f[3] == "0" && f[1] != "0", said: f[5] + " is " + f[4] + " full, " + f[3] + " of " + f[1] + " free"}
			if inodes {
				d.said = f[5] + " has " + f[3] + " of " + f[1] + " inodes left"
			}
			out = append(out, d)
		}
	}
	return out
}
