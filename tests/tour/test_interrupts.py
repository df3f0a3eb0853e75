"""Ctrl-C is raised immediately, except in sections that must finish."""

import os
import signal

import pytest

from forge.tour.server_process import SIGNALS, Interrupts


@pytest.mark.parametrize("number", SIGNALS)
def test_signal_is_raised_immediately(number: signal.Signals):
    with Interrupts().caught(), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)


def test_held_signal_is_raised_afterwards():
    interrupts, finished = Interrupts(), False
    with interrupts.caught(), pytest.raises(KeyboardInterrupt), interrupts.held():
        os.kill(os.getpid(), signal.SIGINT)
        finished = True
    assert finished


def test_second_signal_is_reported_as_repeated():
    interrupts = Interrupts()
    with interrupts.caught():
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        assert not interrupts.is_repeated
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupts.is_repeated


def test_signal_handlers_are_restored():
    before = [signal.getsignal(number) for number in SIGNALS]
    with Interrupts().caught():
        assert [signal.getsignal(number) for number in SIGNALS] != before
    assert [signal.getsignal(number) for number in SIGNALS] == before
