"""One of each message of version 1, with every field set, and the least that some may say."""

from uuid import UUID

from workers.protocol import (
    Ack,
    ActionRefused,
    Channel,
    ClearStop,
    Described,
    Driver,
    EpisodeEnded,
    EpisodeStarted,
    Fact,
    Facts,
    FactsTaken,
    Heartbeat,
    Hello,
    Mode,
    NeedsReset,
    Order,
    OrderDone,
    Outcome,
    Picture,
    Refused,
    RefusedSubject,
    Rejected,
    Report,
    Resume,
    State,
    States,
    StopLatched,
    StopNow,
    StopReleased,
    WasReset,
    Welcome,
)


def _id(number: int) -> UUID:
    return UUID(f"018f4e00-0000-7000-8000-{number:012d}")


BOOT, EPISODE, STOP, ORDER = _id(1), _id(3), _id(4), _id(5)
ROBOT, OTHER = f"robot:{_id(2)}", f"robot:{_id(6)}"
AT = 1_764_547_200_000
DESCRIBED = Described(
    subject=ROBOT,
    kind="arm",
    channels=[Channel(name="grip force", unit="N", low=0.0, high=25.5, headline=True), Channel(name="height")],
    cameras=["front"],
    is_simulated=True,
)


def _facts(*bodies) -> Facts:
    facts = [Fact(sequence=place, at_ms=AT + place, subject=ROBOT, body=body) for place, body in enumerate(bodies, 1)]
    return Facts(boot=BOOT, facts=facts)


MESSAGES = {
    "hello": Hello(
        bridge="bridge-1", boot=BOOT, versions=[1], subjects=[ROBOT, OTHER], described=[DESCRIBED], software="bridge 0.2.0"
    ),
    "hello-least": Hello(bridge="b", boot=BOOT, versions=[1]),
    "heartbeat": Heartbeat(sequence=7, sent_at_ms=AT, offset_ms=-12.25, round_trip_ms=1.5, spooled=3),
    "heartbeat-first": Heartbeat(sequence=1, sent_at_ms=AT),
    "states": States(
        states=[
            State(subject=0, sequence=7, at_ms=AT, values=[1.5, None, -0.25]),
            State(subject=1, sequence=0, at_ms=AT, values=[]),
        ]
    ),
    "report": Report(
        subject=1,
        sequence=9,
        at_ms=AT,
        mode=Mode.STOPPED,
        driver=Driver.POLICY,
        task="pick the block",
        activity="lifting",
        skill="pick 3",
        episode=EPISODE,
        step=44,
        is_moving=True,
        needs_reset="the block fell off the table",
        latched=[STOP],
        faults=["camera_freeze"],
    ),
    "report-least": Report(subject=0, sequence=1, at_ms=AT, mode=Mode.HOLD),
    "picture": Picture(subject=0, camera="front", sequence=4, at_ms=AT, jpeg=b"\xff\xd8\xff\xd9"),
    "facts-episode": _facts(
        EpisodeStarted(episode=EPISODE, task="pick the block", driver="policy", skill="pick 3", seed=12),
        ActionRefused(episode=EPISODE, reason="not a number"),
        ActionRefused(episode=None, reason="too fast"),
        EpisodeEnded(episode=EPISODE, outcome=Outcome.UNSAFE, steps=44, reason="its action was refused"),
        NeedsReset(reason="the block fell off the table"),
        WasReset(),
    ),
    "facts-stop": _facts(
        StopLatched(stop=STOP, received_at_ms=AT, ended_at_ms=AT + 40),
        StopReleased(stop=STOP),
        OrderDone(order=ORDER, succeeded=False, detail="It came too late."),
    ),
    "welcome": Welcome(
        version=1,
        heartbeat_s=5.0,
        server_time_ms=AT,
        subjects=[ROBOT],
        refused=[RefusedSubject(subject=OTHER, code="claimed", message="Another bridge speaks for it.")],
        resume=[Resume(boot=BOOT, sequence=6)],
    ),
    "refused": Refused(code="unknown_version", message="This gateway speaks 1.", versions=[1]),
    "ack": Ack(sequence=7, server_time_ms=AT + 1, sent_at_ms=AT),
    "rejected": Rejected(subject=0, sequence=7, field="values[1]", reason="not finite"),
    "facts_taken": FactsTaken(boot=BOOT, sequence=6),
    "stop_now": StopNow(stop=STOP, subjects=[ROBOT, OTHER], issued_at_ms=AT, by="Ada"),
    "clear_stop": ClearStop(stop=STOP, subjects=[ROBOT]),
    "order": Order(
        order=ORDER,
        subject=ROBOT,
        name="inject_fault",
        arguments={"name": "camera_freeze", "seconds": 5.5, "count": 2, "on": True, "who": None},
        valid_until_ms=AT + 5000,
    ),
}
