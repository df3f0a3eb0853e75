"""Texts that could break YAML, TOML or Markdown files."""

from hypothesis import strategies as st

from forge.bots.models import Category, Identity, SkillEntry, Soul

NASTY = (
    "a: b",
    'say "hi"',
    "it's",
    "two\nlines",
    "trailing \n",
    " \n leading",
    "\n\n\n",
    "a\r\nb",
    "tab\there",
    "😀👩‍👩‍👧",
    "\u202eright to left\u200f",
    "عربى",
    "- item",
    "# no comment",
    "a # b",
    "---",
    "---\nname: other",
    "...",
    "null",
    "~",
    "yes",
    "No",
    "1.0",
    "007",
    "1e3",
    "2024-01-01",
    "1:30",
    "0x1F",
    "=",
    "<<",
    "&anchor",
    "*alias",
    "!tag",
    "%YAML",
    "@at",
    "`tick`",
    "{a: b}",
    "[a, b]",
    "? key",
    "| block",
    "> fold",
    " spaces ",
    "\u00a0",
    "\u2028",
    "\x85",
    "\ufeff",
    "\x07",
    "\x7f",
    "\\n",
    "\\",
    "'''",
    '"""',
    "../../etc/passwd",
    "${HOME}",
    "<!-- hidden -->",
)

_no_nul = st.characters(exclude_categories=["Cs"], exclude_characters="\x00")


def texts(max_size: int, *, min_size: int = 0) -> st.SearchStrategy[str]:
    wild = st.text(_no_nul, min_size=min_size, max_size=max_size)
    nasty = st.sampled_from([text for text in NASTY if min_size <= len(text) <= max_size])
    joined = st.builds(lambda one, two: (one + two)[:max_size], nasty, wild)
    return st.one_of(nasty, wild, joined)


souls = st.builds(
    Soul,
    name=texts(200, min_size=1),
    traits=st.lists(texts(100, min_size=1), max_size=5),
    tone=texts(200),
    body=texts(400),
)
identities = st.builds(
    Identity,
    display_name=texts(200, min_size=1),
    description=texts(300),
    category=st.sampled_from(Category),
    tags=st.lists(texts(40, min_size=1), max_size=4),
    provider=texts(32, min_size=1) | st.none(),
    model=texts(200, min_size=1),
    temperature=st.floats(0, 2),
    max_tokens=st.integers(1, 200_000),
    avatar=texts(16, min_size=1),
    colour=st.from_regex(r"#[0-9a-f]{6}", fullmatch=True),
    memory=st.booleans(),
)
slugs = st.from_regex(r"[a-z0-9]{1,9}(-[a-z0-9]{1,9}){0,3}", fullmatch=True)
skills = st.lists(
    st.builds(
        SkillEntry,
        skill_name=slugs,
        enabled=st.booleans(),
        version=texts(64) | st.none(),
        capabilities=st.lists(texts(64), max_size=3),
        overrides=st.dictionaries(texts(20), texts(50), max_size=3),
    ),
    max_size=4,
    unique_by=lambda entry: entry.skill_name,
)
