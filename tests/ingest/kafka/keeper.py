"""The process that keeps the broker of a test run: `python -m tests.ingest.kafka.keeper folder`."""

import sys
from pathlib import Path

from simulators.broker import STEADY, Kafka, NoKafkaError
from tests.shared import kept, tell


def main(folder: Path) -> None:
    """Run a broker until the run of tests is over."""
    with kept(folder) as stack:
        try:
            kafka = stack.enter_context(Kafka(folder / "kafka", 1, STEADY))
        except NoKafkaError as error:
            tell(folder, error=str(error))
        else:
            tell(folder, address=kafka.address)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
