package hostfs

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// maxUnplaced bounds Users.Unplaced; beyond it the pass calls itself blind.
const maxUnplaced = 4096

// firstPIDNamespace is the inode of the host's own process namespace: PROC_PID_INIT_INO in the kernel's
// include/linux/proc_ns.h. In any other namespace processes outside it cannot be seen.
const firstPIDNamespace = 0xEFFFFFFC

// devicePath is a path inside a file system, the same in every mount namespace.
type devicePath struct{ dev, path string }

// table is the mount table of one mount namespace.
type table struct {
	own    bool // the namespace of this process
	mounts Mounts
}

// knownMount is a mount of any namespace; mount ids are unique among all that exist.
type knownMount struct {
	Mount
	own bool
}

type processScan struct {
	p       Proc
	ctx     context.Context
	targets []Target
	byPath  map[string]int
	byPlace map[devicePath]int
	byID    map[FileID]int
	devs    map[uint64]bool
	own     *table
	tables  map[string]*table // by the name of the mount namespace
	mounts  map[uint64]knownMount
	texts   map[uint64]bool     // mount tables of unreadable processes already searched, by their hash
	counted map[FileID]bool     // deleted objects whose bytes stand in some use
	nets    map[string]bool     // network namespaces of which sockets holds the names
	sockets map[string]string   // names of Unix sockets by inode
	paths   map[string][]string // ways
	ending  []int               // processes of which parts were gone already
	last    bool                // they are looked at for the last time
	seed    maphash.Seed
	self    string
	out     Users
}

// Users finds the processes that use a target or anything below it, in one pass over all processes for all targets.
// It recognises objects by device and inode, and by their path inside the file system. For that path it needs the mount
// that the object was opened through. It therefore also finds a process in another mount namespace, where the directory
// has another path, a process with a socket bound there, and a thread with its own working directory or descriptors.
// It does not see what the kernel itself holds (loop devices, swap files, exports, files registered with io_uring and
// closed), nor descriptors in flight between processes.
//
// The context bounds the pass. When it ends, the result says that it is blind.
func (p Proc) Users(ctx context.Context, targets []Target) (Users, error) {
	f := &processScan{p: p, ctx: ctx, targets: targets, byPath: map[string]int{}, byPlace: map[devicePath]int{},
		byID: map[FileID]int{}, devs: map[uint64]bool{}, tables: map[string]*table{}, mounts: map[uint64]knownMount{}, texts: map[uint64]bool{}, counted: map[FileID]bool{},
		nets: map[string]bool{}, sockets: map[string]string{}, paths: map[string][]string{}, seed: maphash.MakeSeed(), self: strconv.Itoa(os.Getpid())}
	f.out.Uses = make([][]Use, len(targets))
	f.out.Unplaced, f.out.Unlocated = map[FileID]Use{}, map[string]Use{}
	mounts, err := p.Mounts()
	if err != nil {
		return Users{}, fmt.Errorf("own mount table: %w", err)
	}
	f.own = &table{own: true, mounts: mounts}
	f.indexMounts(f.own)
	if ns, err := p.link("self", "ns", "mnt"); err == nil {
		f.tables[ns] = f.own
	}
	f.out.Blind = f.hiddenReason(mounts)
	for i, t := range targets {
		f.byPath[t.Path], f.byID[t.ID], f.devs[t.ID.Dev] = i, i, true
		if m, ok := f.mountOf(f.own, t.Path, t.MountID); ok {
			f.byPlace[devicePath{m.Dev, m.Inside(t.Path)}] = i
		}
	}
	pids, err := p.pids()
	if err != nil {
		return Users{}, err
	}
	f.searchMounts(f.own, 0)
	for _, pid := range pids {
		if ctx.Err() != nil {
			f.out.Blind = "the search was not finished in time"
			break
		}
		f.process(pid)
	}
	// What was about to end when it was looked at has ended by now, or shows what it has.
	ending := f.ending
	f.last = true
	for _, pid := range ending {
		f.process(pid)
	}
	return f.out, nil
}

// hiddenReason looks for reasons why some processes do not appear in /proc at all.
func (f *processScan) hiddenReason(mounts Mounts) string {
	if ns, err := f.p.link("self", "ns", "pid"); err == nil && ns != fmt.Sprintf("pid:[%d]", firstPIDNamespace) {
		return "only the processes of this container can be seen"
	}
	// With CAP_SYS_PTRACE this process sees every other one. The superuser of a container can lack it.
	if m, ok := mounts.At(f.p.Root); ok && hidesProcesses(m) && !hasCapability(unix.CAP_SYS_PTRACE) {
		return "/proc hides the processes of other users (mount option hidepid)"
	}
	return ""
}

// hasCapability reports whether this process has a capability, one of the first 32.
func hasCapability(capability int) bool {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&hdr, &data[0]) == nil && data[0].Effective&(1<<capability) != 0
}

// hidesProcesses reports whether a /proc mount omits other users' processes. At level 1 it lists them and denies access.
func hidesProcesses(m Mount) bool {
	v, set := m.SuperOption("hidepid")
	return set && m.FSType == "proc" && v != "0" && v != "off" && v != "1" && v != "noaccess"
}

func (f *processScan) indexMounts(t *table) {
	for _, m := range t.mounts {
		f.mounts[m.ID] = knownMount{Mount: m, own: t.own}
	}
}

// mountOf finds the mount that a path lies on: by its id where the system tells it, else by the path in the table of
// the process that showed the path.
func (f *processScan) mountOf(t *table, p string, id uint64) (knownMount, bool) {
	if id == 0 {
		m, ok := t.mounts.At(p)
		return knownMount{Mount: m, own: t.own}, ok
	}
	m, ok := f.mounts[id]
	return m, ok && within(p, m.Point)
}

func (p Proc) pids() ([]int, error) {
	f, err := os.Open(p.Root)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var out []int
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil && pid > 0 {
			out = append(out, pid)
		}
	}
	slices.Sort(out)
	return out, nil
}

func (p Proc) link(parts ...string) (string, error) {
	name := p.path(parts...)
	if p.deny != nil {
		if err := p.deny(name); err != nil {
			return "", err
		}
	}
	return os.Readlink(name)
}

// process looks at one process.
func (f *processScan) process(pid int) {
	id := strconv.Itoa(pid)
	flags, gone := f.flags(id)
	if flags&flagKernel != 0 {
		return // a kernel thread has no files
	}
	var err error
	if !gone {
		err = f.task(pid, id, id == f.self)
	}
	if ended(err) {
		if flags, _ = f.flags(id); flags&flagExiting != 0 {
			gone, err = true, nil // what is missing was let go of, and everything else before it
		}
	}
	seen := 0
	if err == nil {
		seen, err = f.threads(pid, id, gone)
	}
	if err == nil {
		if !gone || seen > 0 {
			f.out.Processes++
		}
		return
	}
	if _, serr := os.Stat(f.p.path(id)); errors.Is(serr, fs.ErrNotExist) {
		return // it ended meanwhile
	}
	if !f.last && ended(err) {
		f.ending = append(f.ending, pid)
		return
	}
	f.out.Processes++
	f.out.Unreadable++
	if len(f.out.Closed) < MaxClosed {
		f.out.Closed = append(f.out.Closed, Use{PID: pid, Command: f.command(pid), Program: f.program(pid), Unit: f.unit(pid)})
	}
	f.foreignMounts(pid, id)
}

// task looks at everything that one task has: a process's first thread, or another one by its own directory.
func (f *processScan) task(pid int, id string, own bool) error {
	t, err := f.tableOf(pid, id)
	for _, how := range []UseKind{HowCwd, HowRoot, HowExe} {
		if err == nil {
			err = f.addLink(t, pid, how, f.p.path(id, string(how)), own)
		}
	}
	if err == nil {
		err = f.boundSockets(id)
	}
	if err == nil {
		err = f.descriptors(t, pid, id, own)
	}
	if err == nil {
		err = f.maps(t, pid, id)
	}
	return err
}

// Flags of a task (PF_EXITING and PF_KTHREAD in the kernel's include/linux/sched.h).
const (
	flagExiting = 0x00000004
	flagKernel  = 0x00200000
)

// flags are the ninth field of the stat file, which every user may read. gone: the task has ended and waits for its
// parent. The other threads of the process, if there are any, still have everything open that it opened.
func (f *processScan) flags(id string) (flags uint64, gone bool) {
	b, err := f.p.read(id, "stat")
	if err != nil {
		return 0, false
	}
	_, rest, ok := strings.Cut(string(b[strings.LastIndexByte(string(b), ')')+1:]), " ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 7 {
		return 0, false
	}
	if flags, err = strconv.ParseUint(fields[6], 10, 64); err != nil {
		flags = 0
	}
	return flags, fields[0] == "Z" || fields[0] == "X"
}

// tableOf reads the mount table of the process's namespace, once per namespace.
func (f *processScan) tableOf(pid int, id string) (*table, error) {
	ns, err := f.p.link(id, "ns", "mnt")
	if err != nil {
		return nil, err
	}
	if t := f.tables[ns]; t != nil {
		return t, nil
	}
	b, err := f.p.read(id, "mountinfo")
	if err != nil {
		return nil, err
	}
	m, err := ParseMounts(b)
	if err != nil {
		return nil, err
	}
	t := &table{mounts: m}
	f.tables[ns] = t
	f.indexMounts(t)
	f.searchMounts(t, pid)
	return t, nil
}

// add remembers a use, one per process and way.
func (f *processScan) add(i int, u Use) {
	uses := f.out.Uses[i]
	for j := range uses {
		if o := &uses[j]; o.PID == u.PID && o.How == u.How && o.Deleted == u.Deleted {
			o.Bytes += u.Bytes
			return
		}
	}
	if len(uses) >= MaxUses {
		return
	}
	if u.PID != 0 {
		u.Command, u.Since = f.command(u.PID), f.started(u.PID)
	}
	f.out.Uses[i] = append(uses, u)
}

// started is when the process started: field 22 of its stat file, in hundredths of a second since boot.
func (f *processScan) started(pid int) time.Time {
	b, err := f.p.read(strconv.Itoa(pid), "stat")
	boot, berr := f.p.BootTime()
	if err != nil || berr != nil {
		return time.Time{}
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(fields) < 20 {
		return time.Time{}
	}
	ticks, err := strconv.ParseInt(fields[19], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return boot.Add(time.Duration(ticks) * (time.Second / 100)).Truncate(time.Second)
}

// program is the first word of the command line.
func (f *processScan) program(pid int) string {
	b, err := f.p.read(strconv.Itoa(pid), "cmdline")
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(string(b), "\x00")
	return name
}

// unit is the systemd service or scope at the end of a process's control group (cgroups(7)): "0::/system.slice/x.service".
func (f *processScan) unit(pid int) string {
	b, err := f.p.read(strconv.Itoa(pid), "cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(b)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || parts[1] != "" && parts[1] != "name=systemd" {
			continue
		}
		if name := path.Base(parts[2]); strings.HasSuffix(name, ".service") || strings.HasSuffix(name, ".scope") {
			return name
		}
	}
	return ""
}

// command is the command line with blanks for its separators, or the name in brackets.
func (f *processScan) command(pid int) string {
	id := strconv.Itoa(pid)
	if c, err := os.Open(f.p.path(id, "cmdline")); err == nil {
		b, _ := io.ReadAll(io.LimitReader(c, 4096)) // what could be read is better than nothing
		_ = c.Close()                               // opened for reading
		if s := strings.TrimSpace(strings.ReplaceAll(string(b), "\x00", " ")); s != "" {
			return s
		}
	}
	if w, err := f.p.word(id, "comm"); err == nil {
		return "[" + w + "]"
	}
	return ""
}
