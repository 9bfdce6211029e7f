"""Tests of [mqtt] and [[webhooks]]: all errors at once, and secrets in separate files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallybone.store import table_file


def read(folder: Path, text: str) -> table_file.BeyondSettings:
    path = folder / "table.toml"
    path.write_text(text)
    return table_file.load_table(path).beyond


def problems(folder: Path, text: str) -> list[str]:
    with pytest.raises(table_file.TableFileError) as error:
        read(folder, text)
    return [problem.removeprefix(f"{folder / 'table.toml'}: ") for problem in error.value.problems]


def secret(folder: Path, text: str = "sesame\n", mode: int = 0o600) -> Path:
    path = folder / "secret"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_a_broker_and_a_table_suffice(tmp_path: Path) -> None:
    assert read(tmp_path, '[camera]\nurl = "usb:0"\n') == table_file.BeyondSettings()
    mqtt = read(tmp_path, '[mqtt]\nbroker = "mqtt://club.local"\ntable = "table-3"\n').mqtt
    assert mqtt == table_file.MqttSettings(
        broker=table_file.Broker(host="club.local", port=1883), place=table_file.TableIdentity("table-3", "table-3")
    )


def test_accepts_every_setting_of_a_broker(tmp_path: Path) -> None:
    path = secret(tmp_path)
    mqtt = read(
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
    assert mqtt is not None
    assert mqtt.broker == table_file.Broker(host="::1", port=9000, is_tls=True, user="tables", password="sesame")
    assert (mqtt.place, mqtt.prefix) == (table_file.TableIdentity("table-3", "Table 3", "Spring 2026"), "club/spring")
    assert mqtt.discovery == "homeassistant"
    assert "sesame" not in repr(mqtt)


@pytest.mark.parametrize("mode", [0o604, 0o644, 0o666, 0o602])
def test_rejects_a_password_file_that_others_can_read(tmp_path: Path, mode: int) -> None:
    path = secret(tmp_path, mode=mode)
    text = f'[mqtt]\nbroker = "mqtt://a"\ntable = "a"\nuser = "u"\npassword_file = "{path}"\n'
    assert problems(tmp_path, text) == [f"[mqtt] password_file: {path}: others can read it; chmod 600 {path}"]
    path.chmod(0o640)  # its group may read it
    mqtt = read(tmp_path, text).mqtt
    assert mqtt is not None
    assert mqtt.broker.password == "sesame"


@pytest.mark.parametrize("text", ["", "\n", "two\nlines\n", "x" * 5000])
def test_rejects_an_invalid_secret_file_without_showing_its_text(tmp_path: Path, text: str) -> None:
    path = secret(tmp_path, text)
    (error,) = problems(tmp_path, f'[[webhooks]]\nurl = "https://a/b"\nsecret_file = "{path}"\n')
    assert error.startswith(f"[webhooks] secret_file: {path}: expected one line")
    assert "two" not in error.partition("expected")[2]


def test_reports_all_errors_at_once(tmp_path: Path) -> None:
    errors = problems(
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
    assert [problem.partition(": ")[0] for problem in errors] == [
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


def test_buttons_need_a_user_of_the_broker(tmp_path: Path) -> None:
    text = '[mqtt]\nbroker = "mqtt://a"\ntable = "a"\nbuttons = true\n'
    (error,) = problems(tmp_path, text)
    assert error.startswith("[mqtt] buttons: needs user or cert_file")
    mqtt = read(tmp_path, f'{text}user = "tables"\n').mqtt
    assert mqtt is not None
    assert mqtt.has_buttons


@pytest.mark.parametrize("url", ["mqtt://tom:sesame@club", "mqtt://:sesame@club"])
def test_rejects_a_password_in_the_url_without_showing_it(tmp_path: Path, url: str) -> None:
    (error,) = problems(tmp_path, f'[mqtt]\nbroker = "{url}"\ntable = "a"\n')
    assert "use user and password_file" in error
    assert "sesame" not in error


@pytest.mark.parametrize(
    "url", ["mqtt://", "mqtt://a:99999", "mqtt://a/path", "mqtt://[broken", "club", "mqtt://a?b", "ws://a"]
)
def test_rejects_invalid_broker_urls(tmp_path: Path, url: str) -> None:
    (error,) = problems(tmp_path, f'[mqtt]\nbroker = "{url}"\ntable = "a"\n')
    assert error.startswith("[mqtt] broker: expected mqtt://HOST[:PORT], or mqtts:// with TLS")


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
def test_accepts_only_web_addresses_for_webhooks(tmp_path: Path, url: str) -> None:
    (error,) = problems(tmp_path, f'[[webhooks]]\nurl = "{url}"\n')
    assert error.startswith("[webhooks] url: expected an address")
    assert "u:p" not in error


def test_tls_files_are_checked_at_once(tmp_path: Path) -> None:
    path = secret(tmp_path, "no certificate\n")
    text = f'[mqtt]\nbroker = "mqtts://a"\ntable = "a"\nca_file = "{path}"\n'
    assert problems(tmp_path, text)[0].startswith("[mqtt] ca_file: not usable for TLS")
    text = f'[mqtt]\nbroker = "mqtt://a"\ntable = "a"\nca_file = "{path}"\nkey_file = "{path}"\n'
    assert [problem.partition(": ")[0] for problem in problems(tmp_path, text)] == [
        "[mqtt] ca_file",
        "[mqtt] key_file",
    ]
    text = f'[mqtt]\nbroker = "mqtts://a"\ntable = "a"\nkey_file = "{path}"\n'
    assert problems(tmp_path, text) == ["[mqtt] key_file: a key needs a cert_file"]


def test_a_webhook_gets_all_events_or_those_named(tmp_path: Path) -> None:
    first, second = read(
        tmp_path,
        '[[webhooks]]\nurl = "http://wall.local:8000/lights?x=1"\n'
        '[[webhooks]]\nurl = "https://a/b"\nevents = ["points", "match_over"]\ntable = "three"\n',
    ).webhooks
    assert (first.events, first.secret) == (tuple(table_file.EventKind), None)
    assert (second.events, second.table) == ((table_file.EventKind.POINTS, table_file.EventKind.MATCH_OVER), "three")
