package demo

import (
	"archive/tar"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"slices"

	"github.com/moby/moby/api/types/container"
)

// statOf describes a path in a container; false if it does not exist.
func (w world) statOf(b *fakeContainer, p string) (container.PathStat, bool) {
	p = path.Clean("/" + p)
	if f, ok := w.actions.file(b, p); ok {
		return f.stat(p), true
	}
	out := container.PathStat{Name: path.Base(p), Size: 4096, Mode: os.ModeDir | 0o755, Mtime: w.when(b.created)}
	root, _ := w.rootAt(b)
	linked := b.root == rootDangling && w.t >= b.since
	switch {
	case p == workRoot && linked:
		out.Mode, out.Size, out.LinkTarget = os.ModeSymlink|0o777, int64(len(linkedRoot)), linkedRoot
		return out, true
	case p == workRoot:
		return out, root == rootFine
	case p == linkedRoot:
		return out, linked && root == rootFine
	}
	return out, slices.Contains([]string{"/", "/bin", "/dev", "/etc", "/proc", "/srv", "/sys", "/tmp", "/usr", "/var"}, p)
}

// statPath serves HEAD /containers/{id}/archive.
func (s dockerServer) statPath(w http.ResponseWriter, r *http.Request) {
	b, ok := s.find(w, r)
	if !ok {
		return
	}
	p := r.URL.Query().Get("path")
	st, ok := s.now().statOf(b, p)
	if !ok {
		complain(w, http.StatusNotFound, fmt.Sprintf("Could not find the file %s in container %s", p, b.id))
		return
	}
	raw, err := json.Marshal(st)
	if err != nil {
		complain(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("X-Docker-Container-Path-Stat", base64.StdEncoding.EncodeToString(raw))
	w.WriteHeader(http.StatusOK)
}

// unpack serves PUT /containers/{id}/archive: a container that a client made keeps its files, of others only directories matter.
func (s dockerServer) unpack(w http.ResponseWriter, r *http.Request) {
	deeds := s.now().actions
	deeds.acting.Lock()
	defer deeds.acting.Unlock()
	b, ok := s.find(w, r)
	if !ok {
		return
	}
	world, into := s.now(), r.URL.Query().Get("path")
	if st, ok := world.statOf(b, into); !ok || !st.Mode.IsDir() {
		complain(w, http.StatusNotFound, fmt.Sprintf("Could not find the file %s in container %s", into, b.id))
		return
	}
	tree := tar.NewReader(http.MaxBytesReader(w, r.Body, mostUnpacked))
	mends := false
	for {
		h, err := tree.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			complain(w, http.StatusBadRequest, "the archive cannot be read: "+err.Error())
			return
		}
		mends = mends || h.Typeflag == tar.TypeDir && world.mendedBy(b, path.Join(into, h.Name))
		if err := deeds.keep(b, path.Join(into, h.Name), h, tree); err != nil {
			complain(w, http.StatusBadRequest, "the archive cannot be read: "+err.Error())
			return
		}
	}
	if mends {
		deeds.add(clientAction{at: world.t, container: b, kind: actionMend})
	}
	w.WriteHeader(http.StatusOK)
}
