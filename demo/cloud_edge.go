package demo

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sandglass/demo/cloudflare"
)

// edge is the Cloudflare account of a world.
type edge struct {
	account *cloudflare.Account
	worker  *worker // nil: it has no bridge
	gate    *gate
	token   string // file with the token of the account API
}

// newEdge makes the account of a story and the files it needs; nil where the world has none.
func (f *fleet) newEdge(o Options, clock func() time.Duration) (*edge, error) {
	if !f.incidents.edge {
		return nil, nil
	}
	e := &edge{token: filepath.Join(f.root, "cloudflare-token")}
	token := rand.Text()
	if err := os.WriteFile(e.token, []byte(token+"\n"), 0o600); err != nil {
		return nil, fmt.Errorf("demo: write the token of Cloudflare: %w", err)
	}
	opt := cloudflare.AccountOptions{Trouble: f.incidents.account, Seed: o.Seed, Token: token, Start: f.start, Clock: clock}
	var err error
	if e.worker, err = f.newWorker(clock); err != nil {
		return nil, err
	}
	if e.worker != nil {
		opt.More = e.worker.instances
	}
	e.account = cloudflare.NewAccount(opt)
	return e, nil
}

// config points a console at the account.
func (e *edge) config() string {
	if e == nil {
		return ""
	}
	return fmt.Sprintf("\n[[source]]\nid = \"cloudflare\"\nkind = \"cloudflare\"\ninterval = \"5s\"\naccount_id = %s\nurl = %s\n"+
		"requests_per_second = 40 # demo: the server is on this machine\n%s[source.read]\nfile = %s\n",
		quote(cloudflare.AccountID), quote("http://"+e.gate.addr+"/client/v4"), e.worker.keys(), quote(e.token)) + e.worker.logs()
}
