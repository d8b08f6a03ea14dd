// Package examine tries the read routes of one source and tells what each answered: how fast, with which fields, and whether
// it may be read. It sees what the adapter itself asks, and asks nothing else.
package examine
