"""The solver ``turns``: the model answers one message of a user after the other.

The user's messages stand in the dataset, or another model writes them. What either model writes is
hostile input: it is text in messages, and never filled in as a template.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal, TypeAlias

from pytest_llmeval.engine.context import RunContext, SolverContext
from pytest_llmeval.errors import LLMEvalError
from pytest_llmeval.records import Completion, Display, Json, Message, Role, Sample
from pytest_llmeval.roles import SOLVER, is_role
from pytest_llmeval.solvers.agent.loop import Loop
from pytest_llmeval.solvers.agent.solver import AgentSolver
from pytest_llmeval.solvers.limits import Limits, OwnTime
from pytest_llmeval.solvers.turns.conversation import Conversation
from pytest_llmeval.solvers.turns.given_user import GivenUser, given_messages
from pytest_llmeval.solvers.turns.simulated_user import SimulatedUser
from pytest_llmeval.solvers.turns.speaker import Speaker
from pytest_llmeval.solvers.turns.user import ENDINGS, User
from pytest_llmeval.task.options import OptionError, build

PROMPT: Final = "generate"
"""The stage that opens the conversation."""

COLUMN: Final = "messages"
"""The metadata that hold the user's messages, by default."""

SIMULATED_TURNS: Final = 10
"""Most replies to a simulated user, by default."""

ENDED: Final = "ended"
"""The key of a completion's details that says why the conversation ended."""

Scored: TypeAlias = Literal["reply", "conversation"]
"""What scorers see: the model's last reply, or all that was said."""


class MadeAgent:
    """Makes the option ``agent``: the options of the solver ``agent``."""

    def make(self, value: Json, folder: Path) -> AgentSolver:
        """Return the agent; OptionError for an option that is invalid."""
        if not isinstance(value, dict):
            problem = f"is {value!r:.60}; write the options of the solver agent: {{tools: {{...}}}}"
            raise OptionError(problem)
        made: AgentSolver = build(AgentSolver, value, folder)
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnsSolver:
    """Sends each message of the user after the reply to the one before.

    The stage ``generate`` opens the conversation. If its last message is the user's, that is the
    first turn. A simulated user has a stage of the name of its role; it is given ``stop``.

    Details: ``turns`` (replies), ``ended`` (a key of `ENDINGS`), and those of the agent, if there
    is one. The stop reason is that of the first reply that was cut, or else of the last one.

    Attributes:
        column: the metadata with the user's messages: a list of texts, or of mappings of ``role``
            and ``content``. A message of the role ``assistant`` answers the one before it, which
            the model is then not asked.
        skip: how many messages of the list the prompt holds already.
        user: role of the model that plays the user, such as ``user``; None if the dataset has the
            messages.
        stop: the word by which a simulated user ends the conversation.
        turns: most replies of the model to the user; None means all messages of the dataset, or 10
            for a simulated user.
        max_seconds: see `Limits`; the replies of the simulated user count too.
        scored: what scorers see.
        agent: options of the solver ``agent``, with whose tools the model works within each turn.
            Its ``turns`` are those within one turn.
    """

    column: str = COLUMN
    skip: int = 0
    user: str | None = None
    stop: str = "DONE"
    turns: int | None = None
    max_seconds: float | None = None
    scored: Scored = "reply"
    agent: Annotated[AgentSolver | None, MadeAgent()] = None
    _most: int | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Raise ValueError for options of wrong values, or that do not fit each other."""
        most = SIMULATED_TURNS if self.turns is None and self.user is not None else self.turns
        object.__setattr__(self, "_most", most)
        Limits(turns=1 if most is None else most, max_seconds=self.max_seconds)
        if type(self.skip) is not int or self.skip < 0:
            msg = f"skip is {self.skip!r}; it is a number of messages, from 0"
            raise ValueError(msg)
        if self.user is not None:
            self._check_user(self.user)
        if self.agent is not None and self.agent.max_seconds is not None:
            msg = "agent.max_seconds is part of the whole conversation's time; write max_seconds"
            raise ValueError(msg)

    def _check_user(self, user: str) -> None:
        if not is_role(user) or user in {SOLVER, PROMPT}:
            msg = (
                f"user is {user!r}; it is the role of the model that plays the user, such as user: "
                f"small letters, digits, _ and -, and other than {SOLVER} and {PROMPT}"
            )
            raise ValueError(msg)
        if self.skip or self.column != COLUMN:
            msg = "column and skip are about messages of the dataset; leave them out beside user"
            raise ValueError(msg)
        if not any(map(str.isalnum, self.stop)) or "\n" in self.stop:
            msg = f"stop is {self.stop!r}; it is a word by which the user ends the conversation"
            raise ValueError(msg)

    def asks_also(self, sample: Sample) -> tuple[str, ...]:
        """Return what the dataset lets the user say beside the prompt; () if it says it wrongly."""
        if self.user is not None:
            return ()
        try:
            given = given_messages(sample, self.column, self.skip)
        except ValueError:
            return ()
        return tuple(one.text for one in given if one.role == "user")

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages of the prompt."""
        return (PROMPT,) if self.user is None else (PROMPT, self.user)

    @property
    def roles(self) -> tuple[Role, ...]:
        """The roles of the simulated user and of the agent's tools."""
        own = () if self.user is None else (self.user,)
        of_tools = () if self.agent is None else self.agent.roles
        return tuple(dict.fromkeys((*own, *of_tools)))

    @property
    def tool_names(self) -> tuple[str, ...] | None:
        """The names of the agent's tools; None if they are not known yet."""
        return () if self.agent is None else self.agent.tool_names

    @property
    def display(self) -> Display:
        """How results show the details: those of the tools, and why conversations ended."""
        shown = Display() if self.agent is None else self.agent.display
        if self.user is None:
            return shown
        endings = {key: ENDINGS[key] for key in ENDINGS if key != GivenUser.ending}
        return Display(
            shares=shown.shares,
            labels={ENDED: endings, **shown.labels},
            headings={ENDED: "end of the conversation", **shown.headings},
        )

    def variables(self) -> Mapping[str, Json]:
        """Return the variables of the prompts."""
        of_agent = {} if self.agent is None else self.agent.variables()
        return {**of_agent, **({} if self.user is None else {"stop": self.stop})}

    def check_sample(self, sample: Sample) -> None:
        """Raise ValueError if the dataset should have the user's messages, and does not."""
        if self.user is None:
            given_messages(sample, self.column, self.skip)

    def check_prompt(self, stage: str, messages: Sequence[Message]) -> None:
        """Raise ValueError if a prompt lacks what the conversation needs."""
        if stage == self.user:
            if not any(self.stop in message.text for message in messages):
                msg = (
                    f"the simulated user must be told how to end the conversation; write "
                    f"{{{{ stop }}}} into the stage {stage}"
                )
                raise ValueError(msg)
            return
        if self.skip and messages[-1].role != "user":
            msg = (
                f"skip is {self.skip}, and the stage {stage} does not end with a message of the "
                "user that stands for what is skipped"
            )
            raise ValueError(msg)
        if self.agent is not None:
            self.agent.check_prompt(stage, messages)

    def check_opening(self, stage: str, messages: Sequence[Message], sample: Sample) -> None:
        """Raise ValueError if the prompt says already what the first message of the dataset says.

        The model would be asked the same twice.
        """
        if self.user is not None or stage != PROMPT:
            return
        left = given_messages(sample, self.column, self.skip)
        if not left or left[0].role != "user" or messages[-1].role != "user":
            return
        if left[0].text.strip() == messages[-1].text.strip():
            msg = (
                f"metadata.{self.column}[{self.skip}] is what the prompt says already, so that it "
                f"would be asked twice; write solver: {{turns: {{skip: {self.skip + 1}}}}}"
            )
            raise ValueError(msg)

    async def get_ready(self, context: RunContext) -> None:
        """Let the agent's tools start what is slow."""
        if self.agent is not None:
            await self.agent.get_ready(context)

    async def __call__(self, sample: Sample, context: SolverContext) -> Completion:
        """Solve one sample."""
        time = OwnTime(self.max_seconds)
        calls = nullcontext() if self.agent is None else self.agent.loop(context, time)
        async with calls as loop:
            talk = Conversation(self._opening(context, loop))
            user, model = self._user(sample, context, time), Speaker(context, loop, time)
            while not (ended := await self._heard(talk, user, time)):
                if not await model.answer(talk):
                    ended = "no answer"
                    break
            details = {**model.findings, "turns": talk.replies, ENDED: ended}
        if not talk.replies:
            msg = f"sample {sample.id!r}: no message of the user is there for the model to answer"
            raise LLMEvalError(msg)
        last = "" if ended == "no answer" else talk.said[-1].text
        text = talk.text if self.scored == "conversation" else last
        return Completion(text=text, stop_reason=model.stop_reason, details=details)

    def _opening(self, context: SolverContext, loop: Loop | None) -> tuple[Message, ...]:
        """Return the messages that open the conversation, which tell of the tools there are."""
        of_calls = {} if loop is None else loop.variables
        messages = context.prompt(PROMPT, **{**self.variables(), **of_calls})
        self.check_prompt(PROMPT, messages)
        return messages

    def _user(self, sample: Sample, context: SolverContext, time: OwnTime) -> User:
        if self.user is None:
            return GivenUser(given_messages(sample, self.column, self.skip))
        prompt = context.prompt(self.user, **self.variables())
        return SimulatedUser(context, prompt, role=self.user, stop=self.stop, time=time)

    async def _heard(self, talk: Conversation, user: User, time: OwnTime) -> str:
        """Have the user speak if it has not; return why the conversation is over, "" if not."""
        if talk.waits_for_model and not user.answers:
            return ""
        if user.over:
            return user.ending
        if self._most is not None and talk.replies >= self._most:
            return "turns"
        if time.over:
            return "max_seconds"
        talk.hear(await user.says(talk))
        return "" if talk.waits_for_model else user.ending
