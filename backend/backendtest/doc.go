// Package backendtest holds what the tests of several packages share: options, clocks, commands, servers on sockets, and
// processes that hold something. Only tests import it.
package backendtest
