package alerts

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sandglass/alerts/cause"
	"sandglass/backend"
)

func TestCausesThatAreOne(t *testing.T) {
	for _, same := range [][]string{
		{"WorkspaceFailedError: max_instances reached (60/60)", "WorkspaceFailedError: max_instances reached (12/12)"},
		{"sandbox sbx_76fca18e is gone", "sandbox sbx_0a91b77c is gone", "Sandbox sbx_ffffffff1 is gone"},
		{"no answer (request f1bf7957)", "no answer (request 95480469)", "no answer (request abcdefab)", "no answer (request 12)"},
		{"sbx_95480469 is gone", "sbx_76fca18e is gone", "sbx_fadebeca is gone", "sbx_1 is gone"},
		{"sess-3f2b8c1e-9d4a-4b6e-8c7f-1a2b3c4d5e6f is gone", "sess-3f2b8c1e-dead-4b6e-beef-1a2b3c4d5e6f is gone", "sess-00000000-1111-2222-3333-444444444444 is gone"},
		{"worker w12 left", "worker w13 left"},
		{"timeout after 30s", "timeout after 1500ms", "timeout after 2.5m"},
		{"ENOENT: no such file, open '/tmp/helix-ws-a1B2c3/x'", "ENOENT: no such file, open '/tmp/helix-ws-ZZ9/other/y'"},
		{"session 3f2b8c1e-9d4a-4b6e-8c7f-1a2b3c4d5e6f failed", "session 00000000-1111-2222-3333-444444444444 failed"},
		{"fetch https://a.example/x?y=1 failed", "fetch http://b.example:8080/z failed"},
		{"ref schemaVersion 4 is outside the supported range 1-3", "ref schemaVersion 5 is outside the supported range 2-4"},
		{"at 2026-03-14T12:00:00Z: refused", "at 2026-03-15T01:02:03Z: refused"},
		{"dial tcp 10.0.0.1:5432: refused", "dial tcp 10.0.0.27:5433: refused"},
		{`bad value "abc" in call`, `bad value "x y z" in call`},
		{"used 104857600 bytes, 0xdeadbeef", "used 1 bytes, 0x00c0ffee"},
		{"wrote 10MB of 20MB", "wrote 3kB of 5GiB"},
		{"line one\nline  two", "line one line two", backend.Clean("line one\nline two", 100).String()},
	} {
		for _, text := range same[1:] {
			if Fingerprint(text) != Fingerprint(same[0]) {
				t.Errorf("%q gives %q\n%q gives %q", same[0], NormaliseCause(same[0]), text, NormaliseCause(text))
			}
		}
	}
}

// Ten thousand findings of one cause are one line, whatever their ids happen to look like.
func TestTenThousandIdsAreOneCause(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, form := range []string{"request %08x failed", "ref wsr_%06x is gone", "container %012x exited", "session sess-%08[1]x-%04[2]x-4%03[3]x-%04[2]x-%012[1]x is gone", "job %[1]d of %[3]d"} {
		seen := map[string]string{}
		for range 10_000 {
			var text string
			if n := strings.Count(form, "%"); n == 1 {
				text = fmt.Sprintf(form, random.Uint32())
			} else {
				text = fmt.Sprintf(form, random.Uint32(), random.Uint32()&0xffff, random.Uint32()&0xfff)
			}
			seen[Fingerprint(text)] = text
		}
		if len(seen) != 1 {
			t.Errorf("%d causes: %v", len(seen), slices.Sorted(maps.Values(seen))[:2])
		}
	}
}

func TestCausesThatDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, text := range []string{
		"R2 bucket unreachable", "S3 bucket unreachable", "max_instances reached", "quota reached", "EACCES: permission denied", "EPERM: permission denied",
		"db connection refused", "ip6 connection refused", "added", "removed",
		"schemaVersion mismatch", "snapshot requires a backup bucket", "SQLite migration missing", "isn't open", "was not open", "",
	} {
		fp := Fingerprint(text)
		if other, dup := seen[fp]; dup {
			t.Errorf("%q and %q are taken for one cause", text, other)
		}
		seen[fp] = text
		if !strings.HasPrefix(fp, causeVersion+":") || len(fp) != 15 {
			t.Errorf("fingerprint %q", fp)
		}
	}
}

func TestNormaliseCause(t *testing.T) {
	for text, want := range map[string]string{
		"WorkspaceFailedError: max_instances reached (60/60).": "workspacefailederror: max_instances reached (<path>).",
		"can't open r2 of build-3":                             "can't open r2 of build-<n>",
		"host db7.example.com:5432 refused":                    "host db7.example.com:<n> refused",
		"container a1e55759aee2 of 4":                          "container <n> of <n>",
		"'unbalanced quote of 3":                               " unbalanced quote of <n>",
	} {
		if got := NormaliseCause(text); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
	if got := CauseText(backend.Clean("a\n\n  b\t"+strings.Repeat("c", 500), 4000)); strings.ContainsAny(got.String(), "␊␉") || len([]rune(got.String())) > 160 {
		t.Errorf("cause text %q", got)
	}
}

// A cause stands for many failures, so its text names the request of none.
func TestACauseNamesNoRequest(t *testing.T) {
	for text, want := range map[string]string{
		"max_instances reached (60/60 in use, request be393ae5)": "max_instances reached (60/60 in use)",
		"D1_ERROR: Network connection lost (request 0a1b2c3d)":   "D1_ERROR: Network connection lost",
		"refused; requestId: 7f3c2d10-88aa-4f6e-9c1d-0011223344": "refused",
		"the request failed": "the request failed",
		"request budget 20":  "request budget 20",
		"requested 12345678": "requested 12345678",
	} {
		if got := CauseText(backend.Clean(text, 400)).String(); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}

func FuzzNormaliseCause(f *testing.F) {
	f.Add("sandbox sbx_76fca18e: 'x' \"y\" /tmp/a 3s")
	f.Add("\x80\xff'\"`")
	f.Add("␊␊ ␍")
	f.Fuzz(func(t *testing.T, text string) {
		if got := NormaliseCause(text); len(got) > 4*maxCause {
			t.Errorf("%d bytes from %d", len(got), len(text))
		}
		if a, b := Fingerprint(text), Fingerprint("\n"+text); len(text) < maxCause && strings.TrimSpace(text) == text && a != b {
			t.Errorf("a blank in front makes another cause of %q", text)
		}
	})
}

// What the table of names looks for must be words of the list: else two causes that it tells apart were one.
func TestNamesAreListedWords(t *testing.T) {
	fillers := map[string]bool{}
	for _, w := range strings.Fields("a an the this that these those of in on at by for with its as") {
		fillers[w] = true
	}
	var r cause.Reader
	for _, p := range phrases {
		for _, phrase := range slices.Concat(p.any, p.with, p.but) {
			if strings.Contains(phrase, "reading '") {
				continue // Names looks at the value
			}
			want := 0
			for w := range strings.FieldsSeq(phrase) {
				if !fillers[w] && strings.Trim(w, "0123456789") != "" {
					want++
				}
			}
			r.Read(phrase)
			got := len(strings.Fields(string(r.Words)))
			if got == 0 { // codes are in capitals
				r.Read(strings.ToUpper(phrase))
				got = len(strings.Fields(string(r.Words)))
			}
			if got < want {
				t.Errorf("%q reads %q: add its words to cause/words.txt", phrase, r.Words)
			}
		}
	}
}
