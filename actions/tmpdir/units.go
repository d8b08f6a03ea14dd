package tmpdir

import (
	_ "embed"
	"strings"

	"sandglass/backend"
)

// unitsTemplate is the policy, a systemd service and its timer, each with where it goes, and why they replace the usual
// line in a crontab; docs/backends/tmpdir.md says at length what is wrong with that line. The service runs as root, because only root sees who uses a directory, and in the host's own mount
// and process namespaces, because from another one neither mounts nor processes are seen.
//
//go:embed units.tmpl
var unitsTemplate string

// Timer is what Units needs to know.
type Timer struct {
	Binary string // absolute path of this program
	Config string // absolute path of the configuration, empty: there is none
	// Lifetime is session_lifetime for a machine without a configuration, as options take it ("168h").
	Lifetime string
	Policy   Policy
	// File is the path of the policy, empty for /etc/sandglass/clean.toml.
	File string
}

// Units fills in unitsTemplate.
func Units(t Timer) string {
	file := t.File
	if file == "" {
		file = "/etc/sandglass/clean.toml"
	}
	args := []string{t.Binary, "clean", "--policy", file}
	if t.Config != "" {
		args = append(args, "--config", t.Config)
	} else {
		args = append(args, "--allow", "clean", "--session-lifetime", t.Lifetime)
	}
	shell := make([]string, len(args))
	for i, a := range args {
		args[i], shell[i] = unitWord(a), backend.ShellWord(a).String()
	}
	return strings.NewReplacer("{{file}}", file, "{{policy}}", strings.TrimRight(t.Policy.Text(), "\n"),
		"{{command}}", strings.Join(args, " "), "{{shell}}", strings.Join(shell, " ")).Replace(unitsTemplate)
}

// unitWord quotes a word of ExecStart (systemd.service(5)): % and $ are literal only when doubled.
func unitWord(s string) string {
	s = strings.NewReplacer("%", "%%", "$", "$$").Replace(s)
	if s != "" && !strings.ContainsAny(s, " \t\n\"'\\;") {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
}
