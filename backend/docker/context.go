package docker

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"sandglass/backend"
)

// maxConfigFile bounds the docker command's files; real ones are a few kB.
const maxConfigFile = 1 << 20

// context returns the address of the current docker context, nil when it is the default one. The layout of the files
// is that of the docker command: config.json names the context, contexts/meta/<sha256 of the name>/meta.json holds its
// endpoint, contexts/tls/<same>/docker/ its certificates (https://docs.docker.com/engine/manage-resources/contexts/).
func (r resolver) context() (*address, error) {
	dir := r.dockerDir()
	name, origin := r.getenv("DOCKER_CONTEXT"), "DOCKER_CONTEXT"
	if name == "" && dir != "" {
		var config struct {
			CurrentContext string `json:"currentContext"`
		}
		origin = filepath.Join(dir, "config.json")
		if err := readJSON(origin, &config); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, &backend.Error{Kind: backend.ErrInvalid, Where: origin, Err: fmt.Errorf("the current docker context is not known: %w; set host", err)}
		}
		name = config.CurrentContext
	}
	if name == "" || name == "default" {
		return nil, nil
	}
	why := fmt.Sprintf("docker context %q", name)
	sum := sha256.Sum256([]byte(name))
	digest := hex.EncodeToString(sum[:])
	var meta struct {
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	file := filepath.Join(dir, "contexts", "meta", digest, "meta.json")
	if err := readJSON(file, &meta); err != nil {
		return nil, &backend.Error{Kind: backend.ErrInvalid, Where: why,
			Err: fmt.Errorf("%s names this context, but it cannot be read: %w; run docker context ls, or set host", origin, err)}
	}
	endpoint := meta.Endpoints["docker"]
	if endpoint.Host == "" {
		return nil, &backend.Error{Kind: backend.ErrInvalid, Where: why, Err: fmt.Errorf("%s has no docker endpoint; set host", file)}
	}
	a, err := parseAddress(endpoint.Host)
	if err != nil {
		return nil, &backend.Error{Kind: backend.ErrInvalid, Where: why, Err: err}
	}
	a.from, a.why = fromContext, why
	certs := filepath.Join(dir, "contexts", "tls", digest, "docker")
	if _, err := os.Stat(certs); err == nil && a.network == "tcp" {
		a.tls = tlsFiles{on: true, dir: certs, skipVerify: endpoint.SkipTLSVerify}
	}
	return &a, nil
}

func readJSON[T any](file string, into *T) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxConfigFile))
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

// tlsFiles says whether and with which certificates a connection is encrypted.
type tlsFiles struct {
	on         bool
	dir        string // holds ca.pem, cert.pem, key.pem; each may be missing
	skipVerify bool   // the docker context says so itself
}

// envTLS applies DOCKER_TLS_VERIFY and DOCKER_CERT_PATH. Unlike the docker command, a certificate path alone already
// means that the engine's certificate is verified.
func (r resolver) envTLS(t tlsFiles) tlsFiles {
	t.dir = r.getenv("DOCKER_CERT_PATH")
	t.on = t.on || t.dir != "" || r.getenv("DOCKER_TLS_VERIFY") != ""
	if t.on && t.dir == "" {
		t.dir = r.dockerDir()
	}
	return t
}

// load reads the certificates; nil when the connection is not encrypted.
func (t tlsFiles) load() (*tls.Config, error) {
	if !t.on {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: t.skipVerify} // #nosec G402 -- only as the docker context says
	if t.dir == "" {
		return c, nil
	}
	ca, err := os.ReadFile(filepath.Join(t.dir, "ca.pem"))
	switch {
	case err == nil:
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(ca) {
			return nil, fmt.Errorf("%s holds no certificate", filepath.Join(t.dir, "ca.pem"))
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("certificate authority: %w", err)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(t.dir, "cert.pem"), filepath.Join(t.dir, "key.pem"))
	switch {
	case err == nil:
		c.Certificates = []tls.Certificate{pair}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("client certificate: %w", err)
	}
	return c, nil
}
