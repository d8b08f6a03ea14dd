package runbook

import (
	"slices"
	"strings"
	"time"

	"sandglass/backend"
)

// diagnoseScratchDirectories is for scratch directories that pile up on a host.
func diagnoseScratchDirectories(s *subjectView) Diagnosis {
	p := s.pile()
	d := Diagnosis{Checks: s.answers(
		p.piled(s),
		s.closeFailed(),
		s.byLines(question{"close-timeout", "Did closes run into their deadline?", "a log source that reads the agents' log, with close_timeout_texts set to its words"}, backend.MetricCloseTimeout, "closes over their deadline"),
		s.closeErrnos(),
		s.closeCause(),
		p.crashed(s),
		p.inUse(s),
		s.network(),
		s.fullRoots(question{"full", "Is the file system nearly full?", "a tmpdir source on the host"}),
		s.rootsWritable(),
		s.inMemory(),
	)}
	s.adviseScratchDirectories(&d, s.closeErrno(), p.stray > 0)
	return d
}

// closeFailed counts the lines of failed closes: as the alert about them did, over its window, where one fires.
func (s *subjectView) closeFailed() Check {
	q := question{"close-failed", "Do agents fail to remove their directories?", "a log source that reads the agents' log"}
	if a := s.ledBy("tmpdir-close-failed"); a != nil && !s.wide {
		if e := measured(a, "lines"); e != nil {
			return q.yes(origin{e.Source, e.At}, "directories could not be removed: %s", e.Text)
		}
	}
	return s.byLines(q, backend.MetricTmpdirCloseFailed, "directories could not be removed")
}

// causeless reports whether a line of a failed close carries no cause: one with a cause is kept as its cause.
func causeless(sample backend.Safe) bool {
	return strings.Contains(sample.String(), "tmpdir close failed")
}

// closeCause asks whether the lines of failed closes carry a cause, as they do since round 3.
func (s *subjectView) closeCause() Check {
	q := question{"before-3", "Is the framework older than round 3, whose lines of failed closes carry no cause?", "the line tmpdir close failed in the agent's log"}
	t := s.tally(backend.MetricTmpdirCloseFailed, time.Hour)
	switch {
	case t.in.N == 0:
		return q.unsure("no line of a failed close was read")
	case t.in.Sample.IsEmpty():
		return q.unsure("the newest line is not kept")
	case causeless(t.in.Sample):
		return q.yes(t.from, "the newest line carries no cause: a release before round 3 wrote it")
	}
	return q.no(t.from, "the newest line carries its cause: %s", backend.Clean(t.in.Sample.String(), 200))
}

// pile is the scratch directories that speak about the subject.
type pile struct {
	after                               time.Duration // how long a directory must not change to count as left behind
	judged                              bool
	dirs                                []*backend.Tmpdir
	still, beforeBoot, free, held, dark int // not changed for after; older than the boot; of still: no holder; held; holders unknown
	bytes                               int64
	sample                              *backend.Tmpdir // one that is held, by another process where there is one
	stray                               int             // of held: by a process other than this console
	ages                                int             // directories whose newest change is known
}

func (s *subjectView) pile() pile {
	var p pile
	p.after, p.judged = s.span(orphanAfter)
	boots := map[backend.ID]time.Time{}
	for h := range s.State.Hosts.All() {
		boots[h.Key.ID] = h.BootedAt.Or(time.Time{})
	}
	host := backend.ID{}
	if s.Subject.Kind == backend.KindHost {
		host = s.Subject.ID
	} else if s.Subject.Kind == backend.KindTmpdir {
		host = s.Subject.Parent
	}
	for t := range s.State.Tmpdirs.All() {
		if !host.IsZero() && t.Key.Parent != host || host.IsZero() && !s.speaksHere(t.Key.Source) {
			continue
		}
		p.add(s, t, boots[t.Key.Parent])
	}
	return p
}

func (p *pile) add(s *subjectView, t *backend.Tmpdir, boot time.Time) {
	p.dirs = append(p.dirs, t)
	p.bytes += t.Bytes.Or(0)
	holders, known := t.Holders.Get()
	newest, dated := t.Newest.Get()
	if dated {
		p.ages++
	}
	switch {
	case known && len(holders) > 0:
		p.held++
		if !onlyConsole(holders) {
			p.stray++
			p.sample = t
		} else if p.sample == nil {
			p.sample = t
		}
	case !known:
		p.dark++
	}
	if dated && !boot.IsZero() && newest.Before(boot) {
		p.beforeBoot++
	}
	if dated && p.judged && s.now.Sub(newest) > p.after {
		p.still++
		if known && len(holders) == 0 {
			p.free++
		}
	}
}

func (p *pile) origin(s *subjectView) origin {
	if len(p.dirs) == 0 {
		return origin{}
	}
	return s.from(&p.dirs[0].Meta)
}

func (p *pile) piled(s *subjectView) Check {
	q := question{"pile", "Are directories left behind?", "a tmpdir source on the host that may read the processes of the agents' user"}
	n, still := len(p.dirs), spanText(p.after)
	if x := s.firing("tmpdir-pileup"); x != nil && p.free == 0 && n > 0 {
		return q.yes(origin{x.Source, x.Confirmed}, "the alert fires; of %s no unused one is unchanged for %s", plural(n, "directory"), still)
	}
	switch {
	case n == 0 && s.delivers(backend.InputTmpdirs) != nil:
		h := s.delivers(backend.InputTmpdirs)
		return q.no(origin{h.Key.Source, h.LastOK}, "there is no scratch directory")
	case n == 0:
		return q.unsure("no scratch directories are read")
	case !p.judged:
		return q.off(orphanAfter)
	case p.free > 0:
		return q.yes(p.origin(s), "%d of %s unchanged for %s and held by no process; all of them take %s", p.free, plural(n, "directory"), still, bytesText(p.bytes))
	case p.still > 0 && p.dark > 0:
		return q.unsure("%d of %s unchanged for %s; whether a process uses them could not be read for %d", p.still, plural(n, "directory"), still, p.dark)
	case p.ages < n:
		return q.unsure("the newest change of %d of %s is not known", n-p.ages, plural(n, "directory"))
	}
	return q.no(p.origin(s), "all of %s were changed within %s or are in use", plural(n, "directory"), still)
}

// crashed asks for directories whose process ended without closing them.
func (p *pile) crashed(s *subjectView) Check {
	q := question{"crash", "Are they left over from a crash?", "the host's boot time, and events that say when the agents' process started"}
	if p.beforeBoot > 0 {
		return q.yes(p.origin(s), "%s are unchanged since before the host's last boot", plural(p.beforeBoot, "directory"))
	}
	e := s.event(7*24*time.Hour, func(e *backend.Event) bool {
		return e.Name == "process-restarted" && s.speaksHere(e.Source)
	})
	if e != nil {
		older := 0
		for _, t := range p.dirs {
			if newest, ok := t.Newest.Get(); ok && newest.Before(e.At) {
				older++
			}
		}
		if older > 0 {
			return q.yes(origin{e.Source, e.At}, "%s are older than this: %s", plural(older, "directory"), e.Text)
		}
	}
	if len(p.dirs) == 0 {
		return q.unsure("no scratch directories are read")
	}
	return q.unsure("none is older than the host's boot; when the agents' process started is not known")
}

func (p *pile) inUse(s *subjectView) Check {
	q := question{"held", "Do processes still use them?", "a tmpdir source that runs as the agents' user or as root"}
	if p.sample != nil {
		holders := p.sample.Holders.Or(nil)
		if p.stray == 0 {
			return q.yes(s.from(&p.sample.Meta), "%s are in use by Sandglass itself (pid %d)", plural(p.held, "directory"), holders[0].PID)
		}
		h := holders[max(slices.IndexFunc(holders, func(h backend.Holder) bool { return !byConsole(h) }), 0)]
		return q.yes(s.from(&p.sample.Meta), "%s are in use, %s by %s (pid %d, %s)", plural(p.held, "directory"), p.sample.Path, h.Command, h.PID, h.How)
	}
	if p.dark > 0 || len(p.dirs) == 0 {
		return q.unsure("the processes of other users could not be read")
	}
	return q.no(p.origin(s), "no process uses any of them")
}

func byConsole(h backend.Holder) bool {
	return strings.HasSuffix(h.How.String(), backend.HeldByConsole)
}

// onlyConsole reports whether no process but this console uses a directory.
func onlyConsole(holders []backend.Holder) bool {
	return !slices.ContainsFunc(holders, func(h backend.Holder) bool { return !byConsole(h) })
}

// network asks for the one kind of file system on which open files do keep a directory from being removed.
func (s *subjectView) network() Check {
	q := question{"network-fs", "Are they on a network file system?", "a tmpdir source on the host"}
	var seen *backend.Host
	kind := backend.Safe{}
	for _, h := range s.hosts() {
		for _, r := range h.Roots {
			if strings.HasPrefix(r.FSType.String(), "nfs") {
				return q.yes(s.from(&h.Meta), "%s is %s: files that are open leave renamed rests, and the directory stays", r.Path, r.FSType)
			}
			if !r.FSType.IsEmpty() {
				seen, kind = h, r.FSType
			}
		}
	}
	if seen != nil {
		return q.no(s.from(&seen.Meta), "the roots are local (%s): open files do not keep a directory from being removed", kind)
	}
	return q.unsure("the kind of file system is not read")
}

// inMemory asks whether the scratch directories take memory instead of disk.
func (s *subjectView) inMemory() Check {
	q := question{"tmpfs", "Do they take memory, because the root is a tmpfs?", "a tmpdir source on the host"}
	var seen origin
	for _, h := range s.hosts() {
		for _, r := range h.Roots {
			if r.FSType.String() == "tmpfs" {
				return q.yes(s.from(&h.Meta), "%s on %s is a tmpfs: a boot empties it, and until then it takes memory", r.Path, h.Name)
			}
			if !r.FSType.IsEmpty() {
				seen = s.from(&h.Meta)
			}
		}
	}
	if !seen.at.IsZero() {
		return q.no(seen, "no root is a tmpfs")
	}
	return q.unsure("the kind of file system is not read")
}

// closeCure is what removes the cause of a failed close, by its errno.
func closeCure(errno string) backend.Literal {
	switch errno {
	case "EBUSY":
		return "Find the mount inside: grep helix-ws- /proc/mounts. Unmount it: umount. Then remove the empty directory with rmdir."
	case "ENOTEMPTY":
		return "End the agent's subprocesses before the close. ENOTEMPTY: a process writes while the directory is removed."
	case "EACCES", "EPERM":
		return "Run chmod -R u+w on the directory before the close. EACCES or EPERM: the owner may not write a directory inside; package caches leave such."
	case "EROFS":
		return "Read in the kernel's log why it is read-only: dmesg. EROFS: the file system is mounted read-only. Mount it writable again."
	case "EMFILE", "ENFILE":
		return "Raise the limit of open files: ulimit -n. EMFILE or ENFILE: too many files are open. Or close fewer sessions at once."
	case "EIO", "ESTALE":
		return "Check the disk or the NFS server: dmesg names its errors. EIO or ESTALE: the storage below answers with errors."
	}
	return "Fix what the log line names. Mostly it is a subprocess that still writes, or files that their owner may not write."
}

const listUnused = "List the abandoned ones: sandglass clean --dry-run. A plan quarantines only these. The cause stays."

func (s *subjectView) adviseScratchDirectories(d *Diagnosis, errno string, stray bool) {
	switch {
	case d.is("root"):
		d.conclude("The root itself cannot be used; new agents fail to open.")
		d.do("Make the root writable: ls -ld shows its owner and mode.")
	case d.is("close-failed") && errno == "" && d.is("before-3"):
		d.conclude("Agents fail to remove their directories. The log does not say why.")
		d.do("Look for processes of the agent that still write. Also for files that their owner may not write.")
	case d.is("close-failed") && errno == "" && d.Mark("before-3") != RuledOut:
		d.conclude("Agents fail to remove their directories. The cause is not read.")
		d.do("Read the newest log line that says tmpdir close failed. Since round 3 it carries the cause.")
	case d.is("close-failed"):
		d.conclude("Agents fail to remove their directories. The log line says why.")
		if errno == "EBUSY" {
			d.conclude("Agents cannot remove their directories: a mount is inside.")
			d.dont("Don't run rm -rf before the unmount: it deletes the mount's files.")
		}
		if errno == "ENOTEMPTY" {
			d.conclude("Agents cannot remove directories: something writes there.")
		}
		if errno == "ENOTEMPTY" && d.is("pile") { // what can be done now, before what helps the next close
			d.do(listUnused)
		}
		d.do(closeCure(errno))
	case d.is("close-timeout"):
		d.conclude("Closes time out and leave the directory behind.")
		d.do("Find what hangs at close. End the agent's subprocesses with it.")
	case d.is("crash"):
		d.conclude("A process ended without closing and left them behind.")
	case d.is("pile"):
		d.conclude("Directories are left behind; the cause is not known yet.")
	case d.Mark("pile") == RuledOut:
		d.deny("Nothing is left behind: what is there is young or in use.")
	default:
		d.deny("Cannot tell whether anything is left behind.")
	}
	if d.is("pile") {
		if !slices.Contains(d.Do, backend.Text(listUnused)) {
			d.do(listUnused)
		}
	}
	if d.is("before-3") {
		d.do("Upgrade to round 3 or later. Its lines of failed closes carry the cause.")
	}
	switch d.Mark("tmpfs") {
	case Confirmed:
		d.do("A reboot empties a tmpfs, live workspaces too. Sessions that must outlive a reboot need a tmpdirRoot on a disk.")
	case RuledOut:
		d.do("Remove leftovers on a disk: they survive a reboot. Or put tmpdirRoot on a tmpfs where no session must outlive a reboot.")
	case CannotTell:
	}
	if d.is("held") && stray {
		d.do("End the process of an ended session that holds files. The space returns when its last file is closed.")
	}
	if d.is("full") {
		d.do("Make room now, list leftovers: sandglass clean --dry-run. Agents fail to open on a full file system.")
	}
	d.dont("Don't run find -mtime +1 -delete: it takes files of live sessions.")
	d.dont("Don't search open files (lsof): they block only on NFS.")
	if d.is("tmpfs") {
		d.dont("Don't let them grow on a tmpfs. The host runs out of memory before the disk does.")
	}
}
