package backend

import "testing"

// TestStartReason: the reason is what the innermost layer says. Other engines' words stay as they are.
func TestStartReason(t *testing.T) {
	for said, want := range map[string]string{
		`failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "/no/such/binary": stat /no/such/binary: no such file or directory: unknown`: `exec: "/no/such/binary": stat /no/such/binary: no such file or directory`,
		"failed to create task for container: failed to create shim task: context deadline exceeded":                                                                                                      "context deadline exceeded",
		"driver failed programming external connectivity on endpoint web: Bind for 0.0.0.0:80 failed: port is already allocated":                                                                          "driver failed programming external connectivity on endpoint web: Bind for 0.0.0.0:80 failed: port is already allocated",
		"crun: executable file `/no/such` not found: No such file or directory":                                                                                                                           "executable file `/no/such` not found: No such file or directory",
		"": "",
	} {
		b := &Sandbox{StartError: Clean(said, 500)}
		if got := b.StartReason().String(); got != want {
			t.Errorf("%s: %s", said, got)
		}
	}
}
