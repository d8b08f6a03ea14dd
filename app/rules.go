package app

import (
	"errors"
	"sandglass/alerts"
	"sandglass/alerts/rules"
	"sandglass/config"
)

// RuleKinds are the rules as a configuration file knows them.
func RuleKinds() []config.RuleKind {
	var kinds []config.RuleKind
	for _, k := range rules.Kinds() {
		kinds = append(kinds, config.RuleKind{Name: k.Name, Summary: k.Summary, Defaults: func() any { return k.Defaults() }})
	}
	return kinds
}

// MakeRules builds the rules with the thresholds of a configuration.
func MakeRules(c *config.Config) ([]alerts.Rule, config.Errors) {
	var all []alerts.Rule
	var wrong config.Errors
	for _, k := range rules.Kinds() {
		into, options := k.Defaults(), c.Rule(k.Name)
		err := options.Decode(into)
		if err == nil {
			var r alerts.Rule
			if r, err = k.New(into); r != nil {
				all = append(all, r)
			}
		}
		var key *rules.KeyError
		if errors.As(err, &key) {
			err = options.Refuse(key.Key, "%s", key.Why)
		}
		if err != nil {
			wrong = append(wrong, refusals(c, "[rules."+k.Name+"]", err)...)
		}
	}
	return all, wrong
}

// RuleMeta is what a rule declares with the thresholds of a configuration; on is false where it is switched off.
func RuleMeta(k rules.Kind, c *config.Config) (m *alerts.Meta, on bool, err error) {
	if _, err := RuleOptions(k, c); err != nil {
		return nil, false, err
	}
	r, err := k.Configure(c.Rule(k.Name))
	if err != nil {
		return nil, false, refusals(c, "[rules."+k.Name+"]", err)
	}
	if r != nil {
		return r.Meta(), true, nil
	}
	if r, err = k.New(k.Defaults()); err != nil {
		return nil, false, refusals(c, "[rules."+k.Name+"]", err)
	}
	return r.Meta(), false, nil
}

// RuleOptions are the options of a rule with the configuration's values.
func RuleOptions(k rules.Kind, c *config.Config) (rules.Options, error) {
	into := k.Defaults()
	if err := c.Rule(k.Name).Decode(into); err != nil {
		return nil, refusals(c, "[rules."+k.Name+"]", err)
	}
	return into, nil
}
