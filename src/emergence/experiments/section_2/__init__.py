"""The transformer of §2 trained and described, and with an MLP in each layer."""
