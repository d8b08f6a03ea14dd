package demo

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sandglass/demo/agentuity"
)

// cloud is the Agentuity of a world, with the log of its Hub.
type cloud struct {
	world *agentuity.World
	gate  *gate
	key   string    // file with the key of every route
	logs  [2]hubLog // lines of text, lines of JSON
}

// hubLog is the log of one of the Hub's servers.
type hubLog struct {
	path string
	file *os.File
}

// workspacesPerSandbox keeps an Agentuity smaller than the fleet beside it.
const workspacesPerSandbox = 50

// newCloud makes the Agentuity of a story and the files it needs; nil where the world has none.
func (f *fleet) newCloud(o Options, clock func() time.Duration) (*cloud, error) {
	if f.incidents.agentuity == agentuity.Calm {
		return nil, nil
	}
	c := &cloud{key: filepath.Join(f.root, "agentuity-key")}
	key := rand.Text()
	if err := os.WriteFile(c.key, []byte(key+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("demo: write the key of Agentuity: %w", err)
	}
	c.world = agentuity.New(agentuity.Options{
		Story: f.incidents.agentuity, Seed: o.Seed, Healthy: len(f.workspaces) / workspacesPerSandbox, Start: f.start, Clock: clock, CLIKey: key,
	})
	for i, name := range []string{"coder-hub.log", "coder-hub.jsonl"} {
		l := hubLog{path: filepath.Join(f.root, "logs", name)}
		var err error
		if l.file, err = os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
			return nil, errors.Join(fmt.Errorf("demo: create log: %w", err), c.close())
		}
		c.logs[i] = l
	}
	return c, nil
}

// config points a console at the platform and at the log of its Hub.
func (c *cloud) config() string {
	if c == nil {
		return ""
	}
	base := "http://" + c.gate.addr
	c.world.Serve(agentuity.At(base))
	var regions, files []string
	for _, r := range agentuity.Regions() {
		regions = append(regions, quote(r))
	}
	for _, l := range c.logs {
		files = append(files, quote(l.path))
	}
	return fmt.Sprintf("\n[[source]]\nid = \"agentuity\"\nkind = \"agentuity\"\ninterval = \"5s\"\nregions = [%s]\norg = %s\nurl = %s\napi_url = %s\nhub_url = %s\n"+
		"requests_per_second = 40 # demo: the server is on this machine\n"+
		"actions = [\"rescue\", \"probe\", \"prove\", \"resume\", \"wake\", \"replace\", \"pause\", \"destroy\"]\n[source.read]\nfile = %s\n[source.act]\nfile = %s\n",
		strings.Join(regions, ", "), quote(agentuity.OrgID), quote(base+"/{region}"), quote(base+"/api"), quote(base+"/hub"), quote(c.key), quote(c.key)) +
		fmt.Sprintf("\n[[source]]\nid = \"hub-log\"\nkind = \"logs\"\ninterval = \"1s\"\nabout = [\"agentuity\"]\nfiles = [%s]\n", strings.Join(files, ", "))
}

// step writes what the Hub logged since the last step.
func (c *cloud) step() error {
	if c == nil {
		return nil
	}
	var text, doc bytes.Buffer
	for _, l := range c.world.Lines() {
		to := &text
		if l.JSON {
			to = &doc
		}
		to.WriteString(l.Text() + "\n")
	}
	for i, buf := range []*bytes.Buffer{&text, &doc} {
		if _, err := c.logs[i].file.Write(buf.Bytes()); err != nil {
			return fmt.Errorf("demo: write log: %w", err)
		}
	}
	return nil
}

func (c *cloud) close() error {
	if c == nil {
		return nil
	}
	var errs []error
	for i := range c.logs {
		if f := c.logs[i].file; f != nil {
			errs = append(errs, f.Close())
		}
		c.logs[i].file = nil
	}
	return errors.Join(errs...)
}
