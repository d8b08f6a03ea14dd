// Sandglass is a terminal operator console for the places where AI agents work.
package main

import (
	"os"

	"sandglass/actions"
	agentuityact "sandglass/actions/agentuity"
	blaxelact "sandglass/actions/blaxel"
	cloudflareact "sandglass/actions/cloudflare"
	dockeract "sandglass/actions/docker"
	"sandglass/actions/operator"
	tmpdiract "sandglass/actions/tmpdir"
	"sandglass/alerts/runbook"
	"sandglass/app"
	"sandglass/backend"
	"sandglass/backend/agentuity"
	"sandglass/backend/blaxel"
	"sandglass/backend/changes"
	"sandglass/backend/check"
	"sandglass/backend/cloudflare"
	"sandglass/backend/docker"
	"sandglass/backend/helix"
	"sandglass/backend/logs"
	"sandglass/backend/promapi"
	"sandglass/backend/prometheus"
	"sandglass/backend/refs"
	"sandglass/backend/tmpdir"
	"sandglass/cli"
)

func main() { os.Exit(run(app.New(kinds(), effects()), os.Args[1:])) }

func run(a *app.App, args []string) int {
	ctx, cancel := app.Signals()
	defer cancel()
	return cli.New(a).Run(ctx, args)
}

// kinds are the backends that this program can read.
func kinds() []backend.SourceKind {
	return []backend.SourceKind{helix.Kind(), docker.Kind(), tmpdir.Kind(), prometheus.Kind(), promapi.Kind(), logs.Kind(),
		refs.Kind(), agentuity.Kind(), cloudflare.Kind(), blaxel.Kind(), changes.Kind(), check.Kind(runbook.Questions())}
}

// effects are what this program can do, by kind of source.
func effects() []actions.Kind {
	return []actions.Kind{operator.HelixKind(app.CauseOf), dockeract.Kind(), tmpdiract.Kind(), agentuityact.Kind(), cloudflareact.Kind(), blaxelact.Kind()}
}
