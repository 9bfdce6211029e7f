"""The tables [mqtt] and [[webhooks]]: what is wrong is said at once, and secrets are in files of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallybone.store.table_file import (
    BeyondSettings,
    Broker,
    EventKind,
    MqttSettings,
    TableFileError,
    TableIdentity,
    load_table,
)


def read(folder: Path, text: str) -> BeyondSettings:
    path = folder / "table.toml"
    path.write_text(text)
    return load_table(path).beyond


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(TableFileError) as error:
        read(folder, text)
    return [problem.removeprefix(f"{folder / 'table.toml'}: ") for problem in error.value.problems]


def secret(folder: Path, text: str = "sesame\n", mode: int = 0o600) -> Path:
    path = folder / "secret"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_nothing_is_told_to_anybody_unless_it_is_asked_for(tmp_path: Path) -> None:
    assert read(tmp_path, '[camera]\nurl = "usb:0"\n') == BeyondSettings()


def test_a_broker_and_a_table_are_enough(tmp_path: Path) -> None:
    said = read(tmp_path, '[mqtt]\nbroker = "mqtt://club.local"\ntable = "table-3"\n').mqtt
    assert said == MqttSettings(broker=Broker(host="club.local", port=1883), place=TableIdentity("table-3", "table-3"))


def test_all_that_can_be_said_of_a_broker(tmp_path: Path) -> None:
    path = secret(tmp_path)
    said = read(
        tmp_path,
        f"""[mqtt]
        broker = "mqtts://[::1]:9000"
        user = "tables"
        password_file = "{path}"
        prefix = "club/spring"
        table = "table-3"
        name = "Table 3"
        tournament = "Spring 2026"
        discovery = true
        """,
    ).mqtt
    assert said is not None
    assert said.broker == Broker(host="::1", port=9000, is_tls=True, user="tables", password="sesame")
    assert (said.place, said.prefix) == (TableIdentity("table-3", "Table 3", "Spring 2026"), "club/spring")
    assert said.discovery == "homeassistant"
    assert "sesame" not in repr(said)


@pytest.mark.parametrize("mode", [0o604, 0o644, 0o666, 0o602])
def test_a_password_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = secret(tmp_path, mode=mode)
    said = f'[mqtt]\nbroker = "mqtt://a"\ntable = "a"\nuser = "u"\npassword_file = "{path}"\n'
    assert problems(tmp_path, said) == [f"[mqtt] password_file: {path}: others can read it; chmod 600 {path}"]


def test_a_password_of_its_group_is_that_of_a_service(tmp_path: Path) -> None:
    path = secret(tmp_path, mode=0o640)
    said = read(tmp_path, f'[mqtt]\nbroker = "mqtt://a"\ntable = "a"\nuser = "u"\npassword_file = "{path}"\n').mqtt
    assert said is not None
    assert said.broker.password == "sesame"


@pytest.mark.parametrize("text", ["", "\n", "two\nlines\n", "x" * 5000])
def test_a_file_without_a_secret_is_refused_and_its_text_not_shown(tmp_path: Path, text: str) -> None:
    path = secret(tmp_path, text)
    (said,) = problems(tmp_path, f'[[webhooks]]\nurl = "https://a/b"\nsecret_file = "{path}"\n')
    assert said.startswith(f"[webhooks] secret_file: {path}: expected one line")
    assert "two" not in said.partition("expected")[2]


def test_everything_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    said = problems(
        tmp_path,
        """[mqtt]
        broker = "http://club"
        table = "Table 3"
        prefix = "a/+/b"
        discovery = "yes"
        password_file = "/absent/secret"
        ca_file = "/absent/ca"
        brocker = 1
        [[webhooks]]
        url = "ftp://a"
        events = ["points", "goals"]
        [[webhooks]]
        secret_file = "/absent/secret"
        """,
    )
    assert [one.partition(": ")[0] for one in said] == [
        "[mqtt] broker",
        "[mqtt] password_file",
        "[mqtt] ca_file",
        "[mqtt] table",
        "[mqtt] prefix",
        "[mqtt] discovery",
        "[mqtt] brocker",
        "[webhooks 1] url",
        "[webhooks 1] events",
        "[webhooks 2] url",
        "[webhooks 2] secret_file",
    ]


@pytest.mark.parametrize("url", ["mqtt://tom:sesame@club", "mqtt://:sesame@club"])
def test_a_password_in_the_address_is_refused_and_not_shown(tmp_path: Path, url: str) -> None:
    (said,) = problems(tmp_path, f'[mqtt]\nbroker = "{url}"\ntable = "a"\n')
    assert "say user and password_file" in said
    assert "sesame" not in said


@pytest.mark.parametrize(
    "url", ["mqtt://", "mqtt://a:99999", "mqtt://a/path", "mqtt://[broken", "club", "mqtt://a?b", "ws://a"]
)
def test_what_is_no_address_of_a_broker_is_said(tmp_path: Path, url: str) -> None:
    (said,) = problems(tmp_path, f'[mqtt]\nbroker = "{url}"\ntable = "a"\n')
    assert said.startswith("[mqtt] broker: expected mqtt://HOST[:PORT], or mqtts:// for one that encrypts")


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "http://",
        "http://a:99999/",
        "https://u:p@a/",
        "http://a/\\u0000",
        "http://a b/",
        "http://a/#b",
    ],
)
def test_a_webhook_goes_to_the_web_and_nowhere_else(tmp_path: Path, url: str) -> None:
    (said,) = problems(tmp_path, f'[[webhooks]]\nurl = "{url}"\n')
    assert said.startswith("[webhooks] url: expected an address")
    assert "u:p" not in said


def test_files_of_tls_are_tried_at_once(tmp_path: Path) -> None:
    path = secret(tmp_path, "no certificate\n")
    said = f'[mqtt]\nbroker = "mqtts://a"\ntable = "a"\nca_file = "{path}"\n'
    assert problems(tmp_path, said)[0].startswith("[mqtt] ca_file: this is not what TLS needs")
    said = f'[mqtt]\nbroker = "mqtt://a"\ntable = "a"\nca_file = "{path}"\nkey_file = "{path}"\n'
    assert [one.partition(": ")[0] for one in problems(tmp_path, said)] == [
        "[mqtt] ca_file",
        "[mqtt] key_file",
    ]
    said = f'[mqtt]\nbroker = "mqtts://a"\ntable = "a"\nkey_file = "{path}"\n'
    assert problems(tmp_path, said) == ["[mqtt] key_file: a key needs a cert_file"]


def test_a_webhook_takes_all_events_or_those_that_are_named(tmp_path: Path) -> None:
    first, second = read(
        tmp_path,
        '[[webhooks]]\nurl = "http://wall.local:8000/lights?x=1"\n'
        '[[webhooks]]\nurl = "https://a/b"\nevents = ["points", "match_over"]\ntable = "three"\n',
    ).webhooks
    assert (first.events, first.secret) == (tuple(EventKind), None)
    assert (second.events, second.table) == ((EventKind.POINTS, EventKind.MATCH_OVER), "three")
