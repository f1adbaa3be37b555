"""From raw events to learned rules."""
