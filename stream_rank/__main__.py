"""`python -m stream_rank`."""

import sys

from stream_rank.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
