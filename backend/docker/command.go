package docker

import (
	"os"
	"path/filepath"
	"strconv"

	"sandglass/backend"
)

// ClientCommand is the command line client that reaches the engine of the newest poll, as a shell takes it: what the option
// says, else docker or podman, with the engine's address where they would talk to another one. "docker" before any poll.
func (s *Source) ClientCommand() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.command == "" {
		return "docker"
	}
	return s.command
}

// commandFor decides it for an engine that has answered.
func (s *Source) commandFor(a address, podman bool) string {
	if s.opt.Client != "" {
		return s.opt.Client
	}
	r := resolver{getenv: s.deps.Getenv, uid: os.Getuid()}
	if found, err := r.addresses(); err == nil && len(found) > 0 && found[0].url == a.url && !(podman && found[0].from == fromUsual) {
		return "docker"
	}
	url := backend.ShellWord(a.url).String()
	switch {
	case podman && a.url == "unix://"+r.ownPodman():
		return "podman"
	case podman:
		return "podman --url " + url
	case a.tls.on:
		return "docker --tlsverify -H " + url
	}
	return "docker -H " + url
}

// ownPodman is the socket of the Podman that the command podman is, without a service, for this user.
func (r resolver) ownPodman() string {
	switch run := r.getenv("XDG_RUNTIME_DIR"); {
	case r.uid == 0:
		return "/run/podman/podman.sock"
	case run == "":
		return filepath.Join("/run/user", strconv.Itoa(r.uid), "podman/podman.sock")
	default:
		return filepath.Join(run, "podman/podman.sock")
	}
}
