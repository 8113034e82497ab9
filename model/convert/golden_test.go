package convert_test

const (
	goldenV1 = "7b32329feac47b2c66d1524d4227e27f14416204245d78e169ac4f5b66c4fea2"
	goldenV2 = "77dfdb2bf2ac6864453c74192e9932b41910c195b4db54e9c345e638a4cbf9ce"
)
