package convert_test

const (
	goldenV1 = "f02d380bf2599ee398dfc6bd05424fc16c3e4ba31f9052565195d9ec516a2c78"
	goldenV2 = "77dfdb2bf2ac6864453c74192e9932b41910c195b4db54e9c345e638a4cbf9ce"
)
