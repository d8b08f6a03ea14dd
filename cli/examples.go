package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// examples are the lines at the end of each command's help, without the program's name, by the command's path.
var examples = map[string][]string{
	"":                      {"demo", "", "check", "why s-42/repo", "get workspaces --filter state=failed"},
	"demo":                  {"demo", "demo --scenario eviction-storm --workspaces 3000", "demo --headless --write-config demo.toml"},
	"check":                 {"check", "check -o json", "check --config prod-eu.toml --observe 30s"},
	"get":                   {"get", "get workspaces --filter 'state=failed attempt>10m' --sort-by attempt", "get sandbox -o wide", "get alerts -o yaml", "get ws --watch"},
	"logs":                  {"logs web-1", "logs s-42 --follow --grep error", "logs 80a6bab9d4 --since 10m --tail 200"},
	"why":                   {"why s-42/repo", "why 71b505 -o json", "why s-42 --kind session --exit-code"},
	"diff":                  {"diff", "diff s-42/repo --observe 2m"},
	"runbook":               {"runbook", "runbook 2", "runbook 2 --subject s-42/repo", "runbook 7 --config prod-eu.toml"},
	"refs":                  {"refs check --reads 2..4"},
	"refs check":            {"refs check --reads 2..4", "refs check --reads 3 -o json"},
	"rules":                 {"rules list", "rules show failed-too-long"},
	"rules list":            {"rules list", "rules list -o json"},
	"rules show":            {"rules show failed-too-long", "rules show eviction-storm -o yaml"},
	"rules test":            {"rules test storm.yml", "rules test storm.yml -o json"},
	"rules export":          {"rules export > sandglass.rules.yml", "rules export --format promtool > sandglass.test.yml"},
	"ack":                   {"ack 71b505 --reason 'looking at the bucket'", "ack 71b505 --back"},
	"silence":               {`silence 'rule="failed-too-long", source="helix-eu"' --for 2h --reason 'bucket is being moved'`, "silence list", "silence end fc79f72b"},
	"silence list":          {"silence list"},
	"silence end":           {"silence end fc79f72b"},
	"note":                  {"note 'deployed 1.42 to helix-eu'", "note --by ann 'the bucket is back'"},
	"reset":                 {"reset s-42/repo", "reset --filter 'state=failed error:bucket' --dry-run", "reset --yes-plan 1f0c9a27 --reason 'the bucket is back'"},
	"destroy":               {"destroy helix-s-42-repo", "destroy --match 'helix-s-4*' --dry-run", "destroy --yes-plan 1f0c9a27 --reason 'a leak; ticket 812'"},
	"stop":                  {"stop helix-s-42-repo", "stop --yes-plan 1f0c9a27 --reason 'it floods the log'"},
	"start":                 {"start helix-s-42-repo", "start --yes-plan 1f0c9a27 --reason 'the host is back'"},
	"shell":                 {"shell helix-s-42-repo", "shell --yes-plan 1f0c9a27 --reason 'what fills its disk?'"},
	"restart":               {"restart helix-s-42-repo", "restart --yes-plan 1f0c9a27 --reason 'its processes hang'"},
	"pause":                 {"pause helix-s-42-repo", "pause --yes-plan 1f0c9a27 --reason 'to look at its files'"},
	"resume":                {"resume helix-s-42-repo", "resume --yes-plan 1f0c9a27 --reason 'its files are saved'"},
	"repair":                {"repair helix-s-42-repo", "repair --yes-plan 1f0c9a27 --reason 'its working directory vanished'"},
	"rescue":                {"rescue sbx_50445cf9", "rescue --yes-plan 1f0c9a27 --reason 'before it is destroyed'"},
	"wake":                  {"wake codesess_4cf3926c7813", "wake --yes-plan 1f0c9a27 --reason 'its sandbox works again'"},
	"replace":               {"replace sbx_50445cf9", "replace --yes-plan 1f0c9a27 --reason 'its mount is gone'"},
	"stop-process":          {"stop-process agents-0a1b2c3d4e5f --process 38", "stop-process --yes-plan 1f0c9a27 --reason 'its session is over'"},
	"kill-process":          {"kill-process agents-0a1b2c3d4e5f --process 38", "kill-process --yes-plan 1f0c9a27 --reason 'it ignores the request to end'"},
	"revoke-token":          {"revoke-token agents-0a1b2c3d4e5f --token port-3000/token-1", "revoke-token --yes-plan 1f0c9a27 --reason 'it was shared'"},
	"probe":                 {"probe helix-s-42-repo", "probe --yes-plan 1f0c9a27 --reason 'it answers nothing'"},
	"prove":                 {"prove docker-local", "prove docker-local --beside helix-s-42-repo", "prove --yes-plan 1f0c9a27 --reason 'is it the engine?'"},
	"clean":                 {"clean", "clean --list", "clean --yes-plan 1f0c9a27 --reason 'the disk is full'"},
	"do":                    {"do drain s-42", "do drain s-42 --dry-run", "do drain --yes-plan 1f0c9a27 --reason 'node 3 goes down'"},
	"doctor":                {"doctor docker-local", "doctor helix-eu -o json", "doctor helix-eu --out helix-eu.sample.json"},
	"audit":                 {"audit show --last 20", "audit verify"},
	"audit show":            {"audit show --since 24h", "audit show --verb reset,destroy -o json"},
	"audit verify":          {"audit verify", "audit verify audit.jsonl -o json"},
	"bundle":                {"bundle s-42/repo", "bundle 71b505 --out issue.md"},
	"config":                {"config init sandglass.toml", "config check", "config show"},
	"config check":          {"config check", "config check --explain", "config check --config prod-eu.toml --offline"},
	"config init":           {"config init sandglass.toml", "config init --for helix,prometheus prod-eu.toml", "config init --full -"},
	"config show":           {"config show", "config show --config prod-eu.toml"},
	"version":               {"version"},
	"man":                   {"man /usr/local/share/man/man1"},
	"completion":            {"completion bash > /etc/bash_completion.d/sandglass", "completion zsh > \"${fpath[1]}/_sandglass\"", "completion fish > ~/.config/fish/completions/sandglass.fish"},
	"completion bash":       {"completion bash > /etc/bash_completion.d/sandglass"},
	"completion zsh":        {"completion zsh > \"${fpath[1]}/_sandglass\""},
	"completion fish":       {"completion fish > ~/.config/fish/completions/sandglass.fish"},
	"completion powershell": {"completion powershell | Out-String | Invoke-Expression"},
	"help":                  {"help why"},
}

// exemplify gives each command its examples.
func exemplify(c *cobra.Command) {
	path := strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), c.Root().Name()), " ")
	var lines []string
	for _, l := range examples[path] {
		lines = append(lines, strings.TrimRight("  "+c.Root().Name()+" "+l, " "))
	}
	c.Example = strings.Join(lines, "\n")
	for _, sub := range c.Commands() {
		exemplify(sub)
	}
}
