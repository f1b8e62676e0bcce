"""A bridge's config file: what is wrong is said, and no credential with it."""

import json

import pytest

from workers.edge.base.config import Bad, read

CREDENTIAL = "phm_0123456789ab_" + "c" * 48
GOOD = {
    "url": "http://localhost:8001",
    "credential": CREDENTIAL,
    "bridge": "arms",
    "subjects": [{"subject": "robot:1", "name": "arm-01"}, {"subject": "robot:2"}],
}


@pytest.fixture
def write(tmp_path):
    def make(text, mode=0o600):
        path = tmp_path / "arms.json"
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        path.chmod(mode)
        return path

    return make


def test_a_config_is_read_and_cut(write, tmp_path):
    path = write(GOOD)
    assert [one.name for one in read(path).subjects] == ["arm-01", ""]
    assert len(read(path, most=1).subjects) == 1
    assert read(path).state_folder(path) == tmp_path / "arms-state"
    assert read(write(GOOD | {"state": "elsewhere"})).state_folder(path) == tmp_path / "elsewhere"
    assert CREDENTIAL not in repr(read(path).identity("x"))


@pytest.mark.parametrize(
    "wrong",
    [
        "{",
        "[]",
        {name: value for name, value in GOOD.items() if name != "bridge"},
        GOOD | {"subjects": []},
        GOOD | {"subjects": [{"subject": "robot:1"}] * 2},
        GOOD | {"subject": "robot:1"},
        GOOD | {"subjects": ["robot:1"]},
        GOOD | {"credential": 5},
    ],
)
def test_what_is_wrong_is_said(write, wrong):
    path = write(wrong)
    with pytest.raises(Bad, match=str(path)) as bad:
        read(path)
    assert CREDENTIAL not in str(bad.value)


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o660, 0o602])
def test_a_credential_that_others_can_read_is_refused(write, mode):
    with pytest.raises(Bad, match="chmod 600"):
        read(write(GOOD, mode))


def test_no_file(tmp_path):
    with pytest.raises(Bad, match="No such file"):
        read(tmp_path / "none.json")
