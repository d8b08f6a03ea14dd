package hostfs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Aside is the record of a directory that a clean-up has set aside: renamed in place, and removed later. Until then it can
// get its first name back. The directory's new name is the whole record. It therefore needs no free disk space, survives
// the end of the process and of the machine, and cannot contradict the directory. The device is not part of the record:
// its number may change with the next boot.
type Aside struct {
	// Original is the name that the directory had in the same parent.
	Original string
	Moved    time.Time     // to the second
	Grace    time.Duration // to the second; the directory may be removed when it is over
	Ino      uint64        // the directory's
	Born     time.Time     // the directory's birth, zero where the file system does not tell
	Plan     string        // digest of the plan, empty when none is known
	// Begun says that its removal has begun: what is there is no longer whole and cannot be put back.
	Begun bool
}

const (
	asideWaits = ".sandglass-aside-"
	asideBegun = ".sandglass-going-"
	maxName    = 255 // bytes of a name in a directory, NAME_MAX of every usual file system
	none       = "0"
)

// ErrLongName means that a directory's own name leaves no room for the record.
var ErrLongName = errors.New("its name is too long to be quarantined")

// Due is when the directory may be removed.
func (a Aside) Due() time.Time { return a.Moved.Add(a.Grace) }

// Name is the name of the directory while it waits.
func (a Aside) Name() (string, error) {
	prefix, born, plan := asideWaits, none, none
	if a.Begun {
		prefix = asideBegun
	}
	if !a.Born.IsZero() {
		born = strconv.FormatInt(a.Born.UnixNano(), 36)
	}
	if a.Plan != "" {
		plan = a.Plan
	}
	if !plainWord(plan) || a.Original == "" || strings.ContainsAny(a.Original, "/\x00") || a.Original == "." || a.Original == ".." {
		return "", fmt.Errorf("%q with plan %q cannot be quarantined", a.Original, a.Plan)
	}
	name := prefix + strings.Join([]string{strconv.FormatInt(a.Moved.Unix(), 36), strconv.FormatInt(int64(a.Grace/time.Second), 36),
		strconv.FormatUint(a.Ino, 36), born, plan, a.Original}, "-")
	if len(name) > maxName {
		return "", ErrLongName
	}
	return name, nil
}

// ParseAside reads a name that Aside.Name wrote. It refuses any other name, so that a similar name is never taken for a
// directory that was set aside.
func ParseAside(name string) (Aside, bool) {
	var a Aside
	rest, waits := strings.CutPrefix(name, asideWaits)
	if !waits {
		if rest, a.Begun = strings.CutPrefix(name, asideBegun); !a.Begun {
			return Aside{}, false
		}
	}
	f := strings.SplitN(rest, "-", 6)
	if len(f) != 6 {
		return Aside{}, false
	}
	moved, err1 := strconv.ParseInt(f[0], 36, 64)
	grace, err2 := strconv.ParseInt(f[1], 36, 32)
	ino, err3 := strconv.ParseUint(f[2], 36, 64)
	born, err4 := strconv.ParseInt(f[3], 36, 64)
	if errors.Join(err1, err2, err3, err4) != nil {
		return Aside{}, false
	}
	a.Moved, a.Grace, a.Ino, a.Original = time.Unix(moved, 0), time.Duration(grace)*time.Second, ino, f[5]
	if f[3] != none {
		a.Born = time.Unix(0, born)
	}
	if f[4] != none {
		a.Plan = f[4]
	}
	// Written again it must be the same name, byte for byte.
	if again, err := a.Name(); err != nil || again != name || moved < 0 || grace < 0 {
		return Aside{}, false
	}
	return a, true
}

// Is reports whether the directory that was found under the name is the one that was set aside.
func (a Aside) Is(s Stat) bool {
	return s.Mode.IsDir() && s.ID.Ino == a.Ino && (a.Born.IsZero() || s.Born.IsZero() || s.Born.Equal(a.Born))
}

// NeverSetAside reports whether a pattern (path.Match syntax) can match no name of an Aside. That holds for a pattern that
// begins with an ordinary character other than a dot.
func NeverSetAside(pattern string) bool {
	return pattern != "" && !strings.ContainsRune(`.*?[\`, rune(pattern[0]))
}

// plainWord reports whether s consists of letters and digits of ASCII.
func plainWord(s string) bool {
	for i := range len(s) {
		if c := s[i]; c|0x20 < 'a' && (c < '0' || c > '9') || c|0x20 > 'z' {
			return false
		}
	}
	return s != ""
}
