"""k-hop: the composition of k functions given in context, and in how many layers and steps."""
