package agentuity

import (
	"fmt"
	"time"
)

// populate makes the sandboxes that work: most are idle between executions, some sleep, some have ended.
func (w *World) populate(n int) {
	names := []string{"build-agent", "docs-writer", "test-runner", "review-bot", "ui-polish", "triage", "release-notes", "migrate-db"}
	for i := range n {
		region := Home
		if i%4 == 2 {
			region = Away
		}
		age := 2*time.Hour + time.Duration(w.draw("age", i, 28*3600))*time.Second
		s := w.add(fmt.Sprintf("%s-%d", names[i%len(names)], i+1), region, w.when(-age))
		s.metadata = map[string]any{"owner": "team-" + string(rune('a'+i%3))}
		s.exposed = i%4 == 0
		w.history(s, i)
		var x *session
		if i%3 == 0 {
			x = w.attach(s, "Task of "+s.name)
		}
		switch {
		case i%5 == 3:
			w.sleep(s, w.when(-time.Duration(25+w.draw("sleep", i, 60))*time.Minute))
			if x != nil {
				x.detach(s.asleep)
			}
		case i%11 == 10:
			s.status, s.mode, s.files = terminated, "oneshot", nil
			w.happen(s, "destroy", nil, w.when(-time.Hour))
		case i == 0: // rests, so that a client can try things in it
		case i < 3:
			w.pulse(s, i, often)
		case i < busy || i%8 == 0: // in a large fleet most wait for somebody to come back
			w.pulse(s, i, seldom)
		}
	}
}

// busy is how many sandboxes of a fleet are all used, often and seldom the shortest time between two uses.
const (
	busy   = 40
	often  = 30 * time.Second
	seldom = 3 * time.Minute
)

// history is a clean pause and resume of long ago, and what ran before the demo.
func (w *World) history(s *sandbox, i int) {
	w.sleep(s, s.created.Add(30*time.Minute))
	s.status = idle
	w.happen(s, "lifecycle:resumed", map[string]any{"deferred": false}, s.created.Add(50*time.Minute))
	for k, command := range [][]string{{"bun", "test"}, {"bash", "-lc", "git status"}} {
		r := w.enqueue(s, "exec", command)
		r.status, r.began, r.took = completed, w.when(-past-time.Duration(5-k)*time.Minute), time.Duration(300+w.draw("took", 2*i+k, 9000))*time.Millisecond
		r.done = r.began.Add(r.took)
	}
	s.started += w.draw("started", i, 40)
}

// sleep is a suspend whose checkpoint was stored.
func (w *World) sleep(s *sandbox, at time.Time) {
	id := w.suspend(s, at, true)
	w.happen(s, "checkpoint-received", map[string]any{"checkpoint_id": id}, at.Add(4*time.Second))
}

// pulse lets an agent use a sandbox from time to time, for ever.
func (w *World) pulse(s *sandbox, i int, every time.Duration) {
	n := 0
	var beat func()
	beat = func() {
		n++
		k := i*4096 + n
		if s.gone() {
			return
		}
		w.later(every+time.Duration(w.draw("pulse", k, 2000))*every/1000, beat)
		if s.status != idle || s.waiting() {
			return
		}
		commands := [][]string{{"bash", "-lc", "git status"}, {"bun", "test"}, {"bash", "-lc", "ls"}, {"bun", "run", "build"}, {"git", "diff", "--stat"}}
		r := w.enqueue(s, "exec", commands[w.draw("command", k, len(commands))])
		if w.stopped[s.region] {
			return
		}
		w.start(r, time.Duration(200+w.draw("wait", k, 3500))*time.Millisecond, time.Duration(500+w.draw("lasts", k, 20_000))*time.Millisecond)
	}
	w.later(time.Duration(w.draw("first", i, 2000))*every/1000, beat)
}

// waiting reports whether the agent of a sandbox still waits for an execution.
func (s *sandbox) waiting() bool {
	return len(s.runs) > 0 && !s.runs[len(s.runs)-1].ended()
}

func (w *World) play(s Story) {
	switch s {
	case Calm:
	case Zombie:
		w.playZombie()
	case StuckQueue:
		w.playStuckQueue()
	case RegionIncident:
		w.playRegionIncident()
	case ResumeRace:
		w.playResumeRace()
	case NoCheckpoint:
		w.playNoCheckpoint()
	}
}

// coder makes a sandbox of a session, with its past.
func (w *World) coder(name, label, region string, age time.Duration) (*sandbox, *session) {
	s := w.add(name, region, w.when(-age))
	x := w.attach(s, label)
	r := w.enqueue(s, "exec", []string{"bash", "-lc", "ls"})
	r.status, r.began, r.done, r.took = completed, s.created.Add(17*time.Minute), s.created.Add(17*time.Minute), 55*time.Millisecond
	s.started += 11
	return s, x
}

// playZombie: the platform suspended and evacuated the sandbox hours ago. When somebody opens the session, the resume is
// accepted and the sandbox reports idle, but its mount and the path of its executions are gone.
func (w *World) playZombie() {
	s, x := w.coder("coder-session", "Fix flaky build", Home, 10*time.Hour)
	s.fault = fault{mountGone: true, execFails: true, jobFails: true, reconciled: true}
	s.jobs[0].nulls = true
	w.sleep(s, s.created.Add(19*time.Minute))
	w.happen(s, "lifecycle:resumed", map[string]any{"deferred": true}, s.asleep.Add(9*time.Second))
	w.happen(s, "evacuation", nil, s.asleep.Add(137*time.Second))
	w.suspend(s, s.asleep.Add(137*time.Second), false)
	x.detach(s.asleep)
	w.at(w.when(-150*time.Second), func() { w.wake(x) })
}

// playStuckQueue: three sandboxes answer, and something in them never starts.
func (w *World) playStuckQueue() {
	stuck := w.add("etl-nightly", Home, w.when(-26*time.Minute))
	w.at(w.when(-90*time.Second), func() {
		stuck.fault.execFails = true
		_, _ = w.execute(stuck, []string{"bash", "-lc", "test -s /etc/hosts"})
	})
	overtaken := w.add("lint-bot", Home, w.when(-50*time.Minute))
	w.at(w.when(-10*time.Minute), func() { w.enqueue(overtaken, "exec", []string{"bun", "run", "lint"}) })
	w.at(w.when(-9*time.Minute), func() {
		w.start(w.enqueue(overtaken, "exec", []string{"bun", "run", "lint"}), queueTime, 2*time.Second)
		w.pulse(overtaken, len(w.sandboxes), often)
	})
	waits := w.add("packager", Home, w.when(-35*time.Minute))
	w.at(w.when(-2*time.Minute), func() {
		j := w.startJob(waits, []string{"bun", "run", "build"}, w.t)
		j.status, j.began, j.stdout, j.stderr = pending, time.Time{}, "", ""
		waits.fault.jobFails = true
	})
}

// playRegionIncident: executions of one region are taken and never start, in every sandbox that is used.
func (w *World) playRegionIncident() {
	const began = -45 * time.Second
	for i := range 6 {
		s, x := w.coder(fmt.Sprintf("agent-east-%d", i+1), fmt.Sprintf("East task %d", i+1), Away, 3*time.Hour+time.Duration(i)*time.Minute)
		if i < 4 {
			w.at(w.when(began+time.Duration(i+1)*4*time.Second), func() { _, _ = w.execute(s, []string{"bun", "test"}) })
			continue
		}
		w.sleep(s, w.when(-30*time.Minute))
		x.detach(s.asleep)
		w.at(w.when(began+time.Duration(i)*3*time.Second), func() { w.wake(x) })
	}
	w.at(w.when(began), func() { w.stopped[Away] = true })
}

// playResumeRace: the session is opened again so soon that its checkpoint is not stored yet; two minutes later it works.
func (w *World) playResumeRace() {
	s, x := w.coder("nightly-refactor", "Nightly refactor", Home, 5*time.Hour)
	s.fault.checkpoint, s.stored = checkpointLate, w.when(time.Minute)
	w.at(w.when(-time.Minute), func() {
		id := w.suspend(s, w.t, true)
		x.detach(w.t)
		w.at(s.stored, func() { w.happen(s, "checkpoint-received", map[string]any{"checkpoint_id": id}, w.t) })
	})
	for _, at := range []time.Duration{-45 * time.Second, -20 * time.Second, 20 * time.Second, 70 * time.Second} {
		w.at(w.when(at), func() { w.wake(x) })
	}
}

// playNoCheckpoint: events tell of checkpoints that were received, and every resume is refused because there is none.
func (w *World) playNoCheckpoint() {
	s, x := w.coder("old-session", "Upgrade dependencies", Home, 9*time.Hour)
	s.fault.checkpoint = checkpointLost
	w.sleep(s, w.when(-15*time.Minute))
	x.detach(s.asleep)
	for _, at := range []time.Duration{-4 * time.Minute, -time.Minute} {
		w.at(w.when(at), func() { w.wake(x) })
	}
}
