package agentuity

import (
	"regexp"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/backend/wire"
)

// execution reads one execution; ok is false when it has no id.
func (d *decoder) execution(n wire.Node, sandbox, session backend.ID) (x *backend.Execution, ok bool) {
	key := id(n.Get("executionId"))
	if key.IsZero() {
		return nil, false
	}
	x = &backend.Execution{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindExecution, Source: d.source, Parent: sandbox, ID: key}, Raw: d.raw(n)},
		Type: d.text(n.Get("type"), 60), Work: d.work(n, sandbox, session)}
	raw := commandLine(n.Get("command"))
	x.Nudge, x.Driver = isNudge(raw), false
	if ms, ok := number(n.Get("durationMs")); ok && ms >= 0 {
		x.Extra = append(x.Extra, backend.Field{Name: backend.Text("duration"), Value: backend.Clean((time.Duration(ms) * time.Millisecond).String(), 40)})
	}
	if cut, _ := n.Get("outputTruncated").Bool(); cut {
		x.Extra = append(x.Extra, backend.Field{Name: backend.Text("output"), Value: backend.Text("cut by the platform")})
	}
	return x, true
}

// job reads one job; ok is false when it has no id.
func (d *decoder) job(n wire.Node, sandbox, session backend.ID) (j *backend.Job, ok bool) {
	key := id(n.Get("jobId"))
	if key.IsZero() {
		return nil, false
	}
	j = &backend.Job{Meta: backend.Meta{Key: backend.Key{Kind: backend.KindJob, Source: d.source, Parent: sandbox, ID: key}, Raw: d.raw(n)},
		Work: d.work(n, sandbox, session)}
	raw := commandLine(n.Get("command"))
	j.Driver = !isNudge(raw) && namesDriver(raw)
	return j, true
}

// work reads what executions and jobs have in common. The platform never says when it queued something.
func (d *decoder) work(n wire.Node, sandbox, session backend.ID) backend.Work {
	word, _ := n.Get("status").Text()
	w := backend.Work{Within: backend.KindSandbox, Sandbox: sandbox, Session: session, Reported: d.cut(word, 60), Class: backend.WorkClassOf(word),
		Command: d.cut(commandLine(n.Get("command")), maxText), Error: d.text(n.Get("error"), maxText)}
	began := w.Class == backend.WorkRunning || w.Class.Ended()
	w.StartedAt = d.workTime(n.Get("startedAt"), began || w.Class == backend.WorkUnknown)
	w.EndedAt = d.workTime(n.Get("completedAt"), w.Class.Ended() || w.Class == backend.WorkUnknown)
	w.ExitCode = backend.NotApplicable[int]()
	if w.Class.Ended() || w.Class == backend.WorkUnknown {
		w.ExitCode = backend.Unknown[int]()
		if code, ok := number(n.Get("exitCode")); ok {
			w.ExitCode = backend.Known(code)
		}
	}
	return w
}

// workTime is a time of a piece of work; one that is left out is unknown where the work has come to that.
func (d *decoder) workTime(n wire.Node, came bool) backend.Value[time.Time] {
	t := d.moment(n)
	if t.IsNotApplicable() && came {
		return backend.Unknown[time.Time]()
	}
	return t
}

var (
	// signalUSR1 matches a command that sends the signal: USR1, SIGUSR1, or its number on Linux. The program stands where a
	// shell begins a command: a text that only quotes such a line signals nothing.
	signalUSR1 = regexp.MustCompile(`(?i)(?:^|[;|&\n({!]|\b(?:then|do|else|sudo|nohup|exec|command|env|xargs|timeout\s+\S+)(?:\s+-\S+)*\s|\s-[a-z]*c\s)\s*["']?\s*(?:/\S*/)?(?:p?kill|killall)\b[^;|&\n]*?` +
		`(?:\b(?:sig)?usr1\b|\s-(?:[sn]\s*|-signal[\s=]*)?10\b)|\bkill\([^)]*\)?[^)]*usr1|\bsend\w* \w+ sigusr1`)
	// bracketed matches a character class, by which people keep pkill -f off itself: [r]pc-driver.
	bracketed = regexp.MustCompile(`\[([^\]^])[^\]]*\]`)
	unquoted  = strings.NewReplacer(`\`, "", `'`, "", `"`, "")
)

// namesDriver reports whether a command names the driver that a Hub session runs in its sandbox.
func namesDriver(command string) bool {
	plain := strings.ToLower(bracketed.ReplaceAllString(unquoted.Replace(command), "$1"))
	return strings.Contains(plain, "rpc-driver") || strings.Contains(plain, "rpc.driver")
}

// isNudge reports whether a command signals the driver to connect again: SIGUSR1 to rpc-driver.ts, however it is written.
func isNudge(command string) bool { return signalUSR1.MatchString(command) && namesDriver(command) }
