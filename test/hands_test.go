package test

import (
	"go/ast"
	"go/token"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/moby/moby/client"
)

// engineReads are the methods of the Docker client that only read, or send nothing. All others, those included that a
// later version brings, are for actions/docker.
var engineReads = []string{"CheckpointList", "ClientVersion", "Close", "ConfigInspect", "ConfigList", "ContainerDiff", "ContainerExport",
	"ContainerInspect", "ContainerList", "ContainerLogs", "ContainerStatPath", "ContainerStats", "ContainerTop", "CopyFromContainer",
	"DaemonHost", "Dialer", "DiskUsage", "DistributionInspect", "Events", "ExecInspect", "ImageHistory", "ImageInspect", "ImageList",
	"ImageSave", "ImageSearch", "Info", "NetworkInspect", "NetworkList", "NodeInspect", "NodeList", "Ping", "PluginInspect", "PluginList",
	"SecretInspect", "SecretList", "ServerVersion", "ServiceInspect", "ServiceList", "ServiceLogs", "SwarmGetUnlockKey", "SwarmInspect",
	"TaskInspect", "TaskList", "TaskLogs", "VolumeInspect", "VolumeList"}

// namesCalls are the packages that describe calls as data, for actions to send.
var namesCalls = []string{"backend/cloudflare/bridge", "backend/blaxel/sandbox"}

// readsByPost and asksByPost are the one exception: a GraphQL endpoint takes what only reads as POST, too. wire sends it to one
// fixed path, and only if the document is a query, which a test there holds; one file alone asks so.
const (
	readsByPost = "backend/wire/graphql.go"
	asksByPost  = "backend/cloudflare/analytics.go"
)

// TestOnlyActionsHaveHands holds that nothing outside actions asks an engine to change anything, sends a request with
// another method than GET and HEAD, or makes what could.
func TestOnlyActionsHaveHands(t *testing.T) {
	changes := map[string]bool{}
	for m := range reflect.TypeFor[*client.Client]().Methods() {
		changes[m.Name] = !slices.Contains(engineReads, m.Name)
	}
	for _, name := range engineReads {
		if _, ok := changes[name]; !ok {
			t.Errorf("the Docker client has no method %s; take it off the list", name)
		}
	}
	acting, reading, asking := 0, 0, 0
	for _, f := range sources(t) {
		if slices.Contains(ofTests, f.dir) {
			continue // no program has them
		}
		hands := allowed("actions/...", f.dir) || allowed("demo/...", f.dir)
		engine := slices.ContainsFunc(f.ast.Imports, func(i *ast.ImportSpec) bool { return strings.Contains(i.Path.Value, "moby/moby/client") })
		if engine && hands && f.dir != "actions/docker" {
			t.Errorf("%s: only actions/docker acts on an engine", f.name)
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			what := ""
			switch n := n.(type) {
			case *ast.SelectorExpr:
				x, _ := n.X.(*ast.Ident)
				switch {
				case engine && changes[n.Sel.Name]:
					what = n.Sel.Name
				case f.name == readsByPost && x != nil && x.Name == "http" && n.Sel.Name == "MethodPost":
					reading++
				case n.Sel.Name == "ReadGraphQL" && f.name == asksByPost:
					asking++
				case n.Sel.Name == "ReadGraphQL":
					what = n.Sel.Name
				case slices.Contains(namesCalls, f.dir) && x != nil && x.Name == "http" && strings.HasPrefix(n.Sel.Name, "Method"): // what sends them here has Get alone
				case x != nil && x.Name == "http" && slices.Contains([]string{"MethodPost", "MethodPut", "MethodPatch", "MethodDelete"}, n.Sel.Name):
					what = "http." + n.Sel.Name
				case x != nil && x.Name == "wire" && (n.Sel.Name == "NewActor" || n.Sel.Name == "Actor"):
					what = "wire." + n.Sel.Name
				case x != nil && x.Name == "http" && (n.Sel.Name == "Post" || n.Sel.Name == "PostForm"):
					what = "http." + n.Sel.Name
				}
			case *ast.BasicLit:
				// config prints what an [[action]] would send, and sends nothing; asksByPost names its route.
				if s, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && f.dir != "config" && f.name != asksByPost && slices.Contains([]string{"POST", "PUT", "PATCH", "DELETE"}, s) {
					what = n.Value
				}
			}
			switch {
			case what != "" && hands:
				acting++
			case what != "":
				t.Errorf("%s: %s changes something; that belongs below actions", f.pos.Position(n.Pos()), what)
			}
			return true
		})
	}
	if reading != 1 || asking != 1 {
		t.Errorf("%s has %d POSTs and %s asks %d times; each is one", readsByPost, reading, asksByPost, asking)
	}
	if acting < 8 {
		t.Errorf("only %d calls below actions were found: this test looks at the wrong thing", acting)
	}
}
