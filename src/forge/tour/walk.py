"""The walk from its first stop to its last."""

from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from forge.accounts.models import LoginLink
from forge.config import ClientSettings
from forge.demo.parsing import find_script, load_script
from forge.demo.serving import ModelServer, open_model_server
from forge.llm.stand_in import REF, stand_in
from forge.terminal.client import connect
from forge.tour.folder import Folder, open_folder
from forge.tour.house import open_house
from forge.tour.interrupts import Interrupts
from forge.tour.narrator import Narrator
from forge.tour.stops.agent import let_agent_work
from forge.tour.stops.bot import make_bot, talk
from forge.tour.stops.repository import audit_repository
from forge.tour.stops.skill import make_skill
from forge.tour.stops.workflow import kill_and_go_on, run_to_question
from forge.tour.visit import Visit, part

PARTS = 8
OPENING = (
    "A walk through Forge. The model's words come from a script; all else is real: the server and its",
    "engine, WebAssembly, the sandbox, git, the files on your disk. Nothing leaves this machine.",
)


def walk(given: Path | None, *, port: int, keep: bool | None, stays: bool) -> None:
    """A temporary folder goes with the demo, one that was named stays; `keep` says otherwise."""
    interrupts, tell = Interrupts(), Narrator(PARTS)
    is_kept = given is not None if keep is None else keep
    with interrupts.caught(), open_folder(given, is_kept=is_kept) as folder, ExitStack() as stack:
        tell.begin(*OPENING)
        with interrupts.held():  # its thread would outlive us
            models = stack.enter_context(_models(folder))
        with open_house(folder, port, interrupts) as house:
            with part(tell, folder, "Forge starts, in a folder of its own"):
                tell.line("folder", str(folder.path))
                with tell.timed("It starts", lambda took: f"Forge is up after {took:.1f} s."):
                    house.start()
            # The settings of the user's own Forge are not asked.
            settings = ClientSettings(url=None, api_key=None, data_dir=folder.data)
            with connect(settings) as client:
                visit = Visit(client, house, models, folder, tell)
                _go(visit)
                _sum_up(visit)
                if stays:
                    _stay(visit)
                else:
                    tell.end("The server ends here, as --exit says.")
            if is_kept:
                tell.end(f"All of it is kept. To come back to it: forge serve --data-dir {folder.data}")


def _models(folder: Folder) -> AbstractContextManager[ModelServer]:
    return open_model_server(load_script(find_script("demo")), log=folder.asked)


def _go(visit: Visit) -> None:
    with visit.part("A model that costs nothing"):
        with visit.tell.waiting("It is asked for a word"):
            roles, _ = stand_in(visit.client, visit.models.url)
        visit.tell.done(f"{REF}, at {visit.models.url}, answers for all {len(roles)} roles of models.")
    with visit.part("A bot, made by talking"):
        bot = make_bot(visit)
        talk(visit, bot)
    with visit.part("A skill, and what it may do"):
        make_skill(visit, bot)
    with visit.part("An audit of a git repository"):
        audit_repository(visit)
    with visit.part("An agent that mends code, in the sandbox"):
        let_agent_work(visit)
    with visit.part("A workflow of all of these, up to a question"):
        run = run_to_question(visit, bot)
    with visit.part("kill -9, in the middle of it"):
        kill_and_go_on(visit, run)


def _sum_up(visit: Visit) -> None:
    url = visit.client.place.url
    visit.tell.end("That was all of it. This is what was made:")
    pages = [(name, f"{url}{page}") for name, page in visit.made]
    visit.tell.links([*pages, ("What the model was sent", str(visit.folder.asked))])


def _stay(visit: Visit) -> None:
    """Ctrl-C is how this ends, and no failure."""
    link = visit.client.post("/login-links", LoginLink)
    visit.tell.end("To look at it, sign in first, with a link that works once:")
    visit.tell.links([("Sign in", link.url)])
    visit.tell.end("The server stays up until you press Ctrl-C.")
    try:
        visit.house.stay()
    except KeyboardInterrupt:
        visit.tell.end("Stopping.")
