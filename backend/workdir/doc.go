// Package workdir tells what the working directory of a container is, without running anything in it. It asks the container's
// engine for single paths, and this machine's kernel where the container is one of this machine.
package workdir
