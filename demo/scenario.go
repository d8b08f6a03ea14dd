package demo

import (
	"fmt"
	"strings"

	"sandglass/demo/agentuity"
	"sandglass/demo/blaxel"
	"sandglass/demo/cloudflare"
)

// Scenario is one scripted world a demo can play.
type Scenario struct {
	Name    string
	Summary string // one plain sentence
}

// incidentSet are the incidents of a world. Every world has the calm background.
type incidentSet struct {
	rollout  bool // agent processes restart one after the other, every 20 minutes
	failed   bool // workspaces that cannot be opened any more
	broken   bool // containers that were killed, crash in a loop or turn unhealthy
	emptied  bool // containers whose working directory is removed while they run
	parted   bool // containers and registry entries that lost each other
	frozen   bool // containers whose main process stands still
	hammered bool // workspaces that are used all the time and never work
	storm    bool // evictions that retries do not recover
	wide     bool // the storm takes nearly the whole provider, not a few workspaces
	flood    bool // one session loops over a rejected command
	leak     bool // scratch directories are left behind
	outage   bool // sources of the console die and come back
	brief    bool // the outage is one short one, so that other incidents stay visible
	hostile  bool // names and errors that try to harm a terminal or leak a secret
	// agentuity is what goes wrong in an Agentuity beside the fleet. Only worlds with such a story have one.
	agentuity agentuity.Story
	// edge says that a Cloudflare account is beside the fleet, and account what goes wrong there.
	edge    bool
	account cloudflare.Trouble
	// bridge is what happens in the sandboxes of a bridge Worker beside that account.
	bridge cloudflare.BridgeStory
	// blaxel is what happens in a Blaxel workspace beside the fleet. Only worlds with such a story have one.
	blaxel blaxel.Story
}

type script struct {
	Scenario
	incidents incidentSet
}

// scripts lists the worlds in the order in which help shows them.
func scripts() []script {
	return []script{
		{Scenario{"all", "Everything together: old outages, a storm that gets worse, a log flood and a source that dies, in a fleet that is mostly healthy."},
			incidentSet{failed: true, broken: true, hammered: true, storm: true, flood: true, leak: true, outage: true, brief: true, hostile: true}},
		{Scenario{"calm", "A healthy and busy fleet with first uses after long idle times, pauses, branches, evictions that recover and a rollout; nothing should alert."},
			incidentSet{rollout: true}},
		{Scenario{"failed", "Workspaces that have failed for 41 minutes, some that fail only now, and containers that were killed or keep crashing."},
			incidentSet{failed: true, broken: true}},
		{Scenario{"hammered", "Workspaces that agents keep using although no operation has succeeded for minutes."},
			incidentSet{hammered: true}},
		{Scenario{"eviction-storm", "One provider has no instances left: evictions climb, retries stop helping, and most of its workspaces are lost within five minutes."},
			incidentSet{storm: true, wide: true}},
		{Scenario{"audit-flood", "One session repeats a rejected command 1,900 times a second and the log only shows a summary line every five seconds."},
			incidentSet{flood: true}},
		{Scenario{"tmp-leak", "Scratch directories are left behind faster than anybody removes them."},
			incidentSet{leak: true}},
		{Scenario{"workspace-gone", "Containers that run and are reported so, while their working directory was removed: every command in them fails."},
			incidentSet{emptied: true}},
		{Scenario{"orphan-containers", "Containers without a session, and sessions whose container was removed, ended or never started, although the registry calls them open."},
			incidentSet{parted: true}},
		{Scenario{"frozen", "Containers that are reported running while their main process is stopped or waits for a disk that does not answer."},
			incidentSet{frozen: true}},
		{Scenario{"zombie", "A resumed Agentuity sandbox reports idle although its mount is gone: commands stay queued, and its Coder session gave up."},
			incidentSet{agentuity: agentuity.Zombie}},
		{Scenario{"stuck-queue", "Agentuity sandboxes whose files can be read, in which an execution or a job waits and never starts."},
			incidentSet{agentuity: agentuity.StuckQueue}},
		{Scenario{"region-incident", "Executions of one Agentuity region stop starting, in every sandbox that is used."},
			incidentSet{agentuity: agentuity.RegionIncident}},
		{Scenario{"resume-race", "An Agentuity sandbox is resumed before its checkpoint is stored: the platform refuses, and two minutes later it works."},
			incidentSet{agentuity: agentuity.ResumeRace}},
		{Scenario{"no-checkpoint", "A suspended Agentuity sandbox whose checkpoint is lost: every resume is refused for ever."},
			incidentSet{agentuity: agentuity.NoCheckpoint}},
		{Scenario{"quota", "A Cloudflare application runs as many container instances as it may, and more wait for a place."},
			incidentSet{edge: true, account: cloudflare.Quota}},
		{Scenario{"provider-outage", "The account API of Cloudflare answers 500 after 45 seconds: nothing can be said of its containers."},
			incidentSet{edge: true, account: cloudflare.Outage}},
		{Scenario{"workspace-missing", "Cloudflare sandboxes that run while /workspace was removed or is a link to nothing: no command of their agents begins."},
			incidentSet{edge: true, bridge: cloudflare.WorkspaceMissing}},
		{Scenario{"shared-sandbox", "Two agents share one Cloudflare sandbox, and one of them removes /workspace: the commands of both fail."},
			incidentSet{edge: true, bridge: cloudflare.SharedSandbox}},
		{Scenario{"believes-alive", "The saved state of an agent session names a Blaxel sandbox that the platform lost."},
			incidentSet{blaxel: blaxel.BelievesAlive}},
		{Scenario{"believes-dead", "An agent gave up its Blaxel sandbox, which is there and only woke too slowly for the agent's check."},
			incidentSet{blaxel: blaxel.BelievesDead}},
		{Scenario{"runaway", "A process in a Blaxel sandbox runs on although its agent gave up after the timeout."},
			incidentSet{blaxel: blaxel.Runaway}},
		{Scenario{"leaked-on-exit", "A Blaxel sandbox that its session should have deleted at its end is still there."},
			incidentSet{blaxel: blaxel.LeakedOnExit}},
		{Scenario{"interrupted-snapshot", "Blaxel sandboxes in which saving or restoring the files of a session broke off and left its archive."},
			incidentSet{blaxel: blaxel.InterruptedSnapshot}},
		{Scenario{"source-outage", "One Helix endpoint refuses connections after 45 seconds and the metrics page answers 503 for a while."},
			incidentSet{outage: true}},
	}
}

// Scenarios lists what Options.Scenario accepts; the first one is the default.
func Scenarios() []Scenario {
	all := scripts()
	out := make([]Scenario, len(all))
	for i, s := range all {
		out[i] = s.Scenario
	}
	return out
}

// findScript returns the named world; an empty name is the default one.
func findScript(name string) (script, error) {
	all := scripts()
	if name == "" {
		return all[0], nil
	}
	names := make([]string, len(all))
	for i, s := range all {
		if s.Name == name {
			return s, nil
		}
		names[i] = s.Name
	}
	return script{}, fmt.Errorf("demo: no scenario is called %q; choose one of %s", name, strings.Join(names, ", "))
}
