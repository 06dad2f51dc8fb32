"""The prior of weight decay: relabelled copies, exact shortest programs, trained networks."""
