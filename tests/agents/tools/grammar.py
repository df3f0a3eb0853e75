"""Generate command injection attempts from the building blocks of public lists."""

import random
from collections.abc import Iterator


def _pieces(text: str) -> list[str]:
    return text.split("¦")


BEGINS = _pieces(
    "pytest¦pytest -v¦python -m pytest¦python3 -m unittest¦npm test¦npm run build¦npx vitest¦npx tsc¦node --test¦pip install¦"
    "pip install requests¦python -m pip install¦npm install¦npm ci¦cat¦cat a.txt¦head -5¦tail -n 3¦wc -l¦ls¦ls -la¦find .¦"
    "find . -name¦git status¦git diff¦git log¦git show¦make¦make test¦cargo test¦go test¦ruff check¦mypy¦eslint¦black¦tsc¦"
    "rm -rf .¦curl¦sh -c¦bash¦env¦sudo¦python -c¦python¦node -e¦npx -y¦git -c a=b¦git push¦xargs¦busybox¦ｌｓ¦сat¦ＰＹＴＥＳＴ"  # noqa: RUF001
)
BETWEEN = _pieces(
    " ¦;¦ ; ¦;;¦&&¦ && ¦&¦|¦ | ¦||¦ |& ¦\n¦\r\n¦\r¦\x0b¦\x0c¦\u2028¦\x85¦\0¦%0a¦%0d%0a¦%00¦\\n¦$IFS¦${IFS}¦$IFS$9¦\t¦ -- ¦ > ¦ >> ¦ < ¦"
    " << EOF\n¦ <<< ¦>(¦<(¦`¦$(¦${¦ '¦ \"¦'¦\"¦\\¦\\\n¦ # ¦ !¦{,¦\u00a0¦\u3000¦\u200b¦\ufeff¦；¦｜¦＆¦\u037e¦=¦ @¦ -¦ --¦,¦:¦"  # noqa: RUF001
)
PAYLOADS = _pieces(
    "touch pwned¦touch${IFS}pwned¦id¦whoami¦cat /etc/passwd¦cat ../outside/secret.txt¦/etc/passwd¦../outside/secret.txt¦"
    "$(touch pwned)¦`touch pwned`¦${PATH}¦$HOME¦~¦~root/x¦*¦?¦[a-z]¦{a,b}¦sleep 10¦ping -c 10 127.0.0.1¦nc -e /bin/sh 127.0.0.1 1¦"
    "() { :;}; touch pwned¦:(){ :|:& };:¦'; touch pwned; '¦\"; touch pwned; \"¦' || touch pwned || '¦\\'; touch pwned¦"
    "-exec touch pwned \\;¦-delete¦-fprint pwned¦-fprintf pwned x¦-ok touch pwned¦--output=pwned¦--output=../outside/x¦-o/tmp/x¦"
    "-o ../outside/x¦--index-url=http://127.0.0.1/x¦-i http://127.0.0.1/¦--extra-index-url=x¦--find-links=/tmp¦--target=/tmp¦"
    "--registry=http://127.0.0.1¦--script-shell=/bin/sh¦--prefix=../outside¦git+https://127.0.0.1/x¦file:///etc/passwd¦"
    "@/etc/passwd¦@args¦--junitxml=../../x¦--junitxml=pwned¦--junit-xml=/tmp/x¦--rootdir=/¦-p no:x¦-c /dev/null¦--pdb¦"
    "--ext-diff¦--upload-pack=touch pwned¦--textconv¦--no-index /etc/passwd a¦-c core.pager=touch¦--config=/etc/x¦--eval=x¦"
    "SHELL=/bin/sh¦-f /etc/passwd¦-C /¦--follow¦--files0-from=/etc/passwd¦-r https://127.0.0.1/r.txt¦-r/etc/passwd¦-e /tmp¦"
    "user/repo¦github:a/b¦a@npm:b¦ssh://x¦x @ https://127.0.0.1/x.whl¦..¦../..¦....//¦..\\..¦%2e%2e%2f¦/proc/self/environ¦"
    "a.txt¦src¦--help¦--version¦-v¦test_a.py¦'*.txt'¦\"a b\"¦not (a)¦'not (a)'¦HEAD~1¦--¦-¦''¦\ud800¦"
    + "A"
    * 5000
)


def hostile_commands(count: int) -> Iterator[str]:
    """Generate commands; always the same ones."""
    choose = random.Random(20261115)
    for _ in range(count):
        line = choose.choice(BEGINS)
        for _ in range(choose.choice((1, 1, 1, 2, 3))):
            line += choose.choice(BETWEEN) + choose.choice(PAYLOADS)
        wrap = choose.random()
        if wrap < 0.05:
            line = (
                choose.choice(("FOO=1 ", " ", "\\", "'", "(", "! ", "./", "/bin/", "time ", "exec ")) + line
            )
        yield line + choose.choice(("", "", "", ";", "&", "\n", "'", '"', "`", ")", " #", "\0"))


def mangled(text: str, choose: random.Random) -> str:
    """Remove, double or replace a character, also by one that looks or acts alike."""
    if not text:
        return text
    at = choose.randrange(len(text))
    other = choose.choice(
        ("", text[at] * 2, "'", '"', "\\", ";", "\n", "\u0430", "\u202e", "\uff0f", "%2f", "\x7f")
    )
    return text[:at] + other + text[at + 1 :]
