package cli

type toolchainListCmd struct{}
type toolchainShowCmd struct{}
type toolchainVerifyCmd struct{}

func (*toolchainListCmd) Run() error   { return nil }
func (*toolchainShowCmd) Run() error   { return nil }
func (*toolchainVerifyCmd) Run() error { return nil }
