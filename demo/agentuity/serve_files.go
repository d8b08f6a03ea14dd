package agentuity

import (
	"bytes"
	"fmt"
	"net/http"
	"time"
)

func (s server) fileRoutes() {
	s.on("GET /fs/list/{id}", anyKey, s.files(s.listFiles))
	s.on("GET /fs/{id}", anyKey, s.files(s.readFile))
	s.on("GET /fs/download/{id}", anyKey, s.files(s.download))
	s.on("POST /fs/{id}", anyKey, s.files(s.writeFiles))
	s.on("POST /fs/mkdir/{id}", anyKey, s.files(s.makeDir))
	s.on("POST /fs/rm/{id}", anyKey, s.files(s.remove))
	s.on("POST /fs/rmdir/{id}", anyKey, s.files(s.remove))
	s.on("POST /fs/upload/{id}", anyKey, s.files(s.upload))
}

// files asks first whether the filesystem of a sandbox is there.
func (s server) files(do func(r *http.Request, x *sandbox) (answer, *refusal)) route {
	return func(r *http.Request) (answer, *refusal) {
		x, no := s.sandbox(r)
		switch {
		case no != nil:
			return answer{}, no
		case x.asleepNow():
			return refuse(http.StatusConflict, "sandbox is "+x.status, "")
		case x.gone():
			return refuse(http.StatusNotFound, "sandbox not found", "SANDBOX_NOT_FOUND")
		case x.fault.mountGone:
			return refuse(http.StatusNotFound, x.noMount(r), "")
		}
		return do(r, x)
	}
}

// noMount is what the host says of a mount that is not there.
func (x *sandbox) noMount(r *http.Request) string {
	p := absolute(r.URL.Query().Get("path"))
	if r.Method == http.MethodGet && r.URL.Path == "/fs/list/"+x.id {
		return fmt.Sprintf("not found: error listing files in %s: readdirent /working/sandbox/%s/cow-merged: no such file or directory", p, x.id)
	}
	return fmt.Sprintf("not found: error opening %s: openat /working/sandbox/%s/cow-merged: no such file or directory", p, x.id)
}

func (s server) listFiles(r *http.Request, x *sandbox) (answer, *refusal) {
	asked := r.URL.Query().Get("path")
	p, f := x.find(asked)
	if f == nil || !f.dir {
		return refuse(http.StatusNotFound, fmt.Sprintf("not found: error listing files in %s: no such directory", absolute(asked)), "")
	}
	rows := []wireFile{}
	for _, e := range x.list(p) {
		rows = append(rows, wireFile{Path: e.name, Size: e.file.size(), IsDir: e.file.dir, IsSymlink: e.file.link != "", LinkTarget: e.file.link,
			Mode: fmt.Sprintf("%04o", e.file.mode), ModTime: zoned(e.file.at)})
	}
	return data(map[string]any{"files": rows})
}

func (s server) readFile(r *http.Request, x *sandbox) (answer, *refusal) {
	p, f := x.find(r.URL.Query().Get("path"))
	if f == nil || f.dir {
		return refuse(http.StatusNotFound, "not found: "+p, "")
	}
	s.record(x, "read_file")
	return answer{raw: append([]byte{}, f.content...)}, nil
}

// record keeps a read or a write among the executions, as the platform does.
func (s server) record(x *sandbox, kind string) {
	done := s.w.enqueue(x, kind, nil)
	done.status, done.began, done.done, done.took = completed, s.w.t, s.w.t, 38*time.Millisecond
}

func (s server) download(r *http.Request, x *sandbox) (answer, *refusal) {
	p, f := x.find(r.URL.Query().Get("path"))
	if f == nil {
		return refuse(http.StatusNotFound, "not found: "+p, "")
	}
	var buf bytes.Buffer
	pack := packTar
	if r.URL.Query().Get("format") == "zip" {
		pack = packZip
	}
	if err := pack(&buf, x.below(p)); err != nil {
		return refuse(http.StatusInternalServerError, err.Error(), "")
	}
	return answer{raw: buf.Bytes()}, nil
}

func (s server) writeFiles(r *http.Request, x *sandbox) (answer, *refusal) {
	in, no := body[struct {
		Files []struct {
			Path    string `json:"path"`
			Content []byte `json:"content"`
		} `json:"files"`
	}](r)
	if no != nil {
		return answer{}, no
	}
	for _, f := range in.Files {
		x.write(f.Path, f.Content, s.w.t)
	}
	s.record(x, "write_files")
	return data(map[string]int{"filesWritten": len(in.Files)})
}

type pathBody struct {
	Path string `json:"path"`
}

func (s server) makeDir(r *http.Request, x *sandbox) (answer, *refusal) {
	in, no := body[pathBody](r)
	if no != nil {
		return answer{}, no
	}
	x.makeDirs(absolute(in.Path), s.w.t)
	return done()
}

func (s server) remove(r *http.Request, x *sandbox) (answer, *refusal) {
	in, no := body[pathBody](r)
	if no != nil {
		return answer{}, no
	}
	return answer{body: map[string]bool{"success": true, "found": x.remove(in.Path)}}, nil
}

// upload takes an archive and keeps it as one file.
func (s server) upload(r *http.Request, x *sandbox) (answer, *refusal) {
	var buf bytes.Buffer
	if _, err := buf.ReadFrom(http.MaxBytesReader(nil, r.Body, maxBody)); err != nil {
		return refuse(http.StatusBadRequest, err.Error(), "")
	}
	x.write(absolute(r.URL.Query().Get("path"))+"/upload", buf.Bytes(), s.w.t)
	return done()
}
