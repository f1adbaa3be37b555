"""River transformers whose inner products are kernels, one a file."""
