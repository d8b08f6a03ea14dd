package test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"sandglass/demo"
	"sandglass/demo/cloudflare"
)

// TestTheWorkspaceThatWentAway plays the seed's story on the command line: the agent's log tells that no command begins, which alone
// is pending; a probe names the directory and makes it fire; why prints how each way to run a command ended; a repair makes the
// directory again and proves it; then nothing fires. So it is with the operator routes and without.
func TestTheWorkspaceThatWentAway(t *testing.T) {
	t.Parallel()
	ids := cloudflare.BridgeIDs()
	for name, change := range map[string]func(string) string{
		"with operator routes":    func(config string) string { return config },
		"without operator routes": func(config string) string { return strings.Replace(config, "ops_prefix = \"/ops\"\n", "", 1) },
		"by references alone":     func(config string) string { return namedByStates(t, config, ids) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			w := newCommandLines(t, demo.Options{Workspaces: 10, Seed: 1, Scenario: "workspace-missing", Start: began.Add(-2 * time.Minute),
				Clock: func() time.Duration { return time.Since(began) + 2*time.Minute }}, change)
			w.run(0, `(?s)contradiction on cloudflare, pending.*no command begins in it, its agent's log says.*could not begin since.*‹masked›`, "check")
			w.run(4, `probe it first`, "repair", ids[1])
			w.carryOut(1, `(?s)/workspace is missing.*filesystem read +not tried`, "probe", ids[1])
			w.run(2, `(?s)contradiction on cloudflare, firing.*its working directory is missing`, "check")
			w.run(0, `(?s)no session: did not begin.*a new session: runs, in /root.*with cwd /workspace: did not begin.*in the root: runs, in /`, "why", ids[1])
			w.run(0, `(?s)the files of /workspace are gone already.*sessions that are open stay`, "repair", ids[1])
			w.carryOut(0, `(?s)verified, /workspace is there again, empty: true ran in it.*exec +ok.*filesystem list +ok`, "repair", ids[1])
			w.run(0, `after mkdir, no session: runs`, "why", ids[1])
			w.run(4, `there is nothing to repair`, "repair", ids[1])
			w.carryOut(1, `a link to /mnt/r2/project, which is missing`, "probe", ids[2])
			w.carryOut(0, `/workspace is there again`, "repair", ids[2])
			w.run(0, `(?s)\AOK`, "check")
		})
	}
}

// namedByStates is a configuration in which saved states of agents name the sandboxes of the bridge, and nothing else does.
func namedByStates(t *testing.T, config string, ids []string) string {
	t.Helper()
	dir := t.TempDir()
	bridge := regexp.MustCompile(`(?m)^bridge_url = "(.*)"$`).FindStringSubmatch(config)
	if bridge == nil {
		t.Fatal("the demo has no bridge")
	}
	for i, id := range ids {
		state := fmt.Sprintf(`{"$schemaVersion":"1.17","sandbox":{"backend_id":"cloudflare","session_state":{"type":"cloudflare","session_id":"s%d","worker_url":%q,"sandbox_id":%q,
			"snapshot":{"type":"noop","id":"x"},"manifest":{"version":1,"root":"/workspace","entries":{}},"exposed_ports":[]}}}`, i, bridge[1]+"/", id)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("s%d.json", i)), []byte(state), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config = regexp.MustCompile(`(?m)^(ops_prefix|sandboxes) = .*\n`).ReplaceAllString(config, "")
	return config + fmt.Sprintf("\n[[source]]\nid = \"agent-states\"\nkind = \"refs\"\nlayout = \"agent-sdk\"\nfiles = [%q]\n", filepath.ToSlash(filepath.Join(dir, "*.json")))
}

// TestASandboxThatOnlyAReferenceNames: its page says by which, the inventory does not take that for a proof that it is there, and a check of
// the references neither.
func TestASandboxThatOnlyAReferenceNames(t *testing.T) {
	t.Parallel()
	ids := cloudflare.BridgeIDs()
	began := time.Now()
	w := newCommandLines(t, demo.Options{Workspaces: 10, Seed: 1, Scenario: "workspace-missing", Start: began.Add(-2 * time.Minute),
		Clock: func() time.Duration { return time.Since(began) + 2*time.Minute }}, func(config string) string { return namedByStates(t, config, ids) })
	w.run(0, `(?s)the platform does not list it.*known by +reference s1/\S+ of agent-states`, "why", ids[1])
	w.run(3, `unknown +s1 +`+ids[1]+`  \(cloudflare has no list that it would be in: only its name is known, from a reference\)`, "refs", "check", "--reads", "1..3")
	w.run(0, `(?s)a new, empty container, which is billed.*known from a reference alone`, "destroy", ids[1])
}

// TestASharedSandbox: the log names the command that removed the directory of two agents, so that their lines alone fire, as one alert.
func TestASharedSandbox(t *testing.T) {
	t.Parallel()
	began := time.Now()
	w := newCommandLines(t, demo.Options{Workspaces: 10, Seed: 1, Scenario: "shared-sandbox", Start: began.Add(-2 * time.Minute),
		Clock: func() time.Duration { return time.Since(began) + 2*time.Minute }}, func(config string) string { return config })
	out := w.run(2, `(?s)contradiction on cloudflare, firing.*since the agent coder changed its working directory.*before it, at \S+, the agent coder ran, with exit code 128: rm -rf /workspace.*commands in it are run by coder and planner`, "check")
	if n := strings.Count(out, "contradiction on cloudflare"); n != 1 {
		t.Errorf("%d alerts about one sandbox:\n%s", n, out)
	}
	id := regexp.MustCompile(`(?m)^  sandbox (\S+)$`).FindStringSubmatch(out)[1]
	w.run(0, `(?s)Did an agent change its working directory\?\s+- at \S+ the agent coder ran, with exit code 128: rm -rf.*then +Keep the agent coder from running it.*Give coder and planner a sandbox each`, "why", id)
}
