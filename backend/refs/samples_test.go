package refs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sandglass/backend"
)

// sample is the document in one file of testdata.
func sample(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var x struct {
		Sample, Basis string
		Body          json.RawMessage
	}
	if err := json.Unmarshal(raw, &x); err != nil || x.Sample != name || x.Basis == "" || len(x.Body) == 0 {
		t.Fatalf("%s: sample %q, basis %q, %d bytes, %v", name, x.Sample, x.Basis, len(x.Body), err)
	}
	return x.Body
}

// TestSamples replays every document of testdata and says what must be read from it. A file without a line here fails.
func TestSamples(t *testing.T) {
	says := map[string]func(t *testing.T, x *backend.Ref){
		"run_state_sandbox_payload": func(t *testing.T, x *backend.Ref) {
			const session = "0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d"
			if x.Session.Raw() != session || x.Workspace.Raw() != "coder" || x.Provider.String() != "blaxel" || x.Sandbox.Raw() != "agents-0a1b2c3d4e5f" || x.Organisation() != "acme" || !x.SchemaVersion.IsNotApplicable() {
				t.Errorf("%+v", x)
			}
			a := x.Agent
			if a.Version.String() != "1.17" || a.Root.String() != "/workspace" || !a.RootDefault || !a.KeepsNothing() || a.SnapshotID.Raw() != session || a.Unnamed {
				t.Errorf("version %s, root %s (default %t), snapshot %s %s", a.Version, a.Root, a.RootDefault, a.Snapshot, a.SnapshotID.Raw())
			}
			if a.Image.String() != "blaxel/base-image:latest" || a.Memory.Or(0) != 4096 || a.Region.String() != "us-pdx-1" || a.TTL.String() != "24h" || a.Address.String() != "https://sbx-agents-0a1b2c3d4e5f-acme.us-pdx-1.bl.run" {
				t.Errorf("%s %v %s %s %s", a.Image, a.Memory, a.Region, a.TTL, a.Address)
			}
			if on, told := a.PauseOnExit.Get(); !told || !on || a.PauseDefault || len(a.Ports) != 0 || !a.PortsPublic.Or(false) || a.PortTTL.Or(0) != 3600 || len(a.Labels) != 0 || len(a.Drives)+len(a.OtherMounts) != 0 {
				t.Errorf("pause %v (default %t), ports %v %v %v, labels %v, drives %v", a.PauseOnExit, a.PauseDefault, a.Ports, a.PortsPublic, a.PortTTL, a.Labels, a.Drives)
			}
			if got := fmt.Sprint(a.Env); got != "[{EXAMPLE_TOKEN base}]" {
				t.Errorf("environment %s", got)
			}
			want := "[{exec_timeout_s 300 300 true} {cleanup_s 30 30 true} {file_upload_s 1800 1800 true} {file_download_s 1800 1800 true} {workspace_tar_s 300 300 true} {fast_op_s 30 30 true}]"
			if got := fmt.Sprint(a.Timeouts); got != want {
				t.Errorf("timeouts %s", got)
			}
			if all := fmt.Sprintf("%+v %+v %s", *x, *a, x.Raw); strings.Contains(all, "plain-text-value") {
				t.Errorf("a value of the environment is kept: %s", all)
			}
		},
	}
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) != len(says) {
		t.Errorf("%d files, %d lines (%v)", len(files), len(says), err)
	}
	for name, check := range says {
		f := agentSource(t)
		f.put(t, "x.json", string(sample(t, name)))
		r := f.poll(t)
		if len(r.Refs) != 1 || len(r.Problems) > 0 || r.Refs[0].Agent == nil {
			t.Fatalf("%s: %d refs, %s", name, len(r.Refs), problems(r))
		}
		check(t, r.Refs[0])
	}
}
