// Package wire is the HTTP client of the adapters: bounded in time, memory and load, strict about what it accepts, and
// silent about credentials. It reads no environment but through backend.Deps, follows no redirect and uses no proxy.
//
// An adapter builds one Client per source, asks with Get, takes what the requests cost with TakeLoad once per poll, and
// reads bodies with Parse, which refuses what encoding/json lets pass: duplicate names, invalid UTF-8, trailing data.
package wire
