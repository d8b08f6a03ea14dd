// Package text prints what the screens show, for people, pipes and programs: tables, csv, JSON and the one document of
// `check`. It is pure: everything it prints comes from its arguments.
package text

// Schema is the number of the JSON documents of this package. Within one number fields are only ever added.
const Schema = 1
