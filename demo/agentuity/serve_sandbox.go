package agentuity

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"sandglass/internal/stable"
)

func (s server) sandboxRoutes() {
	s.on("GET /sandbox", anyKey, s.list)
	s.on("GET /sandbox/{id}", anyKey, s.get)
	s.on("GET /sandbox/status/{id}", anyKey, s.status)
	s.on("POST /sandbox", anyKey, s.create)
	s.on("DELETE /sandbox/{id}", anyKey, s.destroy)
	s.on("POST /sandbox/{id}/pause", anyKey, s.pause)
	s.on("POST /sandbox/{id}/resume", anyKey, s.resume)
	s.on("PATCH /sandbox/env/{id}", anyKey, s.setEnv)
	s.on("GET /sandbox/sandboxes/{id}/events", anyKey, s.events)
	s.on("GET /sandbox/runtimes", anyKey, s.runtimes)
	s.on("GET /exposed/{id}/{path...}", noKey, s.exposed)
}

// commandRoutes are those of the vendor's command line, which cross regions.
func (s server) commandRoutes() {
	s.on("GET /cli/region", cliOnly, func(*http.Request) (answer, *refusal) {
		type region struct {
			Region      string `json:"region"`
			Description string `json:"description"`
		}
		return data([]region{{Home, "US Central"}, {Away, "US East"}})
	})
	s.on("GET /cli/sandbox", cliOnly, s.listThin)
	s.on("GET /cli/sandbox/{id}", cliOnly, s.resolve)
	s.on("GET /services/stats/{org}", cliOnly, s.stats)
}

func (s server) list(r *http.Request) (answer, *refusal) {
	q := r.URL.Query()
	var all []*sandbox
	for _, x := range s.w.sandboxes {
		if x.region == s.region && (x.status == deleted) == (q.Get("deletedOnly") == "true") && matches(x, r) {
			all = append(all, x)
		}
	}
	if no := order(all, r); no != nil {
		return answer{}, no
	}
	rows := []wireSandbox{}
	for _, x := range page(r, all) {
		rows = append(rows, s.w.wire(x))
	}
	return data(struct {
		Sandboxes []wireSandbox `json:"sandboxes"`
		Total     int           `json:"total"`
	}{rows, len(all)})
}

// matches applies the filters of a list.
func matches(x *sandbox, r *http.Request) bool {
	q := r.URL.Query()
	live := x.status == running || x.status == idle || x.status == creating
	for _, f := range []struct {
		wanted string
		fits   bool
	}{
		{q.Get("name"), strings.Contains(x.name, q.Get("name"))},
		{q.Get("mode"), x.mode == q.Get("mode")},
		{q.Get("projectId"), q.Get("projectId") == projectID},
		{q.Get("snapshotId"), false},
		{q.Get("status"), x.status == q.Get("status")},
	} {
		if f.wanted != "" && !f.fits {
			return false
		}
	}
	return q.Get("live") == "" || (q.Get("live") == "true") == live
}

// order sorts a list: newest first where nothing is said.
func order(all []*sandbox, r *http.Request) *refusal {
	by := map[string]func(a, b *sandbox) int{
		"name":            func(a, b *sandbox) int { return cmp.Compare(a.name, b.name) },
		"created":         func(a, b *sandbox) int { return a.created.Compare(b.created) },
		"updated":         func(a, b *sandbox) int { return a.created.Compare(b.created) },
		"status":          func(a, b *sandbox) int { return cmp.Compare(a.status, b.status) },
		"mode":            func(a, b *sandbox) int { return cmp.Compare(a.mode, b.mode) },
		"execution_count": func(a, b *sandbox) int { return cmp.Compare(a.started, b.started) },
	}
	q := r.URL.Query()
	compare, known := by[cmp.Or(q.Get("sort"), "created")]
	if !known {
		return &refusal{status: http.StatusBadRequest, message: "invalid sort field"}
	}
	down := q.Get("direction") != "asc"
	stable.Sort(all, func(a, b *sandbox) int {
		n := cmp.Or(compare(a, b), cmp.Compare(a.id, b.id))
		if down {
			return -n
		}
		return n
	})
	return nil
}

func (s server) listThin(r *http.Request) (answer, *refusal) {
	var all []*sandbox
	for _, x := range s.w.sandboxes {
		if x.status != deleted && matches(x, r) {
			all = append(all, x)
		}
	}
	if no := order(all, r); no != nil {
		return answer{}, no
	}
	rows := []wireThin{}
	for _, x := range page(r, all) {
		rows = append(rows, wireThin{ID: x.id, Name: optional(x.name), Status: x.status, Region: x.region, CreatedAt: zoned(x.created),
			OrgID: OrgID, OrgName: orgName, ProjectID: projectID})
	}
	return data(struct {
		Sandboxes []wireThin `json:"sandboxes"`
		Total     int        `json:"total"`
	}{rows, len(all)})
}

func (s server) resolve(r *http.Request) (answer, *refusal) {
	x := s.w.byID[r.PathValue("id")]
	if x == nil || x.status == deleted {
		return refuse(http.StatusNotFound, "sandbox not found", "NOT_FOUND")
	}
	return data(wireResolved{ID: x.id, Name: optional(x.name), Region: x.region, Status: x.status, OrgID: OrgID, ProjectID: projectID})
}

func (s server) stats(r *http.Request) (answer, *refusal) {
	if r.PathValue("org") != OrgID {
		return refuse(http.StatusForbidden, "organization not found or access denied", "")
	}
	counts := map[string]int{}
	for _, x := range s.w.sandboxes {
		counts["totalExecutions"] += x.started
		if x.status == running || x.status == idle || x.status == creating {
			counts[x.status]++
			counts["totalActive"]++
		}
	}
	for _, name := range []string{"totalActive", running, idle, creating, "totalExecutions", "totalCpuTimeMs", "totalMemoryByteSec", "totalNetworkEgressBytes"} {
		counts[name] += 0
	}
	return data(map[string]any{"services": map[string]any{"sandbox": counts}})
}

// wire writes a row of a list.
func (w *World) wire(x *sandbox) wireSandbox {
	out := wireSandbox{
		SandboxID: x.id, Identifier: x.id[4:14], Name: x.name, Status: x.status, Mode: x.mode, CreatedAt: zoned(x.created), Region: x.region,
		Runtime: wireNamed{x.runtime.id, x.runtime.name, []string{"language"}}, Executions: x.started,
		StdoutURL: w.streamURL(x.region, x.stdout), StderrURL: w.streamURL(x.region, x.stdout),
		AuditID: x.audit, AuditURL: w.streamURL(x.region, x.audit), NetworkEnabled: true,
		Org: &wireNamed{ID: OrgID, Name: orgName}, Timeout: wireTimeout{x.idleTimeout, x.runTimeout, x.pause},
	}
	if x.exposed {
		out.NetworkPort, out.URL = 4096, "https://"+x.name+"-"+out.Identifier+".agentuity.cloud"
		if base := w.bases.Region[x.region]; base != "" {
			out.URL = base + "/exposed/" + x.id
		}
	}
	return out
}

// reached reports whether a sandbox has one of the states that a request waits for.
func reached(x *sandbox, r *http.Request) bool {
	wanted := r.URL.Query().Get("waitForStatus")
	return wanted == "" || slices.Contains(strings.Split(wanted, ","), x.status)
}

func (s server) get(r *http.Request) (answer, *refusal) {
	x, no := s.sandbox(r)
	if no != nil {
		return answer{}, no
	}
	out := s.w.wire(x)
	out.wireDetails = &wireDetails{
		Resources: map[string]string{"memory": "1Gi", "cpu": "1000m", "disk": "2Gi"},
		User:      map[string]string{"id": "user_b14361404c078ffd", "firstName": "Sam", "lastName": "Operator"},
		Project:   wireNamed{ID: projectID, Name: "console-demo"}, Metadata: x.metadata,
	}
	a, _ := data(out)
	a.later = !reached(x, r)
	return a, nil
}

func (s server) status(r *http.Request) (answer, *refusal) {
	x, no := s.sandbox(r)
	if no != nil {
		return answer{}, no
	}
	a, _ := data(wireStatus{x.id, x.status})
	a.later = !reached(x, r)
	return a, nil
}

func (s server) destroy(r *http.Request) (answer, *refusal) {
	x, no := s.sandbox(r)
	if no != nil {
		return answer{}, no
	}
	s.w.destroy(x)
	return done()
}

func (s server) pause(r *http.Request) (answer, *refusal) {
	x, no := s.sandbox(r)
	if no != nil {
		return answer{}, no
	}
	if x.status != idle && x.status != running {
		return refuse(http.StatusConflict, "sandbox is "+x.status, "")
	}
	if x.busy() != nil {
		return refuse(http.StatusConflict, "sandbox is busy", "SANDBOX_BUSY")
	}
	w := s.w
	// Nothing can be stored of a filesystem that is not there.
	id := w.suspend(x, w.t, !x.fault.mountGone)
	if id == "" {
		x.fault.checkpoint = checkpointLost
	} else {
		w.happen(x, "checkpoint-received", map[string]any{"checkpoint_id": id}, w.t)
	}
	for _, session := range w.sessions {
		if session.of == x {
			session.detach(w.t)
		}
	}
	return answer{body: struct {
		Success      bool   `json:"success"`
		SandboxID    string `json:"sandboxId"`
		Status       string `json:"status"`
		CheckpointID string `json:"checkpointId,omitempty"`
		TerminatesAt string `json:"terminatesAt"`
	}{true, x.id, x.status, id, zoned(w.t.Add(pausedFor))}}, nil
}

func (s server) resume(r *http.Request) (answer, *refusal) {
	x, no := s.sandbox(r)
	if no != nil {
		return answer{}, no
	}
	if why := s.w.resume(x); why != "" {
		return refuse(http.StatusConflict, why, "")
	}
	return done()
}

func (s server) setEnv(r *http.Request) (answer, *refusal) {
	x, no := s.sandbox(r)
	if no != nil {
		return answer{}, no
	}
	in, no := body[struct {
		Env map[string]*string `json:"env"`
	}](r)
	if no != nil {
		return answer{}, no
	}
	for name, v := range in.Env {
		if v == nil {
			delete(x.env, name)
		} else {
			x.env[name] = *v
		}
	}
	return data(map[string]any{"env": x.env})
}

func (s server) events(r *http.Request) (answer, *refusal) {
	x, no := s.sandbox(r)
	if no != nil {
		return answer{}, no
	}
	all := slices.Clone(x.events)
	if r.URL.Query().Get("direction") == "desc" {
		slices.Reverse(all)
	}
	rows := []wireEvent{}
	for _, e := range all[:min(len(all), number(r, "limit", defaultPage, maxPage))] {
		rows = append(rows, wireEvent{e.id, x.id, e.kind, e.payload, zoned(e.at)})
	}
	return data(map[string]any{"events": rows})
}

func (s server) runtimes(r *http.Request) (answer, *refusal) {
	type row struct {
		ID          string   `json:"id"`
		Name        string   `json:"name"`
		Description string   `json:"description"`
		Tags        []string `json:"tags"`
	}
	rows := []row{}
	for _, x := range runtimes() {
		rows = append(rows, row{x.id, x.name, x.text, []string{"language"}})
	}
	return data(map[string]any{"runtimes": page(r, rows), "total": len(rows)})
}

// exposed answers as what listens on the port of a sandbox.
func (s server) exposed(r *http.Request) (answer, *refusal) {
	x, no := s.sandbox(r)
	switch {
	case no != nil:
		return answer{}, no
	case !x.exposed || x.fault.mountGone || x.status != idle && x.status != running:
		return refuse(http.StatusBadGateway, "nothing listens", "")
	}
	return answer{body: map[string]bool{"healthy": true}}, nil
}
