package docker

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"sandglass/backend"
	"sandglass/backend/workdir"
)

func (m *moby) stat(ctx context.Context, id, path string) (fs.FileMode, string, error) {
	res, err := m.api.ContainerStatPath(ctx, id, client.ContainerStatPathOptions{Path: path})
	switch {
	case errdefs.IsNotFound(err):
		return 0, "", &backend.Error{Kind: backend.ErrGone, Where: m.at + "/containers/" + id + "/archive", Err: fmt.Errorf("%s: %w", path, fs.ErrNotExist)}
	case err != nil:
		return 0, "", m.fail("/containers/"+id+"/archive", err)
	}
	return res.Stat.Mode, res.Stat.LinkTarget, nil
}

func (m *moby) top(ctx context.Context, id string) ([]string, [][]string, error) {
	where := "/containers/" + id + "/top"
	if m.podman() { // it runs ps inside the container
		return nil, nil, backend.Errorf(backend.ErrUnauthorised, m.at+where, "Podman runs ps inside the container")
	}
	res, err := m.api.ContainerTop(ctx, id, client.ContainerTopOptions{Arguments: strings.Fields(workdir.PS)})
	if err != nil {
		return nil, nil, m.fail(where, err)
	}
	return res.Titles, res.Processes, nil
}
