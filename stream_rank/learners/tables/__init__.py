"""Many events as tables: data frames, arrays, sparse matrices and rows of a stream."""
