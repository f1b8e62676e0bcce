import random

import pytest

from apps.accounts.services import revoke_machine_credential
from apps.control.models import StopSubject
from apps.fleet import selectors
from apps.fleet.events import bridge_stream, robot_stream
from apps.fleet.models import BootCursor, Episode, Robot
from apps.fleet.projections import NEVER_ENDED
from apps.fleet.services import release_robot, take_facts
from apps.fleet.types import subject_name
from apps.journal import selectors as journal
from apps.journal.models import Event
from apps.kernel import clock
from apps.kernel.errors import NotFound, NotSignedIn, Stale
from apps.kernel.ids import new_id
from tests.factories.accounts import make_site
from tests.factories.fleet import TESTS, connect, facts_of, machine_for, make_robot, make_robots, take
from workers.protocol import (
    ActionRefused,
    EpisodeEnded,
    EpisodeStarted,
    Fact,
    Facts,
    NeedsReset,
    OrderDone,
    Outcome,
    StopLatched,
    StopReleased,
    WasReset,
)

pytestmark = pytest.mark.django_db
BOUND = 3  # facts of a robot before its bridge tells any: registered, bound, described


def started(episode=None, **given):
    return EpisodeStarted(
        episode=episode or new_id(), **{"task": "pick", "driver": "policy", "skill": "pick@1", "seed": 7} | given
    )


def ended(episode, outcome=Outcome.SUCCESS, **given):
    return EpisodeEnded(episode=episode, outcome=outcome, **{"steps": 45} | given)


def told(robot):
    """Types of the facts that its bridge told of a robot."""
    return [fact.type for fact in journal.events_after(robot_stream(robot.id), BOUND)]


def refusals(claim):
    return [
        (fact.payload["fact"], fact.payload["reason"])
        for fact in journal.events_after(bridge_stream(claim.bridge_id), 0)
        if fact.type == "fleet.fact_refused"
    ]


def test_an_episode_is_taken_and_shown(site, robot, machine, claim, boot):
    episode = new_id()
    assert take(machine, claim, facts_of(boot, robot, started(episode), ended(episode))) == 2
    row = Episode.objects.get(id=episode)
    assert (row.outcome, row.steps, row.seed, row.device_ms) == ("success", 45, 7, 1_700_000_000_000)
    detail = selectors.robot_detail(site.id, robot.id)
    assert detail.episode is None
    assert dict(detail.outcomes) == {"success": 1}


def test_both_times_are_kept(robot, machine, claim, boot):
    at = clock.now()
    take(machine, claim, facts_of(boot, robot, WasReset(), at_ms=42), received_at=at)
    fact = journal.events_after(robot_stream(robot.id), BOUND)[0]
    assert (fact.payload["device_ms"], fact.payload["boot"], fact.payload["sequence"]) == (42, str(boot), 1)
    assert fact.payload["received_at"] == at.isoformat().replace("+00:00", "Z")
    assert (fact.actor_kind, fact.actor_id) == ("machine", machine.credential_id)


def test_what_was_taken_is_taken_again_as_nothing(robot, machine, claim, boot):
    facts = facts_of(boot, robot, started(), NeedsReset(reason="block on the floor"), WasReset())
    assert [take(machine, claim, facts), take(machine, claim, facts)] == [3, 3]
    assert len(told(robot)) == 3
    assert BootCursor.objects.get(boot=boot).sequence == 3


def test_a_batch_that_overlaps_adds_only_what_is_new(robot, machine, claim, boot):
    take(machine, claim, facts_of(boot, robot, NeedsReset(reason="a"), WasReset()))
    assert take(machine, claim, facts_of(boot, robot, WasReset(), NeedsReset(reason="b"), first=2)) == 3
    assert told(robot) == ["fleet.needs_reset", "fleet.was_reset", "fleet.needs_reset"]


def test_nothing_after_a_gap_is_taken(robot, machine, claim, boot, refused):
    facts = facts_of(boot, robot, WasReset(), WasReset(), WasReset())
    with_gap = Facts(boot=boot, facts=[facts.facts[0], facts.facts[2]])
    assert take(machine, claim, with_gap) == 1
    assert take(machine, claim, Facts(boot=boot, facts=facts.facts[2:])) == 1
    assert take(machine, claim, facts) == 3


def test_a_new_boot_counts_from_one(robot, machine, claim, boot):
    take(machine, claim, facts_of(boot, robot, WasReset(), WasReset()))
    later = new_id()
    assert take(machine, claim, facts_of(later, robot, WasReset())) == 1
    assert set(BootCursor.objects.values_list("boot", "sequence")) == {(boot, 2), (later, 1)}


class TestRefusals:
    """Who may tell nothing changes nothing, and is not told that it was taken."""

    def test_an_older_epoch(self, robot, machine, claim, boot, refused):
        connect(machine, [robot])
        with refused(Stale, "epoch"):
            take(machine, claim, facts_of(boot, robot, WasReset()))

    def test_another_sites_machine_naming_this_bridge(self, robot, claim, boot, refused):
        site = make_site()
        stranger = machine_for(site, [robot])
        with refused(NotFound):
            take(stranger, claim, facts_of(boot, robot, WasReset()))

    def test_a_revoked_credential(self, site, robot, machine, claim, boot, refused):
        revoke_machine_credential(actor=TESTS, site_id=site.id, credential_id=machine.credential_id)
        with refused(NotSignedIn):
            take(machine, claim, facts_of(boot, robot, WasReset()))

    def test_a_bridge_that_never_was(self, robot, machine, boot, refused):
        with refused(NotFound):
            take_facts(
                machine=machine,
                bridge_id=new_id(),
                epoch=1,
                facts=facts_of(boot, robot, WasReset()),
                received_at=clock.now(),
            )

    def test_another_machine_of_the_site_naming_this_bridge(self, site, robot, claim, boot, refused):
        """Attack 66: facts told with the credential of another bridge, under this bridge's claim."""
        other = machine_for(site, [make_robot(site)], "other")
        with refused(NotFound):
            take(other, claim, facts_of(boot, robot, WasReset()))


class TestAttack66:
    """The bridge of one robot speaks as another: nothing of it reaches that robot, and it is kept as refused."""

    @pytest.fixture
    def seven(self, site):
        robot = make_robot(site, "arm-07")
        connect(machine_for(site, [robot], "seven"), [robot])
        return robot

    def test_in_every_kind_of_fact(self, site, robot, machine, claim, boot, seven):
        running = new_id()
        before = Robot.objects.filter(id=seven.id).values().get()
        bodies = [
            started(running),
            ended(running),
            ActionRefused(episode=None, reason="x"),
            NeedsReset(reason="x"),
            WasReset(),
            StopLatched(stop=new_id(), received_at_ms=1, ended_at_ms=2),
            StopReleased(stop=new_id()),
            OrderDone(order=new_id(), succeeded=True),
        ]
        assert take(machine, claim, facts_of(boot, seven, *bodies)) == len(bodies)
        assert [reason for _, reason in refusals(claim)] == ["this bridge does not speak for it"] * len(bodies)
        assert Robot.objects.filter(id=seven.id).values().get() == before
        assert told(seven) == []
        assert not Episode.objects.exists()
        assert not StopSubject.objects.exists()

    def test_by_the_episode_of_another(self, robot, machine, claim, boot, seven, site):
        theirs = new_id()
        other = machine_for(site, [seven], "seven-b")
        release_robot(actor=TESTS, site_id=site.id, robot_id=seven.id)
        take(other, connect(other, [seven]), facts_of(new_id(), seven, started(theirs)))
        take(
            machine,
            claim,
            facts_of(boot, robot, ended(theirs, Outcome.UNSAFE), started(theirs), ActionRefused(episode=theirs, reason="x")),
        )
        assert Episode.objects.get(id=theirs).outcome == ""
        assert refusals(claim) == [
            ("episode_ended", "this robot has no such episode"),
            ("episode_started", "there is an episode of this id already"),
            ("action_refused", "this robot has no such episode"),
        ]


class TestFactsThatCannotBe:
    """Taken as refused, so that what follows is not held up."""

    @pytest.mark.parametrize(
        ("bodies", "reason"),
        [
            ([EpisodeEnded(episode=new_id(), outcome=Outcome.SUCCESS, steps=1)], "this robot has no such episode"),
            ([OrderDone(order=new_id(), succeeded=True)], "this robot was given no such order"),
            ([EpisodeStarted(episode=new_id(), task="t", driver="policy", seed=2**70)], "the seed is too large"),
            ([EpisodeStarted(episode=new_id(), task="t", driver="policy", seed=-(2**53))], "the seed is too large"),
        ],
    )
    def test_is_recorded_with_its_reason_and_the_next_one_counts(self, robot, machine, claim, boot, bodies, reason):
        assert take(machine, claim, facts_of(boot, robot, *bodies, NeedsReset(reason="after"))) == 2
        assert Robot.objects.get(id=robot.id).needs_reset == "after"
        assert Event.objects.get(type="fleet.fact_refused").payload["reason"] == reason

    def test_an_episode_ends_once(self, robot, machine, claim, boot):
        episode = new_id()
        take(machine, claim, facts_of(boot, robot, started(episode), ended(episode), ended(episode, Outcome.FAILURE)))
        assert Episode.objects.get(id=episode).outcome == "success"

    @pytest.mark.parametrize("words", ["a\x00b", "\x1b[31mred\x1b[0m", "\u202egnp.exe", "line\nline"])
    def test_words_are_made_visible_and_hold_nothing_up(self, robot, machine, claim, boot, words):
        """Attack 39, at the door."""
        assert take(machine, claim, facts_of(boot, robot, started(task=words), NeedsReset(reason=words))) == 2
        robot.refresh_from_db()
        assert robot.needs_reset.isprintable()
        assert "\ufffd" in robot.needs_reset
        assert "\ufffd" in Episode.objects.get().task

    def test_times_beyond_the_calendar_hold_nothing_up(self, robot, machine, claim, boot):
        latched = StopLatched(stop=new_id(), received_at_ms=2**53, ended_at_ms=2**53)
        assert take(machine, claim, facts_of(boot, robot, latched, WasReset(), at_ms=2**53 - 1)) == 2
        assert StopSubject.objects.get().latched_at.year == 9999

    def test_a_number_at_the_end_of_the_range_moves_nothing(self, robot, machine, claim, boot, refused):
        assert take(machine, claim, facts_of(boot, robot, WasReset(), first=2**53)) == 0
        assert told(robot) == []


def test_an_episode_that_was_never_ended_counts_as_aborted_until_its_own_word_comes(robot, machine, claim, boot):
    left, next_one = new_id(), new_id()
    take(machine, claim, facts_of(boot, robot, started(left), started(next_one)))
    row = Episode.objects.get(id=left)
    assert (row.outcome, row.reason, row.is_superseded) == ("aborted", NEVER_ENDED, True)
    assert Robot.objects.get(id=robot.id).episode_id == next_one
    take(machine, claim, facts_of(boot, robot, ended(left, Outcome.FAILURE, reason="dropped"), first=3))
    row.refresh_from_db()
    assert (row.outcome, row.reason, row.is_superseded) == ("failure", "dropped", False)
    assert Robot.objects.get(id=robot.id).episode_id == next_one


@pytest.mark.parametrize("together", [True, False])
def test_late_words_of_an_older_episode_do_not_hide_the_end_of_the_newest(robot, machine, claim, boot, together):
    left, newest = new_id(), new_id()
    take(machine, claim, facts_of(boot, robot, started(left), started(newest)))
    said = facts_of(boot, robot, ended(left), ended(newest), first=3)
    for facts in [said] if together else [Facts(boot=boot, facts=[one]) for one in said.facts]:
        take(machine, claim, facts)
    assert Robot.objects.get(id=robot.id).episode_id is None
    assert set(Episode.objects.values_list("outcome", "is_superseded")) == {("success", False)}


def test_a_refused_action_is_shown_with_its_episode(site, robot, machine, claim, boot):
    """Attack 70, as far as the console sees it: the episode ends unsafe and says why."""
    episode = new_id()
    refused = ActionRefused(episode=episode, reason="action is not a number")
    take(machine, claim, facts_of(boot, robot, started(episode), refused, ended(episode, Outcome.UNSAFE)))
    seen = selectors.robot_detail(site.id, robot.id).episodes[0]
    assert (seen.outcome, seen.reason) == ("unsafe", "action is not a number")


def test_what_a_robot_says_of_a_stop_reaches_control_in_the_same_transaction(site, robot, machine, claim, boot):
    stop = new_id()
    latched = StopLatched(stop=stop, received_at_ms=1_700_000_000_100, ended_at_ms=1_700_000_000_180)
    assert take(machine, claim, facts_of(boot, robot, latched, StopReleased(stop=stop), latched)) == 3
    subject = StopSubject.objects.get(stop_id=stop, subject_id=robot.id)
    assert subject.kind == "robot"
    assert told(robot) == ["fleet.stop_latched", "fleet.stop_released", "fleet.stop_latched"]


def test_facts_of_many_robots_share_one_transaction(site):
    robots = make_robots(site, 5)
    machine = machine_for(site, robots)
    boot = new_id()
    claim = connect(machine, robots, boot=boot)
    facts = [
        Fact(
            sequence=number + 1, at_ms=number, subject=subject_name(robots[number % 5].id), body=NeedsReset(reason=f"{number}")
        )
        for number in range(50)
    ]
    assert take(machine, claim, Facts(boot=boot, facts=facts)) == 50
    assert sorted(Robot.objects.values_list("needs_reset", flat=True)) == ["45", "46", "47", "48", "49"]
    assert len(set(Event.objects.filter(type="fleet.needs_reset").values_list("correlation_id", flat=True))) == 1


class Sender:
    """A bridge's side of the facts: numbered on its disk, sent until taken. Its link loses, doubles and reorders."""

    def __init__(self, machine, robots, chance):
        self.machine, self.robots, self.chance = machine, robots, chance
        self.boots, self.episode = [], {}
        self.restart()

    def restart(self):
        """A reboot: what is on the disk stays, numbers begin again."""
        self.boots.append((new_id(), []))
        self.claim = connect(self.machine, self.robots, boot=self.boots[-1][0])

    def tell(self, robot, body):
        _boot, spool = self.boots[-1]
        spool.append(Fact(sequence=len(spool) + 1, at_ms=len(spool), subject=subject_name(robot.id), body=body))

    def work(self, robot):
        """One more fact of a robot, whichever fits."""
        running = self.episode.pop(robot.id, None)
        if running is None:
            self.episode[robot.id] = new_id()
            self.tell(robot, started(self.episode[robot.id], seed=self.chance.randrange(100)))
        else:
            self.tell(robot, ended(running, self.chance.choice(list(Outcome)), steps=self.chance.randrange(50)))

    def send(self, *, lossy):
        """Send what was not taken, all boots; over a bad link frames vanish, come three times and in any order."""
        frames = [Facts(boot=boot, facts=spool[at : at + 4]) for boot, spool in self.boots for at in range(0, len(spool), 4)]
        if lossy:
            frames = [frame for frame in frames * 3 if self.chance.random() > 0.2]
            self.chance.shuffle(frames)
        for frame in frames:
            take(self.machine, self.claim, frame)


def seen(robots):
    """What the tables say of these robots, without identifiers and the console's own times."""
    place = {robot.id: number for number, robot in enumerate(robots)}
    rows = Episode.objects.filter(robot__in=robots).order_by("robot", "device_ms", "seed", "steps")
    found = [(place[row.robot_id], row.device_ms, row.seed, row.outcome, row.steps, row.is_superseded) for row in rows]
    return sorted(found), [Robot.objects.get(id=robot.id).episode_id is not None for robot in robots]


@pytest.mark.parametrize("seed", range(4))
def test_a_bad_link_ends_in_the_tables_of_a_clean_one(site, seed):
    """Attack 12, for facts: tripled, reordered, a fifth dropped, numbers reset by reboots; nothing is lost or doubled."""
    ends = []
    for lossy in (False, True):
        chance = random.Random(seed)
        robots = make_robots(site, 3)
        sender = Sender(machine_for(site, robots), robots, chance)
        noise = random.Random(seed + 1)
        for _ in range(3):
            for _ in range(12):
                sender.work(chance.choice(robots))
            chance, sender.chance = sender.chance, noise if lossy else sender.chance
            sender.send(lossy=lossy)
            sender.chance = chance
            sender.send(lossy=False)
            sender.restart()
        taken = list(Event.objects.filter(payload__bridge_id=str(sender.claim.bridge_id), payload__sequence__gte=1))
        keys = [(event.payload["boot"], event.payload["sequence"]) for event in taken if "epoch" in event.payload]
        assert len(keys) == len(set(keys)) == 36
        ends.append(seen(robots))
    assert ends[0] == ends[1]
