"""Logs, metrics and traces are opened and closed together."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forge.config import Settings
from forge.telemetry import NoTracing, open_telemetry

Entries = Callable[..., list[dict[str, Any]]]


def test_telemetry_opens_from_settings(
    read_entries: Entries, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    settings = Settings(data_dir=tmp_path, log_level="warning", otel_endpoint=None)
    telemetry = open_telemetry(settings, version="1.2.3", terminal=False, name="forge")
    logging.getLogger("forge.test").info("hello")
    telemetry.close()
    assert isinstance(telemetry.tracing, NoTracing)
    assert b'forge_build_info{version="1.2.3"} 1.0' in telemetry.metrics.render()[0]
    assert [entry["message"] for entry in read_entries()] == ["hello"]
    assert capsys.readouterr().err == ""


def test_errors_while_closing_tracing_are_logged(
    read_entries: Entries, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    settings = Settings(data_dir=tmp_path, otel_endpoint="http://127.0.0.1:9")
    telemetry = open_telemetry(settings, version="1.2.3", terminal=False, name="forge")
    with telemetry.tracing.span("serve"):
        pass
    telemetry.close()
    messages = [entry["message"] for entry in read_entries()]
    assert "the last traces were not delivered: the collector did not respond in time" in messages


def test_failed_open_restores_logging(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("forge.telemetry.Metrics", lambda version: 1 / 0)
    before = logging.getLogger().handlers.copy()
    with pytest.raises(ZeroDivisionError):
        open_telemetry(
            Settings(data_dir=tmp_path, otel_endpoint=None), version="1.2.3", terminal=False, name="forge"
        )
    assert logging.getLogger().handlers == before
