// Package archtest tests the rules of the architecture, such as which package may import another, and which
// functions only the command line may call.
//
// It contains only tests, which read the repository's source files. It does not know the purpose of the packages.
package archtest
