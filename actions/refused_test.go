package actions

import (
	"testing"

	"sandglass/backend"
)

func TestRefusedTogetherIsOneLineForEachReason(t *testing.T) {
	deny := func(v Verb, why string) Ability {
		return Ability{Spec: Spec{Verb: v}, Denied: backend.Clean(why, 200)}
	}
	got := RefusedTogether([]Ability{
		deny("reset", `the configuration does not allow it: add "reset" to actions of the source docker`), {Spec: Spec{Verb: "probe"}},
		deny("destroy", `the configuration does not allow it: add "destroy" to actions of the source docker`), deny("stop", "read-only"), deny("pause", "read-only"),
	})
	if len(got) != 2 {
		t.Fatalf("%d groups: %v", len(got), got)
	}
	if got[0].Names() != "reset, destroy" || got[0].Why.String() != `the configuration does not allow it: add "reset", "destroy" to actions of the source docker` {
		t.Errorf("%s: %s", got[0].Names(), got[0].Why)
	}
	if got[1].Names() != "stop, pause" || got[1].Why.String() != "read-only" {
		t.Errorf("%s: %s", got[1].Names(), got[1].Why)
	}
}
