package tmpdir

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sandglass/backend"
	"sandglass/internal/skip"
)

func policy() Policy {
	return Policy{Roots: []string{"/tmp", "/var/tmp"}, Pattern: "helix-ws-*", OlderThan: backend.Duration(48 * time.Hour), Max: 50}
}

func TestPolicyReadsWhatItWrites(t *testing.T) {
	want := policy()
	p, err := ParsePolicy([]byte(want.Text()))
	if err != nil {
		t.Fatal(err)
	}
	want.Harmless = []string{"/process_api", "falco.service"}
	if p, err := ParsePolicy([]byte(want.Text())); err != nil || !slices.Equal(p.Harmless, want.Harmless) {
		t.Errorf("harmless %+v, %v", p, err)
	}
	if !slices.Equal(p.Roots, want.Roots) || p.Pattern != want.Pattern || p.OlderThan != want.OlderThan || p.Max != want.Max || len(p.SHA256) != 64 {
		t.Errorf("%+v, want %+v", p, want)
	}
	for path, covered := range map[string]bool{"/tmp/helix-ws-a": true, "/var/tmp/helix-ws-b": true, "/tmp/other": false, "/tmp/helix-ws-a/b": false, "/srv/helix-ws-a": false} {
		k := backend.Key{Kind: backend.KindTmpdir, Source: "here", ID: backend.MustID("1:2:" + path)}
		if p.Covers(k) != covered {
			t.Errorf("%s: covered %v", path, !covered)
		}
	}
}

func TestPolicyHasNoDefaultsAndNoUnknownKeys(t *testing.T) {
	good := policy()
	for text, want := range map[string]string{
		"":                                       "roots",
		good.Text() + "harmless = [\"agent\"]\n": "harmless: \"agent\" is neither",
		good.Text() + "harmless = [\"a/b.service\"]\n":                          "neither",
		"roots = [\"tmp\"]":                                                     "not an absolute path",
		good.Text() + "extra = 1\n":                                             "line 5: unknown key extra",
		"roots = [\"/tmp\"\n":                                                   "line",
		"roots = [\"/tmp\"]\npattern = \"*\"\n":                                 "pattern",
		"roots = [\"/tmp\"]\npattern = \"h*\"\nolder_than = \"10m\"\nmax = 1\n": "older_than",
		"roots = [\"/tmp\"]\npattern = \"h*\"\nolder_than = \"48h\"\n":          "max",
		"roots = [\"/tmp\"]\npattern = \"h*\"\nolder_than = 48\nmax = 1\n":      "older_than",
	} {
		if _, err := ParsePolicy([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want something with %q", text, err, want)
		}
	}
}

func TestPolicyMustNotBeWritableByOthers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "clean.toml")
	good := policy()
	if err := os.WriteFile(file, []byte(good.Text()), 0o644); err != nil {
		t.Fatal(err)
	}
	me := uint32(os.Getuid())
	p, err := ReadPolicy(file, me)
	if err != nil {
		t.Fatal(err)
	}
	if reason := p.Reason().String(); !strings.Contains(reason, file) || !strings.Contains(reason, p.SHA256) {
		t.Errorf("%q", reason)
	}
	if err := os.Chmod(file, 0o664); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPolicy(file, me); err == nil || !strings.Contains(err.Error(), "written by others") {
		t.Errorf("%v", err)
	}
	if _, err := ReadPolicy(filepath.Dir(file), me); err == nil {
		t.Error("a directory was read")
	}
}

func TestUnits(t *testing.T) {
	text := Units(Timer{Binary: "/usr/local/bin/sandglass", Config: "/etc/sand glass/100%.toml", Policy: policy()})
	for _, want := range []string{"find /tmp -maxdepth 1", "cannot be undone", "older_than = \"48h\"", "max = 50", "PrivateTmp=no", "OnCalendar=hourly",
		`ExecStart=/usr/local/bin/sandglass clean --policy /etc/sandglass/clean.toml --config "/etc/sand glass/100%%.toml"`,
		`sudo /usr/local/bin/sandglass clean --policy /etc/sandglass/clean.toml --config '/etc/sand glass/100%.toml' --dry-run`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if text := Units(Timer{Binary: "/b", Policy: policy(), Lifetime: "168h"}); !strings.Contains(text, "ExecStart=/b clean --policy /etc/sandglass/clean.toml --allow clean --session-lifetime 168h\n") {
		t.Errorf("without a configuration:\n%s", text)
	}
}

// TestSystemdTakesTheUnits has the real systemd check what is printed.
func TestSystemdTakesTheUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		skip.Without(t, "systemd", err.Error())
	}
	text := Units(Timer{Binary: "/bin/true", Config: "/etc/sandglass/config.toml", Policy: policy()})
	dir := t.TempDir()
	_, rest, _ := strings.Cut(text, "sandglass-clean.service\n")
	service, timer, ok := strings.Cut(rest, "# 3. /etc/systemd/system/sandglass-clean.timer\n")
	if !ok {
		t.Fatal(text)
	}
	for name, body := range map[string]string{"sandglass-clean.service": service, "sandglass-clean.timer": timer} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(analyze, "verify", "--man=no", filepath.Join(dir, "sandglass-clean.service"), filepath.Join(dir, "sandglass-clean.timer")).CombinedOutput()
	if err != nil || strings.Contains(string(out), dir) {
		t.Errorf("%v\n%s", err, out)
	}
}

func FuzzPolicy(f *testing.F) {
	good := policy()
	f.Add([]byte(good.Text()))
	f.Add([]byte("roots = [\"/tmp\"]\npattern = \"\\u0068*\"\nolder_than = \"2d\"\nmax = 1000\n[x]\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParsePolicy(b)
		if err != nil {
			return
		}
		again, err := ParsePolicy([]byte(p.Text()))
		if err != nil || !slices.Equal(again.Roots, p.Roots) || again.Pattern != p.Pattern || again.OlderThan != p.OlderThan || again.Max != p.Max {
			t.Errorf("%q is written as %q, which reads as %+v, %v", b, p.Text(), again, err)
		}
	})
}
