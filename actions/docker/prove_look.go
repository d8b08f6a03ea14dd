package docker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/moby/moby/client"

	"sandglass/actions"
	"sandglass/backend"
)

// The facts of a plan that proves an engine.
const (
	factEngine    = "engine"
	factImage     = "image"
	factReference = "image name"
	factRuntime   = "runtime"
	factUser      = "user"
	factWorkDir   = "working directory"
	factLimits    = "limits" // as JSON
)

// proveReader reads the engine that is proved: its key is that of the source.
type proveReader struct{ factory *clientFactory }

// Look reads the engine and the image. It sends GET.
func (l proveReader) Look(ctx context.Context, q actions.Question) []actions.Candidate {
	out := make([]actions.Candidate, len(q.Keys))
	for i, k := range q.Keys {
		out[i] = actions.Candidate{Key: k, Label: backend.Clean(k.Source, 80), Name: k.Source}
	}
	r, err := l.factory.read()
	if err == nil {
		defer func() { _ = r.close() }() // idle connections; nothing is lost
		for i := range out {
			r.provable(ctx, q, &out[i])
		}
		return out
	}
	for i := range out {
		out[i].Why, out[i].Undecided = l.factory.deps.Cleaner.Clean(err.Error(), 300), true
	}
	return out
}

// provable decides what the throwaway container is made of.
func (r *reader) provable(ctx context.Context, q actions.Question, c *actions.Candidate) {
	ctx, cancel := context.WithTimeout(ctx, 2*r.deadline())
	defer cancel()
	refuse := func(why backend.Safe) { c.Why, c.Undecided = why, true }
	told, engine := watched(ctx)
	info, err := r.api.Info(told, client.InfoOptions{})
	if err != nil {
		refuse(backend.Textf("the engine does not answer: %s", r.words(err)))
		return
	}
	if info.Info.OSType != "" && info.Info.OSType != "linux" {
		c.Why = backend.Textf("prove makes Linux containers, and this engine runs %s", backend.Clean(info.Info.OSType, 40))
		return
	}
	id := info.Info.ID
	if engine.podman.Load() { // its id is another one at each answer
		id = info.Info.Name + ":" + info.Info.DockerRootDir
	}
	m, err := r.model(ctx, q)
	if err != nil {
		refuse(r.factory.deps.Cleaner.Clean(err.Error(), 400))
		return
	}
	watching, x := watched(ctx)
	image, err := r.api.ImageInspect(watching, m.image)
	switch {
	case x.status.Load() == http.StatusNotFound:
		refuse(backend.Textf("the engine has no image %s, and prove pulls none: name another one with --image or prove_image", r.clean(m.image)))
		return
	case err != nil:
		refuse(backend.Textf("the image %s cannot be read: %s", r.clean(m.image), r.words(err)))
		return
	}
	shown := m.image
	if len(image.RepoTags) > 0 && strings.HasPrefix(shown, "sha256:") {
		shown = image.RepoTags[0]
	}
	if q.Again {
		if i := slices.IndexFunc(q.Planned, func(f actions.Fact) bool { return f.Name == factReference }); i >= 0 {
			shown = q.Planned[i].Value
		}
	}
	for _, f := range []actions.Fact{{Name: factEngine, Value: id}, {Name: factReference, Value: shown}, {Name: factImage, Value: image.ID},
		{Name: factRuntime, Value: m.runtime}, {Name: factUser, Value: m.user}, {Name: factWorkDir, Value: m.workDir}, {Name: factLimits, Value: m.limits}} {
		if f.Value != "" {
			c.Identity = append(c.Identity, f)
		}
	}
	c.Useless = true
	c.Notes = append(c.Notes, backend.Textf("one container of the image %s%s, which waits (%s) and is removed at the end", r.clean(shown), m.note, r.clean(strings.Join(r.factory.opt.ProveCommand, " "))),
		backend.Textf("no network, no mounts, no restart policy; at most %s of memory and %d processes", backend.Bytes(provedMemory), provedPids))
	if b := q.State.Sandbox(backend.Key{Kind: backend.KindSandbox, Source: c.Key.Source, ID: orNone(q.Params.Beside)}); b != nil {
		c.Notes = append(c.Notes, backend.Textf("it is compared with %s, to which nothing is done", b.Name))
	}
}

func orNone(raw string) backend.ID {
	id, err := backend.NewID(raw)
	if err != nil {
		return backend.ID{}
	}
	return id
}

// model is what the container is made like: all raw.
type model struct {
	image, runtime, user, workDir string
	limits                        string // of processes, as JSON
	note                          backend.Safe
}

// model chooses an image, and takes what else decides how a sandbox behaves from one that uses it.
func (r *reader) model(ctx context.Context, q actions.Question) (model, error) {
	if q.Again { // what the plan saw, as long as it exists
		of := func(name string) string { return fact(actions.Target{Identity: q.Planned}, name) }
		return model{of(factImage), of(factRuntime), of(factUser), of(factWorkDir), of(factLimits), backend.Safe{}}, nil
	}
	like, why := likeWhat(q)
	asked := cmp.Or(q.Params.Image, r.factory.opt.ProveImage)
	switch {
	case asked != "" && (like == nil || q.Params.Beside == ""):
		return model{image: asked}, nil
	case like == nil:
		return model{}, errors.New(why)
	}
	watching, x := watched(ctx)
	res, err := r.api.ContainerInspect(watching, like.Key.ID.Raw(), client.ContainerInspectOptions{})
	c := res.Container
	switch {
	case x.status.Load() == http.StatusNotFound && asked != "":
		return model{image: asked}, nil
	case x.status.Load() == http.StatusNotFound:
		return model{}, fmt.Errorf("the sandbox %s, whose image would be used, is gone: name an image with --image or prove_image", like.Name)
	case err != nil:
		return model{}, fmt.Errorf("the sandbox %s cannot be read: %s", like.Name, r.words(err))
	case c.HostConfig == nil || c.Config == nil:
		return model{}, fmt.Errorf("the engine's answer about %s is not whole", like.Name)
	}
	m := model{image: cmp.Or(asked, c.Image), runtime: c.HostConfig.Runtime, user: c.Config.User, workDir: c.Config.WorkingDir}
	if asked == "" {
		m.note = backend.Textf(", that of %s", like.Name)
	}
	for _, u := range c.HostConfig.Ulimits { // Podman tells RLIMIT_NOFILE and takes nofile
		u.Name = strings.ToLower(strings.TrimPrefix(u.Name, "RLIMIT_"))
	}
	if len(c.HostConfig.Ulimits) > 0 {
		b, err := json.Marshal(c.HostConfig.Ulimits)
		if err != nil {
			return model{}, err
		}
		m.limits = string(b)
	}
	return m, nil
}

// likeWhat is the sandbox that the throwaway one is made like: the suspect, else one of the image that most sandboxes of the
// source use. nil: why there is none.
func likeWhat(q actions.Question) (like *backend.Sandbox, why string) {
	source := q.Keys[0].Source
	if q.Params.Beside != "" {
		if b := q.State.Sandbox(backend.Key{Kind: backend.KindSandbox, Source: source, ID: orNone(q.Params.Beside)}); b != nil {
			return b, ""
		}
		return nil, "the suspect sandbox is not listed any more: name an image with --image or prove_image"
	}
	n, newest := map[backend.Safe]int{}, map[backend.Safe]*backend.Sandbox{}
	for b := range q.State.Sandboxes.All() {
		if b.Key.Source != source || !b.IsSandbox || b.Image.IsEmpty() {
			continue
		}
		n[b.Image]++
		if was := newest[b.Image]; was == nil || better(b, was) {
			newest[b.Image] = b
		}
	}
	for image, b := range newest {
		if like == nil || n[image] > n[like.Image] || n[image] == n[like.Image] && image.String() < like.Image.String() {
			like = b
		}
	}
	if like == nil {
		return nil, "no sandbox here says which image to use: name one with --image or prove_image"
	}
	return like, ""
}

// better prefers a running sandbox, and then the one that comes first by its id.
func better(b, was *backend.Sandbox) bool {
	if running := b.Class == backend.SandboxRunning; running != (was.Class == backend.SandboxRunning) {
		return running
	}
	return b.Key.ID.Compare(was.Key.ID) < 0
}

// madeReader reads a container that a plan made and left.
type madeReader struct {
	factory *clientFactory
	made    actions.Made
}

// Look reads the container by its name and compares its labels. It sends GET.
func (l madeReader) Look(ctx context.Context, q actions.Question) []actions.Candidate {
	out := make([]actions.Candidate, len(q.Keys))
	r, err := l.factory.read()
	if err == nil {
		defer func() { _ = r.close() }() // idle connections; nothing is lost
	}
	for i, k := range q.Keys {
		c := &out[i]
		c.Key, c.Label, c.Name = k, k.ID.Safe(), k.ID.Raw()
		var b *containerInfo
		if err == nil {
			b, err = r.made(ctx, l.made)
		}
		if err != nil {
			c.Why, c.Ended = l.factory.deps.Cleaner.Clean(err.Error(), 300), err == errGone
			continue
		}
		c.Identity = []actions.Fact{{Name: "id", Value: b.ID}, {Name: "created", Value: b.created}}
	}
	return out
}

// removal removes a container that a plan made and left.
type removal struct {
	client *mutatingClient
	made   actions.Made
}

// Do reads the container's labels once more and removes it.
func (e *removal) Do(ctx context.Context, _ actions.Target, _ actions.Params) (actions.Done, error) {
	said, err := e.client.removeMade(ctx, e.made)
	return actions.Done{Proved: err == nil, Text: said}, err
}

// Close ends the connections.
func (e *removal) Close() error { return e.client.close() }

// prove is the part that tries the engine, with what removes its container when the process ended.
func (f *clientFactory) prove() actions.Part {
	p := actions.Part{Targets: proveReader{f}, ReadsItself: true}
	p.Open = func(context.Context) (actions.Effect, error) {
		m, err := f.open()
		if err != nil {
			return nil, err
		}
		return &proof{client: m}, nil
	}
	p.Left = func(made actions.Made) actions.Part {
		return actions.Part{Targets: madeReader{f, made}, ReadsItself: true, Open: func(context.Context) (actions.Effect, error) {
			m, err := f.open()
			if err != nil {
				return nil, err
			}
			return &removal{m, made}, nil
		}}
	}
	return p
}
