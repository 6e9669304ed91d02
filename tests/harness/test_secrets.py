"""Keys and passwords appear in no text, whatever a server sends back and however much is logged."""

import base64
import http.server
import logging
import random
import ssl
import subprocess
import threading
import traceback
from pathlib import Path
from typing import Any

import pytest

from oresight.harness.errors import InfrastructureError, OresightError, RunStoppedError, UsageError
from oresight.harness.models.base import ModelSettings
from oresight.harness.models.provider import ClientOptions
from oresight.harness.models.registry import make_client, read_name
from oresight.harness.models.secrets import Redactor, read_address, without_user
from support.loopback import PROTOCOLS, Heard, Sent, loopback, reply, saying, script
from support.model_stage import KEYS, FastClock, Stage, a_request, closing

USER = "u:MARKER78@"
MARKERS = ("MARKER-77", "MARKER78", base64.b64encode(b"u:MARKER78").decode(), "dTpNQVJL")


def echo(status: int) -> Any:
    def answer(heard: Heard) -> Sent:
        told = f"POST {heard.path} {KEYS} http://{USER}host/v1 {heard.headers}"
        return Sent(
            status, {"error": {"message": told, "code": told, "type": told}}, {"x-echo": told, "retry-after": "0"}
        )

    return answer


def failure(stage: Stage) -> tuple[OresightError, str]:
    with pytest.raises(OresightError) as found:
        stage.ask()
    return found.value, "".join(traceback.format_exception(found.value))


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("status", [200, 400, 401, 403, 413, 422, 429, 500])
def test_a_server_that_echoes_the_key_does_not_get_it_into_a_message_or_a_log(
    protocol: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with loopback(echo(status)) as server:
        error, told = failure(Stage(server, protocol, USER))
    assert "[hidden]" in str(error)
    # Each of the loggers of the libraries as well, turned up one by one.
    for text in (str(error), told, caplog.text):
        assert not any(marker in text for marker in MARKERS), text


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_user_and_password_of_an_address_are_sent_and_shown_nowhere(
    protocol: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("openai", "anthropic", "google_genai", "httpx", "httpx2", "httpcore2.http11", "httpcore2.connection"):
        caplog.set_level(logging.DEBUG, logger=name)
    with loopback(script(saying('{"action": "mine"}'))) as server:
        stage = Stage(server, protocol, USER)
        stage.ask()
        (heard,) = server.heard
    assert heard.headers["authorization"] == f"Basic {base64.b64encode(b'u:MARKER78').decode()}"
    assert stage.client.name.endswith(server.address(protocol))
    assert not any(marker in caplog.text for marker in MARKERS)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_redirect_is_not_followed_with_the_key(protocol: str) -> None:
    with loopback(lambda heard: reply(heard.protocol, "no")) as target:
        where = f"http://{USER}127.0.0.1:{target.port}/v1/chat/completions?key={KEYS['OPENAI_API_KEY']}"
        with loopback(script(Sent(307, {}, {"location": where}))) as server:
            error, told = failure(Stage(server, protocol))
        assert target.heard == []
    assert isinstance(error, RunStoppedError) and f"redirect to http://127.0.0.1:{target.port}" in str(error)
    assert not any(marker in told for marker in MARKERS)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_refused_connection_says_nothing_of_the_key(protocol: str) -> None:
    with loopback(script(saying("x"))) as server:
        stage = Stage(server, protocol, USER)
    error, told = failure(stage)
    assert isinstance(error, InfrastructureError)
    assert not any(marker in told for marker in MARKERS)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tls") / "server.pem"
    made = subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"),
            *("-keyout", str(path), "-out", str(path.with_suffix(".crt"))),
        ],
        capture_output=True,
        check=False,
    )
    if made.returncode:
        pytest.skip("no openssl to make a certificate with")
    path.write_text(path.read_text() + path.with_suffix(".crt").read_text())
    return path


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_invalid_certificate_stops_the_run_without_the_key(protocol: str, certificate: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    class Quiet(http.server.ThreadingHTTPServer):
        def handle_error(self, request: Any, client_address: Any) -> None:
            pass

    server = Quiet(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        around = ClientOptions(FastClock(), random.Random(1))
        name = f"{protocol}:m@https://{USER}127.0.0.1:{server.server_address[1]}/v1"
        client = make_client(name, ModelSettings(timeout_s=5), around, KEYS)
        with pytest.raises(RunStoppedError, match="certificate is not valid") as error:
            closing(client, lambda: client.complete(a_request()))
    finally:
        server.shutdown()
        server.server_close()
    told = "".join(traceback.format_exception(error.value))
    assert not any(marker in told for marker in MARKERS)


def test_a_key_with_a_character_that_no_header_takes_is_one_sentence_without_it() -> None:
    for key in ("zz-MARKER-77 x", "zz-MARKER-77\u2026", "zz-MARKER-77\r\nX: y"):
        with pytest.raises(UsageError, match="OPENAI_API_KEY") as error:
            make_client("openai:m", environment={"OPENAI_API_KEY": key})
        assert "MARKER" not in str(error.value)


def test_the_models_own_text_is_left_as_it_is() -> None:
    with loopback(script(saying(KEYS["OPENAI_API_KEY"]))) as server:
        assert Stage(server, "openai").ask().text == KEYS["OPENAI_API_KEY"]


def test_secrets_are_found_however_they_are_spelled() -> None:
    redact = Redactor(["s3cr&t/key", None, "", "abc"])
    for text in ("s3cr&t/key", "s3cr%26t%2Fkey", "S3CR&T/KEY", base64.b64encode(b"s3cr&t/key").decode()):
        assert redact(f"<{text}>").replace("=", "") == "<[hidden]>"
    assert redact("abc") == "abc"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see http://u:p@host/x and https://v@other", "see http://host/x and https://other"),
        ("http://u:p@ss@host/", "http://host/"),
        ("mail a@b.c", "mail a@b.c"),
        ("http://host/a@b", "http://host/a@b"),
    ],
)
def test_urls_lose_user_and_password(text: str, shown: str) -> None:
    assert without_user(text) == shown


def test_an_address_is_taken_apart() -> None:
    address = read_address("http://us%20er:p%40ss@[::1]:8000/v1?a=b#c")
    assert address.url == "http://[::1]:8000/v1?a=b"
    assert address.authorization == "Basic " + base64.b64encode(b"us er:p@ss").decode()
    for wrong in ("ftp://host", "http://", "http://u:MARKER78@host:99999999/", "host"):
        with pytest.raises(UsageError) as error:
            read_address(wrong)
        assert "MARKER78" not in str(error.value)


def test_a_models_name_shows_neither_user_nor_password() -> None:
    name = read_name(f"compatible:m@http://{USER}127.0.0.1:1/v1")
    assert name.public == "compatible:m@http://127.0.0.1:1/v1"
    assert "MARKER78" not in repr(name) and "MARKER78" not in f"{name}"
    for wrong in (f"nobody:m@http://{USER}host", f"compatible:@http://{USER}host", f"compatible:a b@http://{USER}host"):
        with pytest.raises(UsageError) as error:
            read_name(wrong)
        assert "MARKER78" not in str(error.value)
