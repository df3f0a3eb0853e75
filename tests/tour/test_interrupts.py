"""Ctrl-C is raised where the walk stands, but not in the middle of what must be finished."""

import os
import signal

import pytest

from forge.tour.interrupts import SIGNALS, Interrupts


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_is_raised_at_once(number: signal.Signals):
    with Interrupts().caught(), pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)


def test_one_that_comes_at_a_bad_moment_is_raised_afterwards():
    interrupts, finished = Interrupts(), False
    with interrupts.caught(), pytest.raises(KeyboardInterrupt), interrupts.held():
        os.kill(os.getpid(), signal.SIGINT)
        finished = True
    assert finished


def test_a_second_one_only_says_that_it_hurries():
    interrupts = Interrupts()
    with interrupts.caught():
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        assert not interrupts.hurries
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupts.hurries


def test_what_was_there_before_is_there_again():
    before = [signal.getsignal(number) for number in SIGNALS]
    with Interrupts().caught():
        assert [signal.getsignal(number) for number in SIGNALS] != before
    assert [signal.getsignal(number) for number in SIGNALS] == before
