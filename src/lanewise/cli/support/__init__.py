"""What the verbs share: input, output, and the options that name a generation or a profile."""
