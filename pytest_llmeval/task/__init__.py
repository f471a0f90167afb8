"""A task: one YAML file that says which dataset, prompt, solver and scorer make a benchmark."""

from pytest_llmeval.task.dataset import Dataset, Fields
from pytest_llmeval.task.load import load_task
from pytest_llmeval.task.model import GraphSettings, JudgeSettings, Task
from pytest_llmeval.task.prompt import Turn
from pytest_llmeval.task.scorer import EedScorer, JudgeScorer, Scorer, SldpScorer
from pytest_llmeval.task.spec import Spec

__all__ = [
    "Dataset",
    "EedScorer",
    "Fields",
    "GraphSettings",
    "JudgeScorer",
    "JudgeSettings",
    "Scorer",
    "SldpScorer",
    "Spec",
    "Task",
    "Turn",
    "load_task",
]
