"""The site: stage, build, checks of what was built, content policy, seal, PDF, browser."""
