package docker

import (
	"context"
	"io/fs"
	"time"

	"sandglass/backend"
	"sandglass/backend/workdir"
)

// engine is what the adapter asks of a Docker engine: readings and nothing else. client.go maps the client library to
// it. Errors are of type *backend.Error.
type engine interface {
	// ping agrees on the API version and returns it.
	ping(ctx context.Context) (string, error)
	list(ctx context.Context) ([]summary, error)
	inspect(ctx context.Context, id string) (*inspection, error)
	// volumes lists those of the driver "local".
	volumes(ctx context.Context) ([]volume, error)
	// stats takes one sample; nil when the engine has none, as for a container that has just stopped.
	stats(ctx context.Context, id string) (*sample, error)
	// tail reads the last lines of a container's log, at most maxFrame bytes for each.
	tail(ctx context.Context, id string, lines int, tty bool) (string, error)
	// logs hands the lines of a container's log to a sink, and goes on with new ones where the query says so.
	logs(ctx context.Context, id string, q backend.LogQuery, to backend.LogSink) error
	// stat describes one path of a container; fs.ErrNotExist: it is missing, or the container is. The target of a link is
	// absolute and leads through all links.
	stat(ctx context.Context, id, path string) (mode fs.FileMode, target string, err error)
	// top lists the threads of a container's processes, with the columns of workdir.PS.
	top(ctx context.Context, id string) (titles []string, rows [][]string, err error)
	// events calls opened once the stream is open and deliver for every lifecycle event since the given engine time
	// (zero: from now on) until ctx or the stream ends, which is always an error.
	events(ctx context.Context, since time.Time, opened func(), deliver func(lifecycle)) error
	// kills lists the events between two engine times that tell of a container which ran out of memory.
	kills(ctx context.Context, since, until time.Time) ([]lifecycle, error)
	// takeLoad returns what was asked since the last call.
	takeLoad() backend.Load
	// clock returns the engine's clock minus ours, and the engine's time at its newest answer (zero: never told).
	clock() (backend.Value[time.Duration], time.Time)
	// podman reports whether an answer was Podman's.
	podman() bool
	close()
}

// summary is one line of the container list. All strings are raw.
type summary struct {
	id, name, image string
	state           string // the engine's word
	status          string // the engine's sentence, "Exited (137) 3 seconds ago"
	created         time.Time
	labels          map[string]string
	mounts          []mount
}

// mount is one directory from outside the container.
type mount struct {
	kind, source, destination string
	readOnly                  bool
}

// volume is one volume with its driver's options. All strings are raw.
type volume struct {
	name    string
	options map[string]string
}

// inspection is what one container was when it was inspected. It has no environment: values there are the agents'
// secrets, and nothing of them is kept. Times are the engine's.
type inspection struct {
	id, name, image, state     string
	created, started, finished backend.Value[time.Time]
	exit                       int
	oomKilled                  bool
	oomUnknown                 bool // whether it was is not known
	restarts                   int
	health, healthOutput       string // health is empty without a health check
	checks                     backend.Value[backend.HealthChecks]
	labels                     map[string]string
	mounts                     []mount
	workDir                    string
	memLimit                   int64 // bytes, 0: none
	startError                 string
	restartPolicy              string // "on-failure:3"
	again                      bool   // its run ended, and its policy begins another one at any moment
	startPeriod                time.Duration
	command                    string
	ports                      []string // published, as "0.0.0.0:8080->80/tcp"; at most maxPorts
	tty                        bool     // its log is not in frames
	place                      workdir.Container
	raw                        document
}

// sample is one reading of a container's counters.
type sample struct {
	read time.Time // engine's clock
	cpu  backend.Value[time.Duration]
	mem  backend.Value[int64] // bytes, without page cache
	pids backend.Value[int64]
}

// lifecycle is one event in the life of a container.
type lifecycle struct {
	action          string // "die", "health_status: unhealthy", …
	id, name, image string
	exitCode        string
	labels          map[string]string
	at              time.Time // engine's clock
}
