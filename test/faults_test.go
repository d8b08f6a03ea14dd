package test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"sandglass/actions/audit"
	"sandglass/backend"
	"sandglass/demo"
)

// failedDemo is the scenario failed, 20 minutes old.
func failedDemo(t *testing.T) *commandLines {
	began := time.Now()
	return newCommandLines(t, demo.Options{Workspaces: 120, Seed: 1, Scenario: "failed", Start: began.Add(-20 * time.Minute),
		Clock: func() time.Duration { return time.Since(began) + 20*time.Minute }}, func(s string) string { return s })
}

// TestOrdersNameWhoClaimsToAct: an acknowledgement, its end, a silence and a note are in the journal, with the name that
// SANDGLASS_USER claims.
func TestOrdersNameWhoClaimsToAct(t *testing.T) {
	t.Parallel()
	c := failedDemo(t)
	c.env = map[string]string{"SANDGLASS_USER": "mara", "SUDO_USER": "ben", "USER": "root"}
	c.run(2, "", "check")
	alert := firstAlert(c)
	for _, line := range [][]string{{"note", "rolled back agent-eu"}, {"ack", alert, "--for", "10m", "--reason", "on it"}, {"ack", alert, "--back"},
		{"silence", `rule="host-oom"`, "--for", "10m", "--reason", "deploy"}} {
		c.run(0, "", line...)
	}
	silences := regexp.MustCompile(`(?m)^[0-9a-f]{8}`).FindAllString(c.run(0, "", "silence", "list"), -1)
	if len(silences) != 1 {
		t.Fatalf("%q are in force", silences)
	}
	c.run(0, "", "silence", "end", silences[0])
	told := map[string]bool{}
	for _, r := range c.journal() {
		if r.Who.Claimed.String() != "mara" {
			t.Errorf("%s %s names %q", r.Phase, r.Verb, r.Who.Claimed)
		}
		told[string(r.Verb)] = true
	}
	for _, verb := range []string{"note", "acknowledge", "unacknowledge", "silence", "expire"} {
		if !told[verb] {
			t.Errorf("%s is not in the journal: %v", verb, told)
		}
	}
}

func firstAlert(c *commandLines) string {
	c.t.Helper()
	out := c.run(0, "", "get", "alerts", "-o", "csv")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(rows) < 2 {
		c.t.Fatalf("%v in %s", err, out)
	}
	if i := slices.Index(rows[0], "id"); i >= 0 {
		return rows[1][i]
	}
	c.t.Fatalf("no id in %s", rows[0])
	return ""
}

// TestADamagedJournalIsSaidBeforeActing: the plan says it, the command that carries the plan out says it, and verify
// fails.
func TestADamagedJournalIsSaidBeforeActing(t *testing.T) {
	t.Parallel()
	c := failedDemo(t)
	id := c.subjects("workspaces", `state:failed error:"did not answer its first command" source:helix-eu`)[0]
	c.run(0, "", "note", "the first record")
	file := filepath.Join(c.dir, audit.File)
	text := fileText(t, file)
	if err := os.WriteFile(file, []byte(strings.Replace(text, "the first record", "another record", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	out := c.run(0, `(?i)journal is damaged`, "reset", id)
	digest := planLine.FindStringSubmatch(out)[1]
	out, errs, _ := c.process("reset", "--yes-plan", digest, "--reason", "the cause is gone")
	if !strings.Contains(out+errs, "journal is damaged") {
		t.Errorf("carried out without a word:\n%s\n%s", out, errs)
	}
	if _, _, code := c.process("audit", "verify"); code == 0 {
		t.Error("verify passes")
	}
}

// TestSavedAlertsThatCannotBeReadAreTold: what that costs and what helps.
func TestSavedAlertsThatCannotBeReadAreTold(t *testing.T) {
	c := failedDemo(t)
	_, _, _ = c.process("check")
	if err := os.WriteFile(filepath.Join(c.dir, "alerts.json"), []byte(`{"schema":`), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := c.process("check")
	if !strings.Contains(out+errs, "saved alerts cannot be read") || code == 70 {
		t.Errorf("exit code %d\n%s\n%s", code, out, errs)
	}
	if left, _ := filepath.Glob(filepath.Join(c.dir, "alerts.json*")); len(left) < 2 {
		t.Errorf("nothing was kept: %v", left)
	}
}

// TestNoDefaultIgnorableIsShown: every character that Unicode calls default-ignorable gets a visible stand-in.
func TestNoDefaultIgnorableIsShown(t *testing.T) {
	for r := rune(0xa0); r <= unicode.MaxRune; r++ {
		ignorable := unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
			unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
		if text := backend.Clean("a"+string(r)+"b", 40).String(); ignorable && strings.ContainsRune(text, r) {
			t.Errorf("%U is shown as it is: %q", r, text)
		}
	}
	if text := backend.Clean("a\u034fb", 40).String(); strings.ContainsRune(text, 0x34f) || len([]rune(text)) < 3 {
		t.Errorf("U+034F: %q", text)
	}
}

// TestAnEchoedHeaderIsMasked: what a server echoes of the configured headers and addresses is shown nowhere, also where it
// answers with an error; the name of a tenant stays.
func TestAnEchoedHeaderIsMasked(t *testing.T) {
	fails := false
	var echo []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		echo = []string{r.Header.Get("X-Internal"), r.Header.Get("X-Api-Key"), "LSecret66xx"}
		said, _ := json.Marshal("bad header " + strings.Join(echo, " key ") + " of " + r.Header.Get("X-Tenant"))
		w.Header().Set("Content-Type", "application/json")
		switch {
		case fails:
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = fmt.Fprintf(w, `{"error":%s}`, said)
		case r.URL.Path == "/sessions":
			_, _ = w.Write([]byte(`{"sessions":[{"sessionId":"s1","status":"running"}]}`))
		default:
			_, _ = fmt.Fprintf(w, `{"workspaces":[{"name":"box","state":"failed","lastError":%s,"lastAttemptAt":%d}]}`, said, time.Now().Add(-time.Second).UnixMilli())
		}
	}))
	t.Cleanup(server.Close)
	file := writeConfig(t, fmt.Sprintf("[[source]]\nid = \"h\"\nkind = \"helix\"\nurl = \"%[1]s/healthz/{session}\"\nlist_url = \"%[1]s/sessions?api_key=LSecret66xx\"\n"+
		"headers = { X-Internal = \"Hd-Val%%9/xY+zz77\", X-Api-Key = \"ApiK-44-xyzw\", X-Tenant = \"acme-prod\" }\n", server.URL))
	dir := t.TempDir()
	for _, fails = range []bool{false, true} {
		for _, line := range []string{"check", "check -o json", "get all -o json", "get workspaces", "get sources -o csv", "why h"} {
			var out bytes.Buffer
			p := testProgram(time.Now)
			p.Stdout, p.Stderr = &out, &out
			p.Run(t.Context(), append(strings.Fields(line), "--config", file, "--state-dir", dir))
			if strings.HasPrefix(line, "check") && !fails && !strings.Contains(out.String(), "acme-prod") {
				t.Errorf("%s does not show what the server said:\n%s", line, out.String())
			}
			for _, secret := range echo {
				if strings.Contains(out.String(), secret) {
					t.Errorf("%s shows %s (the server fails: %v):\n%s", line, secret, fails, out.String())
				}
			}
		}
	}
}
