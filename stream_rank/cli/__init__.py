"""The command line: flags, exit codes and output."""
