package app

import (
	"fmt"
	"os"
	"sync"

	"sandglass/backend"
)

// problemList keeps what must not be written to a terminal while a screen is up.
type problemList struct {
	mu   sync.Mutex
	seen map[string]bool
	list []string
}

func (p *problemList) add(err error) {
	if err == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := err.Error(); !p.seen[s] && len(p.list) < 20 {
		if p.seen == nil {
			p.seen = map[string]bool{}
		}
		p.seen[s] = true
		p.list = append(p.list, s)
	}
}

func (p *problemList) print(flags string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.list {
		fmt.Fprintln(os.Stderr, "sandglass: "+backend.CommandsWith(s, backend.Reach{Flags: flags}))
	}
}
