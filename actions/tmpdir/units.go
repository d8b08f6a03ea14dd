package tmpdir

import (
	"fmt"
	"strings"

	"sandglass/backend"
)

// Timer is what Units needs to know.
type Timer struct {
	Binary string // absolute path of this program
	Config string // absolute path of the configuration, empty: there is none
	// Lifetime is session_lifetime for a machine without a configuration, as options take it ("168h").
	Lifetime string
	Policy   Policy
	// File is where the policy will lie, empty for /etc/sandglass/clean.toml.
	File string
}

// Units prints the policy, a systemd service and its timer, each with where it goes, and why they replace the usual line
// in a crontab. The service runs as root, because only root sees who uses a directory, and in the host's own mount and
// process namespaces, because from another one neither mounts nor processes are seen.
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
	return why + fmt.Sprintf(`
# 1. %[1]s -- mode 0644, owned by root; anybody else who could write it would
#    decide what root removes, so such a file is refused. Its hash goes into the journal.
%[2]s
# 2. /etc/systemd/system/sandglass-clean.service
[Unit]
Description=Set aside scratch directories that nobody uses, and remove those whose grace is over

[Service]
Type=oneshot
ExecStart=%[3]s
# The journal lies in /var/lib/sandglass/ENVIRONMENT.
StateDirectory=sandglass
Environment=XDG_STATE_HOME=/var/lib
# 1: accepted, and no reading verified it yet. 4: refused, nothing was done; systemctl status says why.
SuccessExitStatus=1
Nice=10
IOSchedulingClass=idle
TimeoutStartSec=30min
KillSignal=SIGTERM
# The host's own /tmp, mounts and processes must be seen: no PrivateTmp, no ProtectSystem, no ProtectProc.
PrivateTmp=no
NoNewPrivileges=yes
CapabilityBoundingSet=CAP_DAC_OVERRIDE CAP_DAC_READ_SEARCH CAP_FOWNER CAP_SYS_PTRACE

# 3. /etc/systemd/system/sandglass-clean.timer
[Unit]
Description=Clean scratch directories every hour

[Timer]
OnCalendar=hourly
RandomizedDelaySec=5min
Persistent=yes

[Install]
WantedBy=timers.target

# Then: systemctl daemon-reload && systemctl enable --now sandglass-clean.timer
# A rehearsal that changes nothing: sudo %[4]s --dry-run
`, file, indentless(t.Policy.Text()), strings.Join(args, " "), strings.Join(shell, " "))
}

// why says what is wrong with the line that people use instead. docs/backends/tmpdir-clean.md has the long form.
const why = `# Replaces: find /tmp -maxdepth 1 -name 'helix-ws-*' -mtime +1 -exec rm -rf {} +
# That line removes directories in use: it looks at the time of the top directory, which does not move when an agent
# works further down. +1 means two days, not one. It asks nobody whether a process or a container, a stopped one
# included, uses the directory. It empties whatever is mounted inside. And it cannot be undone.
`

func indentless(s string) string { return strings.TrimRight(s, "\n") + "\n" }

// unitWord quotes a word of ExecStart (systemd.service(5)): % and $ stand for themselves only when doubled.
func unitWord(s string) string {
	s = strings.NewReplacer("%", "%%", "$", "$$").Replace(s)
	if s != "" && !strings.ContainsAny(s, " \t\n\"'\\;") {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
}
