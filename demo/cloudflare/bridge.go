package cloudflare

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"sandglass/internal/stable"
)

// BridgeOptions choose a bridge.
type BridgeOptions struct {
	Key   string // empty: everybody is answered
	Ops   string // prefix of the operator routes, such as /ops; empty: it has none
	Old   bool   // the transport http of old versions, which ignores timeouts and tells causes
	Most  int    // containers at the same time; 0: no limit
	Next  bool   // the 1.0 preview
	Clock func() time.Time
	Wait  func(context.Context, time.Duration) // for a command that takes time; nil: it takes it
}

// Bridge is a bridge Worker with its containers. Its answers are held to exchanges that were recorded from the real one.
type Bridge struct {
	o BridgeOptions

	mu      sync.Mutex
	boxes   map[string]*Box // by the id of the sandbox
	learned int             // the limit, once it was met
	started int             // containers so far
	held    chan struct{}   // closed when what never ends may end
}

// What stands at /workspace.
const (
	Directory = "directory"
	Missing   = "missing"
	Link      = "link" // to nothing
	Other     = "other"
)

// Box is one sandbox with its container.
type Box struct {
	ID, Container, Instance string
	State                   string // of the SDK
	Started, Changed        time.Time
	Root, LinkTo            string            // a Directory with a LinkTo is a link to a directory
	Files                   map[string]string // by path, below /workspace
	// Unknown is an old image whose control server lost its own directory, Wedged one that answers nothing any more.
	Unknown, Wedged bool
	Commands        []string // that were sent to it
	sessions        map[string]string
}

// NewBridge makes a bridge without containers.
func NewBridge(o BridgeOptions) *Bridge {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Wait == nil {
		o.Wait = func(ctx context.Context, d time.Duration) {
			select {
			case <-time.After(d):
			case <-ctx.Done():
			}
		}
	}
	return &Bridge{o: o, boxes: map[string]*Box{}, held: make(chan struct{})}
}

// Start starts the container of a sandbox, unless it runs; nil: none may be started.
func (b *Bridge) Start(id string) *Box {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.start(id)
}

func (b *Bridge) start(id string) *Box {
	if x := b.boxes[id]; x != nil && x.State == "healthy" {
		return x
	}
	if b.o.Most > 0 && b.running() >= b.o.Most {
		b.learned = b.o.Most
		return nil
	}
	b.started++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", id, b.started))
	h := hex.EncodeToString(sum[:])
	now := b.o.Clock()
	x := &Box{ID: id, Container: fmt.Sprintf("%s-%s-4%s-8%s-%s", h[:8], h[8:12], h[12:15], h[15:18], h[18:30]), Instance: h, State: "healthy",
		Started: now, Changed: now, Root: Directory, Files: map[string]string{}, sessions: map[string]string{}}
	b.boxes[id] = x
	return x
}

func (b *Bridge) running() int {
	n := 0
	for _, x := range b.boxes {
		if x.State == "healthy" {
			n++
		}
	}
	return n
}

// Change changes the sandbox of an id under the lock of the bridge; false: there is none.
func (b *Bridge) Change(id string, change func(*Box)) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	x := b.boxes[id]
	if x != nil {
		change(x)
	}
	return x != nil
}

// Boxes are copies of the sandboxes with a container, by id.
func (b *Bridge) Boxes() []Box {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make([]Box, 0, len(b.boxes))
	for _, x := range b.boxes {
		c := *x
		c.Commands = slices.Clone(x.Commands)
		out = append(out, c)
	}
	stable.Sort(out, func(x, y Box) int { return strings.Compare(x.ID, y.ID) })
	return out
}

func (b *Bridge) ids() []string { return slices.Sorted(maps.Keys(b.boxes)) }

// Starts is how many containers were started so far.
func (b *Bridge) Starts() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.started
}

// Close ends what never ends by itself.
func (b *Bridge) Close() { close(b.held) }
