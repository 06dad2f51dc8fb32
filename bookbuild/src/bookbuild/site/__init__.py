"""The site: stage, build, checks of what was built, content policy."""
