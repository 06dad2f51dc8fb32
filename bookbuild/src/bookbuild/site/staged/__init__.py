"""The texts that are generated for the stage: pieces, quoted verdicts and code cells."""
