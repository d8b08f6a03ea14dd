package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/moby/moby/client"

	"sandglass/actions"
	"sandglass/backend"
)

// fact is one value of a target's identity, empty when it has none of that name.
func fact(t actions.Target, name string) string {
	for _, f := range t.Identity {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// repair makes a missing working directory again. It never replaces or removes anything.
func (h *hands) repair(ctx context.Context, b *box, t actions.Target) (actions.Done, error) {
	now, err := h.rootOf(ctx, b)
	switch {
	case err != nil:
		return actions.Done{}, err
	case string(now.state) != fact(t, factRoot) || now.target != fact(t, factTarget):
		return actions.Done{}, &actions.ChangedError{What: backend.Textf("%s is %s now", h.clean(b.workDir), backend.Text(backend.Literal(now.state)))}
	}
	before, err := h.run(ctx, b, command{argv: h.desk.opt.ProbeCommand})
	if err != nil {
		return actions.Done{}, err
	}
	switch before.trouble {
	case troubleMissing:
	case troubleNone:
		return actions.Done{}, &actions.ChangedError{What: backend.Textf("commands run in %s: there is nothing to repair", h.clean(b.workDir))}
	case troubleUnlinked:
		return actions.Done{}, h.unlinked(b)
	case troubleProgram, troubleOther:
		return actions.Done{}, fmt.Errorf("nothing was done: a command fails for another reason than a missing directory: %s", before.said)
	}
	dir := b.workDir
	if now.state == rootDangling {
		dir = now.target
	}
	note, err := h.mkdir(ctx, b, dir)
	if err != nil {
		return actions.Done{}, err
	}
	return h.prove(ctx, b, dir, note)
}

func (h *hands) clean(raw string) backend.Safe { return h.desk.deps.Cleaner.Clean(raw, 200) }

// unlinked is the error about a directory that cannot be repaired from inside.
func (h *hands) unlinked(b *box) error {
	return fmt.Errorf("nothing helps from inside: %s. %s", b.unlinkedWhy(h.clean), b.unlinkedAdvice(h.clean))
}

// prove runs a plain command in the working directory.
func (h *hands) prove(ctx context.Context, b *box, dir string, note backend.Safe) (actions.Done, error) {
	after, err := h.run(ctx, b, command{argv: h.desk.opt.ProbeCommand})
	if err != nil {
		return actions.Done{}, fmt.Errorf("%s was made, but whether commands run in it is not known: %w", h.clean(dir), err)
	}
	done := actions.Done{Proved: true}
	if !note.IsEmpty() {
		done.Notes = append(done.Notes, note)
	}
	switch after.trouble {
	case troubleNone:
		done.Text = backend.Textf("%s is there again, empty: %s ended with exit code %d in it", h.clean(dir), h.probeName(), after.code)
	case troubleProgram: // it failed for the directory before, and the directory comes first
		done.Text = backend.Textf("%s is there again, empty: the engine enters it; the image has no %s to run", h.clean(dir), h.probeName())
	case troubleUnlinked:
		return actions.Done{}, h.unlinked(b)
	case troubleMissing, troubleOther:
		return actions.Done{}, fmt.Errorf("%s was made and commands fail all the same: %s", h.clean(dir), after.said)
	}
	return done, nil
}

func (h *hands) probeName() backend.Safe {
	return h.desk.deps.Cleaner.Clean(strings.Join(h.desk.opt.ProbeCommand, " "), 80)
}

// mkdir makes a directory as the container's user, else as its superuser who then gives it to that user, else, in an
// image without mkdir, through the engine's archive. The note says what is particular about it.
func (h *hands) mkdir(ctx context.Context, b *box, dir string) (note backend.Safe, err error) {
	argv := []string{"mkdir", "-p", "--", dir}
	made, err := h.run(ctx, b, command{argv: argv, dir: "/"})
	switch {
	case err != nil:
		return note, err
	case made.ok():
		return note, nil
	case made.trouble == troubleProgram:
		return h.unpack(ctx, b, dir)
	case made.trouble != troubleNone:
		return note, fmt.Errorf("mkdir could not be run: %s", made.said)
	}
	if !privileged(b.user) {
		if made, err = h.run(ctx, b, command{argv: argv, dir: "/", user: "0"}); err != nil {
			return note, err
		}
		if made.ok() {
			return h.hand(ctx, b, dir)
		}
	}
	return note, fmt.Errorf("%s cannot be made: %s%s", h.clean(dir), made.said, h.leads(ctx, b))
}

// hand gives a directory that the superuser made to the container's user.
func (h *hands) hand(ctx context.Context, b *box, dir string) (backend.Safe, error) {
	given, err := h.run(ctx, b, command{argv: []string{"chown", "--", b.user, dir}, dir: "/", user: "0"})
	switch {
	case err != nil:
		return backend.Safe{}, err
	case !given.ok():
		return backend.Textf("%s belongs to root, and could not be given to %s: %s", h.clean(dir), h.clean(b.user), given.said), nil
	}
	return backend.Textf("%s was made by root and given to %s", h.clean(dir), h.clean(b.user)), nil
}

func privileged(user string) bool {
	name, _, _ := strings.Cut(user, ":")
	return name == "" || name == "0" || name == "root"
}

// leads says where the working directory leads to when it is a link that nobody could see before.
func (h *hands) leads(ctx context.Context, b *box) string {
	link, err := h.run(ctx, b, command{argv: []string{"readlink", b.workDir}, dir: "/"})
	if err != nil || !link.ok() || link.said.IsEmpty() {
		return ""
	}
	return fmt.Sprintf("; it is a link to %s, which the plan did not show: docker exec -w / %s mkdir -p, if that is where it should be", link.said, h.clean(b.name))
}

// unpack makes a directory through the engine's archive, which needs nothing of the image.
func (h *hands) unpack(ctx context.Context, b *box, dir string) (backend.Safe, error) {
	none := backend.Safe{}
	if !h.desk.host.settled(b, dir) {
		return none, fmt.Errorf("the image has no mkdir, and the engine's archive would touch mounts of the host: make %s in a new container, or restart this one with it", h.clean(dir))
	}
	parent := path.Dir(dir)
	for ; parent != "/"; parent = path.Dir(parent) { // an entry for a directory that is there would change its owner and mode
		_, _, err := h.stat(ctx, b, parent)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return none, err
		}
	}
	uid, gid, note := ids(b.user)
	var tree bytes.Buffer
	w := tar.NewWriter(&tree)
	at := ""
	for name := range strings.SplitSeq(strings.TrimPrefix(strings.TrimPrefix(dir, parent), "/"), "/") {
		at = path.Join(at, name)
		if err := w.WriteHeader(&tar.Header{Name: at + "/", Typeflag: tar.TypeDir, Mode: 0o755, Uid: uid, Gid: gid, ModTime: h.desk.deps.Now()}); err != nil {
			return none, err
		}
	}
	if err := w.Close(); err != nil {
		return none, err
	}
	if _, err := h.order(ctx, h.deadline(), func(ctx context.Context) error {
		_, err := h.api.CopyToContainer(ctx, b.id, client.CopyToContainerOptions{DestinationPath: parent, Content: &tree})
		return err
	}); err != nil {
		return none, err
	}
	return note, nil
}

// ids are the numbers of the container's user, as far as its configuration gives numbers.
func ids(user string) (uid, gid int, note backend.Safe) {
	name, group, _ := strings.Cut(user, ":")
	uid, err := strconv.Atoi(name)
	if name != "" && name != "root" && err != nil {
		return 0, 0, backend.Textf("the image has no mkdir: it was unpacked, and belongs to root, because the container's user %s has no number", backend.Clean(user, 60))
	}
	gid, err = strconv.Atoi(group)
	if err != nil {
		gid = uid
	}
	return uid, gid, backend.Text("the image has no mkdir: it was unpacked through the engine's archive")
}

// probe runs the configured command and says what came of it.
func (h *hands) probe(ctx context.Context, b *box, _ actions.Target) (actions.Done, error) {
	r, err := h.run(ctx, b, command{argv: h.desk.opt.ProbeCommand})
	if err != nil {
		return actions.Done{}, err
	}
	done := actions.Done{Proved: true, Text: h.verdict(b, r)}
	if r.trouble != troubleProgram { // which says nothing about the container
		done.Observed = backend.Known(backend.Observation{Works: r.ok(), What: done.Text, At: h.desk.deps.Now()})
	}
	if r.trouble == troubleUnlinked {
		done.Notes = append(done.Notes, b.unlinkedAdvice(h.clean))
	}
	return done, nil
}

// verdict puts what a probe saw into words.
func (h *hands) verdict(b *box, r ran) backend.Safe {
	dir := h.clean(b.workDir)
	switch r.trouble {
	case troubleMissing:
		return backend.Textf("commands do not run: the working directory %s is missing; repair makes it again", dir)
	case troubleUnlinked:
		return backend.Join([]backend.Safe{backend.Text("commands do not run"), b.unlinkedWhy(h.clean)}, ": ")
	case troubleProgram:
		return backend.Textf("the image has no %s: set probe_command to something that it has", h.probeName())
	case troubleOther:
		return backend.Textf("commands do not run: %s", r.said)
	case troubleNone:
	}
	said := backend.Safe{}
	if !r.said.IsEmpty() {
		said = backend.Textf(": %s", r.said)
	}
	if r.code != 0 {
		return backend.Textf("commands run, but %s ended with exit code %d in %s%s", h.probeName(), r.code, dir, said)
	}
	return backend.Textf("commands run: %s ended with exit code 0 in %s after %d ms%s", h.probeName(), dir, r.took.Milliseconds(), said)
}
