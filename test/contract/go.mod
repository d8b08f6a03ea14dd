module sandglass/test/contract

go 1.26.8

require (
	github.com/blaxel-ai/sdk-go v0.27.0
	sandglass v0.0.0
)

require (
	github.com/tidwall/gjson v1.19.0 // indirect
	github.com/tidwall/match v1.2.0 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	golang.org/x/sync v0.22.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

replace sandglass => ../..
