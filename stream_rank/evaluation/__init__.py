"""How good the rules are: losses, baselines, drift and curves."""
