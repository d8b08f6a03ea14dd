package cloudflare

import (
	"context"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/cloudflare/bridge"
)

const (
	beginsWithin  = time.Minute // a process that is called running has its process id by then
	phantomsNamed = 3
)

// processes tells, through the operator routes, what runs in a sandbox: they refuse where no container runs, and start none. A
// process that is called running and has no id never began: it waits for an end that never comes, and the next commands may freeze
// the control server.
func (x *examination) processes(ctx context.Context) []backend.Safe {
	if x.c.factory.ops.Prefix == "" {
		return nil
	}
	return x.told(ctx, "operator routes", x.c.factory.ops.Processes)
}

// told says what runs in a sandbox, as somebody tells it.
func (x *examination) told(ctx context.Context, who backend.Literal, ask func(id string) (bridge.Call, error)) []backend.Safe {
	call, err := ask(x.id)
	if err != nil {
		return nil
	}
	a, err := x.c.send(ctx, call, bridge.ReadWithin)
	if err == nil && a.problem == nil {
		var all []bridge.Process
		if all, err = bridge.ReadProcesses(a.body); err == nil {
			return x.running(who, all)
		}
	}
	if err != nil {
		return []backend.Safe{backend.Textf("%s: what runs in it was not told: %s", backend.Text(who), x.c.clean(err.Error(), 160))}
	}
	return []backend.Safe{backend.Textf("%s: what runs in it was not told: %s", backend.Text(who), backend.Clean(x.c.said(a.problem), 200))}
}

// running says how many processes run, and which of them never began.
func (x *examination) running(who backend.Literal, all []bridge.Process) []backend.Safe {
	n, phantoms := 0, []bridge.Process(nil)
	for _, p := range all {
		if p.State != "running" && p.State != "starting" {
			continue
		}
		n++
		if began, err := time.Parse(time.RFC3339Nano, p.StartedAt); err == nil && p.PID == 0 && x.c.factory.now().Sub(began) > beginsWithin {
			phantoms = append(phantoms, p)
		}
	}
	out := []backend.Safe{backend.Textf("%s: %s in it", backend.Text(who), backend.Clean(backend.Counted(n, "process runs", "processes run"), 60))}
	for _, p := range phantoms[:min(len(phantoms), phantomsNamed)] {
		out = append(out, backend.Textf("process %s is called running since %s and has no process id: it never began, and its end never comes: %s",
			x.c.clean(p.ID, 60), x.c.clean(p.StartedAt, 40), x.c.clean(strings.Join(strings.Fields(p.Command), " "), 160)))
	}
	if more := len(phantoms) - phantomsNamed; more > 0 {
		out = append(out, backend.Textf("and %s more, which never began", backend.Clean(backend.Counted(more, "process", "processes"), 40)))
	}
	return out
}
