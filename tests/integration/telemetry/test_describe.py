import uuid

import pytest

from apps.kernel.errors import Invalid
from apps.telemetry.models import Layout
from apps.telemetry.services import describe
from tests.factories.telemetry import describe_subject
from workers.protocol import Channel, Described

pytestmark = pytest.mark.django_db


def test_a_layout_is_stored_once(site):
    subject_id = uuid.uuid4()
    first, again = (describe_subject(site, subject_id) for _ in "12")
    assert first == again
    assert Layout.objects.count() == 1
    assert [channel.name for channel in first.channels] == ["joint", "grip"]


@pytest.mark.parametrize("names", [["grip", "joint"], ["joint"], []])
def test_other_channels_are_another_layout(site, names):
    subject_id = uuid.uuid4()
    assert describe_subject(site, subject_id).id != describe_subject(site, subject_id, names).id


def test_many_subjects_cost_as_many_statements_as_one(site, django_assert_max_num_queries):
    described = [Described(subject=f"robot:{uuid.uuid4()}", kind="arm", channels=[Channel(name="a")]) for _ in range(200)]
    with django_assert_max_num_queries(5):
        found = describe(site_id=site.id, described=described)
    assert len(found) == 200
    with django_assert_max_num_queries(1):
        assert describe(site_id=site.id, described=described) == found


@pytest.mark.parametrize(
    "subject", ["robot", "robot:7", f":{uuid.UUID(int=7)}", f"robot:{uuid.UUID(int=7)}x", f"{'r' * 21}:{uuid.UUID(int=7)}"]
)
def test_what_is_no_subject_is_refused(site, subject):
    with pytest.raises(Invalid):
        describe(site_id=site.id, described=[Described(subject=subject, kind="arm")])


def test_two_channels_of_one_name_are_refused(site):
    with pytest.raises(Invalid):
        describe_subject(site, uuid.uuid4(), ["joint", "joint"])
