"""The one list of stages: their names in specifications and in snapshots, and where their classes are.

The module imports neither River nor the engine, so the names alone are available at once.
"""

__all__ = ["STAGE_CLASSES", "STAGE_NAMES"]

STAGE_CLASSES = {
    "scale": "scale.Scale",
    "normalize": "normalize.Normalize",
    "cross": "cross.Cross",
    "polynomial": "polynomial_features.PolynomialFeatures",
    "hash": "feature_hasher.FeatureHasher",
    "waves": "random_fourier_features.RandomFourierFeatures",
    "neighbours": "neighbours.Neighbours",
    "target_mean": "target_mean.TargetMean",
}
"""Module and class of each, within this folder."""

STAGE_NAMES = tuple(STAGE_CLASSES)
