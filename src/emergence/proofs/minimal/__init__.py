"""The claims of §3 about the minimal model, executed: what solves the task, and what cannot."""
