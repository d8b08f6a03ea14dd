package test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sandglass/backend"
	"sandglass/backend/agentuity"
	"sandglass/backend/backendtest"
	"sandglass/cli"
	cloud "sandglass/demo/agentuity"
)

// pipes is a listener in memory.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.done) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// tally counts requests by minute and route.
type tally struct {
	mu    sync.Mutex
	begin time.Time
	of    []map[string]int
}

func (c *tally) count(path string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	minute := int(time.Since(c.begin) / time.Minute)
	for len(c.of) <= minute {
		c.of = append(c.of, map[string]int{})
	}
	parts := strings.Split(strings.Trim(path, "/"), "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "sbx_") || strings.HasPrefix(part, "codesess_") {
			parts[i] = "{id}"
		}
	}
	c.of[minute][strings.Join(parts[1:], "/")]++
}

// TestAgentuityBudget polls 1,000 sandboxes with the budget of the default configuration for twelve minutes: no minute has more
// requests than the budget, every status is fresh, and every live sandbox's executions are read within the sweep.
func TestAgentuityBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const perSecond, sandboxes, key = 8, 1000, "key-of-the-test-1"
		begin := time.Now()
		w := cloud.New(cloud.Options{Story: cloud.Zombie, Seed: 1, Healthy: sandboxes - 1, Start: begin, Clock: func() time.Duration { return time.Since(begin) }, CLIKey: key})
		asked := &tally{begin: begin}
		l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		handler := w.Handler()
		server := &http.Server{Handler: http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			asked.count(r.URL.Path)
			handler.ServeHTTP(out, r)
		})}
		ended := make(chan error, 1)
		go func() { ended <- server.Serve(l) }()
		const base = "http://127.0.0.1:1"
		w.Serve(cloud.At(base))
		src, err := agentuity.Kind().New(backendtest.Options[agentuity.Options](func(o *agentuity.Options) {
			o.Regions, o.Org, o.URL, o.APIURL, o.HubURL, o.Read.Env = cloud.Regions(), cloud.OrgID, base+"/{region}", base+"/api", base+"/hub", "KEY"
			if o.RequestsPerSec != perSecond {
				t.Errorf("the default budget is %v", o.RequestsPerSec)
			}
		}), backend.Deps{ID: "agentuity", Interval: 5 * time.Second, Deadline: 10 * time.Second, Now: time.Now, Cleaner: backend.NewCleaner(), Dial: l.dial,
			Command: backendtest.Command, Getenv: func(string) string { return key }})
		if err != nil {
			t.Fatal(err)
		}
		boxes := map[backend.Key]*backend.Sandbox{}
		for next := begin; time.Since(begin) < 12*time.Minute; {
			r, err := src.Poll(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range r.Sandboxes {
				boxes[b.Key] = b
			}
			next = next.Add(5 * time.Second)
			time.Sleep(time.Until(next))
		}
		const where = "docs/backends/agentuity.md"
		page, err := os.ReadFile(where)
		if err != nil {
			t.Fatal(err)
		}
		mean := staysInBudget(t, asked, perSecond*60)
		if estimate, text := src.(cli.Estimator).EstimateLoad(); estimate > mean || estimate < 0.8*mean {
			t.Errorf("%.0f requests a minute, and the source says: %s", mean, text)
		}
		if docs := fmt.Sprintf("about %d requests a minute", 10*int(math.Round(mean/10))); !bytes.Contains(page, []byte("1,000 sandboxes take "+docs)) {
			t.Errorf("%s does not say that 1,000 sandboxes take %s", where, docs)
		}
		isFresh(t, boxes, sandboxes)
		if err := errors.Join(src.(io.Closer).Close(), server.Close()); err != nil {
			t.Error(err)
		}
		<-ended
	})
}

// staysInBudget returns the mean of the minutes after the first, in which a new process reads everything once.
func staysInBudget(t *testing.T, asked *tally, most int) (mean float64) {
	t.Helper()
	for minute, of := range asked.of {
		all := 0
		for _, n := range of {
			all += n
		}
		t.Logf("minute %2d: %3d requests %v", minute+1, all, of)
		if minute > 0 {
			mean += float64(all) / float64(len(asked.of)-1)
		}
		if all > most+most/60 { // the bucket holds one second's worth
			t.Errorf("minute %d: %d requests, the budget is %d", minute+1, all, most)
		}
	}
	if len(asked.of) < 12 {
		t.Errorf("%d minutes", len(asked.of))
	}
	for _, route := range slices.Sorted(maps.Keys(asked.of[0])) {
		if strings.Contains(route, "execute") || strings.Contains(route, "resume") {
			t.Errorf("%s is asked by itself", route)
		}
	}
	return mean
}

func isFresh(t *testing.T, boxes map[backend.Key]*backend.Sandbox, want int) {
	t.Helper()
	live, unread := 0, 0
	for _, b := range boxes {
		if s := b.Reported.String(); s != "idle" && s != "running" {
			continue
		}
		live++
		if age := time.Since(b.ReadAt); age > time.Minute {
			t.Errorf("%s was read %s ago", b.Key.ID.Raw(), age)
		}
		if b.WorkAt.IsZero() || time.Since(b.WorkAt) > 11*time.Minute {
			unread++
			t.Logf("%s %s created %s, read %s ago", b.Name, b.Reported, time.Since(b.CreatedAt.Or(time.Time{})), time.Since(b.WorkAt))
		}
	}
	t.Logf("%d sandboxes, %d live, executions of %d not read", len(boxes), live, unread)
	if len(boxes) != want || live < want/2 || unread > 0 {
		t.Errorf("%d sandboxes, %d live, executions of %d not read", len(boxes), live, unread)
	}
}
