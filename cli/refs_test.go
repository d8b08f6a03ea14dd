package cli_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestRefsCheck: 2 if any session could not be opened, by tenant; 3 where that is not known.
func TestRefsCheck(t *testing.T) {
	source := func(refs string) string { return "[[source]]\nid = \"a\"\nkind = \"fake\"\nrefs = " + refs + "\n" }
	for _, c := range []struct {
		config, reads string
		code          int
		says          []string
	}{
		{source("[2, 3, 4]"), "2..4", 0, []string{"could open every session whose version is known: 3 of 3", "version 2         1  read"}},
		{source("[4]"), "4", 0, nil},
		{source("[2, 5, 5, 6, 1]"), "2..4", 2, []string{"could not open 4 sessions of 5", "version 5         2  not read", "acme: 2 sessions\n    ref-2  version 5  (a)\n    ref-4  version 1  (a)\n  globex: 2 sessions"}},
		{source("[3, 0]"), "2..4", 3, []string{"Cannot tell", "1 reference without a schemaVersion: a release before round 4 wrote them"}},
		{source("[5, 0]"), "2..4", 2, nil},
		{source("[]"), "2..4", 3, []string{"no configured source reads stored references"}},
		{source("[]") + "mode = \"down\"\n", "2..4", 3, nil},
		{source("[3]"), "4..2", 64, nil},
		{source("[3]"), "", 64, nil},
	} {
		out, errs, code := run(t, c.config, "refs", "check", "--reads", c.reads)
		if code != c.code {
			t.Errorf("%s --reads %s: exit code %d, want %d\n%s%s", c.config, c.reads, code, c.code, out, errs)
		}
		for _, s := range c.says {
			if !strings.Contains(out, s) {
				t.Errorf("--reads %s lacks %q:\n%s", c.reads, s, out)
			}
		}
	}
	out, _, _ := run(t, source("[2, 5]"), "refs", "check", "--reads", "2..4", "-o", "json")
	var doc struct {
		ExitCode int `json:"exit_code"`
		Refused  []struct{ Session, Tenant string }
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || doc.ExitCode != 2 || len(doc.Refused) != 1 || doc.Refused[0].Tenant != "globex" {
		t.Errorf("%v\n%s", err, out)
	}
}
