package app

import (
	"context"
	"net"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"time"

	"sandglass/actions/audit"
	"sandglass/alerts"
	"sandglass/backend"
)

// Machine is what the program uses of the machine it runs on, and who runs it. Everything else takes it as an argument.
type Machine struct {
	Now       func() time.Time           // the wall clock
	Mono      func() time.Duration       // since the process started; never jumps
	ReadClock func() alerts.ClockReading // the clocks that outlive a process
	Spawn     backend.Spawner            // starts goroutines
	Dial      func(ctx context.Context, network, address string) (net.Conn, error)
	// Command prepares a configured command: no shell, and none of our own credentials are added to its environment.
	Command func(ctx context.Context, argv []string) *exec.Cmd
	Getenv  func(string) string
	// User is whom the system says the program runs as; empty: it does not say. Host is the machine's name, or empty.
	User, Host string
	// Process names this process among those of the host.
	Process string
	// Who is the person at this program, as far as the system knows.
	Who audit.Who
	// SharedAccount says that the account says little about who uses it: the superuser without sudo, and the accounts that
	// images of cloud machines come with.
	SharedAccount bool
	// LogSockets are where the head of the journal is anchored after each synced record; empty: nowhere.
	LogSockets audit.Sockets
}

// NewMachine reads this process's machine. A panic on a goroutine goes to crash.
func NewMachine(crash func(name string, reason any, stack []byte)) Machine {
	m := Machine{Now: time.Now, ReadClock: alerts.ReadSystemClock, Mono: sinceStart(), Spawn: backend.NewSpawner(crash), Getenv: os.Getenv,
		Dial:    (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		Command: command, Process: strconv.Itoa(os.Getpid()), LogSockets: audit.SystemSockets()}
	if u, err := user.Current(); err == nil {
		m.User = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		m.Host = host
	}
	m.Who, m.SharedAccount = m.person(), m.sharedAccount()
	return m
}

func command(ctx context.Context, argv []string) *exec.Cmd {
	return exec.CommandContext(ctx, argv[0], argv[1:]...)
}

// sinceStart returns a clock of the time since now. It counts suspended time where the system can tell it.
func sinceStart() func() time.Duration {
	start, began := alerts.ReadSystemClock(), time.Now()
	return func() time.Duration {
		if now := alerts.ReadSystemClock(); now.Boot != "" && now.Boot == start.Boot {
			return now.SinceBoot - start.SinceBoot
		}
		return time.Since(began)
	}
}

func (m *Machine) person() audit.Who {
	address, _, _ := strings.Cut(m.Getenv("SSH_CONNECTION"), " ")
	who := audit.Who{User: backend.Text("unknown"), Host: backend.Text("unknown"), SSHClient: backend.Clean(address, 100),
		Claimed: backend.Clean(m.Getenv("SANDGLASS_USER"), 100), SudoUser: backend.Clean(m.Getenv("SUDO_USER"), 100)}
	if m.User != "" {
		who.User = backend.Clean(m.User, 100)
	}
	if m.Host != "" {
		who.Host = backend.Clean(m.Host, 100)
	}
	return who
}

func (m *Machine) sharedAccount() bool {
	switch m.User {
	case "", "root":
		return m.Getenv("SUDO_USER") == ""
	case "admin", "ubuntu", "debian", "ec2-user", "azureuser", "centos", "deploy", "ops", "core", "opc", "fedora":
		return true
	}
	return false
}
