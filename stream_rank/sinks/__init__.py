"""What leaves a run beside its snapshots: rejects and predictions."""
