"""Ratings of films as they came: learned one by one by `OrdinalFactors`, beside what people take instead."""
