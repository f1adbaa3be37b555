"""Settings in messages, as flags for whoever types flags."""

from stream_rank.cli.main import Parser
from stream_rank.cli.wording import with_flags

NAMES = {"max_features": "--max-features", "learners": "--learner", "inputs": "FILE"}


def test_names_of_settings_become_flags() -> None:
    assert with_flags("see `max_features`, `learners`", NAMES) == "see --max-features, --learner"
    assert with_flags("`inputs` is needed", NAMES) == "FILE is needed"


def test_all_else_stays() -> None:
    for text in (
        "max_features",
        "`no_setting`",
        "`dead-letters list --json`",
        "``",
        "`max_features",
    ):
        assert with_flags(text, NAMES) == text
    assert with_flags("`max_features`", {}) == "`max_features`"


def test_flags_are_those_of_the_command_that_was_chosen() -> None:
    parser = Parser()
    commands = parser.add_subparsers(dest="command")
    one, two = commands.add_parser("one"), commands.add_parser("two")
    one.add_argument("--learner", dest="learners")
    one.add_argument("inputs", metavar="FILE", nargs="*")
    two.add_argument("--other")
    found = parser.flags_of_settings(parser.parse_args(["one"]))
    assert found["learners"] == "--learner"
    assert found["inputs"] == "FILE"
    assert "other" not in found
