package cloudflare

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"sandglass/backend"
)

// fullDisk is the kind of a failure of which one of some texts says that a disk has no space left; empty: none says so.
func fullDisk(texts ...string) backend.FailureKind {
	for _, text := range texts {
		low := strings.ToLower(text)
		if strings.Contains(low, "no space left") || strings.Contains(low, "enospc") || strings.Contains(low, "no_space") {
			return backend.FailNoSpace
		}
	}
	return ""
}

// said is what the bridge or a command said; empty: nothing.
func said(a *answer) string {
	if a.problem != nil {
		return a.problem.Text
	}
	return a.ran.Stderr
}

// lookAtRoom shows blocks, then inodes, then memory, each as far as its program is there.
const lookAtRoom = "df -P / /workspace /tmp; df -Pi / /workspace /tmp; free -k"

// room tells how much room disk and memory have, where /workspace can be entered and no command begins without a session. plain is what
// was answered to one.
func (x *examination) room(ctx context.Context, v *backend.Verdict, plain string) {
	a, err := x.inSession(ctx, "sh", "-c", lookAtRoom)
	var r room
	if err == nil && a.problem == nil {
		r = readRoom(a.ran.Stdout)
		for _, line := range r.lines {
			x.planes = append(x.planes, x.c.clean(line, 160))
		}
	}
	switch v.Kind = fullDisk(plain); {
	case r.full != "":
		v.Kind, v.What = backend.FailNoSpace, backend.Textf("%s: its disk is full (%s)", backend.Text(backend.RootEntered), x.c.clean(r.full, 160))
	case v.Kind != "":
		v.What = backend.Textf("%s: no space was left for them", backend.Text(backend.RootEntered))
	case r.disks > 0:
		v.What = backend.Text(backend.RootEntered + ": its disk has room (df); look at memory (free) and at its limits")
	default:
		v.What = backend.Text(backend.RootEntered + ": look at disk and memory (df, free) and at its limits")
	}
}

// room is what df and free say.
type room struct {
	lines []string // each thing once, those of full disks first
	full  string   // what a disk that is full is like; empty: none is
	disks int      // that df told of
}

// readRoom reads the output of lookAtRoom. What cannot be read is left out.
func readRoom(text string) (r room) {
	inodes := false
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		switch {
		case strings.HasPrefix(line, "Filesystem"):
			inodes = strings.Contains(line, "Inodes")
		case len(f) == 7 && f[0] == "Mem:":
			if all, free, is := kilobytes(f[1], f[6]); is {
				r.lines = append(r.lines, "free: "+free+" of "+all+" of memory are available")
			}
		case len(f) >= 6 && strings.HasSuffix(f[len(f)-2], "%") && strings.HasPrefix(f[len(f)-1], "/"):
			r.disk(f[len(f)-1], f[len(f)-5], f[len(f)-3], f[len(f)-2], inodes)
		}
	}
	return r
}

// disk takes over a line of df.
func (r *room) disk(at, total, left, used string, inodes bool) {
	all, free, is := kilobytes(total, left)
	if !is || total == "0" {
		return
	}
	full := left == "0" || used == "100%"
	said := at + " is " + used + " full, " + free + " of " + all + " are free"
	if inodes {
		said = at + " has " + left + " of " + total + " inodes left"
		if !full {
			return
		}
	}
	if r.disks++; slices.Contains(r.lines, "df: "+said) {
		return
	}
	if !full {
		r.lines = append(r.lines, "df: "+said)
		return
	}
	r.lines = append([]string{"df: " + said}, r.lines...)
	if r.full == "" {
		r.full = said
	}
}

// kilobytes writes two numbers of kilobytes.
func kilobytes(all, part string) (whole, of string, is bool) {
	x, err := strconv.ParseInt(all, 10, 50)
	y, wrong := strconv.ParseInt(part, 10, 50)
	return backend.Bytes(x << 10), backend.Bytes(y << 10), err == nil && wrong == nil && x >= 0 && y >= 0
}
