package demo

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/image"
)

// madeContainer is what a client made a container of.
type madeContainer struct {
	config *container.Config
	host   *container.HostConfig
	files  map[string]madeFile // by absolute path; guarded by clientActions.mu
}

// madeFile is a file or directory that a client wrote.
type madeFile struct {
	header  tar.Header
	content []byte
}

// Bounds of what clients can make here.
const (
	mostMade     = 1000
	mostUnpacked = 1 << 20
	mostFiles    = 100
)

// everyContainer yields those of the script, then those that clients made.
func (w world) everyContainer() iter.Seq[*fakeContainer] {
	return func(yield func(*fakeContainer) bool) {
		for i := range w.containers {
			if !yield(&w.containers[i]) {
				return
			}
		}
		w.actions.mu.RLock()
		made := slices.Clone(w.actions.made)
		w.actions.mu.RUnlock()
		for _, b := range made {
			if !yield(b) {
				return
			}
		}
	}
}

// imageID is the digest of an image that the engine has.
func imageID(name string) string {
	sum := sha256.Sum256([]byte(name))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// imageNamed finds an image by its name or id.
func (w world) imageNamed(ref string) (name string, ok bool) {
	for i := range w.containers {
		if b := &w.containers[i]; b.image == ref || imageID(b.image) == ref {
			return b.image, true
		}
	}
	return "", false
}

func noImage(w http.ResponseWriter, ref string) {
	complain(w, http.StatusNotFound, "No such image: "+ref)
}

// image serves GET /images/{name}/json.
func (s dockerServer) image(w http.ResponseWriter, r *http.Request) {
	ref, is := strings.CutSuffix(r.PathValue("name"), "/json")
	if !is {
		refuse(w, r)
		return
	}
	name, ok := s.now().imageNamed(ref)
	if !ok {
		noImage(w, ref)
		return
	}
	answerJSON(w, http.StatusOK, image.InspectResponse{ID: imageID(name), RepoTags: []string{name}, Os: "linux", Architecture: "amd64"})
}

// create serves POST /containers/create. The container has what its image has: a working directory and the few programs.
func (s dockerServer) create(w http.ResponseWriter, r *http.Request) {
	var q struct {
		container.Config
		HostConfig *container.HostConfig
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostUnpacked)).Decode(&q); err != nil || q.HostConfig == nil {
		complain(w, http.StatusBadRequest, "invalid JSON: the container's configuration cannot be read")
		return
	}
	deeds := s.now().actions
	deeds.acting.Lock()
	defer deeds.acting.Unlock()
	world, name := s.now(), r.URL.Query().Get("name")
	imageName, ok := world.imageNamed(q.Image)
	n := 0
	for b := range world.everyContainer() {
		if n++; b.name == name && !world.containerState(b).gone {
			complain(w, http.StatusConflict, fmt.Sprintf("Conflict. The container name %q is already in use by container %q.", "/"+name, b.id))
			return
		}
	}
	switch {
	case !ok:
		noImage(w, q.Image)
		return
	case n >= len(world.containers)+mostMade:
		complain(w, http.StatusInternalServerError, "the demo's engine makes no more containers")
		return
	}
	if q.WorkingDir == "" {
		q.WorkingDir = workRoot
	}
	b := &fakeContainer{kind: containerCreated, id: containerID(world.random, 1<<18+n), name: name, image: imageName, workspace: noIndex, slot: noIndex,
		created: world.t, made: &madeContainer{config: &q.Config, host: q.HostConfig, files: map[string]madeFile{}}}
	deeds.mu.Lock()
	deeds.made = append(deeds.made, b)
	deeds.mu.Unlock()
	deeds.add(clientAction{at: world.t, container: b, kind: actionCreate})
	answerJSON(w, http.StatusCreated, container.CreateResponse{ID: b.id, Warnings: []string{}})
}

// ended ends a container whose program is a sleep that is over, and removes it where it was made so.
func (w world) ended(b *fakeContainer, s containerState) containerState {
	if b.made == nil {
		return s
	}
	argv := slices.Concat(b.made.config.Entrypoint, b.made.config.Cmd)
	if i := slices.Index(argv, "sleep"); i >= 0 && i+1 < len(argv) && s.status == "running" {
		if n, err := strconv.Atoi(argv[i+1]); err == nil && w.t >= s.started.at+time.Duration(n)*time.Second {
			s.status, s.finished, s.exit = "exited", known(s.started.at+time.Duration(n)*time.Second), 0
		}
	}
	s.gone = s.gone || s.status == "exited" && b.made.host.AutoRemove
	return s
}

// keep writes down what a client unpacked into a container that it made.
func (d *clientActions) keep(b *fakeContainer, p string, h *tar.Header, content io.Reader) error {
	if b.made == nil {
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(content, mostUnpacked))
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(b.made.files) < mostFiles {
		b.made.files[path.Clean(p)] = madeFile{*h, text}
	}
	return nil
}

// file is what a client wrote at a path.
func (d *clientActions) file(b *fakeContainer, p string) (madeFile, bool) {
	if b.made == nil {
		return madeFile{}, false
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	f, ok := b.made.files[p]
	return f, ok
}

func (f madeFile) stat(p string) container.PathStat {
	out := container.PathStat{Name: path.Base(p), Size: int64(len(f.content)), Mode: os.FileMode(f.header.Mode).Perm(), Mtime: f.header.ModTime}
	if f.header.Typeflag == tar.TypeDir {
		out.Mode, out.Size = out.Mode|os.ModeDir, 4096
	}
	return out
}

// below lists what a client wrote at a path and under it, in order.
func (d *clientActions) below(b *fakeContainer, p string) []string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	var out []string
	for name := range b.made.files {
		if name == p || strings.HasPrefix(name, strings.TrimSuffix(p, "/")+"/") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// listedFiles is what ls -F prints of a directory of a container that a client made.
func (w world) listedFiles(b *fakeContainer, dir string) string {
	text := ""
	for _, p := range w.actions.below(b, dir) {
		if f, _ := w.actions.file(b, p); path.Dir(p) == dir {
			text += path.Base(p)
			if f.header.Typeflag == tar.TypeDir {
				text += "/"
			}
			text += "\n"
		}
	}
	return text
}

// pack serves GET /containers/{id}/archive of what a client wrote.
func (s dockerServer) pack(w http.ResponseWriter, r *http.Request) {
	b, ok := s.find(w, r)
	if !ok {
		return
	}
	world, p := s.now(), path.Clean("/"+r.URL.Query().Get("path"))
	first, ok := world.actions.file(b, p)
	if !ok {
		complain(w, http.StatusNotFound, fmt.Sprintf("Could not find the file %s in container %s", p, b.id))
		return
	}
	var tree bytes.Buffer
	out := tar.NewWriter(&tree)
	for _, name := range world.actions.below(b, p) {
		f, _ := world.actions.file(b, name)
		h := f.header
		h.Name, h.Size = path.Join(path.Base(p), strings.TrimPrefix(name, p)), int64(len(f.content))
		err := out.WriteHeader(&h)
		if err == nil {
			_, err = out.Write(f.content)
		}
		if err != nil {
			complain(w, http.StatusInternalServerError, err.Error())
			return
		}
	}
	raw, err := json.Marshal(first.stat(p))
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		complain(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("X-Docker-Container-Path-Stat", base64.StdEncoding.EncodeToString(raw))
	w.Header().Set("Content-Type", "application/x-tar")
	_, _ = w.Write(tree.Bytes()) // a failed write means that the client is gone
}
