"""What keeps robots' facts true and their bridges apart, each switched off in turn."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tests.guards import guard
from tests.mutations import Mutation

_CLAIM = "tests/integration/fleet/test_claim_bridge.py::"
_FACTS = "tests/integration/fleet/test_take_facts.py::"
_ORDER = "tests/integration/fleet/test_place_order.py::"
_PAGES = "tests/integration/fleet/test_robot_pages.py::"
_RELEASE = "tests/integration/fleet/test_release_robot.py::"


def _off(answer: object = None) -> Callable[..., object]:
    return lambda *args, **named: answer


@guard("fleet: a robot has one bridge")
def _one_bridge() -> None:
    from apps.fleet.services import bridges

    decide = bridges.decide_claim

    def free(subject: str, robot: Any, described: Any, **named: Any) -> Any:
        return decide(subject, robot and replace(robot, bridge_id=None), described, **named)

    bridges.decide_claim = free


@guard("fleet: a hello is for what its credential is bound to")
def _bound() -> None:
    from apps.fleet.services import bridges
    from apps.fleet.types import subject_name

    decide = bridges.decide_claim

    def any_robot(subject: str, robot: Any, described: Any, **named: Any) -> Any:
        named["may_speak_for"] = [subject_name(robot.id)] if robot is not None else []
        return decide(subject, robot, described, **named)

    bridges.decide_claim = any_robot


@guard("fleet: robots of the machine's own site")
def _own_site() -> None:
    from apps.fleet.models import Robot
    from apps.fleet.services import bridges
    from apps.fleet.services.robots import state_of
    from apps.fleet.types import subject_name

    bridges._robots_in_question = lambda machine, bridge, subjects: {  # type: ignore[assignment]
        subject_name(row.id): state_of(row) for row in Robot.objects.select_related("bridge")
    }


@guard("fleet: a robot is what it was registered as")
def _differs() -> None:
    from apps.fleet.lifecycle import claims

    claims.fault_of_description = _off("")  # type: ignore[assignment]


@guard("fleet: an older epoch is fenced")
def _fence() -> None:
    from apps.fleet.models import Bridge
    from apps.fleet.services import bridges, facts

    def unfenced(bridge_id: Any, site_id: Any, epoch: int) -> Any:
        return Bridge.objects.select_for_update(no_key=True).get(id=bridge_id, site_id=site_id)

    bridges.fenced = facts.fenced = unfenced  # type: ignore[assignment]


@guard("fleet: the credential still holds")
def _credential() -> None:
    from apps.fleet.services import bridges, facts

    bridges.require_credential = facts.require_credential = _off()  # type: ignore[assignment]


@guard("fleet: facts come from the machine that claimed")
def _claimant() -> None:
    from apps.fleet.services import facts

    facts.refuse_other_credential = _off()  # type: ignore[assignment]


@guard("fleet: facts are of robots bound to this bridge")
def _of_bound_robots() -> None:
    from apps.fleet.models import Robot
    from apps.fleet.services import facts

    facts._robots = lambda machine, bridge, subjects: list(  # type: ignore[assignment]
        Robot.objects.select_related("bridge").filter(id__in=[one.partition(":")[2] for one in subjects])
    )


@guard("fleet: a fact is taken once")
def _once() -> None:
    from apps.fleet.services import facts

    facts._following = lambda given, up_to: list(given)  # type: ignore[assignment]


class _Anybodys(dict[Any, Any]):
    """Episodes of which each is running, and belongs to whoever asks."""

    asked: Any = None

    def get(self, key: Any, default: Any = None) -> Any:
        from apps.fleet.lifecycle import EpisodeState

        return EpisodeState(key, self.asked)

    def __contains__(self, key: object) -> bool:
        return False


@guard("fleet: an episode is its robot's own")
def _own_episode() -> None:
    from apps.fleet.services import facts

    decide = facts.decide_fact

    def for_anybody(fact: Any, known: Any, **named: Any) -> Any:
        known.episodes = _Anybodys(known.episodes)
        known.episodes.asked = known.robots[fact.subject].id if fact.subject in known.robots else None
        return decide(fact, known, **named)

    facts.decide_fact = for_anybody


@guard("fleet: words of machines are made visible")
def _words() -> None:
    from apps.fleet.lifecycle import facts

    facts.clean_words = lambda text, most=200: text[:most]  # type: ignore[assignment]


@guard("fleet: words of machines are made visible, at the hello")
def _words_of_hello() -> None:
    from apps.fleet.lifecycle import claims

    claims.clean_words = lambda text, most=200: text[:most]  # type: ignore[assignment]


@guard("fleet: faults only where all is simulated")
def _simulated() -> None:
    from apps.fleet.lifecycle import orders
    from apps.fleet.services import orders as service

    decide = orders.decide_order

    def anywhere(robot: Any, **named: Any) -> Any:
        return decide(replace(robot, is_simulated=True), **named | {"is_site_simulated": True})

    service.decide_order = anywhere  # type: ignore[assignment]


@guard("fleet: nothing is kept for who is not connected")
def _connected() -> None:
    from apps.fleet.services import orders

    decide = orders.decide_order
    orders.decide_order = lambda robot, **named: decide(replace(robot, is_connected=True), **named)  # type: ignore[assignment]


@guard("fleet: a release on what has changed is refused")
def _stale() -> None:
    from apps.fleet.services import robots

    decide = robots.decide_release
    robots.decide_release = lambda robot, **named: decide(robot, **named | {"expected": None})  # type: ignore[assignment]


@guard("fleet: templates escape what they are given")
def _escape() -> None:
    from django.template import base

    base.render_value_in_context = lambda value, context: str(value)  # type: ignore[attr-defined]


CASES = [
    Mutation("fleet: a robot has one bridge", f"{_CLAIM}TestTwoBridges::test_the_second_is_refused_and_that_is_a_fact_once"),
    Mutation("fleet: a robot has one bridge", f"{_CLAIM}TestTwoBridges::test_of_two_at_the_same_moment_exactly_one_gets_it"),
    Mutation(
        "fleet: a hello is for what its credential is bound to",
        f"{_CLAIM}test_what_the_credential_is_not_bound_to_is_unknown",
    ),
    Mutation(
        "fleet: robots of the machine's own site",
        f"{_CLAIM}test_a_credential_bound_to_a_robot_of_another_site_reaches_nothing_there",
    ),
    Mutation("fleet: a robot is what it was registered as", f"{_CLAIM}test_a_robot_that_is_described_as_another_is_refused"),
    Mutation("fleet: an older epoch is fenced", f"{_FACTS}TestRefusals::test_an_older_epoch"),
    Mutation("fleet: an older epoch is fenced", f"{_CLAIM}test_one_credential_in_two_places_fences_the_older"),
    Mutation("fleet: the credential still holds", f"{_FACTS}TestRefusals::test_a_revoked_credential"),
    Mutation("fleet: the credential still holds", f"{_CLAIM}test_a_credential_that_was_revoked_meanwhile_is_refused"),
    Mutation(
        "fleet: facts come from the machine that claimed",
        f"{_FACTS}TestRefusals::test_another_machine_of_the_site_naming_this_bridge",
    ),
    Mutation("fleet: facts are of robots bound to this bridge", f"{_FACTS}TestAttack66::test_in_every_kind_of_fact"),
    Mutation(
        "fleet: facts are of robots bound to this bridge",
        f"{_CLAIM}TestTwoBridges::test_what_the_second_says_of_the_robot_is_kept_as_refused",
    ),
    Mutation("fleet: a fact is taken once", f"{_FACTS}test_what_was_taken_is_taken_again_as_nothing"),
    Mutation("fleet: a fact is taken once", f"{_FACTS}test_nothing_after_a_gap_is_taken"),
    Mutation("fleet: a fact is taken once", f"{_FACTS}test_a_bad_link_ends_in_the_tables_of_a_clean_one"),
    Mutation("fleet: an episode is its robot's own", f"{_FACTS}TestAttack66::test_by_the_episode_of_another"),
    Mutation(
        "fleet: words of machines are made visible",
        f"{_FACTS}TestFactsThatCannotBe::test_words_are_made_visible_and_hold_nothing_up",
    ),
    Mutation("fleet: words of machines are made visible, at the hello", f"{_CLAIM}test_words_of_a_bridge_are_made_visible"),
    Mutation("fleet: faults only where all is simulated", f"{_ORDER}test_faults_are_injected_at_simulated_sites_only"),
    Mutation(
        "fleet: nothing is kept for who is not connected",
        f"{_ORDER}test_nothing_is_kept_for_a_robot_that_is_not_connected",
    ),
    Mutation("fleet: a release on what has changed is refused", f"{_RELEASE}test_what_changed_since_the_page_was_shown"),
    Mutation("fleet: templates escape what they are given", f"{_PAGES}test_names_and_words_of_machines_are_inert"),
    Mutation("fleet: templates escape what they are given", f"{_PAGES}test_the_floor_shows_them_inert_too"),
]
