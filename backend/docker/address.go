package docker

import (
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"sandglass/backend"
)

// origin says who chose an address; it decides what an engine that is not there means.
type origin int

const (
	fromOption  origin = iota // the configuration or DOCKER_HOST: not there is a failure
	fromContext               // a docker context: a missing socket means that there is no engine
	fromUsual                 // a usual socket: not there means nothing
)

// address is one place where an engine may answer.
type address struct {
	url     string // as the client library takes it, without credentials
	network string // for the dialer
	dial    string
	tls     tlsFiles
	from    origin
	why     string // "option host", "DOCKER_HOST", "docker context lima"
}

// parseAddress reads the forms that DOCKER_HOST has.
func parseAddress(raw string) (address, error) {
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok || rest == "" {
		return address{}, fmt.Errorf("%q is not an engine address; write unix:///var/run/docker.sock or tcp://host:2375", raw)
	}
	switch scheme {
	case "unix":
		if !filepath.IsAbs(rest) {
			return address{}, fmt.Errorf("%q needs an absolute path; write unix:///var/run/docker.sock", raw)
		}
		if len(rest) > 107 { // sun_path of Linux, without its final zero
			return address{}, fmt.Errorf("the socket path in %q is longer than the 107 bytes that a socket address holds", raw)
		}
		return address{url: raw, network: "unix", dial: rest}, nil
	case "tcp", "http", "https":
		u, err := url.Parse("tcp://" + rest)
		if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" {
			return address{}, fmt.Errorf("the %s address of the engine is not of the form tcp://host:port", scheme)
		}
		a := address{network: "tcp", tls: tlsFiles{on: scheme == "https"}}
		port := u.Port()
		if port == "" {
			port = "2375"
		}
		a.dial = net.JoinHostPort(u.Hostname(), port)
		a.url = "tcp://" + a.dial + strings.TrimSuffix(u.Path, "/")
		return a, nil
	case "ssh":
		return address{}, fmt.Errorf("ssh addresses are not opened from here; forward the socket (ssh -nNT -L /tmp/docker.sock:/var/run/docker.sock %s) and set host = \"unix:///tmp/docker.sock\"", rest)
	}
	return address{}, fmt.Errorf("%s:// is no way to an engine that is known here; use unix:// or tcp://", scheme)
}

// place is the address with symbolic links followed: the usual socket is often a link that another engine takes over.
func (a address) place() string {
	if a.network != "unix" {
		return a.url
	}
	if path, err := filepath.EvalSymlinks(a.dial); err == nil {
		return "unix://" + path
	}
	return a.url
}

// resolver finds out where the engine may be.
type resolver struct {
	host   string // the option
	getenv func(string) string
	uid    int // of the user, 0: not known, or root
}

// addresses returns the places to try, in order. Only the usual sockets are more than one.
func (r resolver) addresses() ([]address, error) {
	if r.host != "" {
		return r.one(r.host, fromOption, "option host")
	}
	if h := r.getenv("DOCKER_HOST"); h != "" {
		return r.one(h, fromOption, "DOCKER_HOST")
	}
	c, err := r.context()
	if err != nil {
		return nil, err
	}
	if c != nil {
		return []address{*c}, nil
	}
	var out []address
	for _, path := range r.usualSockets() {
		a, err := parseAddress("unix://" + path)
		if err != nil {
			continue // a home directory with a path too long for a socket: nothing can listen there
		}
		a.from, a.why = fromUsual, "usual socket"
		out = append(out, a)
	}
	return out, nil
}

func (r resolver) one(raw string, from origin, why string) ([]address, error) {
	a, err := parseAddress(raw)
	if err != nil {
		return nil, &backend.Error{Kind: backend.ErrInvalid, Where: why, Err: err}
	}
	a.from, a.why = from, why
	if a.network == "tcp" {
		a.tls = r.envTLS(a.tls)
	}
	return []address{a}, nil
}

// usualSockets lists where engines listen: Docker, rootless Docker, Docker Desktop, Podman.
func (r resolver) usualSockets() []string {
	out := []string{"/var/run/docker.sock"}
	run, home := r.getenv("XDG_RUNTIME_DIR"), r.getenv("HOME")
	if run == "" && r.uid > 0 { // as for a service, or after su
		run = fmt.Sprintf("/run/user/%d", r.uid)
	}
	if run != "" {
		out = append(out, filepath.Join(run, "docker.sock"))
	}
	if home != "" {
		out = append(out, filepath.Join(home, ".docker/run/docker.sock"), filepath.Join(home, ".docker/desktop/docker.sock"))
	}
	if run != "" {
		out = append(out, filepath.Join(run, "podman/podman.sock"))
	}
	return append(out, "/run/podman/podman.sock")
}

// dockerDir is where the docker command keeps its configuration; empty without a home directory.
func (r resolver) dockerDir() string {
	if d := r.getenv("DOCKER_CONFIG"); d != "" {
		return d
	}
	if h := r.getenv("HOME"); h != "" {
		return filepath.Join(h, ".docker")
	}
	return ""
}
