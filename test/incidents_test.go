package test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/alerts"
	"sandglass/alerts/runbook"
	"sandglass/backend"
)

// incident is one of the nine of the workspace runbook, which began 40 minutes before the console is started.
type incident struct {
	number string
	name   string
	make   func(*incidentSite)
	// With everything configured: the rule that fires and whose line leads to this incident, a part of its cause, and the
	// check of the diagnosis that is confirmed.
	rule, cause, check string
	// What the first frame says where logs, metrics, saved references and the optional facts are missing, and where only the
	// health route is read: a rule whose line is firing or pending, or that is blind, which is written "rule state".
	less, least string
}

// proved is for how long the readings prove at least that the incident has lasted, of the 40 minutes that it has: facts in
// them that are as old, not what the console has seen. Zero: they only bound it from the other side, or say nothing.
func (i incident) proved() time.Duration {
	switch i.number {
	case "1", "3", "4": // the failed attempt, the log line
		return incidentAge
	case "6":
		if i.check == "schema" { // that a container is not listed was seen now
			return incidentAge
		}
	case "7", "9": // the rate over its window
		return incidentAge - 3*time.Minute
	}
	return 0
}

func nineIncidents() []incident {
	return []incident{
		{"1", "every use ends in WorkspaceFailedError", func(s *incidentSite) {
			s.session("s1", incidentWorkspace{Name: "box", State: "failed", LastError: "WorkspaceFailedError: snapshot is declared but no backupR2Binding is configured",
				Provider: "cloudflare-sandbox", Attempt: s.ms(incidentAge), Success: s.ms(incidentAge + 5*time.Minute)})
		}, "capability-mismatch", "backupR2Binding", "snapshot", "capability-mismatch firing", "capability-mismatch firing"},
		{"2", "files vanished", func(s *incidentSite) {
			s.session("s2", incidentWorkspace{Name: "box", State: "open", LastError: "ENOENT: no such file or directory, scandir '" + s.scratch + "/helix-ws-Qq12Zz'",
				Provider: "local-bash", Attempt: s.ms(30 * time.Second), Success: s.ms(incidentAge)})
		}, "files-vanished", "scratch directory", "cleaned", "files-vanished firing", "files-vanished firing"},
		{"3", "the Durable Object runs out of memory", func(s *incidentSite) {
			s.session("s3", incidentWorkspace{Name: "a", State: "open", Provider: "cloudflare-filestore", Attempt: s.ms(time.Minute), Success: s.ms(time.Minute)})
			for ago := incidentAge; ago > 0; ago -= 9 * time.Minute {
				s.lines = append(s.lines, fmt.Sprintf(`{"outcome":"exceededMemory","scriptName":"agent","eventTimestamp":%d,"event":{"request":{"url":"https://agents.example/run","headers":{"x-partykit-room":"s3"}}},`+
					`"exceptions":[{"name":"Error","message":"Durable Object's isolate exceeded its memory limit and was reset.","timestamp":%d}],"logs":[]}`, s.ms(ago), s.ms(ago)))
			}
		}, "agent-oom", "", "agent-oom", "agent-oom blind", "agent-oom blind"},
		{"4", "a sandbox does not end", func(s *incidentSite) {
			s.session("s4").Status = "completed"
			s.container("a4", "s4")
			s.log(incidentAge, 50, "s4", "workspace close timed out after 30000 ms", map[string]string{"workspace": `"box"`})
		}, "wont-terminate", "deadline", "close-timeout", "wont-terminate blind", "wont-terminate blind"},
		{"5", "scratch directories pile up", func(s *incidentSite) {
			for i := range 120 {
				if err := os.Mkdir(filepath.Join(s.scratch, fmt.Sprintf("helix-ws-%06d", i)), 0o700); err != nil {
					s.t.Fatal(err)
				}
			}
			s.log(incidentAge, 50, "s5", "tmpdir close failed", map[string]string{"cause": `"EBUSY: resource busy or locked, rmdir '/tmp/helix-ws-000001'"`})
		}, "tmpdir-pileup", "", "close-failed", "tmpdir-pileup firing", "tmpdir-pileup blind"},
		{"6", "a stored reference and its container disagree", func(s *incidentSite) {
			s.session("s6", incidentWorkspace{Name: "box", State: "failed", LastError: "WorkspaceFailedError: ref schemaVersion 4 is outside the supported range 1-3",
				Provider: "docker", Attempt: s.ms(incidentAge), Success: s.ms(incidentAge + time.Minute)})
			s.ref("s6", "a6", 4)
		}, "ref-mismatch", "schemaVersion", "schema", "ref-mismatch firing", "ref-mismatch firing"},
		{"6", "the container of a running session was deleted", func(s *incidentSite) {
			s.container("b6", "calm-0")
			s.ref("calm-0", strings.Repeat("b6", 32), 3)
			s.session("s6", incidentWorkspace{Name: "box", State: "failed", LastError: "WorkspaceFailedError: No such container: c6c6c6c6c6c6",
				Provider: "docker", Attempt: s.ms(incidentAge), Success: s.ms(incidentAge + time.Minute)})
			s.ref("s6", strings.Repeat("c6", 32), 3)
		}, "ref-mismatch", "gone by the list of docker", "deleted", "ref-mismatch firing", "ref-mismatch firing"},
		{"7", "an eviction storm", func(s *incidentSite) {
			s.evictions, s.recoveries, s.perPoll = 4800, 480, [2]float64{10, 1}
			for i := range 12 {
				id := fmt.Sprintf("s7-%d", i)
				s.session(id, incidentWorkspace{Name: "box", State: "evicted", LastError: "WorkspaceEvictedError: sandbox instance is gone",
					Provider: "docker", Attempt: s.ms(time.Duration(i+1) * time.Second), Success: s.ms(incidentAge + time.Duration(i)*time.Second)})
				for ago := incidentAge - time.Duration(i)*10*time.Second; ago > 0; ago -= 2 * time.Minute {
					s.log(ago, 50, id, "workspace tool: eviction retry exhausted", nil)
				}
			}
		}, "eviction-storm", "", "storm", "eviction-storm pending", "eviction-storm pending"},
		{"8", "a leak between tenants", func(s *incidentSite) {
			for _, tenant := range []string{"acme", "globex"} {
				x := s.session("s8-"+tenant, incidentWorkspace{Name: "box", State: "open", Provider: "cloudflare-sandbox", SandboxID: "shared-box", Attempt: s.ms(time.Minute), Success: s.ms(time.Minute)})
				x.Tenant, x.StartedAt = tenant, s.ms(incidentAge)
			}
		}, "possible-leak", "different tenants", "shared-id", "possible-leak blind", "possible-leak blind"},
		{"9", "the audit log is flooded", func(s *incidentSite) {
			s.session("s9", incidentWorkspace{Name: "box", State: "open", Provider: "local-bash", Attempt: s.ms(5 * time.Second), Success: s.ms(5 * time.Second)})
			command := map[string]string{"workspace": `"box"`, "command": `"ls; id"`}
			s.log(incidentAge, 40, "s9", "workspace tool: shell metacharacter rejected", command)
			command["suppressedCount"] = "100"
			for ago := incidentAge - 5*time.Second; ago >= 0; ago -= 5 * time.Second {
				s.log(ago, 40, "s9", "[rate-limited] workspace tool: shell metacharacter rejected", command)
			}
		}, "audit-saturation", "metacharacter", "loop", "audit-saturation blind", "audit-saturation blind"},
	}
}

// TestOpeningOnAnOldIncident starts a console 40 minutes into each incident. With logs, metrics, containers, scratch
// directories, saved references and the optional facts of the operators' routes it is named within two polls. Without the
// optional ones, and with the health route alone, the first frame names it as well, or suspects it, or says which rule is
// blind.
func TestOpeningOnAnOldIncident(t *testing.T) {
	t.Parallel()
	var numbers []string
	for _, i := range nineIncidents() {
		if !slices.Contains(numbers, i.number) {
			numbers = append(numbers, i.number)
		}
		t.Run(i.number+" "+i.name, func(t *testing.T) {
			t.Parallel()
			s := newIncidentSite(t)
			i.make(s)
			s.write()
			i.named(t, s)
			first(t, s, s.less(), i.less)
			first(t, s, s.bare(), i.least)
		})
	}
	for _, p := range runbook.All() {
		if !p.Own() && !slices.Contains(numbers, p.Number) {
			t.Errorf("incident %s is not tried", p.Number)
		}
	}
}

// named looks with everything configured.
func (i incident) named(t *testing.T, s *incidentSite) {
	v := s.watch(s.everything(), 2)
	n := slices.IndexFunc(v.board.Alerts, func(a *alerts.Alert) bool {
		return a.Rule == i.rule && a.State == alerts.StateFiring && a.Runbook == i.number && strings.Contains(a.Cause.String(), i.cause)
	})
	if n < 0 {
		t.Fatalf("after two polls %s does not fire with a line about incident %s and %q:\n%s", i.rule, i.number, i.cause, lines(v.board))
	}
	a := v.board.Alerts[n]
	if age := s.now().Sub(a.Bounds.Latest); age < i.proved() || age > incidentAge+time.Minute {
		t.Errorf("it is said to go on for %s at least, want %s", age, i.proved())
	}
	if i.number != "5" && a.Hidden() { // that directories pile up is told by several lines
		t.Errorf("its line is hidden:\n%s", lines(v.board))
	}
	d := runbook.Case{State: v.state, Board: v.board, Subject: a.Subjects[0].Key, Events: v.events}.Diagnose(i.number)
	if d.Mark(i.check) != runbook.Confirmed {
		t.Errorf("the diagnosis of %s does not confirm %q: %s\n%s", a.Subjects[0].Label, i.check, d.Conclusion, marks(d))
	}
	for _, other := range v.board.Alerts {
		for _, x := range other.Subjects {
			if x.Key.Kind != backend.KindSource && strings.HasPrefix(x.Key.Path().Raw(), "calm-") {
				t.Errorf("%s says something of undisturbed work: %s", other.Rule, x.Label)
			}
		}
	}
}

// first looks at the first frame of a console that reads less.
func first(t *testing.T, s *incidentSite, config, want string) {
	v := s.watch(config, 1)
	rule, _, _ := strings.Cut(want, " ")
	var got []string
	for _, a := range v.board.Alerts {
		if a.Rule == rule {
			got = append(got, rule+" "+string(a.State))
		}
	}
	for _, b := range v.board.Blind {
		if b.Rule == rule && !b.Why.IsEmpty() {
			got = append(got, rule+" blind")
		}
	}
	if !slices.Contains(got, want) {
		t.Errorf("the first frame says %q, want %q, with\n%s\n%s", got, want, config, lines(v.board))
	}
}

// lines writes a board for a failed test.
func lines(b *alerts.Board) string {
	var out []string
	for _, a := range b.Alerts {
		var who []string
		for _, x := range a.Subjects[:min(3, len(a.Subjects))] {
			who = append(who, x.Label.String()+" "+x.Detail.String())
		}
		out = append(out, fmt.Sprintf("%s %s (runbook %s, hidden %v): %s [%s]; %s", a.State, a.Rule, a.Runbook, a.Hidden(), a.Cause, strings.Join(who, "; "), a.Why))
	}
	for _, x := range b.Blind {
		out = append(out, fmt.Sprintf("blind %s at %s: %s", x.Rule, x.Source, x.Why))
	}
	return strings.Join(out, "\n")
}

func marks(d runbook.Diagnosis) string {
	var out []string
	for _, c := range d.Checks {
		out = append(out, fmt.Sprintf("%s: %s, %s", c.Name, c.Mark, c.Fact))
	}
	return strings.Join(out, "\n")
}
