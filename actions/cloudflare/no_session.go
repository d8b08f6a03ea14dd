package cloudflare

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sandglass/actions"
	"sandglass/backend"
	"sandglass/backend/cloudflare/bridge"
)

// noSession tells what stands at /workspace where a new session does not begin either, for the directory in which it begins is missing:
// so it is before SDK 0.6.4 (case B of cloudflare/sandbox-sdk#288). Later ones begin it elsewhere. A command that is given another
// directory begins.
func (x *examination) noSession(ctx context.Context, v *backend.Verdict) {
	v.What = backend.Text("commands begin neither without a session nor in a new one: the directory in which they begin is missing, or the image has no bash")
	look, err := x.c.exec(ctx, x.id, bridge.Order{Argv: []string{"sh", "-c", lookAt}, Dir: "/", Within: commandWithin}, x.c.factory.next)
	x.looked = look.took
	x.planes = append(x.planes, x.way("no session, with cwd /", &look, err))
	if word, _, _ := strings.Cut(strings.TrimSpace(look.ran.Stdout), "\n"); err == nil && look.ran.OK() && word == "missing" {
		v.Kind, v.What = backend.FailWorkDirMissing, backend.Text(caseB)
	}
}

const caseB = "/workspace is missing: no command begins without a session, and no new session does, as before SDK 0.6.4"

// sessionless reports whether no new session begins where /workspace is missing.
func (x *examination) sessionless() bool { return x.exec.What.String() == caseB }

// mkdir makes /workspace by a command that begins elsewhere, where the bridge writes no file because no session begins.
func (c *client) mkdir(ctx context.Context, id string) error {
	a, err := c.exec(ctx, id, bridge.Order{Argv: []string{"mkdir", "-p", bridge.Root}, Dir: "/", Within: commandWithin}, c.factory.next)
	switch {
	case err != nil:
		return lost(err)
	case a.problem != nil:
		return &refusedError{fmt.Errorf("/workspace was not made: %s", c.said(a.problem))}
	case !a.ran.Exit.IsKnown():
		return &actions.UncertainError{Err: errors.New("the command that makes /workspace did not end")}
	case !a.ran.OK():
		return &refusedError{fmt.Errorf("/workspace could not be made: %s", c.clean(a.ran.Stderr, 300))}
	}
	return nil
}
