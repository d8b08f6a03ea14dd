package logs

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"time"

	"sandglass/backend"
)

// bytesNamed finds what a line about a read names as its bytes: a field, or a number with its unit.
var bytesNamed = regexp.MustCompile(`(?i)"?\b(?:bytes|bytes_?read|read_?bytes|size|file_?size)"?\s*[:=]\s*"?(\d{1,15})\b|\b(\d{1,12}(?:\.\d{1,3})?) ?(bytes|[kmg]i?b)\b`)

// bytesIn is how many bytes a line names; false when it names none.
func bytesIn(line []byte) (float64, bool) {
	m := bytesNamed.FindSubmatch(line)
	if m == nil {
		return 0, false
	}
	digits, unit := string(m[1]), ""
	if digits == "" {
		digits, unit = string(m[2]), strings.ToLower(string(m[3]))
	}
	n, err := strconv.ParseFloat(digits, 64)
	factor := map[string]float64{"kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30}[unit]
	return n * max(factor, 1), err == nil
}

// errnoIn is the errno that stands first in the cause of a failed close; empty when it names none that is counted.
func errnoIn(cause []byte) string {
	first, at := "", len(cause)
	for _, e := range backend.CloseErrnos() {
		if i := bytes.Index(cause, []byte(e)); i >= 0 && i < at {
			first, at = e, i
		}
	}
	return first
}

// bytes sums the bytes that a line about a read, or of a pattern of the configuration, names.
func (a *lineAnalyser) bytes(p *pattern, of seriesKey, at time.Time, data []byte) {
	if p.class != ClassRead && p.tier != tierConfigured {
		return
	}
	n, ok := bytesIn(data)
	if ok && p.class == ClassRead {
		a.tally.add(of.of(backend.MetricReadBytes), at, n, false, nil)
	} else if ok {
		a.tally.add(of.of(backend.PatternBytes(p.name)), at, n, false, nil)
	}
}

// numbers counts what a line tells beside that it was written: the errno of a close, and why the address of a port was not made.
func (a *lineAnalyser) numbers(p *pattern, of seriesKey, at time.Time, data, sample []byte) {
	if p.class == ClassPreviewFailed && p.tier != tierConfigured {
		a.tally.add(of.of(backend.PreviewFailedBy(p.contains)), at, 1, false, sample)
	}
	if p.class == ClassTmpdirCloseFailed {
		if e := errnoIn(sample); e != "" {
			a.tally.add(of.of(backend.CloseFailedWith(e)), at, 1, false, nil)
		}
	}
}
