// Package check asks one question of the site's own, such as whether the object storage behind the agents can be
// reached, with a URL or a command. It states a fact that no backend reports; the diagnoses of the runbook take it as
// an answer. Not being able to ask is not "no": the poll fails, and the fact grows old.
package check
