package examine

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"sandglass/backend"
	"sandglass/internal/stable"
)

// Options are what an examination needs.
type Options struct {
	Kind, ID string
	// Make makes the source anew, with the tap in its Deps.
	Make    func(backend.Deps) (backend.Source, error)
	Deps    backend.Deps
	Version backend.Safe
	// Tries is how often it is read, at least 1; a slow source is read less often.
	Tries int
}

// slow is how long one reading may take so that there is another one.
const slow = 10 * time.Second

// Examiner is a source that has read routes which a first reading does not ask.
type Examiner interface {
	// Examine asks each of them once. What it is answered does not matter.
	Examine(ctx context.Context)
}

// Fielder is a source that knows the names of the JSON members which its backend documents.
type Fielder interface {
	// KnownFields are these names. Members of the objects named in data, each with the
	// field that holds it (Config.Labels), are data, not names.
	KnownFields() (known, data []string)
}

// Source reads a source a few times and tells what came of it.
func Source(ctx context.Context, o Options) (*Report, error) {
	rec := NewRecorder(o.Deps.Now)
	deps := o.Deps
	deps.Tap = rec.Tap
	r := &Report{Schema: 1, Time: o.Deps.Now().UTC().Truncate(time.Second), Source: backend.Clean(o.ID, 200), Kind: backend.Clean(o.Kind, 40), Version: o.Version}
	var last backend.Reading
	var failed error
	var routes []backend.Route
	var fields Fielder
	read := false
	for range max(o.Tries, 1) {
		src, err := o.Make(deps)
		if err != nil {
			return nil, err
		}
		if e, ok := src.(backend.Explainer); ok && routes == nil {
			routes = e.Routes()
		}
		fields, _ = src.(Fielder)
		began := o.Deps.Now()
		var got backend.Reading
		if got, failed = src.Poll(ctx); failed == nil {
			read, last = true, got
			if e, ok := src.(Examiner); ok {
				e.Examine(ctx)
			}
		}
		r.Tries++
		if c, ok := src.(backend.Closer); ok {
			_ = c.Close() // it only read
		}
		if ctx.Err() != nil || o.Deps.Now().Sub(began) > slow {
			break
		}
	}
	r.Routes, r.Versions, r.States, r.Inputs = []Route{}, []backend.Safe{}, []State{}, []backend.Input{}
	r.Missing, r.Problems, r.Notes = []backend.Safe{}, []backend.Safe{}, []backend.Safe{}
	x := &examination{Report: r, deps: o.Deps, fields: fields, extra: extras(&last)}
	x.routes(rec, routes)
	x.reading(&last)
	if failed != nil {
		r.Problems = append(r.Problems, o.Deps.Cleaner.Clean(failed.Error(), 400))
	}
	r.ExitCode = x.exitCode(read, failed)
	return r, nil
}

// examination is the work of one report.
type examination struct {
	*Report
	deps   backend.Deps
	fields Fielder
	extra  map[string]bool // fields that the adapter itself did not know
}

// extras are the fields that the adapter kept without knowing them.
func extras(r *backend.Reading) map[string]bool {
	out := map[string]bool{}
	add := func(fields []backend.Field) {
		for _, f := range fields {
			out[f.Name.String()] = true
		}
	}
	for _, w := range r.Workspaces {
		add(w.Extra)
	}
	for _, f := range r.Refs {
		add(f.Extra)
	}
	for _, e := range r.Executions {
		add(e.Extra)
	}
	for _, j := range r.Jobs {
		add(j.Extra)
	}
	return out
}

// routes joins what was asked with what the source says that it reads.
func (x *examination) routes(rec *Recorder, declared []backend.Route) {
	all, more := rec.exchanges()
	if more > 0 {
		x.Notes = append(x.Notes, backend.Textf("%d more requests were sent, which are not counted here", more))
	}
	taken := make([]bool, len(all))
	for _, d := range declared {
		out := Route{Method: backend.Clean(d.Verb, 20), Target: x.deps.Cleaner.Clean(d.Target, 300), Why: x.deps.Cleaner.Clean(d.Why, 300), May: MayUnknown}
		if slices.Contains([]string{"list", "read", "walk", "run"}, d.Verb) {
			x.local(&out, d)
			x.Routes = append(x.Routes, out)
			continue
		}
		match := pattern(d.Target)
		var mine []exchange
		for i := range all {
			if !taken[i] && (all[i].method == d.Verb || all[i].method == "HEAD") && match.MatchString(all[i].path) {
				taken[i] = true
				mine = append(mine, all[i])
			}
		}
		x.asked(&out, mine)
		x.Routes = append(x.Routes, out)
	}
	rest := map[string][]exchange{}
	for i := range all {
		if !taken[i] {
			k := all[i].method + " " + template(all[i].path)
			rest[k] = append(rest[k], all[i])
		}
	}
	for _, k := range slices.Sorted(maps.Keys(rest)) {
		method, target, _ := strings.Cut(k, " ")
		out := Route{Method: backend.Clean(method, 20), Target: x.deps.Cleaner.Clean(target, 300), May: MayUnknown}
		x.asked(&out, rest[k])
		x.Routes = append(x.Routes, out)
	}
}

var (
	placeholder = regexp.MustCompile(`\\\{[^{}]*\\\}`)
	idLike      = regexp.MustCompile(`[0-9a-f]{12,}|[0-9]{3,}|^.{40,}$`)
)

// pattern matches the paths of a route: the end of its target, whatever stands before.
func pattern(target string) *regexp.Regexp {
	path, _, _ := strings.Cut(target, "?")
	if i := strings.LastIndex(path, "/var/run/"); i >= 0 {
		path = path[i:]
	}
	if _, after, ok := strings.Cut(path, "://"); ok {
		if i := strings.IndexByte(after, '/'); i >= 0 {
			path = after[i:]
		}
	}
	if i := strings.Index(path, ".sock/"); i >= 0 {
		path = path[i+len(".sock"):]
	}
	re := placeholder.ReplaceAllString(regexp.QuoteMeta(path), `[^/]+`)
	compiled, err := regexp.Compile(re + `/?$`)
	if err != nil {
		return regexp.MustCompile(`$^`)
	}
	return compiled
}

// template is a path with what looks like an identifier replaced.
func template(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if idLike.MatchString(p) {
			parts[i] = "{id}"
		}
	}
	return strings.Join(parts, "/")
}

// asked tells what the requests of one route came to.
func (x *examination) asked(out *Route, all []exchange) {
	if out.Asked = len(all); len(all) == 0 {
		return
	}
	out.Answers = map[int]int{}
	var took []time.Duration
	var names fieldNames
	refused := 0
	for i := range all {
		e := &all[i]
		if (e.status == 401 || e.status == 403) && keyed(all, e.sent) {
			refused++
			out.Asked--
			continue
		}
		out.Answers[e.status]++
		if e.status == 0 || e.late {
			if e.err != nil {
				out.Problem = x.deps.Cleaner.Clean(backend.PlainNetError(e.err).Error(), 300)
			} else if !strings.HasSuffix(e.path, "/events") {
				out.Problem = backend.Text("its answer did not end")
			}
			continue
		}
		took = append(took, e.ended.Sub(e.began))
		out.Bytes = max(out.Bytes, int64(len(e.body)))
		out.Type = cmp.Or(out.Type, e.contentType())
		x.server(e)
		switch {
		case e.status == 401 || e.status == 403:
			out.May, out.Problem = MayNotRead, backend.Textf("answers %d: the credential or this user may not read it", e.status)
		case e.status == 404 || e.status == 409: // which many routes answer for what is not there, or is changing just then
		case e.status >= 400:
			out.Problem = backend.Textf("answers %d", e.status)
		case e.isHTML():
			out.Problem = backend.Text("answers a web page: another server, a login or a proxy answers there")
		default:
			if out.May == MayUnknown {
				out.May = MayRead
			}
			x.body(out, e, &names)
			if words, denied := backend.GraphQLErrors(e.body); e.method != "GET" && len(words) > 0 {
				out.Problem = x.deps.Cleaner.Clean("answers 200 with errors: "+strings.Join(words, "; "), 300)
				if denied {
					out.May = MayNotRead
				}
			}
		}
	}
	if refused > 0 {
		x.Notes = append(x.Notes, backend.Textf("%s %s was asked %s without a credential, too, and refuses: it is closed", out.Method, out.Target, backend.Counted(refused, "time", "times")))
	}
	if len(took) > 0 {
		slices.Sort(took)
		out.Latency = &Latency{took[0].Seconds(), took[len(took)/2].Seconds(), took[len(took)-1].Seconds()}
	}
	out.Known, out.Unknown = names.list(x)
}

// keyed reports whether a route answered a request that carried more than this one: a credential.
func keyed(all []exchange, sent int) bool {
	return slices.ContainsFunc(all, func(e exchange) bool { return e.sent > sent && e.status >= 200 && e.status < 300 })
}

// server notes what an answer says about the software behind it.
func (x *examination) server(e *exchange) {
	for _, name := range []string{"Server", "Api-Version", "X-Powered-By", "Ostype", "Libpod-Api-Version"} {
		if v := e.header.Get(name); v != "" {
			text := x.deps.Cleaner.Clean(name+": "+v, 120)
			if !slices.Contains(x.Versions, text) && len(x.Versions) < 20 {
				x.Versions = append(x.Versions, text)
			}
		}
	}
}

// local tries a route on this machine: files and directories are opened for reading, and nothing is run.
func (x *examination) local(out *Route, d backend.Route) {
	if d.Verb == "run" {
		out.Problem = backend.Text("a command, which only the reading itself runs")
		return
	}
	target := d.Target
	if i := strings.IndexAny(target, "<{"); i >= 0 {
		target = filepath.Dir(target[:i] + "x")
	}
	found, err := filepath.Glob(target)
	if err == nil && len(found) == 0 {
		err = fs.ErrNotExist
	}
	var took []time.Duration
	denied := 0
	for _, path := range found[:min(len(found), mostOpened)] {
		began := x.deps.Now()
		failed := open(path)
		took = append(took, x.deps.Now().Sub(began))
		out.Asked++
		if failed != nil {
			denied++
			err = failed
		}
	}
	switch {
	case errors.Is(err, fs.ErrPermission):
		out.May, out.Problem = MayNotRead, backend.Textf("%d of %d may not be read by this user", denied, out.Asked)
	case errors.Is(err, fs.ErrNotExist) && d.Verb == "walk":
		out.Problem = backend.Text("there is none now")
	case err != nil:
		out.Problem = x.deps.Cleaner.Clean(err.Error(), 200)
	default:
		out.May = MayRead
	}
	if len(took) > 0 {
		slices.Sort(took)
		out.Latency = &Latency{took[0].Seconds(), took[len(took)/2].Seconds(), took[len(took)-1].Seconds()}
	}
}

// mostOpened bounds the files that are opened for one route.
const mostOpened = 200

// open reads one directory entry, or nothing of a file. A pipe or device is not opened.
func open(path string) error {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() && !info.IsDir() {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		if _, err = f.Readdirnames(1); err != nil && err.Error() == "EOF" {
			err = nil
		}
	}
	return errors.Join(err, f.Close())
}

// reading tells what the adapter made of the answers.
func (x *examination) reading(r *backend.Reading) {
	n := map[State]int{}
	count := func(of backend.Kind, reported backend.Safe, class backend.SandboxClass, known bool) {
		if !reported.IsEmpty() {
			n[State{Of: of, Reported: reported, Class: class, Known: known}]++
		}
	}
	for _, b := range r.Sandboxes {
		count(backend.KindSandbox, b.Reported, b.Class, b.Class != backend.SandboxUnknown)
	}
	for _, w := range r.Workspaces {
		count(backend.KindWorkspace, w.Reported, "", w.Class != backend.ClassUnknown)
	}
	for _, s := range r.Sessions {
		count(backend.KindSession, s.Status, "", true)
	}
	for s, c := range n {
		s.Count = c
		x.States = append(x.States, s)
	}
	stable.Sort(x.States, func(a, b State) int {
		return cmp.Or(strings.Compare(string(a.Of), string(b.Of)), cmp.Compare(b.Count, a.Count), strings.Compare(a.Reported.String(), b.Reported.String()))
	})
	x.Inputs = append(x.Inputs, r.Inputs...)
	for _, m := range r.Missing {
		x.Missing = append(x.Missing, backend.Textf("%s: %s", backend.Clean(string(m.Input), 60), m.Why))
	}
	for _, p := range r.Problems[:min(len(r.Problems), 20)] {
		what := p.What
		if strings.HasPrefix(p.Where.String(), "/") { // in a file
			what = backend.Textf("%s: %s", p.Where, what)
		}
		x.Problems = append(x.Problems, what)
	}
	if !r.Exposed.IsEmpty() {
		x.Problems = append(x.Problems, r.Exposed)
	}
	if !r.Degraded.IsEmpty() {
		x.Problems = append(x.Problems, r.Degraded)
	}
	x.Notes = append(x.Notes, r.Notes...)
}

// exitCode is what the examination concludes.
func (x *examination) exitCode(read bool, failed error) int {
	switch k := backend.KindOf(failed); {
	case read && len(x.Problems) == 0 && !slices.ContainsFunc(x.Routes, func(r Route) bool { return r.May == MayNotRead || r.Asked > 0 && !r.Problem.IsEmpty() }) &&
		!slices.ContainsFunc(x.Routes, func(r Route) bool { return len(r.Unknown) > 0 }) && !slices.ContainsFunc(x.States, func(s State) bool { return s.Strange() }):
		return 0
	case read:
		return 1
	case k == backend.ErrInvalid || k == backend.ErrUnauthorised:
		return 2
	}
	return 3
}
