// Package workdir tells what the working directory and the main process of a container are, without running anything in it. It
// asks its engine for single paths, and this machine's kernel where the container is one of this machine.
package workdir
