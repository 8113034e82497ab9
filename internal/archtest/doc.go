// Package archtest keeps the rules of the architecture: who may import whom, what only the command line may do.
//
// It has tests only, and knows the repository as text.
package archtest
