"""The Python side of a skill script: its functions, loading its source, and reporting its errors.

A skill can modify everything here, but only for itself: nothing outlives one call. There is no file system inside, so
a skill can import only the modules that are imported here.
"""

import abc
import array
import ast
import base64
import binascii
import bisect
import builtins
import calendar
import cmath
import codecs
import collections
import collections.abc
import colorsys
import configparser
import contextlib
import copy
import csv
import dataclasses
import datetime
import decimal
import difflib
import email
import email.message
import email.parser
import email.policy
import email.utils
import enum
import fnmatch
import fractions
import functools
import graphlib
import hashlib
import heapq
import hmac
import html
import html.entities
import html.parser
import importlib
import inspect
import io
import ipaddress
import itertools
import json
import keyword
import linecache
import locale
import math
import mimetypes
import numbers
import operator
import os
import os.path
import pathlib
import pprint
import random
import re
import secrets
import shlex
import statistics
import string
import struct
import sys
import textwrap
import time
import tokenize
import tomllib
import traceback
import types
import typing
import unicodedata
import urllib.parse
import uuid
import warnings
import weakref
import xml.etree.ElementTree
import zlib

import wit_world
from componentize_py_types import Err
from wit_world.imports import host

MAX_TEXT = 8000
FILE = "skill.py"
ABOUT_ITSELF = re.compile(r"\b(context|settings)\b")
"""Fetched only if the source mentions them."""
ASYNCHRONOUS = (
    "run is asynchronous, but skills are synchronous: every call returns its result. Remove async and await."
)
_reserve = [bytearray(1 << 18)]
"""Freed when memory runs out, so that the error can still be reported."""

# First uses that load or create something, so that they are part of the snapshot and not of every call.
json.dumps({"a": [1, 2.5, None, "é"]})
json.loads('{"a": [1, 2.5, null, "x"]}')
re.compile(r"\w+")
datetime.datetime.strptime("2026-01-01", "%Y-%m-%d")
"é".encode("latin-1").decode("utf-16", "replace")
"a".encode("idna")
mimetypes.init()


class HostError(Exception):
    """The host could not do something: a missing file, a host that is not granted."""


def ask(op, **arguments):
    try:
        reply = host.call(op, json.dumps(arguments, allow_nan=False))
    except Err as error:
        raise HostError(error.value) from None
    return json.loads(reply)


class Response:
    def __init__(self, reply):
        self.status = reply["status"]
        self.headers = reply["headers"]
        self.text = reply["body"]
        self.ok = 200 <= self.status < 300

    def json(self):
        return json.loads(self.text)


def fetch(url, method="GET", headers=None, body=None):
    return Response(ask("http", method=method.upper(), url=str(url), headers=headers or {}, body=body))


class kv:
    @staticmethod
    def get(key, default=None):
        found = ask("kv.get", key=key)
        return default if found is None else found

    @staticmethod
    def set(key, value):
        ask("kv.set", key=key, value=value)

    @staticmethod
    def delete(key):
        return ask("kv.delete", key=key)

    @staticmethod
    def keys(prefix=""):
        return ask("kv.keys", prefix=prefix)


class env:
    @staticmethod
    def get(name):
        return ask("env", name=name)


class files:
    @staticmethod
    def read(path):
        return ask("file.read", path=str(path))

    @staticmethod
    def write(path, text):
        ask("file.write", path=str(path), text=text)

    @staticmethod
    def list(path="."):
        return ask("file.list", path=str(path))


def get_secret(name):
    return ask("secret", name=name)


def recall_memory(query, limit=5):
    return ask("memory", query=query, limit=limit)


def exec_command(argv, input=""):
    return ask("exec", argv=list(argv), input=input)


def log(*values, level="info"):
    ask("log", level=level, message=" ".join(map(str, values)))


def print_to_log(*values, sep=" ", end="\n", file=None, flush=False):
    """Accept `end`, `file` and `flush` for compatibility, and ignore them: the log consists of lines."""
    ask("log", level="info", message=(" " if sep is None else sep).join(map(str, values)))


CALLABLE = {
    "fetch": fetch,
    "kv": kv,
    "env": env,
    "files": files,
    "get_secret": get_secret,
    "recall_memory": recall_memory,
    "exec_command": exec_command,
    "log": log,
    "print": print_to_log,
    "HostError": HostError,
}


class Failure(Exception):
    def __init__(self, kind, message, stack=""):
        super().__init__(kind)
        self.report = json.dumps({"kind": kind, "message": message[:MAX_TEXT], "stack": stack[:MAX_TEXT]})


def load(source):
    try:
        code = compile(source, FILE, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        raise Failure("unusable", message_of(error)) from None
    names = {"__name__": "skill", "__builtins__": builtins, **CALLABLE}
    if ABOUT_ITSELF.search(source):
        names["context"] = context = ask("context")
        names["settings"] = context.get("settings") or {}
    exec(code, names)
    entry = names.get("run")
    if not callable(entry):
        raise Failure("unusable", f"there is no function run(input) in {FILE}")
    return entry


def written(value):
    if inspect.isawaitable(value):
        raise Failure("unusable", ASYNCHRONOUS)
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise Failure("output", f"the return value of run is not JSON: {error}") from None


def failure_of(error, source):
    if isinstance(error, Failure):
        return error
    if isinstance(error, MemoryError):
        _reserve.clear()
        return Failure("memory", "out of memory")
    kind = "stack" if isinstance(error, RecursionError) else "raised"
    return Failure(kind, message_of(error), stack_of(error, source))


def message_of(error):
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{FILE}, line {error.lineno}: {error.msg}"
    try:
        text = str(error)
    except Exception:
        text = "an error that cannot be displayed was raised"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def stack_of(error, source):
    """Return the lines of the traceback that are in the skill's own source."""
    frames = []
    lines = source.splitlines()
    for frame, number in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_filename == FILE:
            line = lines[number - 1].strip() if 0 < number <= len(lines) else ""
            frames.append(f"  {FILE}, line {number}, in {frame.f_code.co_name}: {line}")
    return "\n".join(frames[-20:])


class WitWorld(wit_world.WitWorld):
    def run(self, source: str, input: str) -> str:
        random.seed(os.urandom(16))
        try:
            return written(load(source)(json.loads(input)))
        except BaseException as error:
            failed = failure_of(error, source)
        raise Err(failed.report)
