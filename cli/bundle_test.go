package cli_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sandglass/actions/audit"
	"sandglass/backend"
)

func TestBundle(t *testing.T) {
	s := newSite(t)
	out := s.run(0, `(?s)^wrote \S+/state/bundles/20261121T120000Z-workspace-s1_w0000-[0-9a-f]{8}\.md\nsha256 [0-9a-f]{64}\nabout workspace s1/w0000\n`, "bundle", "s1/w0000")
	m := regexp.MustCompile(`wrote (\S+)\nsha256 (\S+)`).FindStringSubmatch(out)
	if m == nil {
		t.Fatal(out)
	}
	md, err := os.ReadFile(m[1])
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(md); hex.EncodeToString(sum[:]) != m[2] {
		t.Errorf("the file has another hash than %s", m[2])
	}
	if info, err := os.Stat(m[1]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	for _, want := range []string{"# `workspace s1/w0000` on `a`", "last error: `bucket is gone`", "**failed-too-long**", "## Diagnosis", "## Readings"} {
		if !strings.Contains(string(md), want) {
			t.Errorf("no %q in\n%s", want, md)
		}
	}
	s.run(0, `mara@build-7, claims to be Mara L +bundle +bundle +s1/w0000`, "audit", "show", "--phase", "bundle")
	s.run(0, "(?s)"+m[2]+".*"+regexp.QuoteMeta(m[1]), "audit", "show", "-o", "json")
	j := audit.At(filepath.Join(s.dir, "state", audit.File))
	key := backend.Key{Kind: backend.KindWorkspace, Source: "a", Parent: backend.MustID("s1"), ID: backend.MustID("w0000")}
	if missing, err := j.EvidenceSaved(t.Context(), noon, []backend.Key{key}); err != nil || len(missing) != 0 {
		t.Errorf("missing %v, %v", missing, err)
	}
	line, err := os.ReadFile(s.dir + "/state/timeline.jsonl")
	if err != nil || !strings.Contains(string(line), `"name":"bundle"`) {
		t.Errorf("the timeline has %s, %v", line, err)
	}

	own := s.dir + "/issue.md"
	s.run(0, "^wrote "+regexp.QuoteMeta(own), "bundle", "s1/w0001", "--out", own)
	s.run(64, "--out: .*issue.md is there already; name a file that does not exist yet", "bundle", "s1/w0001", "--out", own)
	s.run(64, "bundle needs one id", "bundle")
	s.run(64, `no id matches "nosuch"`, "bundle", "nosuch")
	s.run(64, `the nearest:\n  s1/w0001`, "bundle", "s1/x0001")
	s.run(64, `"w000" means 3 subjects:\n  workspace s1/w0000 on a`, "bundle", "w000")
	if written, err := os.ReadDir(s.dir + "/state/bundles"); err != nil || len(written) != 1 {
		t.Errorf("what was refused left files: %v, %v", written, err)
	}
}

func TestABundleOfAnAlertIsAboutItsSubjects(t *testing.T) {
	s := newSite(t)
	table := s.run(0, "failed-too-long", "get", "alerts", "-o", "csv", "--filter", "alert:failed-too-long")
	id := regexp.MustCompile(`\b[0-9a-f]{8,}\b`).FindString(table[strings.IndexByte(table, '\n'):])
	s.run(0, "about workspace s1/w0000, workspace s1/w0001\n", "bundle", id)
}

func TestABundleSaysWhatIsMissing(t *testing.T) {
	s := newSite(t)
	if err := os.WriteFile(s.config, []byte(twoSources), 0o600); err != nil {
		t.Fatal(err)
	}
	out := s.run(3, "rows may be missing: source b is down", "bundle", "s1/w0000")
	md, err := os.ReadFile(regexp.MustCompile(`wrote (\S+)`).FindStringSubmatch(out)[1])
	if err != nil || !strings.Contains(string(md), "- source `b` is down: ") {
		t.Errorf("%v\n%s", err, md)
	}
}
