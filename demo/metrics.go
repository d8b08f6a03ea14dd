package demo

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// series is one time series of the eviction counters.
type series struct {
	provider provider
	session  string  // empty: all sessions without a series of their own
	share    float64 // part of its provider's curve
}

// evictionCurves are the rates of one provider. A retry that brings a workspace
// back counts as one.
func (f *fleet) evictionCurves(p provider) (evictions, retries curve) {
	calm := 0.008
	switch {
	case p == cloudSandbox && f.incidents.storm:
		peak, saved := 6.4, 0.25
		if f.incidents.wide {
			peak, saved = 41.2, 1.2
		}
		rise := stormBegin + stormRise
		return curve{{stormBegin, calm}, {stormBegin + time.Second, 0.4}, {0, peak / 8}, {rise, peak}},
			curve{{stormBegin, calm * 0.95}, {stormBegin + time.Second, 0.3}, {0, saved / 2}, {rise, saved}}
	case p == cloudSandbox:
		return curve{{0, calm}}, curve{{0, calm * 0.96}}
	case p == dockerHost && f.incidents.broken:
		return curve{{20 * time.Second, 0}, {21 * time.Second, 0.02}}, curve{{25 * time.Second, 0}, {26 * time.Second, 0.012}}
	case p == filestore:
		return curve{{0, 0.002}}, curve{{0, 0.0019}}
	}
	return nil, nil
}

// series of the counters: two sessions of the instance whose workspaces are evicted have their own, the others share one.
func (w world) series() []series {
	out := []series{{provider: filestore, share: 1}, {provider: dockerHost, share: 1}}
	rest := 1.0
	named := 0
	for i := range w.workspaces {
		s := int(w.workspaces[i].session)
		if named == 2 || s >= w.hot {
			break
		}
		if w.workspaces[i].provider != cloudSandbox || w.sessions[s].kind != lasting || w.sessions[s].where != eu || w.workspaces[i].position != 0 {
			continue
		}
		out = append(out, series{provider: cloudSandbox, session: w.sessionID(s), share: 0.04})
		rest -= 0.04
		named++
	}
	return append(out, series{provider: cloudSandbox, share: rest})
}

// processStart is when the process behind the page began: counters start at
// zero there.
func (w world) processStart() time.Duration {
	if at, ok := rolloutAt(0, w.t); ok && w.incidents.rollout {
		return at
	}
	return -6 * time.Hour
}

// metrics writes the page in the text exposition format, version 0.0.4.
func (w world) metrics() []byte {
	var b bytes.Buffer
	w.counters(&b, "helix_workspace_evictions_total", "Workspaces whose backing resource vanished.", func(e, _ curve) curve { return e })
	w.counters(&b, "helix_workspace_eviction_retries_total", "Evicted workspaces that a retry brought back.", func(_, r curve) curve { return r })
	w.sessionGauge(&b)
	begin := w.processStart()
	up := (w.t - begin).Seconds()
	metric(&b, "helix_run_loops", "gauge", "Run loops in progress.", strconv.Itoa(12+int(w.t/(7*time.Second))%9))
	metric(&b, "process_start_time_seconds", "gauge", "Start time of the process since the Unix epoch in seconds.", float(float64(w.when(begin).UnixMilli())/1000))
	metric(&b, "process_cpu_seconds_total", "counter", "CPU time the process has used in seconds.", float(float64(int(up*3))/100))
	metric(&b, "process_resident_memory_bytes", "gauge", "Resident memory of the process in bytes.", strconv.Itoa(180<<20+int(up)%600*4096))
	metric(&b, "process_open_fds", "gauge", "Open file descriptors of the process.", strconv.Itoa(64+int(up)%17))
	return b.Bytes()
}

func metric(b *bytes.Buffer, name, kind, help, value string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n%s %s\n", name, help, name, kind, name, value)
}

func float(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// counters writes one counter with a series per provider and some per session.
// A series appears with its first increment.
func (w world) counters(b *bytes.Buffer, name, help string, choose func(evictions, retries curve) curve) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s counter\n", name, help, name)
	begin := w.processStart()
	for _, s := range w.series() {
		n := int64(choose(w.evictionCurves(s.provider)).total(begin, w.t) * s.share)
		if n == 0 {
			continue
		}
		labels := "provider=" + strconv.Quote(s.provider.String())
		if s.session != "" {
			labels += ",session=" + strconv.Quote(s.session)
		}
		fmt.Fprintf(b, "%s{%s} %d\n", name, labels, n)
	}
}

func (w world) sessionGauge(b *bytes.Buffer) {
	const name = "helix_sessions"
	fmt.Fprintf(b, "# HELP %s Sessions by instance.\n# TYPE %s gauge\n", name, name)
	for where := range instances {
		fmt.Fprintf(b, "%s{instance=%q} %d\n", name, where.String(), len(w.order[where]))
	}
}

// metricsServer serves the page.
type metricsServer struct{ now now }

func (s metricsServer) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		world := s.now()
		if world.metricsBusy() {
			http.Error(w, "the exporter is restarting", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		// A failed write means that the client is gone.
		_, _ = w.Write(world.metrics())
	})
	return mux
}
