package cli_test

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// site is a configuration and a state directory that several runs share.
type site struct {
	t           *testing.T
	config, dir string
}

func newSite(t *testing.T) *site {
	s := &site{t: t, dir: t.TempDir()}
	s.config = s.dir + "/sandglass.toml"
	if err := os.WriteFile(s.config, []byte("[[source]]\nid = \"a\"\nkind = \"fake\"\nfailing = 2\nworking = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// run is one command line; want is a regular expression about what it printed on both outputs.
func (s *site) run(code int, want string, args ...string) string {
	s.t.Helper()
	var out, errs bytes.Buffer
	p := program(&out, &errs, func(name string) string {
		if name == "USER" {
			return "mara"
		}
		return ""
	})
	got := p.Run(s.t.Context(), append(args, "--config", s.config, "--state-dir", s.dir+"/state"))
	text := out.String() + errs.String()
	if got != code || !regexp.MustCompile(want).MatchString(text) {
		s.t.Errorf("%v: exit code %d, want %d; want %q in\n%s", args, got, code, want, text)
	}
	return text
}

// What one run orders holds for the next: an acknowledgement, its end, a silence, its end.
func TestOrdersHoldAcrossRuns(t *testing.T) {
	s := newSite(t)
	table := s.run(0, "failed-too-long", "get", "alerts", "-o", "csv", "--filter", "alert:failed-too-long")
	id := regexp.MustCompile(`\b[0-9a-f]{8,}\b`).FindString(table[strings.IndexByte(table, '\n'):])
	if id == "" {
		t.Fatalf("no id in\n%s", table)
	}
	s.run(64, "--reason is missing", "ack", id)
	s.run(64, "needs the id", "ack")
	s.run(64, `no id matches "nosuch"`, "ack", "nosuch", "--reason", "x")
	s.run(64, "the nearest:\n  "+id, "ack", "x"+id, "--reason", "x")
	s.run(64, "--for 500h is too long: longest_order of the configuration is 24h", "ack", id, "--reason", "x", "--for", "500h")
	for _, short := range []string{"0s", "10ms"} {
		s.run(64, "at least 1s", "ack", id, "--reason", "x", "--for", short)
		s.run(64, "at least 1s", "silence", "rule=failed-too-long", "--reason", "x", "--for", short)
	}
	s.run(0, "^failed-too-long on a is acknowledged by mara for 30m", "ack", id[2:7], "--reason", "on it")
	s.run(0, "ack by +mara, 30m left  on it", "why", id)
	s.run(2, "failed-too-long", "check") // an acknowledged alert counts
	s.run(0, "is not acknowledged any more", "ack", id, "--back")
	s.run(1, "is not acknowledged", "ack", id, "--back")

	s.run(64, "rool", "silence", "rool=x", "--reason", "x")
	s.run(64, "--reason is missing", "silence", "rule=failed-too-long")
	s.run(0, "nothing is silenced", "silence", "list")
	for _, unknown := range []string{"rule=failed-to-long", `rule=~"fialed.*"`, `rule!="nosuch"`, "source=c", "severity=crit", "environment=prod", "alert=ffff"} {
		s.run(64, "there is no|no id matches", "silence", unknown, "--reason", "to see")
	}
	s.run(64, `there is no rule "failed-to-long"; did you mean "failed-too-long"`, "silence", "rule=failed-to-long", "--reason", "to see")
	s.run(0, "nothing is silenced", "silence", "list")
	s.run(0, "matches none now", "silence", "rule=eviction-storm", "--reason", "to see")
	s.run(0, "covers 1 alert for 1h", "silence", `rule="failed-too-long"`, "--reason", "bucket is being moved", "--by", "ann")
	list := s.run(0, `1h left  rule="failed-too-long"\n  covers 1 alert now; ann: bucket is being moved`, "silence", "list")
	s.run(0, "OK", "check") // a silenced one does not
	s.run(64, "no silence nosuch is in force", "silence", "end", "nosuch")
	for _, silence := range regexp.MustCompile(`(?m)^[0-9a-f]{8}`).FindAllString(list, -1) {
		s.run(0, "is over", "silence", "end", silence)
	}
	s.run(0, "nothing is silenced", "silence", "list")
	s.run(2, "failed-too-long", "check")
}
