module diff-golden

go 1.26.0

require (
	github.com/pmezard/go-difflib v1.0.1-0.20181226105442-5d4384ee4fb2
	k8s.io/apimachinery v0.36.0
)

require (
	github.com/davecgh/go-spew v1.1.2-0.20180830191138-d8f796af33cc // indirect
	k8s.io/utils v0.0.0-20260210185600-b8788abfbbc2 // indirect
)
