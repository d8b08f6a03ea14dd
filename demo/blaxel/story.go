package blaxel

import (
	"encoding/json"
	"fmt"
	"time"
)

// Story is what happens between agents and their sandboxes.
type Story uint8

// The stories.
const (
	NoStory             Story = iota
	BelievesAlive             // the saved state of a session names a sandbox that the platform lost
	BelievesDead              // an agent gave its sandbox up, which only woke too slowly for its check
	Runaway                   // a command outlived its timeout: the agent gave up, the process did not
	LeakedOnExit              // sandboxes that their sessions should have deleted at their end
	InterruptedSnapshot       // archives of saves that were never finished
)

// sessions are those of every story; the digits begin the names of their sandboxes.
var sessions = []string{"0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d", "11223344-5566-4778-899a-abbccddeeff0", "7c8d9e0f-1a2b-4c3d-8e4f-5a6b7c8d9e0f", "deadbeef-0001-4002-8003-000000000004"}

func digits(session string) string {
	out := ""
	for _, r := range session {
		if r != '-' {
			out += string(r)
		}
	}
	return out
}

// BoxName is the name that the agent's SDK gives the sandbox of a session.
func BoxName(session string) string { return "agents-" + digits(session)[:12] }

// Names are the sandboxes of every story.
func Names() []string {
	var out []string
	for _, s := range sessions {
		out = append(out, BoxName(s))
	}
	return out
}

const (
	lostAt = 30 * time.Second
	pulse  = 10 * time.Second // between two commands of an agent
)

// Play is a story under way.
type Play struct {
	p     *Platform
	story Story
	start time.Time
	beat  int
	done  map[string]bool
}

// Play begins a story: its sandboxes run since a while, and what began earlier is there.
func (p *Platform) Play(story Story, start time.Time) *Play {
	x := &Play{p: p, story: story, start: start, done: map[string]bool{}}
	for i, s := range sessions {
		b := p.Add(BoxName(s), start.Add(-time.Duration(50+9*i)*time.Minute))
		b.Labels["session"] = s
		b.Asleep = i == 3
		b.Server.Start("", "npm test", "/workspace", start.Add(-40*time.Minute))
		b.Server.all[0].ends = start.Add(-39 * time.Minute)
	}
	box := p.all[BoxName(sessions[1])]
	switch story {
	case BelievesDead:
		box.Asleep, box.Cold = true, 1
	case Runaway:
		box.Server.Start("agent-build", "env "+tokenName+"="+token+" npm run build", "/workspace", start.Add(-20*time.Minute))
	case LeakedOnExit: // its agent was the last that used it
		box.used = start.Add(-26 * time.Minute)
		box.Snapshots = []Saved{{ID: "snap-1", Name: "before-refactoring", Created: start.Add(-45 * time.Minute)}}
	case InterruptedSnapshot:
		box.Server.Leave("/tmp/bl-persist-"+digits(sessions[1])+".tar", 187_000_000, start.Add(-40*time.Minute))
		p.all[BoxName(sessions[2])].Server.Leave("/tmp/bl-hydrate-"+digits(sessions[2])+".tar", 52_000_000, start.Add(-35*time.Minute))
	case NoStory, BelievesAlive:
	}
	return x
}

// States are what the agent's SDK saved of each session, by file name. They were saved after their sandboxes were made.
func (x *Play) States() map[string][]byte {
	out := map[string][]byte{}
	for i, s := range sessions {
		keeps := x.story != LeakedOnExit || i != 1
		state := map[string]any{"type": "blaxel", "session_id": s, "snapshot": map[string]any{"type": "noop", "id": s}, "manifest": map[string]any{"version": 1, "root": "/workspace", "entries": map[string]any{}},
			"exposed_ports": []any{}, "workspace_root_ready": true, "sandbox_name": BoxName(s), "image": "blaxel/base-image:latest", "memory": 4096, "region": Region,
			"base_env_vars": map[string]string{tokenName: token}, "labels": map[string]string{"team": "agents"}, "pause_on_exit": keeps,
			"timeouts":    map[string]float64{"exec_timeout_s": 300, "cleanup_s": 30, "file_upload_s": 1800, "file_download_s": 1800, "workspace_tar_s": 300, "fast_op_s": 30},
			"sandbox_url": x.p.base() + "/sbx/" + BoxName(s), "exposed_port_public": true, "exposed_port_url_ttl_s": 3600}
		b, err := json.MarshalIndent(map[string]any{"$schemaVersion": "1.17", "sandbox": map[string]any{"backend_id": "blaxel", "current_agent_key": "coder", "current_agent_name": "coder", "session_state": state}}, "", " ")
		if err != nil {
			panic(err) // plain data
		}
		out[s+".json"] = b
	}
	return out
}

// Lines brings the story up to a time since the start, and returns what the agents logged meanwhile.
func (x *Play) Lines(t time.Duration) []string {
	var out []string
	if x.beat == 0 {
		out = append(out, x.before()...)
	}
	for ; time.Duration(x.beat)*pulse <= t; x.beat++ {
		at := time.Duration(x.beat) * pulse
		if x.story == BelievesAlive && at >= lostAt && !x.done["lost"] {
			x.done["lost"] = true
			x.p.Drop(BoxName(sessions[1]))
		}
		for i, s := range sessions {
			if i == 1 || i == 3 { // the troubled one says what its story is; another one rests
				continue
			}
			out = append(out, x.write("info", s, at, map[string]any{"msg": "command done", "command": []string{"npm test", "git status --short"}[(x.beat+i)%2], "exitCode": 0}))
			x.p.Change(BoxName(s), func(b *Box) { b.used, b.Asleep = x.start.Add(at), false })
		}
		if x.story == BelievesDead {
			out = append(out, x.write("info", sessions[1], at, map[string]any{"msg": "answering without tools"}))
		}
		if x.story == BelievesAlive {
			out = append(out, x.write("info", sessions[1], at, map[string]any{"msg": "waiting for the user", "running": true}))
		}
	}
	return out
}

// before is what the agents logged before the start.
func (x *Play) before() []string {
	fails := func(ago time.Duration, class, message string, more map[string]any) string {
		fields := map[string]any{"msg": message, "err": map[string]string{"name": class, "message": message}}
		for k, v := range more {
			fields[k] = v
		}
		return x.write("error", sessions[1], -ago, fields)
	}
	switch x.story {
	case BelievesDead:
		return []string{x.write("warning", sessions[1], -time.Minute, map[string]any{"msg": "sandbox is not running", "running": false})}
	case Runaway:
		return []string{fails(15*time.Minute, "ExecTimeoutError", "command timed out after 300.0s", map[string]any{"command": "npm run build", "timeout_s": 300})}
	case LeakedOnExit:
		return []string{fails(25*time.Minute, "ResponseError", "sandbox delete failed during shutdown", nil)}
	case InterruptedSnapshot:
		const archive = "failed to read archive for path: /workspace"
		return []string{fails(40*time.Minute, "WorkspaceArchiveReadError", archive, map[string]any{"err": map[string]any{"name": "WorkspaceArchiveReadError", "message": archive,
			"context": map[string]string{"path": "/workspace", "reason": "tar_failed", "output": "tar: ./node_modules/.cache: Cannot open: No space left on device"}}})}
	case NoStory, BelievesAlive:
	}
	return nil
}

func (x *Play) write(level, session string, at time.Duration, fields map[string]any) string {
	fields["time"], fields["level"], fields["agent"], fields["session_id"], fields["sandbox_name"] = x.start.Add(at).UTC().Format(time.RFC3339Nano), level, "coder", session, BoxName(session)
	b, err := json.Marshal(fields)
	if err != nil {
		panic(fmt.Sprint(err)) // every field is plain data
	}
	return string(b)
}
