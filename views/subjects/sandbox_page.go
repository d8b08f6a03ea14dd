package subjects

import (
	"fmt"
	"strings"

	"sandglass/backend"
	"sandglass/views/kit"
	"sandglass/views/theme"
)

func (w *writer) sandbox(b *backend.Sandbox) {
	set := Sandboxes()
	col := func(name string) Cell { return set.Columns[set.Column(name)].Cell(b, w.f.Snapshot) }
	w.cell("reported", col("reported"), dim("  what the platform says"))
	if o, ok := b.Observed.Get(); ok {
		w.cell("observed", col("observed"), dim("  proved "+backend.Age(w.f.Now.Sub(o.At))+" ago"))
	} else if !b.Observed.IsNotApplicable() {
		w.Field("observed", dim("nothing was tried"))
	}
	if !b.Health.IsNotApplicable() {
		w.cell("health check", col("health"))
		w.checks(b)
	}
	w.text("its output", b.HealthOutput)
	if c := col("exit"); b.ExitCode.IsKnown() || b.OOMKilled.Or(false) {
		w.cell("exit", c)
	}
	w.number("restarts", b.RestartCount)
	w.at("created", b.CreatedAt, "")
	w.at("started", b.StartedAt, "")
	if b.FinishedAt.IsKnown() {
		w.at("finished", b.FinishedAt, "")
	}
	if u, ok := b.Usage.Get(); ok {
		limit := ""
		if n, known := u.MemLimit.Get(); known {
			limit = " of " + backend.Bytes(n)
		}
		w.Field("usage", normal("cpu "+col("cpu").Text.String()+", memory "+col("mem").Text.String()+limit),
			dim("  measured "+backend.Age(w.f.Now.Sub(u.At))+" ago"))
	}
	w.read(&b.Meta)
	w.running("image", b.Image, &b.Meta)
	w.text("provider", b.Provider)
	w.text("directory", b.WorkDir)
	if !b.IsSandbox {
		w.Field("", dim("It is listed only: nothing marks it as a sandbox, so nothing is ever done to it."))
	}
	w.naming(b.Key)
	w.doable(b.Key)
	w.Head("Joined")
	w.owner(b.Key.Source, b.Session)
	w.workspaceOf(b)
	for i, m := range b.Mounts {
		ro := ""
		if m.ReadOnly {
			ro = ", read-only"
		}
		w.Field(label(i+1, "mounts"), normal(fmt.Sprintf("%s on %s", m.Source, m.Destination)), dim("  "+m.Type.String()+ro))
	}
	w.history(&b.Meta)
	w.extra("Labels", b.Labels)
	w.raw(&b.Meta)
}

// checks says since when the health check fails, or when it passed last.
func (w *writer) checks(b *backend.Sandbox) {
	c, known := b.HealthChecks.Get()
	early, late, failing := b.Failing()
	switch {
	case failing && c.Passed.IsZero():
		w.Field("it fails", normal("since "+Clock(late, w.f.Now)+" at least"), dim(", "+backend.Age(w.f.Now.Sub(late))+" ago; "+inARow(c.Failed)+", none before is remembered"))
	case failing:
		w.between("it fails since", early, late, "; "+inARow(c.Failed))
	case known:
		w.at("checked", backend.Known(c.Checked), "")
	}
}

func inARow(n int) string {
	if n == 1 {
		return "1 check so far"
	}
	return number(n, "check") + " in a row"
}

// workspaceOf shows the registry entry that a sandbox stands behind.
func (w *writer) workspaceOf(b *backend.Sandbox) {
	if b.Workspace.IsZero() {
		w.Field("workspace", dim("none is named"))
		return
	}
	for x := range w.f.State.Workspaces.All() {
		if x.Key.Parent == b.Session && x.Key.ID == b.Workspace {
			w.to(x.Key)
			w.Field("workspace", normal(x.Key.Safe().String()+"  "),
				w.state(ConditionCell(x.Condition(w.f.Now, w.f.State.LongestOperation))),
				dim("  the registry says "+x.Reported.String()))
			return
		}
	}
	w.Field("workspace", normal(b.Workspace.Safe().String()), dim("  no registry lists it"))
}

func (w *writer) tmpdir(t *backend.Tmpdir) {
	set := Tmpdirs()
	col := func(name string) Cell { return set.Columns[set.Column(name)].Cell(t, w.f.Snapshot) }
	w.Field("path", normal(t.Path.String()))
	w.at("last change", t.Newest, "")
	w.at("made", t.Born, "")
	w.Field("size", normal(col("size").Text.String()+" in "+col("entries").Text.String()+" entries"))
	if t.Cut {
		w.Field("", dim("The walk stopped at its bound: these are lower bounds."))
	}
	w.text("owner", t.Owner)
	w.text("mode", t.Mode)
	w.read(&t.Meta)
	w.Head("Held by")
	holders, ok := t.Holders.Get()
	switch {
	case !ok:
		w.Field("", dim("unknown: "+number(t.Unreadable, "process")+" could not be read"))
	case len(holders) == 0:
		w.tone("", theme.Warn, "nobody")
	}
	for _, h := range holders {
		w.Field(fmt.Sprint(h.PID), normal(h.Command.String()), dim("  "+h.How.String()))
	}
	if ok && t.Unreadable > 0 {
		w.Field("", dim(number(t.Unreadable, "further process")+" could not be read"))
	}
	w.naming(t.Key)
	w.doable(t.Key)
	w.Head("Joined")
	n := 0
	for b := range w.f.State.Sandboxes.All() {
		for _, m := range b.Mounts {
			if !m.RawSource.IsZero() && within(m.RawSource.Raw(), t.RawPath.Raw()) {
				n++
				w.to(b.Key)
				w.Field(label(n, "mounted by"), w.sandboxSpans(b)...)
				break
			}
		}
	}
	if n == 0 {
		w.Field("mounted by", dim("no listed sandbox"))
	}
	for h := range w.f.State.Hosts.All() {
		if h.Key.ID == t.Key.Parent {
			w.to(h.Key)
			w.Field("host", normal(h.Name.String()))
		}
	}
	w.raw(&t.Meta)
}

func within(path, dir string) bool {
	return dir != "" && (path == dir || strings.HasPrefix(path, dir+"/") || strings.HasPrefix(dir, path+"/"))
}

func (w *writer) host(h *backend.Host) {
	w.at("booted", h.BootedAt, "")
	for _, g := range HostGroups(h) {
		w.Field("", g...)
	}
	w.read(&h.Meta)
	w.naming(h.Key)
	w.raw(&h.Meta)
}

// HostGroups says how full a host is: its memory, then disk and inodes of each root. A group belongs on one line.
func HostGroups(h *backend.Host) [][]kit.Span {
	memory := []kit.Span{{Tone: theme.Strong, Text: h.Name.String()}}
	total, okT := h.MemTotal.Get()
	free, okF := h.MemAvailable.Get()
	if okT && okF && total > 0 {
		memory = append(memory, fullness("memory", float64(total-free)/float64(total), backend.Bytes(free)+" free"))
	} else {
		memory = append(memory, dim("  memory unknown"))
	}
	if p, ok := h.MemPressure.Get(); ok && p >= 0.1 {
		memory = append(memory, kit.Span{Tone: theme.Warn, Text: "  pressure " + kit.Percent(p)})
	}
	if n, ok := h.OOMKills.Get(); ok && n > 0 {
		memory = append(memory, kit.Span{Tone: theme.Warn, Text: "  " + kit.Count(int(n), "oom kill", "oom kills") + " since boot"})
	}
	groups := [][]kit.Span{memory}
	for _, r := range h.Roots {
		groups = append(groups, append([]kit.Span{{Tone: theme.Strong, Text: r.Path.String()}}, rootSpans(r)...))
	}
	return groups
}

func rootSpans(r backend.Root) []kit.Span {
	if exists, ok := r.Exists.Get(); ok && !exists {
		return []kit.Span{{Tone: theme.Bad, Text: " does not exist"}}
	}
	var spans []kit.Span
	if ro, ok := r.ReadOnly.Get(); ok && ro {
		spans = append(spans, kit.Span{Tone: theme.Bad, Text: " read-only"})
	} else if wr, ok := r.Writable.Get(); ok && !wr {
		spans = append(spans, kit.Span{Tone: theme.Bad, Text: " not writable by the agent"})
	}
	if !r.Problem.IsEmpty() {
		spans = append(spans, kit.Span{Tone: theme.Warn, Text: " " + r.Problem.String()})
	}
	if !r.FSType.IsEmpty() {
		spans = append(spans, dim(" "+r.FSType.String()))
	}
	spans = append(spans, used(" disk", r.Bytes, r.BytesFree), used("  inodes", r.Inodes, r.InodesFree))
	if r.WaitingCount > 0 {
		spans = append(spans, kit.Span{Tone: theme.Accent, Text: "  " + setAside(r)})
	}
	return spans
}

// setAside says how many directories of a root a clean-up has set aside, and what they still occupy.
func setAside(r backend.Root) string {
	var bytes int64
	known := 0
	for _, w := range r.Waiting {
		if n, ok := w.Bytes.Get(); ok {
			bytes, known = bytes+n, known+1
		}
	}
	text := kit.Number(r.WaitingCount) + " set aside"
	switch {
	case known == r.WaitingCount:
		text += ", " + backend.Bytes(bytes)
	case known > 0:
		text += ", at least " + backend.Bytes(bytes)
	}
	return text
}

func used(label string, total, free backend.Value[int64]) kit.Span {
	n, okN := total.Get()
	f, okF := free.Get()
	switch {
	case total.IsNotApplicable() || okN && n == 0:
		return dim(label + " –")
	case !okN || !okF:
		return dim(label + " unknown")
	}
	note := ""
	if strings.Contains(label, "disk") {
		note = backend.Bytes(f) + " free"
	}
	return fullness(label, float64(n-f)/float64(n), note)
}

func fullness(label string, share float64, note string) kit.Span {
	s := kit.Span{Text: "  " + strings.TrimSpace(label) + " " + kit.Percent(share) + " full"}
	if note != "" {
		s.Text += ", " + note
	}
	switch {
	case share >= 0.95:
		s.Tone = theme.Bad
	case share >= 0.85:
		s.Tone = theme.Warn
	}
	return s
}
