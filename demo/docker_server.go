package demo

import (
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/moby/moby/api/types/common"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/api/types/volume"
)

// dockerServer speaks what a console needs of the Docker Engine API, to read and to act.
type dockerServer struct {
	now  now
	done <-chan struct{} // closed when the demo ends, so that streams end
}

func (s dockerServer) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /_ping", s.ping)
	mux.HandleFunc("GET /version", s.version)
	mux.HandleFunc("GET /info", s.info)
	mux.HandleFunc("GET /containers/json", s.list)
	mux.HandleFunc("GET /containers/{id}/json", s.inspect)
	mux.HandleFunc("GET /containers/{id}/stats", s.stats)
	mux.HandleFunc("GET /containers/{id}/logs", s.logs)
	mux.HandleFunc("GET /containers/{id}/top", s.top)
	mux.HandleFunc("GET /images/{name...}", s.image)
	mux.HandleFunc("GET /volumes", s.volumes)
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("POST /containers/create", s.create)
	mux.HandleFunc("POST /containers/{id}/stop", s.stop)
	mux.HandleFunc("POST /containers/{id}/start", s.start)
	mux.HandleFunc("POST /containers/{id}/restart", s.restart)
	mux.HandleFunc("POST /containers/{id}/kill", s.kill)
	mux.HandleFunc("POST /containers/{id}/pause", s.pause)
	mux.HandleFunc("POST /containers/{id}/unpause", s.unpause)
	mux.HandleFunc("DELETE /containers/{id}", s.remove)
	mux.HandleFunc("POST /containers/{id}/exec", s.createExec)
	mux.HandleFunc("POST /exec/{id}/start", s.startExec)
	mux.HandleFunc("GET /exec/{id}/json", s.inspectExec)
	mux.HandleFunc("HEAD /containers/{id}/archive", s.statPath)
	mux.HandleFunc("GET /containers/{id}/archive", s.pack)
	mux.HandleFunc("PUT /containers/{id}/archive", s.unpack)
	mux.HandleFunc("/", refuse)
	versioned := regexp.MustCompile(`^/v1\.\d+/`)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Api-Version", engineAPI)
		h.Set("Ostype", "linux")
		h.Set("Docker-Experimental", "false")
		h.Set("Server", "Docker/"+engineVersion+" (linux)")
		if at := versioned.FindString(r.URL.Path); at != "" {
			r.URL.Path = r.URL.Path[len(at)-1:]
			r.URL.RawPath = ""
		}
		mux.ServeHTTP(w, r)
	})
}

// refuse answers what is not served: other changes are forbidden, other
// questions are not known here.
func refuse(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		complain(w, http.StatusNotFound, "page not found")
		return
	}
	complain(w, http.StatusForbidden, "the demo's engine does not do that: "+r.Method+" "+r.URL.Path)
}

// complain answers with the engine's form of an error.
func complain(w http.ResponseWriter, status int, what string) {
	answerJSON(w, status, common.ErrorResponse{Message: what})
}

func (s dockerServer) ping(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	// A failed write means that the client is gone.
	_, _ = w.Write([]byte("OK"))
}

func (s dockerServer) version(w http.ResponseWriter, _ *http.Request) {
	answerJSON(w, http.StatusOK, system.VersionResponse{
		Platform: system.PlatformInfo{Name: "Sandglass demo engine"}, Version: engineVersion,
		APIVersion: engineAPI, MinAPIVersion: engineMinAPI, Os: "linux", Arch: "amd64",
		KernelVersion: "6.12.0-demo", GitCommit: "demo", GoVersion: "go1.20.10",
	})
}

func (s dockerServer) info(w http.ResponseWriter, _ *http.Request) {
	world := s.now()
	info := system.Info{
		ID: "demo", Images: 7, Driver: "overlay2", Name: "demo-host",
		ServerVersion: engineVersion, OperatingSystem: "Debian GNU/Linux 13 (demo)", OSType: "linux", Architecture: "x86_64",
		KernelVersion: "6.12.0-demo", DockerRootDir: "/var/lib/docker", NCPU: engineCPUs, MemTotal: 64 << 30,
		SystemTime: world.zoned(known(world.t)),
	}
	for b := range world.everyContainer() {
		state := world.containerState(b)
		if state.gone {
			continue
		}
		info.Containers++
		switch state.status {
		case "running", "restarting":
			info.ContainersRunning++
		case "paused":
			info.ContainersPaused++
		default:
			info.ContainersStopped++
		}
	}
	answerJSON(w, http.StatusOK, info)
}

func (s dockerServer) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	filters, err := parseFilters(q.Get("filters"), "label", "id", "name", "status", "health")
	if err != nil {
		complain(w, http.StatusBadRequest, err.Error())
		return
	}
	world := s.now()
	limit, err := strconv.Atoi(q.Get("limit"))
	if err != nil || limit <= 0 {
		limit = math.MaxInt
	}
	all := truth(q.Get("all"), false) || len(filters["status"]) > 0
	out := []container.Summary{}
	for b := range world.everyContainer() {
		state := world.containerState(b)
		if state.gone || len(out) == limit || !all && !state.up() && state.status != "restarting" || !filters.container(world, b, state) {
			continue
		}
		out = append(out, world.listed(b))
	}
	answerJSON(w, http.StatusOK, out)
}

func (s dockerServer) inspect(w http.ResponseWriter, r *http.Request) {
	if b, ok := s.find(w, r); ok {
		world := s.now()
		out := world.inspected(b)
		if truth(r.URL.Query().Get("size"), false) {
			out.SizeRw = world.written(b)
		}
		answerJSON(w, http.StatusOK, out)
	}
}

// volumes: the demo's containers have directories of the host, and no volumes.
func (s dockerServer) volumes(w http.ResponseWriter, _ *http.Request) {
	answerJSON(w, http.StatusOK, volume.ListResponse{Volumes: []volume.Volume{}})
}

// find answers 404 itself when no container has this id, prefix or name.
func (s dockerServer) find(w http.ResponseWriter, r *http.Request) (*fakeContainer, bool) {
	id := r.PathValue("id")
	world := s.now()
	for b := range world.everyContainer() {
		if (b.name == id || len(id) >= 4 && strings.HasPrefix(b.id, id)) && !world.containerState(b).gone {
			return b, true
		}
	}
	complain(w, http.StatusNotFound, fmt.Sprintf("No such container: %s", id))
	return nil, false
}
