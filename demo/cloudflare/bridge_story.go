package cloudflare

import (
	"encoding/json"
	"fmt"
	"time"
)

// BridgeStory is what happens in the sandboxes of a bridge.
type BridgeStory uint8

// The stories.
const (
	NoBridge         BridgeStory = iota
	WorkspaceMissing             // /workspace of one sandbox is removed, that of another one becomes a link to nothing
	SharedSandbox                // two agents share a sandbox, and one of them removes /workspace
)

// BridgeIDs are the sandboxes of every story.
func BridgeIDs() []string {
	return []string{"2ae7pib2vjeswlcbc2d4d4auzy", "k5q2wnhr4xzj7ltmvd3ey6cbga", "r7m3vd2kq4xwz5hn6tbyecjlua", "wz4tq7m5hn2krv6xbdyje3cagl"}
}

const (
	emptiedAt = 30 * time.Second
	linkedAt  = 50 * time.Second
	pulse     = 10 * time.Second // between two commands of one agent
)

// Play is a story under way.
type Play struct {
	b     *Bridge
	story BridgeStory
	start time.Time
	beat  int // the next beat of the agents
	done  map[string]bool
}

// Play begins a story: its sandboxes run since a while.
func (b *Bridge) Play(story BridgeStory, start time.Time) *Play {
	for i, id := range BridgeIDs() {
		b.Start(id)
		b.Change(id, func(x *Box) {
			x.Started = start.Add(-time.Duration(25+17*i) * time.Minute)
			x.Changed = x.Started.Add(3 * time.Second)
			x.Files["/workspace/package.json"] = "{}"
			x.Files["/workspace/src/main.ts"] = "export {}"
		})
	}
	return &Play{b: b, story: story, start: start, done: map[string]bool{}}
}

// Lines brings the story up to a time since the start, and returns what the agents logged meanwhile.
func (p *Play) Lines(t time.Duration) []string {
	var out []string
	for ; time.Duration(p.beat)*pulse <= t; p.beat++ {
		at := time.Duration(p.beat) * pulse
		p.happen(at, &out)
		for i, id := range BridgeIDs() {
			agents := []string{"builder"}
			if p.story == SharedSandbox && i == 1 {
				agents = []string{"planner", "coder"}
			}
			for n, agent := range agents {
				if line := p.line(id, agent, i+n, at); line != "" {
					out = append(out, line)
				}
			}
		}
	}
	return out
}

// happen changes what is due, once: a container that was started anew since stays as it is.
func (p *Play) happen(at time.Duration, out *[]string) {
	ids := BridgeIDs()
	once := func(what, id string, due time.Duration, change func(*Box)) {
		if at >= due && !p.done[what] {
			p.done[what] = true
			p.b.Change(id, change)
		}
	}
	empty := func(x *Box) { x.Root, x.Files = Missing, map[string]string{} }
	switch p.story {
	case WorkspaceMissing:
		once("emptied", ids[1], emptiedAt, empty)
		once("linked", ids[2], linkedAt, func(x *Box) { x.Root, x.LinkTo, x.Files = Link, "/mnt/r2/project", map[string]string{} })
	case SharedSandbox:
		once("removed", ids[1], emptiedAt, func(x *Box) {
			empty(x)
			*out = append(*out, p.write("info", "coder", x.ID, at, map[string]any{"msg": "command done", "command": "rm -rf /workspace && git clone git@git.example:web.git", "exitCode": 128}))
		})
	case NoBridge:
	}
}

var work = []string{"npm test", "git status --short", "npm run build", "ls -la src"}

// line is what an agent logs of its next command.
func (p *Play) line(id, agent string, n int, at time.Duration) string {
	command := work[(n+int(at/pulse))%len(work)]
	said := ""
	p.b.Change(id, func(x *Box) {
		switch {
		case x.State != "healthy":
		case x.there("/workspace"):
			said = p.write("info", agent, id, at, map[string]any{"msg": "command done", "command": command, "exitCode": 0})
		default:
			if n%2 == 1 { // one of several lines, with a secret
				command = "set -e\nexport NPM_TOKEN=npm_0123456789abcdefghijklmnopqrstuvwxyz\n" + command
			}
			said = p.write("error", agent, id, at, map[string]any{"msg": "tool failed", "err": map[string]string{"name": "CommandError",
				"message": fmt.Sprintf("Failed to execute command '%s' in session 'sandbox-%s': Unknown Error, TODO", command, id)}})
		}
	})
	return said
}

func (p *Play) write(level, agent, id string, at time.Duration, fields map[string]any) string {
	fields["time"], fields["level"], fields["agent"], fields["sessionId"] = p.start.Add(at).UTC().Format(time.RFC3339Nano), level, agent, "sandbox-"+id
	b, err := json.Marshal(fields)
	if err != nil { // every field is plain data
		panic(err)
	}
	return string(b)
}
