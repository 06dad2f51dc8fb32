"""What is written on the way to the stage: generated pieces, quoted verdicts, code cells."""
