package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/actions/audit"
	"sandglass/backend"
)

// journalled is a site in whose journal a plan for three targets stands, stopped after one, and a note. It returns the
// journal's file.
func journalled(t *testing.T) (*site, string) {
	t.Helper()
	s := newSite(t)
	j, err := audit.New(audit.Options{Dir: s.dir + "/state", Origin: audit.Origin{Host: backend.Text("build-7")}})
	if err != nil {
		t.Fatal(err)
	}
	target := func(i int) backend.Key {
		return backend.Key{Kind: backend.KindWorkspace, Source: "a", Parent: backend.MustID("s1"), ID: backend.MustID(fmt.Sprintf("w%d", i))}
	}
	who := audit.Who{User: backend.Text("root"), Host: backend.Text("build-7"), SudoUser: backend.Text("mara"), Claimed: backend.Text("Mara L")}
	for i, e := range []audit.Entry{
		{Phase: audit.PhaseIntent, Verb: "reset", Kind: "workspace", Digest: "9f3c0000", Reason: backend.Text("bucket is back"), Subjects: []backend.Key{target(1), target(2), target(3)}},
		{Phase: audit.PhaseOutcome, Verb: "reset", Kind: "workspace", Digest: "9f3c0000", Subjects: []backend.Key{target(1)}, Result: audit.ResultFailedAgain, Detail: backend.Text("=danger()")},
		{Phase: audit.PhaseStopped, Verb: "reset", Kind: "workspace", Digest: "9f3c0000", Targets: 3, Done: 1},
		{Phase: audit.PhaseNote, Verb: "note", Reason: backend.Clean(hostile, 100)},
	} {
		e.At, e.Who = noon.Add(time.Duration(i-4)*time.Hour), who
		if _, err := j.Append(t.Context(), e, audit.Written); err != nil {
			t.Fatal(err)
		}
	}
	return s, j.Path()
}

func TestAuditShow(t *testing.T) {
	s, file := journalled(t)
	all := s.run(0, `(?m)^2026-11-21T10:00:00Z +root@build-7, sudo by mara, claims to be Mara L +stopped +reset +1 of 3 done`, "audit", "show")
	for _, want := range []string{"3: s1/w1 …", "failed again", "bucket is back", "9f3c0000", "␛]0;pwned"} {
		if !strings.Contains(all, want) {
			t.Errorf("no %q in\n%s", want, all)
		}
	}
	if strings.ContainsAny(all, "\x1b\x07\u202e") {
		t.Errorf("a name acts on the terminal: %q", all)
	}
	for _, c := range []struct {
		seqs string
		args []string
	}{
		{"1 2 3 4", nil},
		{"3 4", []string{"--since", "2h"}},
		{"1 2", []string{"--until", "2026-11-21 10:00"}},
		{"2 3", []string{"--since", "2026-11-21T10:00:00+01:00", "--until", "2026-11-21T11:00Z", "--since", "3h", "--until", "1h"}},
		{"2", []string{"--phase", "outcome,refused"}},
		{"2", []string{"--result", "failed again"}},
		{"1 2", []string{"--target", "s1/w1"}},
		{"1", []string{"--target", "s1/w3"}},
		{"1 2 3", []string{"--plan", "9f3c"}},
		{"4", []string{"--verb", "note"}},
		{"1 2 3 4", []string{"--user", "Mara L"}},
		{"", []string{"--user", "nobody"}},
		{"3 4", []string{"--last", "2"}},
	} {
		var seqs []string
		for line := range strings.Lines(s.run(0, "", append([]string{"audit", "show", "-o", "jsonl"}, c.args...)...)) {
			var r audit.Record
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			seqs = append(seqs, fmt.Sprint(r.Seq))
		}
		if got := strings.Join(seqs, " "); got != c.seqs {
			t.Errorf("%v selects %q, want %q", c.args, got, c.seqs)
		}
	}
	var doc struct {
		Schema  int
		Records []audit.Record
	}
	if err := json.Unmarshal([]byte(s.run(0, "", "audit", "show", "-o", "json", "--verb", "expire")), &doc); err != nil || doc.Schema != 1 || doc.Records == nil {
		t.Errorf("%+v, %v", doc, err)
	}
	s.run(0, `(?m)^seq,time,who,phase,verb,targets,result,reason,plan,kind,detail,`, "audit", "show", "-o", "csv")
	s.run(0, `,'=danger\(\),`, "audit", "show", "-o", "csv")
	s.run(0, `(?s)SEQ.*DETAIL.*=danger`, "audit", "show", "-o", "wide")
	s.run(0, `^audit: none`, "audit", "show", "--verb", "expire")
	s.run(0, "1 of 3 done", "audit", "show", file)

	s.run(64, `--since "soon" is not a time; write for example 24h`, "audit", "show", "--since", "soon")
	s.run(64, `--phase "later" is not known; .*nown are armed`, "audit", "show", "--phase", "later")
	s.run(64, `--result "fine" is not known`, "audit", "show", "--result", "fine")
	s.run(64, "--last must not be negative", "audit", "show", "--last", "-1")
	s.run(64, "at most one file", "audit", "show", "a", "b")
	s.run(64, "audit needs one of: show, verify", "audit")
	s.run(3, "the journal cannot be read", "audit", "show", file+".none")
}

func TestAuditShowNamesWhatWasBrokenOff(t *testing.T) {
	s, file := journalled(t)
	edit(t, file, func(b []byte) []byte { // as a kill after the outcome leaves it
		return bytes.Join(bytes.SplitAfter(b, []byte("\n"))[:2], nil)
	})
	s.run(0, `plan 9f3c0000 of 2026-11-21T08:00:00Z: reset: 1 of 3 done; it was broken off`, "audit", "show", "--verb", "expire")
}

func TestAuditShowNamesDamage(t *testing.T) {
	s, file := journalled(t)
	edit(t, file, func(b []byte) []byte { return bytes.Replace(b, []byte("bucket"), []byte("socket"), 1) })
	s.run(1, `(?s)stopped.*audit journal, line 1: the line was changed.*run sandglass --config \S+ --state-dir \S+ audit verify`, "audit", "show")
}

func edit(t *testing.T, file string, change func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(file, change(bytes.Clone(b)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestAuditVerify(t *testing.T) {
	s, file := journalled(t)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(good, []byte("\n"))
	out := s.run(0, `(?s)records   4, from 2026-11-21T08:00:00Z to 2026-11-21T11:00:00Z.*chain     intact.*unanchored, a tail that was cut off would not show`, "audit", "verify", "--anchors", "none")
	head := regexp.MustCompile(`(?m)^head +(\S+)$`).FindStringSubmatch(out)
	if head == nil {
		t.Fatalf("no head in\n%s", out)
	}
	s.run(0, "anchored  up to its end", "audit", "verify", "--anchor", head[1])
	s.run(0, "anchored  up to its end", "audit", "verify", "--anchor", head[1], "--require-anchor", file)
	s.run(2, "unanchored", "audit", "verify", "--anchors", "none", "--require-anchor")
	log := filepath.Join(s.dir, "syslog")
	if err := os.WriteFile(log, []byte("something else\n  "+head[1]+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run(0, "anchored  up to its end", "audit", "verify", "--anchors", log)

	swap := slices.Clone(lines)
	swap[1], swap[2] = swap[2], swap[1]
	for _, c := range []struct {
		name string
		in   []byte
		want string
	}{
		{"removed", bytes.Join([][]byte{lines[0], lines[2], lines[3]}, nil), "line 2: missing: records 2 to 2 are missing before it"},
		{"swapped", bytes.Join(swap, nil), "line 3: out of order: record 2 comes after record 3"},
		{"doubled", bytes.Join([][]byte{lines[0], lines[1], lines[1], lines[2], lines[3]}, nil), "line 3: doubled: record 2 is here again"},
		{"inserted", bytes.Join([][]byte{lines[0], []byte("{}\n"), lines[1], lines[2], lines[3]}, nil), "line 2: damaged: the line is not a whole record"},
		{"cut off", bytes.Join(lines[:3], nil), "line 4: cut off: records 4 to 4 were anchored and are missing at the end"},
		{"emptied", nil, "line 1: cut off"},
	} {
		edit(t, file, func([]byte) []byte { return c.in })
		if out := s.run(1, "BROKEN", "audit", "verify", "--anchors", log); !strings.Contains(out, c.want) {
			t.Errorf("%s: no %q in\n%s", c.name, c.want, out)
		}
		var doc struct {
			Intact   bool
			Problems []struct{ Kind, What string }
		}
		if err := json.Unmarshal([]byte(s.run(1, "", "audit", "verify", "--anchors", log, "-o", "json")), &doc); err != nil || doc.Intact || len(doc.Problems) == 0 {
			t.Errorf("%s: %+v, %v", c.name, doc, err)
		}
	}
	edit(t, file, func([]byte) []byte { return good[:len(good)-9] })
	s.run(0, "line 4: the beginning of a record; a crash or a full disk left it, or the file was truncated there", "audit", "verify", "--anchors", "none")
	s.run(64, `--anchor: "nonsense" is not a head`, "audit", "verify", "--anchor", "nonsense")
	s.run(3, "the anchors cannot be read", "audit", "verify", "--anchors", log+".none")
	s.run(3, "the journal cannot be read", "audit", "verify", s.dir+"/none", "--anchors", "none")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	s.run(0, "records   none\nchain     intact", "audit", "verify", "--anchors", "none")
	s.run(1, "cut off", "audit", "verify", "--anchors", log)
}

// TestAuditVerifyNamesTheLineOfAFlippedByte flips bytes all over a small journal; the package's own test flips every bit.
func TestAuditVerifyNamesTheLineOfAFlippedByte(t *testing.T) {
	_, file := journalled(t)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(good) - 1; i >= 0; i -= 17 {
		line := 1 + bytes.Count(good[:i], []byte("\n"))
		edit(t, file, func([]byte) []byte {
			b := bytes.Clone(good)
			b[i] ^= 1
			return b
		})
		var out, errs bytes.Buffer
		code := program(&out, &errs, func(string) string { return "" }).Run(t.Context(), []string{"audit", "verify", file, "--anchors", "none"})
		if want := fmt.Sprintf("line %d: damaged: ", line); code != 1 || !strings.Contains(out.String(), want) {
			t.Fatalf("byte %d: exit code %d, no %q in\n%s%s", i, code, want, out.String(), errs.String())
		}
	}
}

// A record is told by names: of the container that was acted on, of the alert that was acknowledged.
func TestAuditShowNamesTargets(t *testing.T) {
	s := newSite(t)
	j, err := audit.New(audit.Options{Dir: s.dir + "/state", Origin: audit.Origin{Host: backend.Text("build-7")}})
	if err != nil {
		t.Fatal(err)
	}
	fact := func(name backend.Literal, value string) backend.Field {
		return backend.Field{Name: backend.Text(name), Value: backend.Clean(value, 100)}
	}
	box := backend.Key{Kind: backend.KindSandbox, Source: "d", ID: backend.MustID(strings.Repeat("88901a20", 8))}
	for _, e := range []audit.Entry{
		{Phase: audit.PhaseTargetIntent, Verb: "stop", Kind: "sandbox", Digest: "9f3c0000", Subjects: []backend.Key{box}, Facts: []backend.Field{fact("name", "web")}},
		{Phase: audit.PhaseTargetIntent, Verb: "pause", Kind: "sandbox", Digest: "9f3c0000", Subjects: []backend.Key{box}},
		{Phase: audit.PhaseAck, Verb: "ack", Kind: "alert", Facts: []backend.Field{fact("alert", "7f757ebc49"), fact("rule", "failed-too-long")}},
		{Phase: audit.PhaseSilence, Verb: "silence", Kind: "silence", Facts: []backend.Field{fact("matchers", `rule="eviction-storm"`)}},
	} {
		e.At, e.Who = noon.Add(-time.Hour), audit.Who{User: backend.Text("mara"), Host: backend.Text("build-7")}
		if _, err := j.Append(t.Context(), e, audit.Written); err != nil {
			t.Fatal(err)
		}
	}
	shown := s.run(0, "", "audit", "show")
	for _, want := range []string{` stop +web \(88901a2088\d\d\) `, ` pause +88901a208890 `, ` ack +failed-too-long 7f757ebc49 *\n`, ` silence +rule="eviction-storm" *\n`} {
		if !regexp.MustCompile(want).MatchString(shown) {
			t.Errorf("no %s in\n%s", want, shown)
		}
	}
}
