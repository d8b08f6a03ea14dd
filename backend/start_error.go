package backend

import "strings"

// Layers of container engines that wrap the reason why a container could not start, outermost first.
var startLayers = [...]string{"failed to create task for container: ", "failed to create shim task: ", "OCI runtime create failed: ", "runc create failed: ",
	"unable to start container process: ", "crun: "}

// StartReason is why it could not start, without the names of the layers that passed the error on; empty when it could.
func (b *Sandbox) StartReason() Safe {
	s := strings.TrimSuffix(b.StartError.String(), ": unknown")
	for _, layer := range startLayers {
		if _, rest, found := strings.Cut(s, layer); found && rest != "" {
			s = rest
		}
	}
	return Safe{s}
}
