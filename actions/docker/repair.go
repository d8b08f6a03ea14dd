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
	"sandglass/backend/workdir"
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
func (m *mutatingClient) repair(ctx context.Context, b *containerInfo, t actions.Target) (actions.Done, error) {
	now, err := m.rootOf(ctx, b)
	switch {
	case err != nil:
		return actions.Done{}, err
	case string(now.State) != fact(t, factRoot) || now.Target != fact(t, factTarget):
		return actions.Done{}, &actions.ChangedError{What: backend.Textf("%s is %s now", m.clean(b.Dir), backend.Text(backend.Literal(now.State)))}
	}
	before, err := m.run(ctx, b, command{argv: m.factory.opt.ProbeCommand})
	if err != nil {
		return actions.Done{}, err
	}
	switch before.trouble {
	case troubleMissing:
	case troubleNone:
		if !before.ok() { // it began, and yet: its own words say more than ours
			return actions.Done{}, fmt.Errorf("nothing was done: %s begins in %s and ends with exit code %d: %s", m.probeName(), m.clean(b.Dir), before.code, before.said)
		}
		return actions.Done{}, &actions.ChangedError{What: backend.Textf("commands run in %s: there is nothing to repair", m.clean(b.Dir))}
	case troubleUnlinked:
		return actions.Done{}, m.unlinked(b)
	case troubleProgram, troubleNoDir, troubleLoop, troubleDenied, troubleOther:
		return actions.Done{}, fmt.Errorf("nothing was done: a command fails for another reason than a missing directory: %s", before.said)
	}
	dir := b.Dir
	if now.State == workdir.Dangling {
		dir = now.Target
	}
	note, err := m.mkdir(ctx, b, dir)
	if err != nil {
		return actions.Done{}, err
	}
	return m.prove(ctx, b, dir, note)
}

func (m *reader) clean(raw string) backend.Safe {
	return m.factory.deps.Cleaner.Clean(raw, 200)
}

// unlinked is the error about a directory that cannot be repaired from inside.
func (m *mutatingClient) unlinked(b *containerInfo) error {
	return fmt.Errorf("nothing helps from inside: %s. %s", b.unlinkedWhy(m.clean), m.unlinkedAdvice(b))
}

// prove runs a plain command in the working directory.
func (m *mutatingClient) prove(ctx context.Context, b *containerInfo, dir string, note backend.Safe) (actions.Done, error) {
	after, err := m.run(ctx, b, command{argv: m.factory.opt.ProbeCommand})
	if err != nil {
		return actions.Done{}, fmt.Errorf("%s was made, but whether commands run in it is not known: %w", m.clean(dir), err)
	}
	done := actions.Done{Proved: true}
	if !note.IsEmpty() {
		done.Notes = append(done.Notes, note)
	}
	switch after.trouble {
	case troubleNone:
		if !after.ok() {
			return actions.Done{}, fmt.Errorf("%s was made, and %s ends with exit code %d in it: %s", m.clean(dir), m.probeName(), after.code, after.said)
		}
		done.Text = backend.Textf("%s is there again, empty: %s ended with exit code 0 in it", m.clean(dir), m.probeName())
	case troubleProgram: // it failed for the directory before, and the directory comes first
		done.Text = backend.Textf("%s is there again, empty: the engine enters it; the image has no %s to run", m.clean(dir), m.probeName())
	case troubleUnlinked:
		return actions.Done{}, m.unlinked(b)
	case troubleMissing, troubleNoDir, troubleLoop, troubleDenied, troubleOther:
		return actions.Done{}, fmt.Errorf("%s was made and commands fail all the same: %s", m.clean(dir), after.said)
	}
	return m.verified(ctx, b, done, &after)
}

func (m *mutatingClient) probeName() backend.Safe {
	return m.factory.deps.Cleaner.Clean(strings.Join(m.factory.opt.ProbeCommand, " "), 80)
}

// mkdir makes a directory as the container's user, or, in an image without mkdir, through the engine's archive. It is
// never made by a superuser whom the container's own user is not: what the path leads through is that user's to change,
// and a directory made elsewhere and given to it would be a gift of rights. The note says what is particular about it.
func (m *mutatingClient) mkdir(ctx context.Context, b *containerInfo, dir string) (note backend.Safe, err error) {
	made, err := m.run(ctx, b, command{argv: []string{"mkdir", "-p", "--", dir}, dir: "/"})
	switch {
	case err != nil:
		return note, err
	case made.ok():
		return note, nil
	case made.trouble == troubleProgram:
		return m.unpack(ctx, b, dir)
	case made.trouble != troubleNone:
		return note, fmt.Errorf("mkdir could not be run: %s", made.said)
	}
	return note, fmt.Errorf("%s cannot be made by the container's user%s: %s%s", m.clean(dir), b.called(m.clean), made.said, m.leads(ctx, b))
}

// called names the container's user.
func (b *containerInfo) called(clean func(string) backend.Safe) string {
	if b.User == "" {
		return ""
	}
	return " " + clean(b.User).String()
}

// leads says what to do next where the container's user could not make its working directory. It finds a symbolic link
// in its place, which could not be seen before.
func (m *mutatingClient) leads(ctx context.Context, b *containerInfo) string {
	link, err := m.run(ctx, b, command{argv: []string{"readlink", b.Dir}, dir: "/"})
	if err == nil && link.ok() && !link.said.IsEmpty() {
		return fmt.Sprintf("; it is a link to %s, which is missing and which the plan did not show: look where it should lead before anything is made there", link.said)
	}
	if b.Superuser() {
		return ""
	}
	return fmt.Sprintf("; if the path leads where it should, as root: %s exec -u 0 -w / %s mkdir -p %s, then give it to that user", m.cli(), backend.ShellWord(b.name), backend.ShellWord(b.Dir))
}

// unpack makes a directory through the engine's archive, which needs nothing of the image.
func (m *mutatingClient) unpack(ctx context.Context, b *containerInfo, dir string) (backend.Safe, error) {
	none := backend.Safe{}
	if !m.factory.host.Settled(&b.Container, dir) {
		return none, fmt.Errorf("the image has no mkdir, and the engine's archive would touch mounts of the host: make %s in a new container, or restart this one with it", m.clean(dir))
	}
	parent, err := m.existingParent(ctx, b, dir)
	if err != nil {
		return none, err
	}
	uid, gid, note := ids(b.User)
	var tree bytes.Buffer
	w := tar.NewWriter(&tree)
	at := ""
	for name := range strings.SplitSeq(strings.TrimPrefix(strings.TrimPrefix(dir, parent), "/"), "/") {
		at = path.Join(at, name)
		if err := w.WriteHeader(&tar.Header{Name: at + "/", Typeflag: tar.TypeDir, Mode: 0o755, Uid: uid, Gid: gid, ModTime: m.factory.deps.Now()}); err != nil {
			return none, err
		}
	}
	if err := w.Close(); err != nil {
		return none, err
	}
	if _, err := m.order(ctx, m.deadline(), func(ctx context.Context) error {
		_, err := m.api.CopyToContainer(ctx, b.ID, client.CopyToContainerOptions{DestinationPath: parent, Content: &tree})
		return err
	}); err != nil {
		return none, err
	}
	return note, nil
}

// existingParent is the longest part of a directory's path that exists: archive entries for it would change its owner and
// mode. Every part must be a real directory, because the engine unpacks with all rights, and a link may lead anywhere.
func (m *mutatingClient) existingParent(ctx context.Context, b *containerInfo, dir string) (string, error) {
	at := "/"
	for name := range strings.SplitSeq(strings.TrimPrefix(path.Dir(dir), "/"), "/") {
		next := path.Join(at, name)
		mode, _, err := m.stat(ctx, b, next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return at, nil
		case err != nil:
			return "", err
		case !mode.IsDir():
			return "", fmt.Errorf("the image has no mkdir, and %s above %s is a link or a file, so the directory could be created elsewhere", m.clean(next), m.clean(dir))
		}
		at = next
	}
	return at, nil
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

// verdict puts what a probe saw into words.
func (m *mutatingClient) verdict(b *containerInfo, r commandResult) backend.Safe {
	dir := m.clean(b.Dir)
	switch r.trouble {
	case troubleMissing:
		return backend.Textf("commands do not run: the working directory %s is missing; repair makes it again", dir)
	case troubleNoDir:
		return backend.Textf("commands do not run: the working directory %s is not a directory; repair removes nothing", dir)
	case troubleLoop:
		return backend.Textf("commands do not run: the working directory %s is a link that leads back to itself; repair removes nothing", dir)
	case troubleUnlinked:
		return backend.Join([]backend.Safe{backend.Text("commands do not run"), b.unlinkedWhy(m.clean)}, ": ")
	case troubleProgram:
		if !b.Superuser() && !m.factory.host.Local(&b.Container) {
			return backend.Textf("the engine finds no %s: the image has none, or the container's user%s may not enter its root", m.probeName(), b.called(m.clean))
		}
		return backend.Textf("the image has no %s: set probe_command to something that it has", m.probeName())
	case troubleDenied:
		return backend.Textf("commands do not run: the container's user%s may not enter the working directory %s", b.called(m.clean), dir)
	case troubleOther:
		return backend.Textf("commands do not run: %s", r.said)
	case troubleNone:
	}
	said := backend.Safe{}
	if !r.said.IsEmpty() {
		said = backend.Textf(": %s", r.said)
	}
	if r.code != 0 {
		return backend.Textf("commands run, but %s ended with exit code %d in %s%s", m.probeName(), r.code, dir, said)
	}
	return backend.Textf("commands run: %s ended with exit code 0 in %s after %d ms%s", m.probeName(), dir, r.took.Milliseconds(), said)
}
