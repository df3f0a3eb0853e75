"""What a script in Python can import: the modules that `runtimes/runtime.py` takes into the snapshot."""

_NAMES = """
    abc array ast base64 binascii bisect builtins calendar cmath codecs collections colorsys configparser
    contextlib copy csv dataclasses datetime decimal difflib email enum errno fnmatch fractions functools glob
    graphlib hashlib heapq hmac html importlib inspect io ipaddress itertools json keyword linecache locale math
    mimetypes numbers operator os pathlib pprint random re reprlib secrets shlex stat statistics string struct
    sys textwrap time token tokenize tomllib traceback types typing unicodedata urllib uuid warnings weakref xml
    zlib
"""
PYTHON_MODULES = frozenset(_NAMES.split())
