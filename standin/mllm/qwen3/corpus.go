package qwen3

// corpus is the text the generator learns its tokenizer and its bigrams from. Changing a letter changes every generated model.
const corpus = `The harbour master keeps a small notebook. Every morning she writes down the wind, the tide and the names of the boats.
The first boat leaves before the sun is up, the last boat comes home when the lamps are lit. When the wind turns, she turns a page.
A good tool does one thing at a time and says what it did. A better tool does nothing twice. The best tool tells you why.
The compiler reads the source, the linker reads the objects, and the phone reads the result. If one of them is old, nothing works.
"Why is it slow?" asked the engineer. "Because it does the same work again," said the machine. "Then remember the work."
So the machine kept a table: for every input a key, for every key an answer. When the input was the same, the answer was the same.
In the winter the river freezes and the children walk over the ice to the other side, where the old mill stands. The mill has three
wheels, and only one of them still turns. In the summer they take the boat, and the miller gives them bread and tells them a story.
There was a clock in the tower that was always four minutes late. The people of the town were used to it, and so they were late as well.
One day a young woman came, climbed the stairs and set the clock right. From that day on the people were early, and nobody knew why.
The model has layers, the layers have heads, and the heads look back at the words that were said before. What they find they add to
what they know. Then the next word is chosen, and the next, and the next, until the end. It is a simple thing, done many times.
To measure is to know; to measure twice is to be sure. The first number is 1, the second is 2, then 3, 5, 8, 13, 21, 34, 55 and 89.
When the numbers do not agree, look at the numbers again. When they do agree, look at them again, and then write them down.
The night train crosses the plain with its windows lit. A man reads a letter, a child sleeps, and the driver counts the signals:
green, green, green, yellow, red. At the red signal the train waits for the other train, and then it goes on into the dark.
`

// SamplePrompts are the texts that activations are calibrated on.
func SamplePrompts() []string {
	return []string{
		"The harbour master keeps a small notebook.",
		"When the wind turns, she",
		"A good tool does one thing at a time",
		"\"Why is it slow?\" asked the engineer.",
		"The model has layers, the layers have heads, and the heads look back at the words",
		"In the winter the river freezes",
		"The first number is 1, the second is 2, then 3, 5, 8,",
		"hello world! 42 x_y(z) = {a: [b, c]};",
		"The night train crosses the plain with its windows lit. A man reads a letter, a child sleeps, and the driver counts the signals",
		"One day a young woman came, climbed the stairs and set the clock right.",
		"Größe über alles? Nein: naïve café, 你好。",
		"To measure is to know",
	}
}
