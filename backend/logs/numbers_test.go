package logs

import (
	"slices"
	"testing"

	"sandglass/backend"
)

func TestFailedClosesAreCountedByErrno(t *testing.T) {
	_, r := lines(t, nil,
		`{"msg":"tmpdir close failed","sessionId":"a","cause":"EBUSY: resource busy, rmdir '/tmp/helix-ws-a1B2c3'"}`,
		`{"msg":"tmpdir close failed","sessionId":"a","cause":"EACCES: permission denied"}`,
		`{"msg":"tmpdir close failed","sessionId":"a","cause":"EACCES: permission denied"}`,
		`{"msg":"tmpdir close failed","sessionId":"b"}`)
	for errno, want := range map[string]float64{"EACCES": 2, "EBUSY": 1, "EPERM": 0} {
		if got := total(r.Counts, backend.CloseFailedWith(errno), "a"); got != want {
			t.Errorf("%s: %v, want %v", errno, got, want)
		}
	}
	if got := total(r.Counts, backend.MetricTmpdirCloseFailed, "*"); got != 4 {
		t.Errorf("%v failed closes", got)
	}
}

func TestBytesThatALineNames(t *testing.T) {
	for line, want := range map[string]float64{
		`{"msg":"grep","bytes":123456}`: 123456, `grep read 450 MB of /work/log`: 450e6, `grep bytes=77 path=/a`: 77,
		`read 12 MiB`: 12 << 20, `{"bytesRead":"9"}`: 9, `grep 4096 bytes`: 4096, `grep /a/b.txt: 12 matches`: 0,
	} {
		if got, ok := bytesIn([]byte(line)); got != want || ok != (want > 0) {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
}

// TestACauseIsOneText: a message that begins with its code is not doubled, and a line without a cause is its message.
func TestACauseIsOneText(t *testing.T) {
	for line, want := range map[string]string{
		`{"msg":"tmpdir close failed","sessionId":"a","err":{"code":"EBUSY","message":"EBUSY: resource busy"}}`: "EBUSY: resource busy",
		`{"msg":"tmpdir close failed","sessionId":"a","err":{"message":"EBUSY: resource busy","code":"EBUSY"}}`: "EBUSY: resource busy",
		`{"msg":"tmpdir close failed","sessionId":"a","err":{"code":"EBUSY","message":"resource busy"}}`:        "EBUSY: resource busy",
		`{"level":"error","msg":"tmpdir close failed","sessionId":"a"}`:                                         "tmpdir close failed",
	} {
		_, r := lines(t, nil, line)
		if !slices.ContainsFunc(r.Counts, func(c backend.Count) bool {
			return c.Series.Name == backend.MetricTmpdirCloseFailed && c.Sample.String() == want
		}) {
			t.Errorf("%s: no sample is %q", line, want)
		}
	}
}
