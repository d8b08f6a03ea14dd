package docker

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"sandglass/backend"
	"sandglass/backend/hostfs"
)

// Volumes lists the volumes of the engine that the newest poll spoke to whose options name a place of its host: what
// "docker volume create -o type=none -o o=bind -o device=/srv/x" makes. It asks the engine at once, since a container
// that has such a volume does not tell: its mount names a directory of the engine's own. Volumes of other drivers than
// "local" are not among them. Any error means that the list is not known.
func (s *Source) Volumes(ctx context.Context) ([]backend.Volume, error) {
	s.mu.Lock()
	eng := s.eng
	s.mu.Unlock()
	if eng == nil {
		return nil, s.silent()
	}
	ctx, cancel := context.WithTimeout(ctx, s.deadline(ctx))
	defer cancel()
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, s.sign(&backend.Error{Kind: backend.ErrTimeout, Err: ctx.Err()})
	}
	list, err := eng.volumes(ctx)
	<-s.slots
	if err != nil {
		return nil, s.sign(err)
	}
	var out []backend.Volume
	for _, v := range list {
		for _, place := range v.places() {
			out = append(out, backend.Volume{Name: s.clean(v.name, 80), RawSource: orZero(place)})
		}
	}
	return out, nil
}

// places are what the options of a volume of the driver "local" name on the engine's host. They are those of mount(8):
// device is a directory that is bound, a file that a loop device reads, a disk, or something that is no place here, as
// "tmpfs" and ":/export" are; o may name the layers of an overlay. Empty text is a bound directory whose path cannot be
// told from here: the engine takes it relative to where it was started.
func (v volume) places() []string {
	device, more := v.options["device"], v.options["o"]
	bound := slices.ContainsFunc(strings.Split(more, ","), func(o string) bool { return o == "bind" || o == "rbind" })
	out := hostfs.OverlayLayers(more)
	switch {
	case filepath.IsAbs(device):
		out = append(out, device)
	case bound:
		out = append(out, "")
	}
	return out
}
