"""Open chapters as Colab and Binder would, on this machine: make drill WHAT=rehearsal."""
