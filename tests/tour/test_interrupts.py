"""Ctrl-C is raised where the walk stands, but not in the middle of what must be finished."""

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


def test_second_signal_sets_hurries():
    interrupts = Interrupts()
    with interrupts.caught():
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        assert not interrupts.hurries
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupts.hurries


def test_signal_handlers_are_restored():
    before = [signal.getsignal(number) for number in SIGNALS]
    with Interrupts().caught():
        assert [signal.getsignal(number) for number in SIGNALS] != before
    assert [signal.getsignal(number) for number in SIGNALS] == before
