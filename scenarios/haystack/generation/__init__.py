"""Generation of targets: aligned with the tools' schemas, grounded in a life, worded from banks."""
