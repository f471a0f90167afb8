"""Verified questions as a dataset: YAML in the columns of the public question file."""

from __future__ import annotations

from collections.abc import Sequence

import yaml

from pytest_llmeval.domains.heracles.questions.verified import Question

_WIDTH = 1 << 20
"""Columns of a line: queries are not folded."""


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as they are."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def dataset_yaml(questions: Sequence[Question], *, made: str) -> str:
    """Return the text of the file.

    Args:
        questions: what goes into it, in order.
        made: how it was made, for the first line.
    """
    digits = max(3, len(str(len(questions))))
    rows = [
        {
            "uid": f"Q{number:0{digits}}",
            "name": question.draft.name,
            "question": question.draft.question,
            "cypher": question.draft.cypher,
            "solution": question.solution,
            "rows": question.rows,
            "correctness_comparator": {"comparison_type": "SLDP", "relation": "equal"},
            "tags": [*question.tags],
        }
        for number, question in enumerate(questions, 1)
    ]
    body = yaml.dump(
        {"questions": rows}, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=_WIDTH
    )
    return f"# {' '.join(made.split())}\n{body}"
