package agentuity

import (
	"net/http"
	"slices"
)

// keepRoutes are those of what is kept of a sandbox: checkpoints of its disk and snapshots.
func (s server) keepRoutes() {
	s.on("GET /sandbox/checkpoints/{id}", anyKey, s.awake(s.checkpoints))
	s.on("POST /sandbox/{id}/checkpoint", anyKey, s.awake(s.makeCheckpoint))
	s.on("POST /sandbox/{id}/checkpoint/{kept}/restore", anyKey, s.awake(s.restore))
	s.on("DELETE /sandbox/{id}/checkpoint/{kept}", anyKey, s.awake(s.dropCheckpoint))
	s.on("POST /sandbox/{id}/snapshot", anyKey, s.awake(s.makeSnapshot))
	s.on("GET /sandbox/snapshots", anyKey, s.listSnapshots)
	s.on("GET /sandbox/snapshots/{kept}", anyKey, s.getSnapshot)
	s.on("PATCH /sandbox/snapshots/{kept}", anyKey, s.tagSnapshot)
	s.on("DELETE /sandbox/snapshots/{kept}", anyKey, s.dropSnapshot)
	s.on("GET /sandbox/snapshots/lineage", anyKey, s.lineage)
}

// awake refuses what a sleeping sandbox cannot do.
func (s server) awake(do func(r *http.Request, x *sandbox) (answer, *refusal)) route {
	return func(r *http.Request) (answer, *refusal) {
		x, no := s.sandbox(r)
		switch {
		case no != nil:
			return answer{}, no
		case x.asleepNow() || x.gone():
			return refuse(http.StatusConflict, "sandbox is "+x.status, "")
		}
		return do(r, x)
	}
}

func (c checkpoint) wire() wireCheckpoint {
	return wireCheckpoint{c.id, c.name, zoned(c.at), c.parent}
}

func (s server) checkpoints(_ *http.Request, x *sandbox) (answer, *refusal) {
	rows := []wireCheckpoint{}
	for _, c := range x.checkpoints {
		rows = append(rows, c.wire())
	}
	return data(map[string]any{"checkpoints": rows})
}

func (s server) makeCheckpoint(r *http.Request, x *sandbox) (answer, *refusal) {
	in, no := body[struct {
		Name string `json:"name"`
	}](r)
	switch {
	case no != nil:
		return answer{}, no
	case x.fault.mountGone:
		return answer{}, s.w.broken()
	case slices.ContainsFunc(x.checkpoints, func(c checkpoint) bool { return c.name == in.Name }):
		return refuse(http.StatusConflict, "a checkpoint of this name exists", "")
	}
	c := checkpoint{id: s.w.id("ckpt", 16), name: in.Name, at: s.w.t, files: copyFiles(x.files)}
	if n := len(x.checkpoints); n > 0 {
		c.parent = x.checkpoints[n-1].name
	}
	x.checkpoints = append(x.checkpoints, c)
	a, _ := data(c.wire())
	a.status = http.StatusCreated
	return a, nil
}

func (x *sandbox) checkpoint(id string) int {
	return slices.IndexFunc(x.checkpoints, func(c checkpoint) bool { return c.id == id })
}

func (s server) restore(r *http.Request, x *sandbox) (answer, *refusal) {
	i := x.checkpoint(r.PathValue("kept"))
	switch {
	case i < 0:
		return refuse(http.StatusNotFound, "checkpoint not found", "")
	case x.fault.mountGone:
		return answer{}, s.w.broken()
	}
	x.files = copyFiles(x.checkpoints[i].files)
	return done()
}

func (s server) dropCheckpoint(r *http.Request, x *sandbox) (answer, *refusal) {
	i := x.checkpoint(r.PathValue("kept"))
	if i < 0 {
		return refuse(http.StatusNotFound, "checkpoint not found", "")
	}
	x.checkpoints = slices.Delete(x.checkpoints, i, i+1)
	return done()
}

// snapshot finds one; nil where there is none.
func (w *World) snapshot(id string) *snapshot {
	for _, k := range w.snapshots {
		if k.id == id {
			return k
		}
	}
	return nil
}

func (k *snapshot) wire() wireSnapshot {
	return wireSnapshot{SnapshotID: k.id, RuntimeID: k.runtime, Name: k.name, Tag: optional(k.tag), SizeBytes: k.size, FileCount: len(k.files), CreatedAt: zoned(k.at)}
}

func (s server) makeSnapshot(r *http.Request, x *sandbox) (answer, *refusal) {
	in, no := body[struct {
		Name string `json:"name"`
		Tag  string `json:"tag"`
	}](r)
	switch {
	case no != nil:
		return answer{}, no
	case x.fault.mountGone:
		return answer{}, s.w.broken()
	}
	k := &snapshot{id: s.w.id("snp", 60), name: in.Name, tag: in.Tag, runtime: x.runtime.id, of: x, at: s.w.t, files: copyFiles(x.files)}
	if k.name == "" {
		k.name = "snapshot-" + x.id[4:14]
	}
	for _, f := range k.files {
		k.size += f.size()
	}
	s.w.snapshots = append(s.w.snapshots, k)
	a, _ := data(k.wire())
	a.status = http.StatusCreated
	return a, nil
}

func (s server) listSnapshots(r *http.Request) (answer, *refusal) {
	var all []wireSnapshot
	for _, k := range s.w.snapshots {
		if of := r.URL.Query().Get("sandboxId"); of == "" || k.of.id == of {
			all = append(all, k.wire())
		}
	}
	rows := page(r, all)
	if rows == nil {
		rows = []wireSnapshot{}
	}
	return data(map[string]any{"snapshots": rows, "total": len(all)})
}

func (s server) kept(r *http.Request) (*snapshot, *refusal) {
	if k := s.w.snapshot(r.PathValue("kept")); k != nil {
		return k, nil
	}
	return nil, &refusal{status: http.StatusNotFound, message: "snapshot not found", code: "SNAPSHOT_NOT_FOUND"}
}

func (s server) getSnapshot(r *http.Request) (answer, *refusal) {
	k, no := s.kept(r)
	if no != nil {
		return answer{}, no
	}
	return data(k.wire())
}

func (s server) tagSnapshot(r *http.Request) (answer, *refusal) {
	k, no := s.kept(r)
	if no != nil {
		return answer{}, no
	}
	in, no := body[struct {
		Tag *string `json:"tag"`
	}](r)
	if no != nil {
		return answer{}, no
	}
	k.tag = ""
	if in.Tag != nil {
		k.tag = *in.Tag
	}
	return data(k.wire())
}

func (s server) dropSnapshot(r *http.Request) (answer, *refusal) {
	k, no := s.kept(r)
	if no != nil {
		return answer{}, no
	}
	s.w.snapshots = slices.DeleteFunc(s.w.snapshots, func(x *snapshot) bool { return x == k })
	return done()
}

// lineage: no snapshot of the demo has a parent.
func (s server) lineage(r *http.Request) (answer, *refusal) {
	rows := []wireSnapshot{}
	if k := s.w.snapshot(r.URL.Query().Get("snapshotId")); k != nil {
		rows = append(rows, k.wire())
	}
	return data(map[string]any{"lineage": rows, "total": len(rows)})
}
