//go:build !unix

package app

func canSuspend() bool { return false }
