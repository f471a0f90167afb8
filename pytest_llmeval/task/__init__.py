"""Tasks: a benchmark as one YAML file that names dataset, prompt, solver and scorers."""

from pytest_llmeval.task.dataset import Dataset, Fields
from pytest_llmeval.task.declared import DeclaredScorer
from pytest_llmeval.task.load import load_task
from pytest_llmeval.task.model import Task
from pytest_llmeval.task.prompt import Turn
from pytest_llmeval.task.spec import Spec

__all__ = ["Dataset", "DeclaredScorer", "Fields", "Spec", "Task", "Turn", "load_task"]
