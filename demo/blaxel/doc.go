// Package blaxel plays the control plane of a Blaxel workspace and the servers inside its sandboxes.
package blaxel
